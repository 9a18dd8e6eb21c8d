//! `group`: makes groups and changes their members.

use std::io::Write;

use talavera::Group;

use crate::args::{GroupCommand, Place, When};
use crate::error::Error;

pub(crate) fn run(command: &GroupCommand, out: &mut dyn Write) -> Result<(), Error> {
    match command {
        GroupCommand::Create { uri } => {
            crate::target::check_scheme(uri)?;
            Group::create(uri)?;
            writeln!(out, "made group {uri}")?;
        }
        GroupCommand::Add { place, member, name, when } => {
            change(place, when, |edit| match name {
                _ if member.contains("://") => edit.add_absolute(member, name.as_deref()),
                Some(name) => edit.add_named(member, name),
                None => edit.add_member(member),
            })?;
            writeln!(out, "added {member}")?;
        }
        GroupCommand::Remove { place, member, when } => {
            change(place, when, |edit| edit.remove(member))?;
            writeln!(out, "removed {member}")?;
        }
    }
    Ok(())
}

fn change(
    place: &Place,
    when: &When,
    edit: impl for<'g> FnOnce(talavera::GroupEdit<'g>) -> talavera::GroupEdit<'g>,
) -> Result<(), Error> {
    let target = place.target();
    target.check_scheme()?;
    let group = target.options()?.open_group(&place.uri)?;
    let edited = edit(group.edit());
    Ok(match when.timestamp {
        Some(timestamp) => edited.at(timestamp).commit(),
        None => edited.commit(),
    }?)
}
