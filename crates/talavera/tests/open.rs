//! Arrays are opened at a time, with a key, from any storage; and say what they are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::Arc;

use talavera::{Array, ArrayType, Datatype, EncryptionKey, Error, MemoryStorage, ObjectPath, Order, Range, StorageExt};

const KEY: &[u8; 32] = b"0123456789abcdeF0123456789abcdeF";

/// Copies a folder into memory.
fn copy(from: &Path, storage: &MemoryStorage, to: &ObjectPath) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name().to_str().unwrap()).unwrap();
        if entry.path().is_dir() {
            copy(&entry.path(), storage, &target);
        } else {
            storage.write(&target, &std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

#[test]
fn an_array_says_what_it_is() {
    let array = Array::open("tests/data/dense_2d_overlap").unwrap();
    assert_eq!(array.schema().array_type, ArrayType::Dense);
    assert_eq!(array.schema().version.number(), 22);
    let fragments: Vec<_> = array.fragments().collect();
    let told: Vec<_> = fragments.iter().map(|f| (f.version.number(), f.timestamps, f.dense, f.cell_count)).collect();
    assert_eq!(told, [(22, (1010, 1010), true, Some(72)), (22, (1020, 1020), true, Some(48))]);
    assert_eq!(fragments[1].name, "__1020_1020_106e71fab45107caca1842771965c0d4_22");
    assert_eq!(fragments[1].non_empty_domain.0, [Range::Signed(2, 6), Range::Signed(3, 8)]);
    assert!(fragments.iter().all(|fragment| fragment.data_bytes > 0));
    assert_eq!(array.non_empty_domain().unwrap().0, [Range::Signed(1, 6), Range::Signed(1, 9)]);
    assert_eq!(array.all_schemas().unwrap().len(), 1);
    assert_eq!(array.fragments_to_vacuum().count(), 0);
    assert!(array.metadata().unwrap().is_empty());
}

#[test]
fn sparse_fragments_count_the_cells_written() {
    let counts = |name: &str| -> Vec<_> {
        Array::open(format!("tests/data/{name}")).unwrap().fragments().map(|f| (f.dense, f.cell_count)).collect()
    };
    assert_eq!(counts("sparse_string_dim"), [(false, Some(20)), (false, Some(9))]);
    assert_eq!(counts("sparse_float_dims"), [(false, Some(24)), (false, Some(8))]);
}

#[test]
fn an_array_is_seen_as_it_was() {
    let v = |options: talavera::OpenOptions| {
        let array = options.open("tests/data/sparse_overwrite").unwrap();
        array.read().order(Order::RowMajor).values::<i64>("v").unwrap()
    };
    let (first, second, now) = (v(Array::options().at(1010)), v(Array::options().at(1020)), v(Array::options()));
    assert_eq!((first.len(), second.len(), now.len()), (20, 28, 31));
    // The cell at (20, 10) was written three times.
    assert_eq!((first[2], second[4], now[4]), (1348616741015024221, -9204434625622186081, 1754933200192228999));
    assert!(v(Array::options().at(1009)).is_empty());
    assert_eq!(v(Array::options().timestamps(0..=1010)), first);
    assert!(v(Array::options().timestamps(1020..=1020)).len() < second.len(), "only what was written then");
    let window = Array::options().timestamps(5..=7).open("tests/data/sparse_overwrite").unwrap().window();
    assert_eq!((window.start, window.end), (5, 7));
}

#[test]
fn metadata_are_those_of_the_time() {
    let metadata = |options: talavera::OpenOptions| {
        let array = options.open("tests/data/metadata_history").unwrap();
        let metadata = array.metadata().unwrap();
        metadata
            .iter()
            .map(|(key, value)| (String::from_utf8(key.to_vec()).unwrap(), value.datatype(), value.count()))
            .collect::<Vec<_>>()
    };
    let entry = |key: &str, datatype, count| (key.to_owned(), datatype, count);
    let (alpha, gamma) = (entry("alpha", Datatype::Int64, 2), entry("gamma", Datatype::Float64, 2));
    let first = [entry("alpha", Datatype::Int32, 1), entry("beta", Datatype::StringAscii, 5), gamma.clone()];
    assert_eq!(metadata(Array::options().at(1010)), first);
    assert_eq!(metadata(Array::options().at(1020)), [alpha.clone(), gamma]);
    assert_eq!(metadata(Array::options()), [alpha, entry("beta", Datatype::UInt8, 1)]);
}

#[test]
fn an_encrypted_array_opens_with_its_key_and_no_other() {
    let open = |options: talavera::OpenOptions| options.open("tests/data/dense_encrypted");
    let array = open(Array::options().key_bytes(KEY).unwrap()).unwrap();
    let v = array.read().range("r", 1..=4).range("c", 4).values::<f64>("v").unwrap();
    assert_eq!(v, [-7710.790794163382, -8211.875309893567, -6086.978576503359, -9264.82784671471]);
    let cells = array.read().range("r", 1..=4).range("c", 4).fields(["s"]).cells().unwrap();
    assert_eq!(cells.strings("s").unwrap().flatten().collect::<Vec<_>>(), ["12muj", "jA npusg", "f3", "Amiy"]);

    let without = open(Array::options()).unwrap_err();
    let wrong = open(Array::options().key(EncryptionKey::new([7; 32]))).unwrap_err();
    for error in [without, wrong] {
        assert!(matches!(error, Error::Engine(talavera::EngineError::GenericTile { .. })), "{error}");
    }
    let short = Array::options().key_bytes(&KEY[..31]).unwrap_err();
    assert_eq!(short.to_string(), "an encryption key has 32 bytes, not 31");
    let needless = Array::options().key(EncryptionKey::new([7; 32])).open("tests/data/dense_2d_overlap");
    assert!(needless.is_err(), "a key for an array that is not encrypted");
}

#[test]
fn what_is_not_there_is_not_found() {
    for path in ["tests/data/none", "tests/data", "../none/../none", "tests/data/group_members", "file:///none"] {
        let error = Array::open(path).unwrap_err();
        assert!(error.is_not_found(), "{path}: {error}");
    }
    let error = Array::open("/none/at/all").unwrap_err();
    assert_eq!(error.to_string(), "file:///none/at/all: there is no array here");
}

#[test]
fn a_path_may_climb_or_be_a_uri() {
    let absolute = std::path::absolute("tests/data/dense_1d_int32_v3").unwrap();
    let uri = format!("file://{}", absolute.display());
    for path in ["tests/../tests/data/./dense_1d_int32_v3/", absolute.to_str().unwrap(), &uri] {
        assert_eq!(Array::open(path).unwrap().schema().version.number(), 3, "{path}");
    }
}

#[test]
fn any_storage_will_do() {
    let (storage, root) = (MemoryStorage::new(), ObjectPath::new("some/where").unwrap());
    copy(Path::new("tests/data/sparse_string_dim"), &storage, &root);
    let array = Array::options().open_in(Arc::new(storage), root).unwrap();
    assert_eq!(array.read().values::<i32>("v").unwrap().len(), 25);
}

#[test]
fn limits_bound_what_a_file_can_ask_for() {
    let error = Array::options().metadata_limit(16).open("tests/data/dense_2d_overlap").unwrap_err();
    assert!(matches!(error, Error::Engine(_)), "{error}");
    let array = Array::options().tile_limit(16).open("tests/data/dense_2d_overlap").unwrap();
    assert!(array.read().cells().is_err());
}

#[test]
fn arrays_and_groups_may_cross_threads() {
    fn check<T: Send + Sync + Clone + 'static>() {}
    check::<Array>();
    check::<talavera::Group>();
    fn check_error<T: Send + Sync + std::error::Error + 'static>() {}
    check_error::<Error>();
}
