//! Changing the members of a group (22-semantics §10.5).

use talavera_engine::{EngineOptions, GroupWriter};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::ObjectType;

use crate::Error;

/// A change of the members of a group: built up, then committed as one file.
///
/// A member is known by its key: its name if it has one, else its address as it was given. One change may touch a key once.
#[derive(Debug)]
#[must_use = "a change does nothing until it is committed"]
pub struct GroupEdit<'a> {
    storage: &'a dyn Storage,
    root: &'a ObjectPath,
    options: &'a EngineOptions,
    steps: Vec<Step>,
    timestamp: Option<u64>,
}

#[derive(Debug)]
enum Step {
    Add { uri: String, is_relative: bool, name: Option<String>, object_type: Option<ObjectType> },
    Remove(String),
    Rename { key: String, name: String },
}

impl<'a> GroupEdit<'a> {
    pub(crate) fn new(storage: &'a dyn Storage, root: &'a ObjectPath, options: &'a EngineOptions) -> Self {
        Self { storage, root, options, steps: Vec::new(), timestamp: None }
    }

    /// Adds the array or group that lies at a path below the group; it follows the group when that is moved.
    pub fn add_member(self, path: impl Into<String>) -> Self {
        self.step(Step::Add { uri: path.into(), is_relative: true, name: None, object_type: None })
    }

    /// As [`GroupEdit::add_member`], under a name.
    pub fn add_named(self, path: impl Into<String>, name: impl Into<String>) -> Self {
        self.step(Step::Add { uri: path.into(), is_relative: true, name: Some(name.into()), object_type: None })
    }

    /// Adds the array or group at an address, `file:///data/array` for example, wherever the group is or goes.
    pub fn add_absolute(self, uri: impl Into<String>, name: Option<&str>) -> Self {
        self.step(Step::Add { uri: uri.into(), is_relative: false, name: name.map(str::to_owned), object_type: None })
    }

    /// Adds an array or group at an address without a look at what lies there: for members that do not exist yet, or in
    /// another store.
    pub fn add_unseen(self, uri: impl Into<String>, name: Option<&str>, object_type: ObjectType) -> Self {
        let (name, object_type) = (name.map(str::to_owned), Some(object_type));
        self.step(Step::Add { uri: uri.into(), is_relative: false, name, object_type })
    }

    /// Removes a member from the group, by its key or, if only one has it, by its address. What it names stays.
    pub fn remove(self, key: impl Into<String>) -> Self {
        self.step(Step::Remove(key.into()))
    }

    /// Gives a member another name.
    pub fn rename(self, key: impl Into<String>, name: impl Into<String>) -> Self {
        self.step(Step::Rename { key: key.into(), name: name.into() })
    }

    /// The time of the change in milliseconds since 1970, which also says which members there are; now without this.
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.timestamp = Some(timestamp_ms);
        self
    }

    /// Writes the changes, if there are any.
    ///
    /// # Errors
    /// When there is nothing at a path to be added, when a member to be changed does not exist, when a name is taken or
    /// empty, when a key is touched twice, and when storage fails.
    pub fn commit(self) -> Result<(), Error> {
        let mut writer = GroupWriter::open(self.storage, self.root, self.timestamp, self.options)?;
        for step in &self.steps {
            match step {
                Step::Add { uri, is_relative, name, object_type: None } => writer.add(uri, *is_relative, name.as_deref())?,
                Step::Add { uri, is_relative, name, object_type: Some(object_type) } => {
                    writer.add_as(uri, *is_relative, name.as_deref(), *object_type)?;
                }
                Step::Remove(key) => writer.remove(key)?,
                Step::Rename { key, name } => writer.rename(key, name)?,
            }
        }
        Ok(writer.commit()?)
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
