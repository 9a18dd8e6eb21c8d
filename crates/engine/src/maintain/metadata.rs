//! Changes of array and group metadata (05-other-files §1, 22-semantics §10.4).

use talavera_codec::Writer;
use talavera_directory::{ArrayPaths, GroupPaths, MetadataFile, MetadataValue, object_type};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::{FormatVersion, ObjectType};

use super::TileFiles;
use crate::{EncryptionKey, Error, OpenArray, names};

/// Collects changes of metadata and writes them as one file.
///
/// Dropped without [`MetadataWriter::commit`], nothing is changed.
#[derive(Debug)]
pub struct MetadataWriter<'a> {
    storage: &'a dyn Storage,
    owner: Owner,
    version: FormatVersion,
    key: Option<&'a EncryptionKey>,
    timestamp: Option<u64>,
    changes: MetadataFile,
}

/// Whose metadata they are.
#[derive(Debug)]
enum Owner {
    Array(ArrayPaths),
    Group(GroupPaths),
}

impl<'a> MetadataWriter<'a> {
    /// Begins to change the metadata of an array. Readers see the changes from `timestamp` on, in milliseconds since 1970;
    /// from now on without one. What `array` itself shows stays as it is.
    #[must_use]
    pub fn for_array(array: &'a OpenArray, timestamp: Option<u64>) -> Self {
        Self {
            storage: array.storage(),
            owner: Owner::Array(ArrayPaths::new(array.root().clone())),
            version: array.schema().version.for_new_fragments(),
            key: array.options().key.as_ref(),
            timestamp,
            changes: MetadataFile::default(),
        }
    }

    /// Begins to change the metadata of the group at `root`, as [`MetadataWriter::for_array`].
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no group; the errors of storage.
    pub fn for_group(
        storage: &'a dyn Storage,
        root: &ObjectPath,
        key: Option<&'a EncryptionKey>,
        timestamp: Option<u64>,
    ) -> Result<Self, Error> {
        if object_type(storage, root)? != Some(ObjectType::Group) {
            return Err(Error::NotFound { path: root.clone(), wanted: "group" });
        }
        let owner = Owner::Group(GroupPaths::new(root.clone()));
        Ok(Self { storage, owner, version: FormatVersion::DEFAULT, key, timestamp, changes: MetadataFile::default() })
    }

    /// Sets a key, which may be empty. Of several changes of one key, the last counts.
    ///
    /// # Errors
    /// For a key of 4 GiB or more.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: MetadataValue) -> Result<&mut Self, Error> {
        self.changes.put(key, value)?;
        Ok(self)
    }

    /// Deletes a key; that it does not exist is no error.
    ///
    /// # Errors
    /// As [`MetadataWriter::put`].
    pub fn delete(&mut self, key: impl Into<Vec<u8>>) -> Result<&mut Self, Error> {
        self.changes.delete(key)?;
        Ok(self)
    }

    /// Writes the changes, if there are any, as one file that is there whole or not at all.
    ///
    /// # Errors
    /// The errors of storage.
    pub fn commit(self) -> Result<(), Error> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let name = names::next_plain_name(self.timestamp)?;
        let (path, staging) = match &self.owner {
            Owner::Array(paths) => (paths.metadata(&name)?, super::staging(paths, self.version)?),
            Owner::Group(paths) => (paths.metadata(&name)?, paths.root().clone()),
        };
        let mut payload = Writer::new();
        self.changes.encode(&mut payload);
        TileFiles { storage: self.storage, staging, version: self.version, key: self.key }.write(&path, payload.as_slice())
    }
}
