use std::sync::Arc;

use talavera_directory::TimeWindow;
use talavera_engine::{
    CreateOptions, EncryptionKey, EngineOptions, Error, MetadataValue, MetadataWriter, OpenArray, OpenGroup, create_array,
    create_group,
};
use talavera_storage::{MemoryStorage, ObjectPath};
use talavera_types::Datatype;

use super::{dense, files, open, path, version};

fn created(number: u32, key: Option<EncryptionKey>) -> (MemoryStorage, ObjectPath) {
    let (storage, root) = (MemoryStorage::new(), path("array"));
    let options = CreateOptions { timestamp: Some(1), key };
    create_array(&storage, &root, &dense().version(version(number)).build().unwrap(), &[], &options).unwrap();
    (storage, root)
}

fn value(datatype: Datatype, bytes: &[u8]) -> MetadataValue {
    MetadataValue::new(datatype, bytes.to_vec()).unwrap()
}

#[test]
fn values_come_change_and_go_with_time() {
    let (storage, root) = created(22, None);
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    let mut first = MetadataWriter::for_array(&array, Some(10));
    first.put("a", value(Datatype::Int32, &[1, 0, 0, 0])).unwrap().put("", value(Datatype::StringUtf8, b"")).unwrap();
    first.commit().unwrap();
    let mut second = MetadataWriter::for_array(&array, Some(20));
    second.put("a", value(Datatype::StringUtf8, b"text")).unwrap().delete("").unwrap().delete("never").unwrap();
    second.commit().unwrap();
    let metadata = |end| open(&storage, &root, TimeWindow::until(end)).unwrap().metadata().unwrap().clone();
    assert!(metadata(9).is_empty());
    assert_eq!(metadata(10).get("a"), Some(&value(Datatype::Int32, &[1, 0, 0, 0])));
    assert_eq!(metadata(10).get("").unwrap().count(), 0);
    assert_eq!(metadata(20).iter().collect::<Vec<_>>(), [(&b"a"[..], &value(Datatype::StringUtf8, b"text"))]);
    assert!(array.metadata().unwrap().is_empty(), "an open array is a snapshot");
}

#[test]
fn of_sessions_at_one_time_the_later_counts() {
    let (storage, root) = created(22, None);
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    for byte in 0..20 {
        let mut writer = MetadataWriter::for_array(&array, Some(7));
        writer.put("k", value(Datatype::UInt8, &[byte])).unwrap();
        writer.commit().unwrap();
    }
    assert_eq!(open(&storage, &root, TimeWindow::ALL).unwrap().metadata().unwrap().get("k").unwrap().bytes(), [19]);
}

#[test]
fn a_session_without_changes_writes_no_file() {
    let (storage, root) = created(22, None);
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    let before = files(&storage, &root);
    MetadataWriter::for_array(&array, None).commit().unwrap();
    drop(MetadataWriter::for_array(&array, None).put("k", value(Datatype::UInt8, &[1])));
    assert_eq!(files(&storage, &root), before);
}

#[test]
fn every_version_and_encrypted_arrays_keep_metadata() {
    for number in [7, 10, 12, 22, 23] {
        let key = Some(EncryptionKey::new([3; 32]));
        let (storage, root) = created(number, key.clone());
        let options = EngineOptions { key, ..EngineOptions::default() };
        let open = || OpenArray::open(Arc::new(storage.clone()), root.clone(), TimeWindow::ALL, options.clone()).unwrap();
        let array = open();
        let mut writer = MetadataWriter::for_array(&array, None);
        writer.put("k", value(Datatype::Float64, &[0; 16])).unwrap();
        writer.commit().unwrap();
        assert_eq!(open().metadata().unwrap().get("k").unwrap().count(), 2);
    }
}

#[test]
fn groups_have_metadata_too() {
    let (storage, root) = (MemoryStorage::new(), path("group"));
    assert!(matches!(MetadataWriter::for_group(&storage, &root, None, None), Err(Error::NotFound { .. })));
    create_group(&storage, &root).unwrap();
    let mut writer = MetadataWriter::for_group(&storage, &root, None, Some(10)).unwrap();
    writer.put("k", value(Datatype::Bool, &[1])).unwrap();
    writer.commit().unwrap();
    let open = |end| {
        OpenGroup::open(Arc::new(storage.clone()), root.clone(), TimeWindow::until(end), &EngineOptions::default()).unwrap()
    };
    assert!(open(9).metadata().is_empty());
    assert_eq!(open(10).metadata().get("k"), Some(&value(Datatype::Bool, &[1])));
}
