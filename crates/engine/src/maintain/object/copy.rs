//! Copies of whole arrays and groups.

use talavera_storage::{EntryKind, ObjectPath, Storage};

use super::check_target;
use crate::Error;

/// Copies the array or group at `from`, with all that lies in its folder, to `to`.
///
/// What makes an array or group visible is copied last: first everything else, then commit files, then the schemas of
/// arrays and the marks of groups, from the innermost outwards. When something fails, the copy is removed.
///
/// Members that a group names by absolute addresses are those of the original in the eyes of the copy, too.
///
/// # Errors
/// [`Error::NotFound`] when there is no array or group at `from`; [`Error::AlreadyExists`] when there is something at `to`;
/// [`Error::Invalid`] when `to` lies in `from`; the errors of storage.
pub fn copy_object(storage: &dyn Storage, from: &ObjectPath, to: &ObjectPath) -> Result<(), Error> {
    check_target(storage, from, to)?;
    let mut found = Found::below(storage, from)?;
    found.files.sort_by_cached_key(|file| (Turn::of(&file.relative), std::cmp::Reverse(depth(&file.relative))));
    let copied = found.files.iter().try_for_each(|file| copy_file(storage, from, to, file));
    let result = copied.and_then(|()| found.folders.iter().try_for_each(|folder| Ok(storage.create_folder(&to.join(folder)?)?)));
    if result.is_err() {
        // Nothing was there before; that it cannot be removed is not what went wrong.
        drop(storage.delete_folder(to));
    }
    result
}

/// What lies in a folder, by paths relative to it.
#[derive(Default)]
struct Found {
    files: Vec<FoundFile>,
    folders: Vec<String>,
}

struct FoundFile {
    relative: String,
    bytes: u64,
}

impl Found {
    fn below(storage: &dyn Storage, root: &ObjectPath) -> Result<Self, Error> {
        let mut found = Self::default();
        let mut waiting = vec![root.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in storage.list(&folder)? {
                let path = folder.join(&entry.name)?;
                let relative = path.relative_to(root).unwrap_or_default().to_owned();
                match entry.kind {
                    EntryKind::File(bytes) => found.files.push(FoundFile { relative, bytes }),
                    EntryKind::Folder => {
                        found.folders.push(relative);
                        waiting.push(path);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// When a file's turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// Whatever nobody looks for by itself.
    Content,
    /// A file that makes cells visible, or takes them away.
    Commit,
    /// A file that makes an array or group.
    Object,
}

impl Turn {
    fn of(relative: &str) -> Self {
        let mut parts = relative.rsplit('/');
        let (name, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        match (folder, name) {
            ("__schema", _) | (_, "__array_schema.tdb" | "__tiledb_group.tdb") => Self::Object,
            ("__commits" | "__group", _) => Self::Commit,
            (_, name) if name.ends_with(".ok") || name.ends_with(".vac") => Self::Commit,
            _ => Self::Content,
        }
    }
}

fn depth(relative: &str) -> usize {
    relative.split('/').count()
}

fn copy_file(storage: &dyn Storage, from: &ObjectPath, to: &ObjectPath, file: &FoundFile) -> Result<(), Error> {
    let (source, target) = (from.join(&file.relative)?, to.join(&file.relative)?);
    let mut writer = storage.create_file(&target)?;
    let mut start = 0;
    while start < file.bytes {
        let end = file.bytes.min(start.saturating_add(PIECE_BYTES));
        writer.write(&storage.read_range(&source, start..end)?)?;
        start = end;
    }
    Ok(writer.finish()?)
}

/// How much of a file is in memory at a time.
const PIECE_BYTES: u64 = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_things_visible_has_its_turn_last() {
        for content in ["__fragments/x/a0.tdb", "__meta/x", "x/__fragment_metadata.tdb", "__schema/__enumerations/x", "README"] {
            assert_eq!(Turn::of(content), Turn::Content, "{content}");
        }
        for commit in ["__commits/x.wrt", "x.ok", "x.vac", "__group/x", "a/__commits/x.con"] {
            assert_eq!(Turn::of(commit), Turn::Commit, "{commit}");
        }
        for object in ["__schema/x", "a/__schema/x", "__array_schema.tdb", "g/__tiledb_group.tdb"] {
            assert_eq!(Turn::of(object), Turn::Object, "{object}");
        }
    }
}
