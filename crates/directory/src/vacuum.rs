//! Vacuum files: page 05-other-files, "Vacuum files".

use talavera_codec::{DecodeError, DecodeErrorKind, Writer};
use talavera_storage::{ObjectPath, Storage, StorageError};
use talavera_types::FormatVersion;

use crate::error::in_file;
use crate::lines::{decode_lines, encode_lines, read_file};
use crate::paths::{FRAGMENTS, META};
use crate::{DirectoryError, TimestampedName};

/// What a `.vac` file holds: what was consolidated and is hidden from then on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VacuumList {
    /// The lines as they are: addresses, or paths relative to the array.
    pub lines: Vec<String>,
}

impl VacuumList {
    /// The list of `hidden`, fragments or metadata files of the array at `root`, in the words of a format version.
    ///
    /// From version 19 on lines are relative to the array, with a slash in front; before, they are addresses.
    #[must_use]
    pub fn for_array(storage: &dyn Storage, root: &ObjectPath, version: FormatVersion, hidden: &[ObjectPath]) -> Self {
        let line = |path: &ObjectPath| match path.relative_to(root) {
            Some(relative) if version.has_relative_vacuum_paths() => format!("/{relative}"),
            _ => storage.uri(path),
        };
        Self { lines: hidden.iter().map(line).collect() }
    }

    /// The list of `hidden` metadata files of a group, which are addresses in every version.
    #[must_use]
    pub fn for_group(storage: &dyn Storage, hidden: &[ObjectPath]) -> Self {
        Self { lines: hidden.iter().map(|path| storage.uri(path)).collect() }
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// When a line is longer than 64 KiB or no UTF-8.
    pub fn decode(file: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self { lines: decode_lines(file, "vacuum line")? })
    }

    /// Writes a whole file.
    pub fn encode(&self, w: &mut Writer) {
        encode_lines(&self.lines, w);
    }

    /// What the lines mean in the array at `root`, which may have been moved since.
    ///
    /// Of each line only the name counts, and the `__fragments` or `__meta` in front of it. The reference looks for the
    /// first of these anywhere in the line, and so finds nothing in arrays below a folder of such a name.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when a line has no slash or ends in a name that leads elsewhere.
    pub fn resolve(&self, root: &ObjectPath) -> Result<Vec<ObjectPath>, StorageError> {
        self.lines.iter().map(|line| resolve_line(root, line)).collect()
    }
}

/// A `.vac` file, with what it hides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VacuumFile {
    /// Its name: that of the consolidated fragment or metadata file.
    pub name: TimestampedName,
    /// Where it is.
    pub path: ObjectPath,
    /// What it hides, whether it still exists or not.
    pub hidden: Vec<ObjectPath>,
}

impl VacuumFile {
    pub(crate) fn read(
        storage: &dyn Storage,
        root: &ObjectPath,
        path: ObjectPath,
        name: TimestampedName,
    ) -> Result<Self, DirectoryError> {
        let list = VacuumList::decode(&read_file(storage, &path)?).map_err(in_file(&path))?;
        let hidden = list.resolve(root).map_err(|error| {
            let kind = DecodeErrorKind::Refused { reason: error.to_string() };
            DirectoryError::Corrupt { path: path.clone(), source: kind.at("vacuum line", 0) }
        })?;
        Ok(Self { name, path, hidden })
    }

    /// As [`VacuumFile::read`] in a group, whose lines are taken literally: in a moved group they hide nothing.
    pub(crate) fn read_literal(storage: &dyn Storage, path: ObjectPath, name: TimestampedName) -> Result<Self, DirectoryError> {
        let list = VacuumList::decode(&read_file(storage, &path)?).map_err(in_file(&path))?;
        Ok(Self { name, path, hidden: list.lines.iter().filter_map(|line| storage.path_of_uri(line)).collect() })
    }
}

fn resolve_line(root: &ObjectPath, line: &str) -> Result<ObjectPath, StorageError> {
    let invalid = || StorageError::InvalidPath { path: line.to_owned(), reason: "names nothing in an array" };
    let (folder, name) = line.trim_end_matches('/').rsplit_once('/').ok_or_else(invalid)?;
    let path = match folder.rsplit('/').next() {
        Some(folder @ (FRAGMENTS | META)) => root.join(folder)?.join(name)?,
        _ => root.join(name)?,
    };
    if path == *root { Err(invalid()) } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use talavera_storage::MemoryStorage;

    use super::*;

    fn check(line: &str, expected: &str) {
        let root = ObjectPath::new("a/__meta_x/array").unwrap();
        let list = VacuumList { lines: vec![line.to_owned()] };
        assert_eq!(list.resolve(&root).unwrap(), [root.join(expected).unwrap()], "{line}");
    }

    #[test]
    fn lines_of_every_version_lead_into_the_array_wherever_it_is() {
        check("file:///path/arr/__fragments/__1_1_u_16", "__fragments/__1_1_u_16");
        check("/__fragments/__1_1_u_22", "__fragments/__1_1_u_22");
        check("__fragments/__1_1_u_22", "__fragments/__1_1_u_22");
        check("/__meta/__1_1_u", "__meta/__1_1_u");
        check("file:///path/arr/__1_1_u_5", "__1_1_u_5");
        check("/__1_1_u_11", "__1_1_u_11");
        check("file:///path/__fragments/arr/__1_1_u_5/", "__1_1_u_5");
    }

    #[test]
    fn lines_that_name_nothing_are_errors() {
        for line in ["__1_1_u_5", "/..", "/__fragments/..", "/__fragments/\0", "/.", "//"] {
            let list = VacuumList { lines: vec![line.to_owned()] };
            assert!(list.resolve(&ObjectPath::new("array").unwrap()).is_err(), "{line:?}");
        }
    }

    #[test]
    fn lines_are_addresses_before_version_19_and_relative_from_then_on() {
        let storage = MemoryStorage::new();
        let root = ObjectPath::new("array").unwrap();
        let hidden = [root.join("__fragments/x").unwrap()];
        let lines = |version| {
            let version = FormatVersion::new(version).unwrap();
            let list = VacuumList::for_array(&storage, &root, version, &hidden);
            assert_eq!(list.resolve(&root).unwrap(), hidden);
            let mut w = Writer::new();
            list.encode(&mut w);
            assert_eq!(VacuumList::decode(w.as_slice()).unwrap(), list);
            list.lines
        };
        assert_eq!(lines(18), ["mem://array/__fragments/x"]);
        assert_eq!(lines(19), ["/__fragments/x"]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        // Text has no end of its own: a prefix is a list whose last line may be cut.
        #[test]
        fn a_prefix_holds_the_same_lines_but_for_the_last(lines in proptest::collection::vec("[a-zé/_]{1,12}", 0..5)) {
            let list = VacuumList { lines };
            let mut w = Writer::new();
            list.encode(&mut w);
            let bytes = w.into_vec();
            proptest::prop_assert_eq!(&VacuumList::decode(&bytes).unwrap(), &list);
            for len in 0..bytes.len() {
                if let Ok(prefix) = VacuumList::decode(&bytes[..len]) {
                    let whole = prefix.lines.len().saturating_sub(1);
                    proptest::prop_assert_eq!(&prefix.lines[..whole], &list.lines[..whole]);
                }
            }
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes: Vec<u8>, line: String) {
            let root = ObjectPath::new("array").unwrap();
            let _ = VacuumList::decode(&bytes).map(|list| list.resolve(&root));
            if let Ok(path) = resolve_line(&root, &line) {
                proptest::prop_assert!(path.relative_to(&root).is_some());
            }
        }
    }
}
