//! Where things lie in an array or group folder: page 01-layout, "Array folder by version" and "Groups".

use talavera_storage::{ObjectPath, StorageError};
use talavera_types::FormatVersion;

use crate::TimestampedName;

/// The places in one array folder.
///
/// No method asks the store; none fails for a root and names that are valid, since timestamped names are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayPaths {
    root: ObjectPath,
}

impl ArrayPaths {
    /// Folders that a new array has, besides those made by the first file in them.
    pub const FOLDERS: [&'static str; 7] = [SCHEMA, "__schema/__enumerations", COMMITS, FRAGMENTS, META, FRAGMENT_META, LABELS];

    /// The places in the array at `root`.
    #[must_use]
    pub fn new(root: ObjectPath) -> Self {
        Self { root }
    }

    /// The array folder.
    #[must_use]
    pub fn root(&self) -> &ObjectPath {
        &self.root
    }

    /// Where files may lie under other names until they are whole: nobody lists this folder.
    ///
    /// # Errors
    /// See the type.
    pub fn staging(&self) -> Result<ObjectPath, StorageError> {
        self.root.join(FRAGMENTS)
    }

    /// The file of a schema, format version 10 and later.
    ///
    /// # Errors
    /// See the type.
    pub fn schema(&self, name: &TimestampedName) -> Result<ObjectPath, StorageError> {
        self.under(SCHEMA, name.as_str())
    }

    /// The file of an enumeration, whose name a schema tells.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when the name leads out of the folder.
    pub fn enumeration(&self, name: &str) -> Result<ObjectPath, StorageError> {
        self.under("__schema/__enumerations", name)
    }

    /// The folder of a fragment.
    ///
    /// # Errors
    /// See the type.
    pub fn fragment(&self, name: &TimestampedName, version: FormatVersion) -> Result<ObjectPath, StorageError> {
        if version.has_commits_folder() { self.under(FRAGMENTS, name.as_str()) } else { self.root.join(name.as_str()) }
    }

    /// The file whose existence commits a fragment; `None` before version 5, when its metadata does.
    ///
    /// # Errors
    /// See the type.
    pub fn commit(&self, name: &TimestampedName, version: FormatVersion) -> Result<Option<ObjectPath>, StorageError> {
        commit_line(name, version).map(|line| self.root.join(&line)).transpose()
    }

    /// The file that hides what was consolidated into a fragment.
    ///
    /// # Errors
    /// See the type.
    pub fn vacuum(&self, name: &TimestampedName, version: FormatVersion) -> Result<ObjectPath, StorageError> {
        self.commits(&name.with_extension("vac"), version)
    }

    /// A `.con`, `.ign`, `.del` or `.upd` file, all of version 12 and later.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when the extension leads out of the folder.
    pub fn commits_file(&self, name: &TimestampedName, extension: &str) -> Result<ObjectPath, StorageError> {
        self.under(COMMITS, &name.with_extension(extension))
    }

    /// A file of consolidated footers.
    ///
    /// # Errors
    /// See the type.
    pub fn consolidated_footers(&self, name: &TimestampedName, version: FormatVersion) -> Result<ObjectPath, StorageError> {
        let file = name.with_extension("meta");
        if version.has_commits_folder() { self.under(FRAGMENT_META, &file) } else { self.root.join(&file) }
    }

    /// A file of array metadata.
    ///
    /// # Errors
    /// See the type.
    pub fn metadata(&self, name: &TimestampedName) -> Result<ObjectPath, StorageError> {
        self.under(META, name.as_str())
    }

    /// The file that hides what was consolidated into a file of array metadata.
    ///
    /// # Errors
    /// See the type.
    pub fn metadata_vacuum(&self, name: &TimestampedName) -> Result<ObjectPath, StorageError> {
        self.under(META, &name.with_extension("vac"))
    }

    fn commits(&self, file: &str, version: FormatVersion) -> Result<ObjectPath, StorageError> {
        if version.has_commits_folder() { self.under(COMMITS, file) } else { self.root.join(file) }
    }

    fn under(&self, folder: &str, file: &str) -> Result<ObjectPath, StorageError> {
        self.root.join(folder)?.join(file)
    }
}

/// The places in one group folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupPaths {
    root: ObjectPath,
}

impl GroupPaths {
    /// The places in the group at `root`.
    #[must_use]
    pub fn new(root: ObjectPath) -> Self {
        Self { root }
    }

    /// The group folder; also where files may lie under other names until they are whole.
    #[must_use]
    pub fn root(&self) -> &ObjectPath {
        &self.root
    }

    /// The empty file that every group has.
    ///
    /// # Errors
    /// None for a root that is valid.
    pub fn marker(&self) -> Result<ObjectPath, StorageError> {
        self.root.join(GROUP_MARKER)
    }

    /// A file of members.
    ///
    /// # Errors
    /// None for a root that is valid.
    pub fn details(&self, name: &TimestampedName) -> Result<ObjectPath, StorageError> {
        self.root.join(GROUP)?.join(name.as_str())
    }

    /// A file of group metadata.
    ///
    /// # Errors
    /// None for a root that is valid.
    pub fn metadata(&self, name: &TimestampedName) -> Result<ObjectPath, StorageError> {
        self.root.join(META)?.join(name.as_str())
    }

    /// The file that hides what was consolidated into a file of group metadata.
    ///
    /// # Errors
    /// None for a root that is valid.
    pub fn metadata_vacuum(&self, name: &TimestampedName) -> Result<ObjectPath, StorageError> {
        self.root.join(META)?.join(&name.with_extension("vac"))
    }
}

/// The commit file of a fragment relative to the array, as consolidated commits and ignore files spell it.
pub(crate) fn commit_line(name: &TimestampedName, version: FormatVersion) -> Option<String> {
    if version.has_commits_folder() {
        Some(format!("{COMMITS}/{name}.wrt"))
    } else if version.has_commit_files() {
        Some(format!("{name}.ok"))
    } else {
        None
    }
}

pub(crate) const ARRAY_SCHEMA: &str = "__array_schema.tdb";
pub(crate) const FRAGMENT_METADATA: &str = "__fragment_metadata.tdb";
pub(crate) const LOCK: &str = "__lock.tdb";
pub(crate) const GROUP_MARKER: &str = "__tiledb_group.tdb";
pub(crate) const SCHEMA: &str = "__schema";
pub(crate) const ENUMERATIONS: &str = "__enumerations";
pub(crate) const FRAGMENTS: &str = "__fragments";
pub(crate) const COMMITS: &str = "__commits";
pub(crate) const FRAGMENT_META: &str = "__fragment_meta";
pub(crate) const META: &str = "__meta";
pub(crate) const LABELS: &str = "__labels";
pub(crate) const GROUP: &str = "__group";
