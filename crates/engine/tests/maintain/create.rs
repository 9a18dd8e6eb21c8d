use std::sync::Arc;

use talavera_directory::TimeWindow;
use talavera_engine::{
    CreateOptions, EncryptionKey, EngineOptions, Error, OpenArray, create_array, create_group, enumeration_file_name,
};
use talavera_schema::{Attribute, DimensionLabel, Enumeration, FilterList, FilterSpec, NdRange, Range};
use talavera_storage::{MemoryStorage, ObjectPath, Storage, StorageError};
use talavera_types::{CellValNum, DataOrder, Datatype};

use super::{dense, files, invalid, open, path, version};

fn at(timestamp: u64) -> CreateOptions {
    CreateOptions { timestamp: Some(timestamp), ..CreateOptions::default() }
}

fn colours(values: &[&str]) -> Enumeration {
    let values = values.iter().map(|value| value.as_bytes());
    let file_name = enumeration_file_name().unwrap();
    Enumeration::from_values("colours", file_name, Datatype::StringUtf8, CellValNum::Var, true, values).unwrap()
}

#[test]
fn an_array_opens_with_the_schema_that_it_was_created_by() {
    let colours = colours(&["red", "green"]);
    let colour = Attribute { enumeration: Some("colours".into()), nullable: true, ..Attribute::new("colour", Datatype::Int8) };
    let filtered = Attribute { filters: FilterList::new(vec![FilterSpec::Byteshuffle]), ..Attribute::new("b", Datatype::Int64) };
    let schema = dense()
        .attribute(colour)
        .attribute(filtered)
        .enumeration(&colours)
        .label(DimensionLabel::internal(0, 0, "lab", DataOrder::Decreasing, Datatype::StringAscii))
        .current_domain(NdRange(vec![Range::Signed(2, 7)]))
        .build()
        .unwrap();
    let (storage, root) = (MemoryStorage::new(), path("folder/array"));
    create_array(&storage, &root, &schema, std::slice::from_ref(&colours), &at(1000)).unwrap();
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    assert_eq!(array.schema(), &schema);
    assert!(array.schema_name().starts_with("__1000_1000_"));
    assert_eq!(*array.enumeration("colours").unwrap(), colours);
    let label = open(&storage, &root.join("__labels/l0").unwrap(), TimeWindow::ALL).unwrap();
    assert_eq!(label.schema().domain.dimensions[0].name, "index");
    assert_eq!(label.schema().domain.dimensions[0].domain, schema.domain.dimensions[0].domain);
    let values = &label.schema().attributes[0];
    assert_eq!((values.name.as_str(), values.order, values.cell_val_num), ("label", DataOrder::Decreasing, CellValNum::Var));
    let folders: Vec<_> = storage.list(&root).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(folders, ["__commits", "__fragment_meta", "__fragments", "__labels", "__meta", "__schema"]);
}

#[test]
fn each_version_has_its_own_layout() {
    for (number, folders) in [
        (7, &["__array_schema.tdb", "__lock.tdb", "__meta"][..]),
        (9, &["__array_schema.tdb", "__lock.tdb", "__meta"]),
        (10, &["__lock.tdb", "__meta", "__schema"]),
        (11, &["__meta", "__schema"]),
        (12, &["__commits", "__fragment_meta", "__fragments", "__meta", "__schema"]),
        (18, &["__commits", "__fragment_meta", "__fragments", "__labels", "__meta", "__schema"]),
        (23, &["__commits", "__fragment_meta", "__fragments", "__labels", "__meta", "__schema"]),
    ] {
        let (storage, root) = (MemoryStorage::new(), path("array"));
        let schema = dense().version(version(number)).build().unwrap();
        create_array(&storage, &root, &schema, &[], &CreateOptions::default()).unwrap();
        let found: Vec<_> = storage.list(&root).unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(found, folders, "version {number}");
        assert_eq!(open(&storage, &root, TimeWindow::ALL).unwrap().schema(), &schema);
        assert!(matches!(
            create_array(&storage, &root, &schema, &[], &CreateOptions::default()),
            Err(Error::AlreadyExists { found: "an array", .. })
        ));
    }
}

#[test]
fn an_encrypted_array_opens_with_its_key_only() {
    let (storage, root) = (MemoryStorage::new(), path("array"));
    let key = EncryptionKey::new([7; 32]);
    let schema = dense().build().unwrap();
    let options = CreateOptions { key: Some(key.clone()), timestamp: None };
    create_array(&storage, &root, &schema, &[], &options).unwrap();
    assert!(matches!(open(&storage, &root, TimeWindow::ALL), Err(Error::GenericTile { .. })));
    let options = EngineOptions { key: Some(key), ..EngineOptions::default() };
    let array = OpenArray::open(Arc::new(storage), root, TimeWindow::ALL, options).unwrap();
    assert_eq!(array.schema(), &schema);
}

#[test]
fn what_an_array_cannot_be_is_refused_before_anything_is_written() {
    let storage = MemoryStorage::new();
    let refused = |schema: &talavera_schema::ArraySchema, enumerations: &[Enumeration]| {
        invalid(create_array(&storage, &path("array"), schema, enumerations, &CreateOptions::default()))
    };
    let mut schema = dense().build().unwrap();
    schema.attributes[0].name = "__a".into();
    assert!(refused(&schema, &[]).contains("reserved"));
    schema.attributes[0].name = "a".into();
    schema.capacity = 0;
    assert!(refused(&schema, &[]).contains("capacity"));
    schema.capacity = 1;
    schema.version = version(6);
    assert!(refused(&schema, &[]).contains("format version 6 cannot store it"));
    let few = colours(&["red"]);
    assert!(refused(&dense().build().unwrap(), std::slice::from_ref(&few)).contains("does not refer to"));
    assert!(refused(&dense().enumeration(&few).build().unwrap(), &[]).contains("are not given"));
    let other_file = colours(&["red"]);
    assert!(refused(&dense().enumeration(&few).build().unwrap(), &[other_file]).contains("does not refer to"));
    let bad_name = Enumeration::from_values("e", "../x", Datatype::Int8, CellValNum::ONE, false, [&[1][..]]).unwrap();
    assert!(refused(&dense().enumeration(&bad_name).build().unwrap(), &[bad_name]).contains("'../x'"));
    let many: Vec<_> = (0..200).map(|i| format!("{i}")).collect();
    let many = colours(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let mut schema = dense().enumeration(&many).build().unwrap();
    schema.attributes[0] = Attribute { enumeration: Some("colours".into()), ..Attribute::new("a", Datatype::Int8) };
    assert!(refused(&schema, &[many]).contains("cannot number 200 values"));
    let mut label = DimensionLabel::internal(0, 0, "l", DataOrder::Increasing, Datatype::Int8);
    label.uri = "__schema/x".into();
    assert!(refused(&dense().label(label).build().unwrap(), &[]).contains("cannot lie at"));
    let label = DimensionLabel::internal(0, 0, "l", DataOrder::Increasing, Datatype::Any);
    assert!(refused(&dense().label(label).build().unwrap(), &[]).contains("ANY"));
    assert!(storage.list(&ObjectPath::root()).unwrap().is_empty());
}

#[test]
fn an_array_is_not_created_over_a_group() {
    let (storage, root) = (MemoryStorage::new(), path("object"));
    create_group(&storage, &root).unwrap();
    let created = create_array(&storage, &root, &dense().build().unwrap(), &[], &CreateOptions::default());
    assert!(matches!(created, Err(Error::AlreadyExists { found: "a group", .. })));
}

#[test]
fn an_empty_schema_folder_is_no_array_yet() {
    let (storage, root) = (MemoryStorage::new(), path("array"));
    storage.create_folder(&root.join("__schema/__enumerations").unwrap()).unwrap();
    create_array(&storage, &root, &dense().build().unwrap(), &[], &CreateOptions::default()).unwrap();
    assert!(open(&storage, &root, TimeWindow::ALL).is_ok());
}

/// A store that fails to write the `n`th file.
#[derive(Debug)]
struct Failing {
    inner: MemoryStorage,
    left: std::sync::atomic::AtomicUsize,
}

impl Storage for Failing {
    fn write_via(&self, staging: &ObjectPath, path: &ObjectPath, bytes: &[u8]) -> Result<(), StorageError> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            return Err(StorageError::Io { path: path.clone(), source: std::io::Error::other("full") });
        }
        self.inner.write_via(staging, path, bytes)
    }

    fn list(&self, folder: &ObjectPath) -> Result<Vec<talavera_storage::Entry>, StorageError> {
        self.inner.list(folder)
    }
    fn size(&self, path: &ObjectPath) -> Result<u64, StorageError> {
        self.inner.size(path)
    }
    fn read(&self, path: &ObjectPath, limit: u64) -> Result<bytes::Bytes, StorageError> {
        self.inner.read(path, limit)
    }
    fn read_range(&self, path: &ObjectPath, range: std::ops::Range<u64>) -> Result<bytes::Bytes, StorageError> {
        self.inner.read_range(path, range)
    }
    fn create_file(&self, path: &ObjectPath) -> Result<Box<dyn talavera_storage::ObjectWriter>, StorageError> {
        self.inner.create_file(path)
    }
    fn create_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        self.inner.create_folder(folder)
    }
    fn delete(&self, path: &ObjectPath) -> Result<(), StorageError> {
        self.inner.delete(path)
    }
    fn delete_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        self.inner.delete_folder(folder)
    }
    fn rename(&self, from: &ObjectPath, to: &ObjectPath) -> Result<(), StorageError> {
        self.inner.rename(from, to)
    }
    fn uri(&self, path: &ObjectPath) -> String {
        self.inner.uri(path)
    }
    fn path_of_uri(&self, uri: &str) -> Option<ObjectPath> {
        self.inner.path_of_uri(uri)
    }
}

#[test]
fn a_creation_that_fails_leaves_nothing_behind() {
    let colours = colours(&["red"]);
    let label = DimensionLabel::internal(0, 0, "lab", DataOrder::Increasing, Datatype::Int8);
    let schema = dense().enumeration(&colours).label(label).build().unwrap();
    // The label's schema, the enumeration, the schema.
    for left in 0..3 {
        let storage = Failing { inner: MemoryStorage::new(), left: left.into() };
        let created = create_array(&storage, &path("array"), &schema, std::slice::from_ref(&colours), &CreateOptions::default());
        assert!(matches!(created, Err(Error::Storage(_))));
        assert!(storage.list(&ObjectPath::root()).unwrap().is_empty(), "{left}: {:?}", files(&storage, &ObjectPath::root()));
    }
}
