//! Paths of objects: parts between slashes, none of which leads elsewhere.

use std::fmt;
use std::sync::Arc;

use crate::StorageError;

/// The path of an object or folder in a store: parts joined by `/`, without a slash at either end.
///
/// No part is empty, `.` or `..`, so joining names from outside cannot leave the folder. The empty path is the root of
/// the store. Paths compare as bytes, which is the order that the array format sorts by. Clones share the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectPath(Arc<str>);

impl ObjectPath {
    /// The root of a store.
    #[must_use]
    pub fn root() -> Self {
        Self(Arc::from(""))
    }

    /// The path that `text` spells; empty and `.` parts are dropped.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when a part is `..` or holds a NUL byte.
    pub fn new(text: &str) -> Result<Self, StorageError> {
        Self::root().join(text)
    }

    /// The path of `relative`, one part or several, under this one.
    ///
    /// # Errors
    /// As [`ObjectPath::new`].
    pub fn join(&self, relative: &str) -> Result<Self, StorageError> {
        let mut text = String::with_capacity(self.0.len() + 1 + relative.len());
        text.push_str(&self.0);
        for part in relative.split('/') {
            match part {
                "" | "." => continue,
                ".." => return Err(invalid(relative, "climbs out of its folder")),
                _ if part.contains('\0') => return Err(invalid(relative, "holds a NUL byte")),
                _ => {}
            }
            if !text.is_empty() {
                text.push('/');
            }
            text.push_str(part);
        }
        Ok(Self(text.into()))
    }

    /// The last part; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The folder that holds this; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(self.0.rsplit_once('/').map_or_else(Self::root, |(parent, _)| Self(parent.into())))
    }

    /// Whether this is the root of the store.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts, from the root down.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// What leads from `folder` to this; `None` when this is not under it. Empty when they are the same.
    #[must_use]
    pub fn relative_to(&self, folder: &Self) -> Option<&str> {
        let rest = self.0.strip_prefix(&*folder.0)?;
        if folder.is_root() || rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // From the root of the store; in one that is the file system, that is the absolute path.
        f.pad(&format!("/{}", self.0))
    }
}

impl fmt::Debug for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

fn invalid(path: &str, reason: &'static str) -> StorageError {
    StorageError::InvalidPath { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ObjectPath {
        ObjectPath::new(text).unwrap()
    }

    #[test]
    fn spellings_of_one_path_are_equal() {
        assert_eq!(path("/a//b/./c/"), path("a/b/c"));
        assert_eq!(path("").as_str(), "");
        assert_eq!(path("/"), ObjectPath::root());
    }

    #[test]
    fn names_from_outside_do_not_leave_their_folder() {
        for hostile in ["..", "../x", "a/../b", "a/..", "x\0y"] {
            assert!(matches!(path("array").join(hostile), Err(StorageError::InvalidPath { .. })), "{hostile:?}");
        }
        assert_eq!(path("array").join("/etc/passwd").unwrap(), path("array/etc/passwd"));
        assert_eq!(path("array").join("...").unwrap(), path("array/..."));
    }

    #[test]
    fn a_path_is_its_parent_and_its_name() {
        let file = path("a/b/c");
        assert_eq!((file.name(), file.parent()), ("c", Some(path("a/b"))));
        assert_eq!((path("a").name(), path("a").parent()), ("a", Some(ObjectPath::root())));
        assert_eq!((ObjectPath::root().name(), ObjectPath::root().parent()), ("", None));
    }

    #[test]
    fn the_way_from_a_folder_counts_whole_parts() {
        assert_eq!(path("a/b/c").relative_to(&path("a")), Some("b/c"));
        assert_eq!(path("a/b").relative_to(&ObjectPath::root()), Some("a/b"));
        assert_eq!(path("ab/c").relative_to(&path("a")), None);
        assert_eq!(path("a").relative_to(&path("a")), Some(""));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_text_makes_a_path_with_a_part_that_leads_elsewhere(text in "[a./\\x00]{0,12}|.*") {
            if let Ok(path) = ObjectPath::new(&text) {
                proptest::prop_assert!(path.parts().all(|part| !matches!(part, "" | "." | "..") && !part.contains('\0')));
                proptest::prop_assert_eq!(ObjectPath::new(path.as_str()).unwrap(), path);
            }
        }
    }
}
