//! An open group.

use std::path::Path;
use std::sync::Arc;

use talavera_engine::{ArrayMetadata, GroupMember, OpenGroup};

use crate::{Array, Error, OpenOptions};

/// A group of arrays and groups, opened at a moment in time.
///
/// ```
/// use talavera::{Group, ObjectType};
///
/// let group = Group::open("tests/data/group_members")?;
/// for member in group.members().filter(|member| member.object_type == ObjectType::Array) {
///     println!("{}: {:?}", member.key(), group.open_array(member)?.schema().array_type);
/// }
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Group {
    open: Arc<OpenGroup>,
    options: OpenOptions,
}

impl Group {
    pub(crate) fn new(open: OpenGroup, options: OpenOptions) -> Self {
        Self { open: Arc::new(open), options }
    }

    /// Opens the group in a local folder as it is now. [`OpenOptions::open_group`] opens it otherwise.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        OpenOptions::new().open_group(path)
    }

    /// How to open: time, key, limits, storage. The members are opened in the same way.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// The members, ascending by key.
    pub fn members(&self) -> impl ExactSizeIterator<Item = &GroupMember> {
        self.open.members()
    }

    /// The member with this key: its name, or its URI when it has no name.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&GroupMember> {
        self.members().find(|member| member.key() == key)
    }

    /// Keys and values that users keep with the group.
    #[must_use]
    pub fn metadata(&self) -> &ArrayMetadata {
        self.open.metadata()
    }

    /// Opens a member that is an array, at the time and with the key of the group.
    ///
    /// # Errors
    /// As [`OpenOptions::open`], and when the member lies in another storage.
    pub fn open_array(&self, member: &GroupMember) -> Result<Array, Error> {
        self.options.open_in(Arc::clone(self.open.storage()), self.open.resolve(member)?)
    }

    /// Opens a member that is a group, at the time and with the key of this group.
    ///
    /// # Errors
    /// As [`Group::open_array`].
    pub fn open_group(&self, member: &GroupMember) -> Result<Self, Error> {
        self.options.open_group_in(Arc::clone(self.open.storage()), self.open.resolve(member)?)
    }

    /// The group as the engine has it.
    #[must_use]
    pub fn engine(&self) -> &OpenGroup {
        &self.open
    }
}
