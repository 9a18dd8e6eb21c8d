//! New groups and changes of their members (01-layout §10, 05-other-files §9, 22-semantics §10.5).

use std::collections::BTreeSet;

use talavera_codec::Writer;
use talavera_directory::{
    Group, GroupDetails, GroupDirectory, GroupMember, GroupPaths, GroupRecord, GroupVersion, NamedFile, TimeWindow,
    TimestampedName, object_type,
};
use talavera_storage::{ObjectPath, Storage, StorageExt};
use talavera_types::{FormatVersion, ObjectType};

use super::TileFiles;
use crate::{EngineOptions, Error, metadata_file, names};

/// Creates a group without members at `root`.
///
/// # Errors
/// [`Error::AlreadyExists`] when there is a group or an array at `root`; the errors of storage.
pub fn create_group(storage: &dyn Storage, root: &ObjectPath) -> Result<(), Error> {
    let paths = GroupPaths::new(root.clone());
    let exists = |found| Err(Error::AlreadyExists { path: root.clone(), found });
    match object_type(storage, root)? {
        Some(ObjectType::Array) => return exists("an array"),
        // An empty folder of members is what an unfinished creation leaves.
        Some(ObjectType::Group) if storage.exists(&paths.marker()?)? => return exists("a group"),
        _ => {}
    }
    for folder in ["__group", "__meta"] {
        storage.create_folder(&root.join(folder)?)?;
    }
    Ok(storage.write_via(root, &paths.marker()?, &[])?)
}

/// Collects changes of the members of a group and writes them as one file.
///
/// A member is known by its key: its name if it has one, else its address as it was given. In one session a key is either
/// added or removed, and once only. Dropped without [`GroupWriter::commit`], nothing is changed.
#[derive(Debug)]
pub struct GroupWriter<'a> {
    storage: &'a dyn Storage,
    paths: GroupPaths,
    options: &'a EngineOptions,
    timestamp: Option<u64>,
    version: GroupVersion,
    newest: Option<TimestampedName>,
    members: Group,
    added: Vec<GroupMember>,
    removed: Vec<GroupMember>,
    touched: BTreeSet<String>,
}

impl<'a> GroupWriter<'a> {
    /// Begins to change the group at `root`, as it is at `timestamp` in milliseconds since 1970, or now without one.
    /// Readers see the changes from that time on.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no group; damaged or encrypted files; the errors of storage.
    pub fn open(
        storage: &'a dyn Storage,
        root: &ObjectPath,
        timestamp: Option<u64>,
        options: &'a EngineOptions,
    ) -> Result<Self, Error> {
        if object_type(storage, root)? != Some(ObjectType::Group) {
            return Err(Error::NotFound { path: root.clone(), wanted: "group" });
        }
        let end = match timestamp {
            None | Some(0) => names::now_ms()?,
            Some(time) => time,
        };
        let window = TimeWindow::until(end);
        let directory = GroupDirectory::read(storage, root)?;
        let files = directory.details(window);
        Ok(Self {
            storage,
            paths: GroupPaths::new(root.clone()),
            options,
            timestamp,
            // A group keeps its version: libraries that know only the first can go on reading it.
            version: directory.version(window).unwrap_or(GroupVersion::V2),
            newest: files.last().map(|file| file.name.clone()),
            members: read_members(storage, &files, options)?,
            added: Vec::new(),
            removed: Vec::new(),
            touched: BTreeSet::new(),
        })
    }

    /// The members as they were before the changes of this session.
    #[must_use]
    pub fn members(&self) -> &Group {
        &self.members
    }

    /// Adds the array or group at `uri`: a path below the group if it `is_relative`, which follows the group when that is
    /// moved, else an address in the store. A member of this key from before is replaced.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no array or group; as [`GroupWriter::add_as`]; the errors of storage.
    pub fn add(&mut self, uri: &str, is_relative: bool, name: Option<&str>) -> Result<(), Error> {
        let member = GroupMember { object_type: ObjectType::Invalid, is_relative, uri: uri.to_owned(), name: None };
        let path = member.resolve(self.storage, self.paths.root())?;
        let not_found = || Error::NotFound { path: path.clone(), wanted: "array or group" };
        let found = object_type(self.storage, &path)?.ok_or_else(not_found)?;
        // Absolute addresses are stored with their scheme, by which other libraries tell them from relative ones.
        let uri = if is_relative { uri.to_owned() } else { self.storage.uri(&path) };
        self.add_as(&uri, is_relative, name, found)
    }

    /// As [`GroupWriter::add`], without a look at what lies there: for members that do not exist yet, or in another store.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an empty name or address, and for a key that this session has added or removed.
    pub fn add_as(&mut self, uri: &str, is_relative: bool, name: Option<&str>, object_type: ObjectType) -> Result<(), Error> {
        if uri.is_empty() || name.is_some_and(str::is_empty) {
            return Err(Error::invalid("a group member needs an address, and a name that is not empty if it has one"));
        }
        if is_relative {
            self.paths.root().join(uri)?;
        }
        let member = GroupMember { object_type, is_relative, uri: uri.to_owned(), name: name.map(str::to_owned) };
        self.touch(member.key())?;
        self.added.push(member);
        Ok(())
    }

    /// Removes a member from the group, by its key or, if only one has it, by its address. What it names stays.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such member, when several have the address, and when this session has added or
    /// removed it.
    pub fn remove(&mut self, key: &str) -> Result<(), Error> {
        let member = self.find(key)?;
        self.touch(member.key())?;
        self.removed.push(member);
        Ok(())
    }

    /// Gives a member another name; `key` is as for [`GroupWriter::remove`].
    ///
    /// # Errors
    /// As [`GroupWriter::remove`], and when another member has the name.
    pub fn rename(&mut self, key: &str, name: &str) -> Result<(), Error> {
        let member = self.find(key)?;
        if self.members.get(name).is_some() || name.is_empty() || self.touched.contains(name) {
            return Err(Error::invalid(format!("group member '{key}' cannot be named '{name}': the name is taken or empty")));
        }
        self.touch(member.key())?;
        self.touch(name)?;
        self.added.push(GroupMember { name: Some(name.to_owned()), ..member.clone() });
        self.removed.push(member);
        Ok(())
    }

    /// Writes the changes, if there are any, as one file that is there whole or not at all.
    ///
    /// Two sessions at once do not know of each other: of a key that both change, the later file counts, and in groups of
    /// version 1 the later file alone.
    ///
    /// # Errors
    /// The errors of storage.
    pub fn commit(mut self) -> Result<(), Error> {
        if self.added.is_empty() && self.removed.is_empty() {
            return Ok(());
        }
        let removed = self.removed.iter().map(|member| (member, true));
        let added = self.added.iter().map(|member| (member, false));
        let version = GroupVersion::V2;
        let record = |(member, is_deleted): (&GroupMember, bool)| GroupRecord { version, member: member.clone(), is_deleted };
        let changes = GroupDetails { version, records: removed.chain(added).map(record).collect() };
        self.members.apply(changes);
        let mut payload = Writer::new();
        self.members.to_details(self.version, &self.removed).encode(&mut payload);
        let path = self.paths.details(&self.next_name()?)?;
        let files = TileFiles {
            storage: self.storage,
            staging: self.paths.root().clone(),
            version: FormatVersion::DEFAULT,
            key: self.options.key.as_ref(),
        };
        files.write(&path, payload.as_slice())
    }

    /// A name behind that of the newest file, by time and then by text, as readers sort.
    fn next_name(&self) -> Result<TimestampedName, Error> {
        let name = names::next_group_name(self.timestamp, self.version)?;
        match &self.newest {
            // Another process was faster in this millisecond.
            Some(newest) if (name.start(), &name) <= (newest.start(), newest) && self.timestamp.is_none() => {
                names::next_group_name(Some(newest.end().saturating_add(1)), self.version)
            }
            _ => Ok(name),
        }
    }

    fn find(&self, key: &str) -> Result<GroupMember, Error> {
        if let Some(member) = self.members.get(key) {
            return Ok(member.clone());
        }
        let mut of_address = self.members.members().filter(|member| member.uri == key);
        match (of_address.next(), of_address.next()) {
            (Some(member), None) => Ok(member.clone()),
            (Some(_), Some(_)) => Err(Error::invalid(format!("several group members lie at '{key}'; give the name of one"))),
            (None, _) => Err(Error::invalid(format!("the group has no member '{key}'"))),
        }
    }

    fn touch(&mut self, key: &str) -> Result<(), Error> {
        if self.touched.insert(key.to_owned()) {
            return Ok(());
        }
        Err(Error::invalid(format!("group member '{key}' was added or removed before in the same session")))
    }
}

/// The members that these files leave, applied in order.
pub(super) fn read_members(storage: &dyn Storage, files: &[&NamedFile], options: &EngineOptions) -> Result<Group, Error> {
    let mut members = Group::default();
    for file in files {
        let payload = metadata_file::read_file(storage, &file.path, options)?;
        members.apply(GroupDetails::decode(&payload).map_err(Error::corrupt(&file.path))?);
    }
    Ok(members)
}
