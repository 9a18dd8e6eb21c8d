//! `rm`, `mv` and `cp`: arrays and groups as a whole.

use std::io::Write;

use talavera::ObjectType;

use crate::args::{RemoveArgs, TransferArgs};
use crate::error::Error;
use crate::target::check_scheme;

pub(crate) fn remove(args: &RemoveArgs, out: &mut dyn Write) -> Result<(), Error> {
    let (target, uri) = (args.place.target(), &args.place.uri);
    match target.object_type()? {
        Some(ObjectType::Group) => {
            let options = target.options()?;
            let members = options.open_group(uri)?.members().len();
            if members > 0 && !args.recursive {
                let members = if members == 1 { "a member".to_owned() } else { format!("{members} members") };
                let advice = "--recursive removes what it has, too; `talavera group remove` lets go of members";
                return Err(Error::usage(format!("{uri} is a group with {members}: {advice}")));
            }
            talavera::remove_group(uri, args.recursive, &options)?;
        }
        Some(_) => talavera::remove(uri)?,
        None => return Err(talavera::Error::NotFound { path: uri.clone(), wanted: "array or group" }.into()),
    }
    writeln!(out, "removed {uri}")?;
    Ok(())
}

pub(crate) fn rename(args: &TransferArgs, out: &mut dyn Write) -> Result<(), Error> {
    check_scheme(&args.from).and_then(|()| check_scheme(&args.to))?;
    talavera::rename(&args.from, &args.to)?;
    writeln!(out, "moved {} to {}", args.from, args.to)?;
    Ok(())
}

pub(crate) fn copy(args: &TransferArgs, out: &mut dyn Write) -> Result<(), Error> {
    check_scheme(&args.from).and_then(|()| check_scheme(&args.to))?;
    talavera::copy(&args.from, &args.to)?;
    writeln!(out, "copied {} to {}", args.from, args.to)?;
    Ok(())
}
