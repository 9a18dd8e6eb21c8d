//! What lies in local folders (22-semantics-objects-errors-config §10.6).

use std::path::{Path, PathBuf};

use talavera_engine::object_type as type_of;
use talavera_types::ObjectType;

use crate::Error;
use crate::open_options::locate;

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
    let mut objects = Vec::new();
    for entry in storage.list(&root)?.into_iter().filter(talavera_storage::Entry::is_folder) {
        let found = type_of(&*storage, &root.join(&entry.name)?).map_err(talavera_engine::Error::from)?;
        if let Some(object_type) = found {
            objects.push(Object { path: path.join(&entry.name), name: entry.name, object_type });
        }
    }
    Ok(objects)
}
