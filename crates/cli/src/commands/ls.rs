//! `ls`: the arrays and groups in a folder, or the members of a group.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use talavera::{GroupMember, ObjectType};

use crate::args::LsArgs;
use crate::error::Error;
use crate::format::json::write_value;
use crate::format::table::{shortened, write_table};

/// An array or group, as it is listed.
struct Listed {
    object_type: ObjectType,
    name: Option<String>,
    path: String,
}

pub(crate) fn run(args: &LsArgs, out: &mut dyn Write) -> Result<(), Error> {
    let uri = &args.target.uri;
    let folder = Path::new(uri.strip_prefix("file://").unwrap_or(uri));
    let (kind, mut listed) = match args.target.object_type()? {
        Some(ObjectType::Group) if !args.recursive => {
            let group = args.target.options()?.open_group(uri)?;
            ("group", group.members().map(Listed::member).collect())
        }
        None if !folder.is_dir() => {
            return Err(talavera::Error::NotFound { path: uri.clone(), wanted: "folder" }.into());
        }
        found => {
            let mut listed = Vec::new();
            list_below(folder, "", args.recursive, &mut listed)?;
            (found.map_or("folder", type_name), listed)
        }
    };
    listed.sort_by(|a, b| a.path.cmp(&b.path));
    if args.json {
        let members: Vec<_> = listed.iter().map(Listed::json).collect();
        return Ok(write_value(out, &json!({ "kind": kind, "members": members }))?);
    }
    let line = |listed: &Listed| {
        let name = listed.name.as_deref().unwrap_or_default();
        vec![type_name(listed.object_type).to_owned(), shortened(name), listed.path.clone()]
    };
    write_table(out, ["type", "name", "path"].map(str::to_owned).to_vec(), listed.iter().map(line).collect(), &[])
}

impl Listed {
    fn member(member: &GroupMember) -> Self {
        Self { object_type: member.object_type, name: member.name.clone(), path: member.uri.clone() }
    }

    fn json(&self) -> Value {
        json!({ "name": self.name, "type": type_name(self.object_type), "path": self.path })
    }
}

/// Adds the arrays and groups in a folder, and, if `recursive`, those in the groups and plain folders in it. Links are not
/// followed, so that there is an end.
fn list_below(folder: &Path, prefix: &str, recursive: bool, listed: &mut Vec<Listed>) -> Result<(), Error> {
    let failed = |source| Error::File { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_type().map_err(failed)?.is_dir() {
            continue;
        }
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let found = talavera::object_type(entry.path())?;
        if recursive && found != Some(ObjectType::Array) {
            list_below(&entry.path(), &format!("{path}/"), recursive, listed)?;
        }
        listed.extend(found.map(|object_type| Listed { object_type, name: None, path }));
    }
    Ok(())
}

fn type_name(object_type: ObjectType) -> &'static str {
    match object_type {
        ObjectType::Invalid => "invalid",
        ObjectType::Group => "group",
        ObjectType::Array => "array",
    }
}
