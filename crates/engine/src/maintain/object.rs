//! Arrays and groups as a whole: listing, removing, moving and copying (22-semantics §10.6).

mod copy;
mod remove;

use talavera_directory::object_type;
use talavera_storage::{Entry, ObjectPath, Storage};
use talavera_types::ObjectType;

use crate::Error;

pub use copy::copy_object;
pub use remove::{remove_array, remove_group, remove_object};

/// An array or group that was found in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEntry {
    /// Where it lies.
    pub path: ObjectPath,
    /// Whether it is an array or a group.
    pub object_type: ObjectType,
}

/// Whether a walk comes to an object before or after what lies in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WalkOrder {
    /// An object before what lies in it.
    #[default]
    Pre,
    /// An object after what lies in it.
    Post,
}

/// The arrays and groups directly in `folder`, by name, whether a group names them as members or not.
///
/// # Errors
/// The errors of storage; a folder that does not exist holds nothing.
pub fn list_objects(storage: &dyn Storage, folder: &ObjectPath) -> Result<Vec<ObjectEntry>, Error> {
    let mut objects = Vec::new();
    for entry in storage.list(folder)?.into_iter().filter(Entry::is_folder) {
        let path = folder.join(&entry.name)?;
        if let Some(object_type) = object_type(storage, &path)? {
            objects.push(ObjectEntry { path, object_type });
        }
    }
    Ok(objects)
}

/// The arrays and groups in `folder` and in one another, by name. A folder that is neither is not entered.
///
/// # Errors
/// As [`list_objects`].
pub fn walk_objects(storage: &dyn Storage, folder: &ObjectPath, order: WalkOrder) -> Result<Vec<ObjectEntry>, Error> {
    let mut walked = Vec::new();
    let mut waiting = list_objects(storage, folder)?;
    // One order is the other backwards, with siblings backwards as well.
    if order == WalkOrder::Pre {
        waiting.reverse();
    }
    while let Some(object) = waiting.pop() {
        let mut inside = list_objects(storage, &object.path)?;
        if order == WalkOrder::Pre {
            inside.reverse();
        }
        waiting.extend(inside);
        walked.push(object);
    }
    if order == WalkOrder::Post {
        walked.reverse();
    }
    Ok(walked)
}

/// Moves the array or group at `from`, with all that lies in its folder, to `to`.
///
/// Members that a group names by absolute addresses stay where they are in its eyes, also if they were moved with it. In a
/// store without folders, objects are moved one by one.
///
/// # Errors
/// [`Error::NotFound`] when there is no array or group at `from`; [`Error::AlreadyExists`] when there is something at `to`;
/// [`Error::Invalid`] when `to` lies in `from`; the errors of storage.
pub fn move_object(storage: &dyn Storage, from: &ObjectPath, to: &ObjectPath) -> Result<(), Error> {
    check_target(storage, from, to)?;
    Ok(storage.rename(from, to)?)
}

/// What `from` is; nothing may lie at `to`, which must not lie in `from`.
fn check_target(storage: &dyn Storage, from: &ObjectPath, to: &ObjectPath) -> Result<ObjectType, Error> {
    let not_found = || Error::NotFound { path: from.clone(), wanted: "array or group" };
    let found = object_type(storage, from)?.ok_or_else(not_found)?;
    if to.relative_to(from).is_some() {
        return Err(Error::invalid(format!("{to} lies in {from}")));
    }
    let parent = to.parent().unwrap_or_else(ObjectPath::root);
    if storage.list(&parent)?.iter().any(|entry| entry.name == to.name()) {
        return Err(Error::AlreadyExists { path: to.clone(), found: "something" });
    }
    Ok(found)
}
