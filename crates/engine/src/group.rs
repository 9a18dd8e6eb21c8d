//! A group at a time window: its members and metadata.

use std::sync::Arc;

use talavera_directory::{ArrayMetadata, Group, GroupDetails, GroupDirectory, GroupMember, TimeWindow, object_type};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::ObjectType;

use crate::open::read_metadata;
use crate::{EngineOptions, Error, metadata_file};

/// A group opened at a time window.
#[derive(Debug)]
pub struct OpenGroup {
    storage: Arc<dyn Storage>,
    directory: GroupDirectory,
    members: Group,
    metadata: ArrayMetadata,
}

impl OpenGroup {
    /// Opens the group at `root` as it was in `window`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no group; the errors of storage; damaged or encrypted files.
    pub fn open(storage: Arc<dyn Storage>, root: ObjectPath, window: TimeWindow, options: &EngineOptions) -> Result<Self, Error> {
        if object_type(&*storage, &root)? != Some(ObjectType::Group) {
            return Err(Error::NotFound { path: root, wanted: "group" });
        }
        let directory = GroupDirectory::read(&*storage, &root)?;
        let mut members = Group::default();
        for file in directory.details(window) {
            let payload = metadata_file::read_file(&*storage, &file.path, options)?;
            members.apply(GroupDetails::decode(&payload).map_err(Error::corrupt(&file.path))?);
        }
        let metadata = read_metadata(&*storage, options, directory.metadata_files(window))?;
        Ok(Self { storage, directory, members, metadata })
    }

    /// The members, by key: the name if one is set, else the URI.
    pub fn members(&self) -> impl ExactSizeIterator<Item = &GroupMember> {
        self.members.members()
    }

    /// Where a member lies in the storage of the group.
    ///
    /// # Errors
    /// When it lies elsewhere.
    pub fn resolve(&self, member: &GroupMember) -> Result<ObjectPath, Error> {
        Ok(member.resolve(&*self.storage, self.directory.root())?)
    }

    /// The group's metadata in the window.
    #[must_use]
    pub fn metadata(&self) -> &ArrayMetadata {
        &self.metadata
    }

    /// The storage that the group lies in.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }
}
