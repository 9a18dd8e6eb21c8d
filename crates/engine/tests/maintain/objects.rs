use talavera_directory::TimeWindow;
use talavera_engine::{
    CreateOptions, EngineOptions, Error, GroupWriter, WalkOrder, copy_object, create_array, create_group, list_objects,
    move_object, object_type, remove_array, remove_group, remove_object, walk_objects,
};
use talavera_storage::{MemoryStorage, ObjectPath, Storage, StorageExt};
use talavera_types::ObjectType;

use super::{dense, files, fixture, open, path};

/// The group `g` with the arrays `g/a` and `g/s/b` and the group `g/s`, all members.
fn tree() -> MemoryStorage {
    let storage = MemoryStorage::new();
    for group in ["g", "g/s"] {
        create_group(&storage, &path(group)).unwrap();
    }
    for array in ["g/a", "g/s/b"] {
        create_array(&storage, &path(array), &dense().build().unwrap(), &[], &CreateOptions::default()).unwrap();
    }
    let options = EngineOptions::default();
    for (group, members) in [("g", ["a", "s"]), ("g/s", ["b", "."])] {
        let mut writer = GroupWriter::open(&storage, &path(group), Some(10), &options).unwrap();
        for member in members {
            writer.add(member, true, None).unwrap();
        }
        writer.commit().unwrap();
    }
    storage
}

fn paths(found: Vec<talavera_engine::ObjectEntry>) -> Vec<String> {
    found.into_iter().map(|object| object.path.as_str().to_owned()).collect()
}

#[test]
fn objects_are_listed_and_walked_by_name() {
    let storage = tree();
    create_group(&storage, &path("g/plain/hidden")).unwrap();
    assert_eq!(paths(list_objects(&storage, &path("g")).unwrap()), ["g/a", "g/s"]);
    assert_eq!(list_objects(&storage, &path("g")).unwrap()[1].object_type, ObjectType::Group);
    let walk = |order| paths(walk_objects(&storage, &ObjectPath::root(), order).unwrap());
    assert_eq!(walk(WalkOrder::Pre), ["g", "g/a", "g/s", "g/s/b"]);
    assert_eq!(walk(WalkOrder::Post), ["g/a", "g/s/b", "g/s", "g"]);
    assert!(list_objects(&storage, &path("nowhere")).unwrap().is_empty());
}

#[test]
fn an_array_is_removed_without_what_others_put_there() {
    for fixture_name in ["2.30.0/sparse_2d", "2.3.3/sparse_2d", "1.5.0/sparse_2d"] {
        let (storage, root) = fixture(fixture_name);
        remove_array(&storage, &root).unwrap();
        assert!(storage.list(&ObjectPath::root()).unwrap().is_empty(), "{fixture_name}: {:?}", files(&storage, &root));
        assert!(matches!(remove_array(&storage, &root), Err(Error::NotFound { .. })));
        let (storage, root) = fixture(fixture_name);
        storage.write(&root.join("README.md").unwrap(), b"mine").unwrap();
        storage.write(&root.join("notes/a_b").unwrap(), b"mine").unwrap();
        remove_array(&storage, &root).unwrap();
        assert_eq!(files(&storage, &root), ["README.md", "notes/a_b"]);
    }
}

#[test]
fn a_group_is_removed_with_or_without_its_members() {
    let (storage, options) = (tree(), EngineOptions::default());
    remove_group(&storage, &path("g"), false, &options).unwrap();
    assert_eq!(object_type(&storage, &path("g")).unwrap(), None);
    assert_eq!(object_type(&storage, &path("g/s/b")).unwrap(), Some(ObjectType::Array));
    let storage = tree();
    remove_group(&storage, &path("g"), true, &options).unwrap();
    assert!(storage.list(&ObjectPath::root()).unwrap().is_empty());
    assert!(matches!(remove_group(&storage, &path("g"), true, &options), Err(Error::NotFound { .. })));
}

#[test]
fn nothing_is_removed_when_a_member_is_out_of_reach() {
    let (storage, options) = (tree(), EngineOptions::default());
    let mut writer = GroupWriter::open(&storage, &path("g/s"), Some(20), &options).unwrap();
    writer.add_as("s3://bucket/array", false, None, ObjectType::Array).unwrap();
    writer.commit().unwrap();
    let before = files(&storage, &ObjectPath::root());
    assert!(remove_group(&storage, &path("g"), true, &options).is_err());
    assert_eq!(files(&storage, &ObjectPath::root()), before);
}

#[test]
fn objects_move_with_all_that_lies_in_them() {
    let storage = tree();
    move_object(&storage, &path("g"), &path("elsewhere/h")).unwrap();
    assert_eq!(object_type(&storage, &path("g")).unwrap(), None);
    assert!(open(&storage, &path("elsewhere/h/s/b"), TimeWindow::ALL).is_ok());
    let moved = |from, to| move_object(&storage, &path(from), &path(to));
    assert!(matches!(moved("g", "x"), Err(Error::NotFound { .. })));
    assert!(matches!(moved("elsewhere/h", "elsewhere/h/x"), Err(Error::Invalid(_))));
    assert!(matches!(moved("elsewhere/h/a", "elsewhere/h/s"), Err(Error::AlreadyExists { .. })));
}

#[test]
fn a_copy_is_like_the_original_and_whole() {
    let (storage, root) = fixture("2.30.0/sparse_2d");
    let copy = path("copies/one");
    copy_object(&storage, &root, &copy).unwrap();
    assert_eq!(files(&storage, &copy), files(&storage, &root));
    for file in files(&storage, &root) {
        let read = |root: &ObjectPath| storage.read(&root.join(&file).unwrap(), 1 << 30).unwrap();
        assert_eq!(read(&copy), read(&root), "{file}");
    }
    let cells =
        |root: &ObjectPath| open(&storage, root, TimeWindow::ALL).unwrap().query().read().unwrap().field("i").unwrap().len();
    assert_eq!(cells(&copy), cells(&root));
    assert!(matches!(copy_object(&storage, &root, &copy), Err(Error::AlreadyExists { .. })));
    assert!(matches!(copy_object(&storage, &root, &root.join("x").unwrap()), Err(Error::Invalid(_))));
    let storage = tree();
    copy_object(&storage, &path("g"), &path("h")).unwrap();
    assert_eq!(files(&storage, &path("h")), files(&storage, &path("g")));
    assert!(open(&storage, &path("h/s/b"), TimeWindow::ALL).is_ok());
}

#[test]
fn an_object_is_removed_with_all_that_lies_in_it() {
    let storage = tree();
    storage.write(&path("g/README.md"), b"mine").unwrap();
    assert!(matches!(remove_object(&storage, &path("g/nothing")), Err(Error::NotFound { .. })));
    remove_object(&storage, &path("g")).unwrap();
    assert!(storage.list(&ObjectPath::root()).unwrap().is_empty());
}
