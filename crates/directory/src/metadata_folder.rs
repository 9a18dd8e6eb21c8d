//! The `__meta` folder of an array or a group: which files count at a time.

use std::collections::HashSet;

use talavera_storage::{Entry, EntryKind, ObjectPath, Storage};

use crate::{DirectoryError, NameForm, TimeWindow, TimestampedName, VacuumFile, split_extension};

/// A file and its timestamped name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// The name, without extension.
    pub name: TimestampedName,
    /// Where it is.
    pub path: ObjectPath,
}

/// What lies in a `__meta` folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct MetadataFolder {
    /// Ascending by start, then by name.
    files: Vec<NamedFile>,
    vacuums: Vec<VacuumFile>,
}

impl MetadataFolder {
    /// Sorts out `entries` of `folder` and reads the vacuum files by `read_vacuum`; strangers go to `ignored`.
    pub(crate) fn read(
        folder: &ObjectPath,
        entries: Vec<Entry>,
        ignored: &mut Vec<ObjectPath>,
        mut read_vacuum: impl FnMut(ObjectPath, TimestampedName) -> Result<VacuumFile, DirectoryError>,
    ) -> Result<Self, DirectoryError> {
        let mut read = Self::default();
        for entry in entries {
            let path = folder.join(&entry.name)?;
            match named_file(&entry) {
                Some((name, None)) => read.files.push(NamedFile { name, path }),
                Some((name, Some("vac"))) => read.vacuums.push(read_vacuum(path, name)?),
                _ => ignored.push(path),
            }
        }
        read.files.sort_by(|a, b| (a.name.start(), &a.path).cmp(&(b.name.start(), &b.path)));
        Ok(read)
    }

    /// The files to apply, in order; those that a vacuum file hides are left out.
    pub(crate) fn select(&self, window: TimeWindow) -> Vec<&NamedFile> {
        let applicable = self.vacuums.iter().filter(|vacuum| window.contains(&vacuum.name));
        let hidden: HashSet<&ObjectPath> = applicable.flat_map(|vacuum| &vacuum.hidden).collect();
        let visible = |file: &&NamedFile| window.contains(&file.name) && !hidden.contains(&file.path);
        self.files.iter().filter(visible).collect()
    }

    pub(crate) fn vacuums(&self) -> &[VacuumFile] {
        &self.vacuums
    }
}

/// The name and extension of an entry that is a file with times in its name.
pub(crate) fn named_file(entry: &Entry) -> Option<(TimestampedName, Option<&str>)> {
    let EntryKind::File(_) = entry.kind else {
        return None;
    };
    let (name, extension) = split_extension(&entry.name);
    let name: TimestampedName = name.parse().ok()?;
    (name.form() != NameForm::UuidFirst).then_some((name, extension))
}

/// What lies in a folder of the root, without a request when the root does not have it.
pub(crate) fn list_known(
    storage: &dyn Storage,
    root: &ObjectPath,
    entries: &[Entry],
    folder: &str,
) -> Result<(ObjectPath, Vec<Entry>), DirectoryError> {
    let path = root.join(folder)?;
    let exists = entries.iter().any(|entry| entry.is_folder() && entry.name == folder);
    let entries = if exists { storage.list(&path)? } else { Vec::new() };
    Ok((path, entries))
}
