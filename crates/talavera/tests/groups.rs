//! Groups lead to their members; folders tell what lies in them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera::{Group, ObjectType, OpenOptions, Order, list, object_type};

#[test]
fn a_group_leads_to_its_members() {
    let group = Group::open("tests/data/group_members").unwrap();
    let members: Vec<_> = group.members().map(|member| (member.key(), member.object_type)).collect();
    assert_eq!(members, [("one", ObjectType::Array), ("two", ObjectType::Group)]);
    let first = group.open_array(group.member("one").unwrap()).unwrap();
    assert_eq!(first.read().values::<i32>("v").unwrap(), [870533345, 993661382, 1453546184, -558148109]);
    let sub = group.open_group(group.member("two").unwrap()).unwrap();
    let deep = sub.open_array(sub.member("deep").unwrap()).unwrap();
    let cells = deep.read().order(Order::RowMajor).cells().unwrap();
    assert_eq!(cells.values::<i64>("x").unwrap(), [25, 62, 84, 85, 99]);
    assert_eq!(cells.values::<f64>("w").unwrap()[4], -8322.351264620604);
    assert!(group.member("deep").is_none());
}

#[test]
fn a_group_has_metadata() {
    let group = Group::open("tests/data/group_members").unwrap();
    assert_eq!(group.metadata().get("note").unwrap().bytes(), "a grüup".as_bytes());
    assert_eq!(group.metadata().get("num").unwrap().count(), 3);
}

#[test]
fn members_are_opened_at_the_time_of_their_group() {
    // Before the members were added there are none.
    let before = OpenOptions::new().at(1010).open_group("tests/data/group_members").unwrap();
    assert_eq!(before.members().len(), 0);
    let group = OpenOptions::new().timestamps(1011..=u64::MAX).open_group("tests/data/group_members").unwrap();
    let first = group.open_array(group.member("one").unwrap()).unwrap();
    assert_eq!(first.fragments().count(), 0, "its fragment is older");
}

#[test]
fn an_array_is_no_group() {
    let error = Group::open("tests/data/dense_2d_overlap").unwrap_err();
    assert!(error.is_not_found() && error.to_string().ends_with("there is no group here"), "{error}");
    let group = Group::open("tests/data/group_members").unwrap();
    assert!(group.open_group(group.member("one").unwrap()).unwrap_err().is_not_found());
}

#[test]
fn folders_tell_what_lies_in_them() {
    let found: Vec<_> =
        list("tests/data/group_members").unwrap().into_iter().map(|object| (object.name, object.object_type)).collect();
    assert_eq!(found, [("first".to_owned(), ObjectType::Array), ("sub".to_owned(), ObjectType::Group)]);
    let all = list("tests/data").unwrap();
    assert_eq!(all.len(), 12);
    assert!(all.iter().all(|object| object_type(&object.path).unwrap() == Some(object.object_type)));
    assert_eq!(object_type("tests/data/group_members").unwrap(), Some(ObjectType::Group));
    assert_eq!(object_type("tests/none").unwrap(), None);
    assert_eq!(object_type("../none/../none").unwrap(), None);
    assert!(list("tests/none").unwrap().is_empty());
    assert!(list("../none/../none").unwrap().is_empty());
}

#[test]
fn a_moved_group_keeps_its_relative_members() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("moved");
    copy(std::path::Path::new("tests/data/group_members"), &target);
    let group = Group::open(&target).unwrap();
    assert!(group.members().all(|member| member.is_relative));
    assert_eq!(group.open_array(group.member("one").unwrap()).unwrap().read().cells().unwrap().len(), 4);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
