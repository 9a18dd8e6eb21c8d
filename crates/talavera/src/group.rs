//! An open group.

use std::path::Path;
use std::sync::Arc;

use talavera_engine::{ArrayMetadata, GroupMember, OpenGroup};
use talavera_storage::{ObjectPath, Storage};

use crate::open_options::locate_new;
use crate::{Array, Error, GroupEdit, MetadataEdit, OpenOptions};

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
    root: ObjectPath,
    options: OpenOptions,
}

impl Group {
    pub(crate) fn new(open: OpenGroup, root: ObjectPath, options: OpenOptions) -> Self {
        Self { open: Arc::new(open), root, options }
    }

    /// Creates a group without members in a local folder, and opens it.
    ///
    /// ```
    /// use talavera::{ArrayBuilder, Group};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("group");
    /// let group = Group::create(&path)?;
    /// ArrayBuilder::dense().dimension("x", 0..=9_i64, 5).attribute::<f64>("v").create(path.join("inside"))?;
    /// group.edit().add_member("inside").add_named("inside", "again").commit()?;
    /// group.edit_metadata().put("owner", "me").commit()?;
    ///
    /// let group = group.reopen()?;
    /// assert_eq!(group.members().map(|member| member.key()).collect::<Vec<_>>(), ["again", "inside"]);
    /// assert_eq!(group.open_array(group.member("again").unwrap())?.schema().attributes[0].name, "v");
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is a group or an array already, and when storage fails.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let (storage, root) = locate_new(path.as_ref())?;
        Self::create_in(storage, root)
    }

    /// Creates a group at `root` in any storage, and opens it.
    ///
    /// # Errors
    /// As [`Group::create`].
    pub fn create_in(storage: Arc<dyn Storage>, root: ObjectPath) -> Result<Self, Error> {
        talavera_engine::create_group(&*storage, &root)?;
        OpenOptions::new().open_group_in(storage, root)
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

    /// The group as it is now, with the key and the limits that this one was opened with.
    ///
    /// # Errors
    /// As [`OpenOptions::open_group`].
    pub fn reopen(&self) -> Result<Self, Error> {
        OpenOptions::of(&self.options.engine).open_group_in(Arc::clone(self.open.storage()), self.root.clone())
    }

    /// A change of the members.
    pub fn edit(&self) -> GroupEdit<'_> {
        GroupEdit::new(&**self.open.storage(), &self.root, &self.options.engine)
    }

    /// A change of the metadata.
    pub fn edit_metadata(&self) -> MetadataEdit<'_> {
        MetadataEdit::of_group(&**self.open.storage(), &self.root, self.options.engine.key.as_ref())
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
