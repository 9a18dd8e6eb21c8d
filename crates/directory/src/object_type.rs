//! What a folder is: page 01-layout, "Object type".

use talavera_storage::{ObjectPath, Storage};
use talavera_types::ObjectType;

use crate::DirectoryError;
use crate::paths::{ARRAY_SCHEMA, GROUP, GROUP_MARKER, SCHEMA};

/// Whether there is an array or a group at `path`, by one listing. A folder that is both is an array.
///
/// # Errors
/// [`DirectoryError::Storage`] when the store fails.
pub fn object_type(storage: &dyn Storage, path: &ObjectPath) -> Result<Option<ObjectType>, DirectoryError> {
    let entries = storage.list(path)?;
    let has = |folder: &str, file: &str| {
        entries.iter().any(|entry| if entry.is_folder() { entry.name == folder } else { entry.name == file })
    };
    Ok(if has(SCHEMA, ARRAY_SCHEMA) {
        Some(ObjectType::Array)
    } else if has(GROUP, GROUP_MARKER) {
        Some(ObjectType::Group)
    } else {
        None
    })
}

#[cfg(test)]
mod tests {
    use talavera_storage::{MemoryStorage, StorageExt};

    use super::*;

    fn check(files: &[&str], expected: Option<ObjectType>) {
        let storage = MemoryStorage::new();
        let root = ObjectPath::new("object").unwrap();
        for file in files {
            storage.write(&root.join(file).unwrap(), b"").unwrap();
        }
        assert_eq!(object_type(&storage, &root).unwrap(), expected, "{files:?}");
    }

    #[test]
    fn folders_and_files_of_the_right_kind_tell_what_an_object_is() {
        check(&["__array_schema.tdb"], Some(ObjectType::Array));
        check(&["__schema/__1_1_x"], Some(ObjectType::Array));
        check(&["__tiledb_group.tdb"], Some(ObjectType::Group));
        check(&["__group/x"], Some(ObjectType::Group));
        check(&["__group/x", "__schema/x"], Some(ObjectType::Array));
        check(&["__schema"], None);
        check(&["__group"], None);
        check(&["__array_schema.tdb/x"], None);
        check(&["README.md"], None);
        check(&[], None);
    }

    #[test]
    fn an_empty_schema_folder_makes_an_array() {
        let storage = MemoryStorage::new();
        let root = ObjectPath::new("object").unwrap();
        storage.create_folder(&root.join("__schema").unwrap()).unwrap();
        assert_eq!(object_type(&storage, &root).unwrap(), Some(ObjectType::Array));
    }
}
