//! What every store must do. A store passes when [`all`] returns on an empty one.

use std::ops::Range;

use crate::{Entry, EntryKind, ObjectPath, Storage, StorageError, StorageExt};

type Outcome = Result<(), StorageError>;

/// Runs every check, each in a folder of its own.
///
/// # Errors
/// The first error that the store returned where it should not.
///
/// # Panics
/// When a result is not what it should be.
pub fn all(storage: &dyn Storage) -> Outcome {
    what_was_written_is_read(storage)?;
    what_is_not_there_is_not_found(storage)?;
    folders_list_names_in_order(storage)?;
    ranges_are_exact(storage)?;
    batches_keep_the_order_asked_for(storage)?;
    ranges_beyond_the_end_are_errors_with_the_size(storage)?;
    writers_leave_a_whole_object_or_nothing(storage)?;
    writing_leaves_nothing_in_the_staging_folder(storage)?;
    removing_is_idempotent(storage)?;
    moving_takes_all_below_along(storage)?;
    addresses_lead_back(storage)
}

fn path(text: &str) -> Result<ObjectPath, StorageError> {
    ObjectPath::new(text)
}

fn what_was_written_is_read(storage: &dyn Storage) -> Outcome {
    let file = path("written/deep/file")?;
    storage.write(&file, b"first")?;
    assert_eq!(storage.read(&file, 5)?.as_ref(), b"first");
    storage.write(&file, b"the second")?;
    assert_eq!(storage.read(&file, 100)?.as_ref(), b"the second", "an object is replaced as a whole");
    assert_eq!(storage.size(&file)?, 10);
    assert!(storage.exists(&file)?);
    let refused = storage.read(&file, 9);
    assert!(matches!(refused, Err(StorageError::TooLarge { size: 10, limit: 9, .. })), "{refused:?}");

    let empty = path("written/empty")?;
    storage.write(&empty, b"")?;
    storage.write(&empty, b"")?;
    assert_eq!(storage.size(&empty)?, 0);
    assert!(storage.read(&empty, 0)?.is_empty());
    Ok(())
}

fn what_is_not_there_is_not_found(storage: &dyn Storage) -> Outcome {
    storage.write(&path("absent/folder/file")?, b"x")?;
    for absent in [path("absent/no")?, path("absent/no/no")?, path("absent/folder")?, path("absent/folder/file/below")?] {
        let not_found = |result: Option<StorageError>| result.is_some_and(|error| error.is_not_found());
        assert!(not_found(storage.size(&absent).err()), "size of {absent}");
        assert!(not_found(storage.read(&absent, 10).err()), "read of {absent}");
        assert!(not_found(storage.read_range(&absent, 0..0).err()), "range of {absent}");
        assert!(not_found(storage.read_ranges(&absent, &[Range { start: 0, end: 1 }]).err()), "ranges of {absent}");
        assert!(not_found(storage.read_into(&absent, 0, &mut [0]).err()), "positioned read of {absent}");
        assert!(!storage.exists(&absent)?);
    }
    assert!(not_moved(storage, "absent/no", "absent/elsewhere")?);
    Ok(())
}

fn not_moved(storage: &dyn Storage, from: &str, to: &str) -> Result<bool, StorageError> {
    Ok(storage.rename(&path(from)?, &path(to)?).is_err_and(|error| error.is_not_found()))
}

fn folders_list_names_in_order(storage: &dyn Storage) -> Outcome {
    let folder = path("listed")?;
    for name in ["b", "a/below", "a.c", "B", "__x/y/z"] {
        storage.write(&folder.join(name)?, name.as_bytes())?;
    }
    let file = |name: &str, bytes| Entry { name: name.to_owned(), kind: EntryKind::File(bytes) };
    let inner = |name: &str| Entry { name: name.to_owned(), kind: EntryKind::Folder };
    assert_eq!(storage.list(&folder)?, [file("B", 1), inner("__x"), inner("a"), file("a.c", 3), file("b", 1)]);
    assert_eq!(storage.list(&folder.join("none")?)?, [], "a folder that does not exist is empty");
    assert_eq!(storage.list(&folder.join("b")?)?, [], "a file is an empty folder");
    assert!(storage.list(&ObjectPath::root())?.contains(&inner("listed")));
    let below: Vec<_> = storage.list_all(&folder.join("__x")?)?;
    assert_eq!(below, [(folder.join("__x/y/z")?, 7)]);

    storage.create_folder(&path("made/deep")?)?;
    storage.create_folder(&path("made/deep")?)?;
    assert_eq!(storage.list(&path("made/deep")?)?, []);
    Ok(())
}

fn ranges_are_exact(storage: &dyn Storage) -> Outcome {
    let file = path("ranges")?;
    storage.write(&file, b"0123456789")?;
    assert_eq!(storage.read_range(&file, 0..10)?.as_ref(), b"0123456789");
    assert_eq!(storage.read_range(&file, 3..5)?.as_ref(), b"34");
    assert!(storage.read_range(&file, 10..10)?.is_empty());
    let mut buffer = [0; 4];
    storage.read_into(&file, 6, &mut buffer)?;
    assert_eq!(&buffer, b"6789");
    storage.read_into(&file, 10, &mut [])
}

fn batches_keep_the_order_asked_for(storage: &dyn Storage) -> Outcome {
    let file = path("batches")?;
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(300_000).collect();
    storage.write(&file, &bytes)?;
    let ranges: [Range<u64>; 6] = [200_000..200_010, 5..9, 0..6, 299_999..300_000, 7..7, 5..9];
    let parts = storage.read_ranges(&file, &ranges)?;
    assert_eq!(parts.len(), ranges.len());
    for (part, range) in parts.iter().zip(ranges) {
        assert_eq!(part, &storage.read_range(&file, range)?);
    }
    assert!(storage.read_ranges(&file, &[])?.is_empty());
    Ok(())
}

fn ranges_beyond_the_end_are_errors_with_the_size(storage: &dyn Storage) -> Outcome {
    let file = path("short")?;
    storage.write(&file, b"0123456789")?;
    for range in [0..11, 10..11, 11..11, 5..u64::MAX, u64::MAX - 1..u64::MAX, Range { start: 4, end: 2 }] {
        let one = storage.read_range(&file, range.clone());
        assert!(matches!(one, Err(StorageError::Range { size: 10, .. })), "{range:?} gave {one:?}");
        let batch = storage.read_ranges(&file, &[Range { start: 0, end: 1 }, range.clone()]);
        assert!(matches!(batch, Err(StorageError::Range { .. })), "{range:?} gave {batch:?}");
    }
    for offset in [8, 10, 11, u64::MAX] {
        let result = storage.read_into(&file, offset, &mut [0; 3]);
        assert!(matches!(result, Err(StorageError::Range { .. })), "{offset} gave {result:?}");
    }
    Ok(())
}

fn writers_leave_a_whole_object_or_nothing(storage: &dyn Storage) -> Outcome {
    let file = path("pieces/deep/file")?;
    let mut writer = storage.create_file(&file)?;
    writer.write(b"one ")?;
    writer.write(&vec![b'-'; 200_000])?;
    writer.write(b"two")?;
    assert_eq!(writer.written(), 200_007);
    writer.finish()?;
    assert_eq!(storage.size(&file)?, 200_007);
    assert_eq!(storage.read_range(&file, 200_003..200_007)?.as_ref(), b"-two");

    let again = storage.create_file(&file).and_then(|writer| writer.finish());
    assert!(matches!(again, Err(StorageError::AlreadyExists { .. })), "{again:?}");

    let dropped = path("pieces/dropped")?;
    let mut writer = storage.create_file(&dropped)?;
    writer.write(&[1; 100_000])?;
    drop(writer);
    assert!(!storage.exists(&dropped)?, "what was not finished is not there");
    assert_eq!(storage.size(&file)?, 200_007);
    Ok(())
}

fn writing_leaves_nothing_in_the_staging_folder(storage: &dyn Storage) -> Outcome {
    let (staging, file) = (path("staged/aside")?, path("staged/target/file")?);
    storage.write_via(&staging, &file, b"bytes")?;
    assert_eq!(storage.read(&file, 5)?.as_ref(), b"bytes");
    assert_eq!(storage.list(&staging)?, []);
    assert_eq!(storage.list(&path("staged/target")?)?.len(), 1);
    Ok(())
}

fn removing_is_idempotent(storage: &dyn Storage) -> Outcome {
    for name in ["removed/a", "removed/b/c", "removed/b/d/e", "removedtoo"] {
        storage.write(&path(name)?, b"x")?;
    }
    for _ in 0..2 {
        storage.delete(&path("removed/a")?)?;
        storage.delete_folder(&path("removed/b")?)?;
    }
    assert_eq!(storage.list(&path("removed")?)?, []);
    assert_eq!(storage.list(&path("removed/b/d")?)?, []);
    storage.delete_folder(&path("removed")?)?;
    assert!(storage.exists(&path("removedtoo")?)?, "a name that starts alike is another name");
    Ok(())
}

fn moving_takes_all_below_along(storage: &dyn Storage) -> Outcome {
    for name in ["moved/from/a", "moved/from/b/c", "moved/fromage"] {
        storage.write(&path(name)?, name.as_bytes())?;
    }
    storage.rename(&path("moved/from")?, &path("moved/new/to")?)?;
    assert_eq!(storage.read(&path("moved/new/to/b/c")?, 100)?.as_ref(), b"moved/from/b/c");
    assert_eq!(storage.list(&path("moved/from")?)?, []);
    storage.rename(&path("moved/new/to/a")?, &path("moved/a")?)?;
    assert!(storage.exists(&path("moved/a")?)?);
    let onto = storage.rename(&path("moved/a")?, &path("moved/fromage")?);
    assert!(matches!(onto, Err(StorageError::AlreadyExists { .. })), "{onto:?}");
    Ok(())
}

fn addresses_lead_back(storage: &dyn Storage) -> Outcome {
    for name in ["", "a", "a/__fragments/b_1 ü"] {
        let path = path(name)?;
        let uri = storage.uri(&path);
        assert!(uri.contains("://"), "{uri}");
        assert_eq!(storage.path_of_uri(&uri), Some(path), "{uri}");
    }
    assert_eq!(storage.path_of_uri("s3://elsewhere/a"), None);
    assert_eq!(storage.path_of_uri("relative"), None);
    Ok(())
}
