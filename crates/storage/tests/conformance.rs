//! Every store does what is asked of a store, also when it is shared between threads.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_storage::{
    CountingStorage, LocalStorage, MemoryStorage, ObjectPath, Storage, StorageError, StorageExt, conformance,
};

#[test]
fn the_store_in_memory_conforms() {
    conformance::all(&MemoryStorage::new()).unwrap();
}

#[test]
fn the_local_store_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conformance::all(&LocalStorage::new(folder.path().join("not/yet/there")).unwrap()).unwrap();
}

#[test]
fn the_local_store_conforms_without_forcing_bytes_to_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    conformance::all(&LocalStorage::new(folder.path()).unwrap().without_sync()).unwrap();
}

#[test]
fn a_counted_store_conforms() {
    conformance::all(&CountingStorage::new(MemoryStorage::new())).unwrap();
}

#[test]
fn threads_that_write_one_object_leave_one_of_their_versions() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path()).unwrap().without_sync();
    let path = ObjectPath::new("shared/object").unwrap();
    std::thread::scope(|scope| {
        for byte in 0..8u8 {
            let (storage, path) = (&storage, &path);
            scope.spawn(move || {
                for _ in 0..20 {
                    storage.write(path, &[byte; 5000]).unwrap();
                    let read = storage.read(path, 5000).unwrap();
                    assert!(read.len() == 5000 && read.iter().all(|other| *other == read[0]), "a torn object");
                }
            });
        }
    });
    assert_eq!(storage.list(&path.parent().unwrap()).unwrap().len(), 1, "no temporary file stays");
}

#[test]
fn paths_of_the_file_system_and_of_the_store_lead_to_each_other() {
    let storage = LocalStorage::new("/data/arrays").unwrap();
    let path = storage.object_path("/data/arrays/a/b").unwrap();
    assert_eq!(path.as_str(), "a/b");
    assert_eq!(storage.local_path(&path).unwrap(), std::path::Path::new("/data/arrays/a/b"));
    assert_eq!(storage.uri(&path), "file:///data/arrays/a/b");
    assert_eq!(storage.path_of_uri("/data/arrays/a/b"), Some(path));
    for outside in ["/data/other", "/data/arrays/../other", "/data/arraysmore"] {
        assert!(matches!(storage.object_path(outside), Err(StorageError::InvalidPath { .. })), "{outside}");
    }
    let whole = LocalStorage::new("/").unwrap();
    assert_eq!(whole.uri(&whole.object_path("/data/x").unwrap()), "file:///data/x");
}

#[cfg(unix)]
#[test]
fn links_are_what_they_lead_to_and_nothing_when_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path()).unwrap();
    storage.write(&ObjectPath::new("real/file").unwrap(), b"12").unwrap();
    std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("to-folder")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("real/file"), folder.path().join("to-file")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("gone"), folder.path().join("to-nothing")).unwrap();
    let listed = storage.list(&ObjectPath::root()).unwrap();
    let names: Vec<_> = listed.iter().map(|entry| (entry.name.as_str(), entry.is_folder())).collect();
    assert_eq!(names, [("real", true), ("to-file", false), ("to-folder", true)]);
}
