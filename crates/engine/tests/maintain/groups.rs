use std::sync::Arc;

use talavera_codec::Writer;
use talavera_directory::{GroupDetails, GroupRecord, GroupVersion, TimeWindow};
use talavera_engine::{
    CreateOptions, EngineOptions, Error, GroupMember, GroupWriter, OpenGroup, create_array, create_group, object_type,
};
use talavera_pipeline::GenericTile;
use talavera_storage::{MemoryStorage, ObjectPath, Storage, StorageExt};
use talavera_types::{FormatVersion, ObjectType};

use super::{dense, files, invalid, path};

/// A group `g` with an array `g/a` and a group `g/s` in its folder, and an array `b` beside.
fn folder() -> (MemoryStorage, ObjectPath) {
    let storage = MemoryStorage::new();
    for group in ["g", "g/s"] {
        create_group(&storage, &path(group)).unwrap();
    }
    for array in ["g/a", "b"] {
        create_array(&storage, &path(array), &dense().build().unwrap(), &[], &CreateOptions::default()).unwrap();
    }
    (storage, path("g"))
}

fn change(storage: &MemoryStorage, at: u64, change: impl FnOnce(&mut GroupWriter<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let options = EngineOptions::default();
    let mut writer = GroupWriter::open(storage, &path("g"), Some(at), &options)?;
    change(&mut writer)?;
    writer.commit()
}

/// Keys, addresses and types at a time.
fn members(storage: &MemoryStorage, end: u64) -> Vec<String> {
    let group = OpenGroup::open(Arc::new(storage.clone()), path("g"), TimeWindow::until(end), &EngineOptions::default()).unwrap();
    group.members().map(|member| format!("{} {} {}", member.key(), member.uri, member.object_type)).collect()
}

#[test]
fn members_come_and_go_with_time() {
    let (storage, root) = folder();
    assert_eq!(object_type(&storage, &root).unwrap(), Some(ObjectType::Group));
    change(&storage, 10, |group| {
        group.add("a", true, None)?;
        group.add("s", true, Some("sub"))?;
        group.add("mem://b", false, Some("beside"))
    })
    .unwrap();
    let first = ["a a ARRAY", "beside mem://b ARRAY", "sub s GROUP"];
    assert_eq!(members(&storage, 10), first);
    change(&storage, 20, |group| {
        group.remove("sub")?;
        group.remove("mem://b")?;
        group.rename("a", "array")
    })
    .unwrap();
    assert_eq!(members(&storage, 20), ["array a ARRAY"]);
    assert_eq!(members(&storage, 19), first);
    assert!(members(&storage, 9).is_empty());
    change(&storage, 30, |group| group.remove("array")).unwrap();
    assert!(members(&storage, 30).is_empty());
}

#[test]
fn each_file_repeats_all_members_beside_what_was_removed() {
    let (storage, root) = folder();
    change(&storage, 10, |group| group.add("a", true, None)).unwrap();
    change(&storage, 20, |group| group.add("s", true, None)).unwrap();
    change(&storage, 30, |group| group.remove("a")).unwrap();
    let names: Vec<_> = files(&storage, &root.join("__group").unwrap());
    assert!(names.iter().all(|name| name.ends_with("_2")));
    let records = |name: &String| {
        let file = storage.read(&root.join("__group").unwrap().join(name).unwrap(), 1 << 20).unwrap();
        let (payload, _) = GenericTile::decode(&file, None, &talavera_codec::Limits::new(1 << 20)).unwrap();
        let details = GroupDetails::decode(&payload).unwrap();
        let records = details.records.into_iter().map(|record| (record.member.uri, record.is_deleted));
        records.collect::<Vec<_>>()
    };
    assert_eq!(records(&names[1]), [("a".to_owned(), false), ("s".to_owned(), false)]);
    assert_eq!(records(&names[2]), [("a".to_owned(), true), ("s".to_owned(), false)]);
}

#[test]
fn a_key_is_changed_once_in_a_session() {
    let (storage, _) = folder();
    change(&storage, 10, |group| group.add("a", true, Some("x"))).unwrap();
    let refused = |what: fn(&mut GroupWriter<'_>) -> Result<(), Error>| invalid(change(&storage, 20, what));
    assert!(refused(|group| group.add("a", true, Some("y")).and_then(|()| group.add("s", true, Some("y")))).contains("before"));
    assert!(refused(|group| group.remove("x").and_then(|()| group.add("s", true, Some("x")))).contains("before"));
    assert!(refused(|group| group.remove("x").and_then(|()| group.remove("x"))).contains("before"));
    assert!(refused(|group| group.add("s", true, Some("y")).and_then(|()| group.rename("x", "y"))).contains("taken"));
    assert!(refused(|group| group.remove("unknown")).contains("no member"));
    assert!(refused(|group| group.add("s", true, Some(""))).contains("not empty"));
    change(&storage, 30, |group| group.add("s", true, Some("x"))).unwrap();
    assert_eq!(members(&storage, 30), ["x s GROUP"], "a member of an earlier session is replaced");
}

#[test]
fn an_address_that_several_members_share_does_not_tell_which() {
    let (storage, _) = folder();
    change(&storage, 10, |group| group.add("a", true, Some("x")).and_then(|()| group.add("a", true, Some("y")))).unwrap();
    assert!(invalid(change(&storage, 20, |group| group.remove("a"))).contains("several"));
}

#[test]
fn members_must_exist_unless_their_type_is_given() {
    let (storage, _) = folder();
    assert!(matches!(change(&storage, 10, |group| group.add("missing", true, None)), Err(Error::NotFound { .. })));
    assert!(change(&storage, 10, |group| group.add("../b", true, None)).is_err());
    assert!(change(&storage, 10, |group| group.add("s3://bucket/array", false, None)).is_err());
    change(&storage, 10, |group| group.add_as("s3://bucket/array", false, None, ObjectType::Array)).unwrap();
    assert_eq!(members(&storage, 10), ["s3://bucket/array s3://bucket/array ARRAY"]);
}

#[test]
fn a_group_of_version_1_stays_one() {
    let (storage, root) = folder();
    let member = |uri: &str| GroupMember { object_type: ObjectType::Array, is_relative: true, uri: uri.into(), name: None };
    let record = |uri| GroupRecord { version: GroupVersion::V1, member: member(uri), is_deleted: false };
    let mut payload = Writer::new();
    GroupDetails { version: GroupVersion::V1, records: vec![record("a"), record("old")] }.encode(&mut payload);
    let file = GenericTile::encode(payload.as_slice(), FormatVersion::DEFAULT, None).unwrap();
    storage.write(&root.join(&format!("__group/__5_5_{}", "0".repeat(32))).unwrap(), &file).unwrap();
    change(&storage, 10, |group| group.remove("old").and_then(|()| group.add("s", true, None))).unwrap();
    assert_eq!(members(&storage, 10), ["a a ARRAY", "s s GROUP"]);
    let names = files(&storage, &root.join("__group").unwrap());
    assert!(names.iter().any(|name| name.starts_with("__10_10_") && name.ends_with("_1")), "{names:?}");
}

#[test]
fn sessions_of_one_millisecond_come_after_one_another() {
    let (storage, _) = folder();
    let options = EngineOptions::default();
    for number in 0..50 {
        let mut writer = GroupWriter::open(&storage, &path("g"), None, &options).unwrap();
        writer.add("a", true, Some(&format!("{number:02}"))).unwrap();
        if number > 0 {
            writer.remove(&format!("{:02}", number - 1)).unwrap();
        }
        writer.commit().unwrap();
        // What one session leaves in the next millisecond is not visible to one that is opened in this one.
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(members(&storage, u64::MAX), ["49 a ARRAY"]);
}

#[test]
fn nothing_is_created_over_what_exists() {
    let (storage, root) = folder();
    assert!(matches!(create_group(&storage, &root), Err(Error::AlreadyExists { found: "a group", .. })));
    assert!(matches!(create_group(&storage, &path("b")), Err(Error::AlreadyExists { found: "an array", .. })));
    assert!(matches!(GroupWriter::open(&storage, &path("b"), None, &EngineOptions::default()), Err(Error::NotFound { .. })));
    let before = files(&storage, &root);
    change(&storage, 10, |_| Ok(())).unwrap();
    assert_eq!(files(&storage, &root), before, "a session without changes writes no file");
}
