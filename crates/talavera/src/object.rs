//! What lies in local folders, and arrays and groups there as a whole (22-semantics-objects-errors-config §10.6).

use std::path::{Path, PathBuf};

use talavera_engine::{ObjectEntry, WalkOrder, object_type as type_of};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::ObjectType;

use crate::open_options::{locate, locate_new, named};
use crate::{Error, OpenOptions};

/// An array or group found in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The name of its folder.
    pub name: String,
    /// Where it lies: the path that was listed, and the name.
    pub path: PathBuf,
    /// Whether it is an array or a group.
    pub object_type: ObjectType,
}

/// Whether there is an array or a group in a local folder. A folder that is both is an array.
///
/// ```
/// use talavera::{ObjectType, object_type};
///
/// assert_eq!(object_type("tests/data/dense_2d_overlap")?, Some(ObjectType::Array));
/// assert_eq!(object_type("tests/data")?, None);
/// # Ok::<(), talavera::Error>(())
/// ```
///
/// # Errors
/// When the folder cannot be listed; one that does not exist holds nothing.
pub fn object_type(path: impl AsRef<Path>) -> Result<Option<ObjectType>, Error> {
    match locate(path.as_ref()) {
        Ok((storage, root)) => Ok(type_of(&*storage, &root).map_err(talavera_engine::Error::from)?),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The arrays and groups directly in a local folder, by name. It does not matter what the folder itself is, or whether
/// a group names them as members.
///
/// # Errors
/// When a folder cannot be listed; one that does not exist holds nothing.
pub fn list(path: impl AsRef<Path>) -> Result<Vec<Object>, Error> {
    let path = path.as_ref();
    let (storage, root) = match locate(path) {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        located => located?,
    };
    let found = talavera_engine::list_objects(&*storage, &root)?;
    Ok(found.into_iter().map(|entry| object(path, &root, entry)).collect())
}

/// The arrays and groups in a local folder and in one another, by name, with an object before or after what lies in it. A
/// folder that is neither is not entered.
///
/// # Errors
/// As [`list`].
pub fn walk(path: impl AsRef<Path>, order: WalkOrder) -> Result<Vec<Object>, Error> {
    let path = path.as_ref();
    let (storage, root) = match locate(path) {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        located => located?,
    };
    let found = talavera_engine::walk_objects(&*storage, &root, order)?;
    Ok(found.into_iter().map(|entry| object(path, &root, entry)).collect())
}

/// Removes the array or group in a local folder, with everything in the folder, whoever it belongs to.
///
/// ```
/// use talavera::{ArrayBuilder, ObjectType, copy, object_type, remove, rename};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = |name: &str| folder.path().join(name);
/// ArrayBuilder::dense().dimension("x", 1..=4_i32, 2).attribute::<i32>("a").create(path("first"))?;
/// copy(path("first"), path("second"))?;
/// rename(path("first"), path("third"))?;
/// remove(path("second"))?;
/// assert_eq!([object_type(path("first"))?, object_type(path("second"))?], [None, None]);
/// assert_eq!(object_type(path("third"))?, Some(ObjectType::Array));
/// # Ok::<(), talavera::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotFound`] when there is neither; when storage fails.
pub fn remove(path: impl AsRef<Path>) -> Result<(), Error> {
    let (storage, root) = locate(path.as_ref())?;
    talavera_engine::remove_object(&*storage, &root).map_err(|error| named(error, &*storage))
}

/// Removes the group in a local folder: its list of members and its metadata; with `is_recursive`, all its members and
/// their members before, wherever they lie. Other files stay. `options` hold the key of an encrypted group.
///
/// # Errors
/// [`Error::NotFound`] when there is no group; when members lie in another storage, before anything is removed; when
/// storage fails.
pub fn remove_group(path: impl AsRef<Path>, is_recursive: bool, options: &OpenOptions) -> Result<(), Error> {
    let (storage, root) = locate(path.as_ref())?;
    let removed = talavera_engine::remove_group(&*storage, &root, is_recursive, &options.engine);
    removed.map_err(|error| named(error, &*storage))
}

/// Moves the array or group in a local folder, with everything in the folder.
///
/// Members that a group names by absolute addresses stay where they are in its eyes, also if they were moved with it.
///
/// # Errors
/// [`Error::NotFound`] when there is neither at `from`; when there is something at `to`, or when `to` lies in `from`; when
/// storage fails.
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), Error> {
    between(from.as_ref(), to.as_ref(), talavera_engine::move_object)
}

/// Copies the array or group in a local folder, with everything in the folder. When it fails, nothing is left at `to`.
///
/// # Errors
/// As [`rename`].
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), Error> {
    between(from.as_ref(), to.as_ref(), talavera_engine::copy_object)
}

/// What is done to two places of one storage.
type Between = fn(&dyn Storage, &ObjectPath, &ObjectPath) -> Result<(), talavera_engine::Error>;

fn between(from: &Path, to: &Path, act: Between) -> Result<(), Error> {
    let (storage, from) = locate(from)?;
    let (other, to) = locate_new(to)?;
    let root = ObjectPath::root();
    if storage.uri(&root) != other.uri(&root) {
        return Err(talavera_engine::Error::Invalid("both places must lie on one drive".to_owned()).into());
    }
    act(&*storage, &from, &to).map_err(|error| named(error, &*storage))
}

/// What was found below `root`, which the caller spells `path`.
fn object(path: &Path, root: &ObjectPath, entry: ObjectEntry) -> Object {
    let path = entry.path.relative_to(root).map_or_else(|| path.to_owned(), |relative| path.join(relative));
    Object { name: entry.path.name().to_owned(), path, object_type: entry.object_type }
}
