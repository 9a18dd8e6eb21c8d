//! Cells written through the facade are read back; what does not fit is refused and leaves nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::num::NonZeroU32;
use std::sync::Arc;

use talavera::{
    Array, ArrayBuilder, Attribute, CellValNum, Columns, CreateOptions, Datatype, Dimension, Duplicates, Error, MemoryStorage,
    NdRange, ObjectPath, Order, Range, StorageExt, TileExtent, Write, Writer,
};

fn root() -> ObjectPath {
    ObjectPath::new("array").unwrap()
}

/// An array in memory, and the memory.
fn create(builder: ArrayBuilder) -> (Array, MemoryStorage) {
    let storage = MemoryStorage::new();
    (builder.create_in(Arc::new(storage.clone()), root()).unwrap(), storage)
}

fn fixed(values: u32) -> CellValNum {
    CellValNum::Fixed(NonZeroU32::new(values).unwrap())
}

/// Two dimensions of four cells in tiles of two, and an attribute of each shape.
fn dense() -> ArrayBuilder {
    ArrayBuilder::dense()
        .dimension("y", 1..=4_i32, 2)
        .dimension("x", 1..=4_i32, 2)
        .attribute::<i64>("i")
        .nullable_attribute::<f32>("f")
        .add_attribute(Attribute::with_cell_val_num("rgb", Datatype::UInt8, fixed(3)))
        .add_attribute(Attribute { nullable: true, ..Attribute::var("s", Datatype::StringUtf8) })
        .add_attribute(Attribute::var("list", Datatype::UInt16))
        .add_attribute(Attribute::with_cell_val_num("code", Datatype::Char, fixed(2)))
}

fn four(write: Write) -> Write {
    write
        .column("i", &[1_i64, 2, 3, 4])
        .nullable("f", &[Some(0.5_f32), None, Some(-1.0), None])
        .column("rgb", &[1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        .strings("s", [Some("één"), None, Some(""), Some("four")])
        .lists("list", [vec![1_u16, 2], vec![], vec![3], vec![4]])
        .strings("code", ["aa", "bb", "cc", "dd"])
}

fn sparse() -> ArrayBuilder {
    ArrayBuilder::sparse().dimension("x", 0..=99_i64, 10).string_dimension("id").attribute::<i32>("v")
}

#[test]
fn cells_of_every_shape_come_back_from_a_dense_array() {
    let (array, _) = create(dense());
    let name = four(array.write()).range("y", 2..=3).range("x", 2..=3).at(10).commit().unwrap().unwrap();
    assert_eq!(array.fragments().count(), 0, "an array is a snapshot");
    let array = array.reopen().unwrap();
    assert_eq!(array.fragments().map(|f| (f.name, f.timestamps)).collect::<Vec<_>>(), [(name, (10, 10))]);
    let cells = array.read().range("y", 2..=3).range("x", 2..=3).cells().unwrap();
    assert_eq!(cells.values::<i64>("i").unwrap(), [1, 2, 3, 4]);
    assert_eq!(cells.nullable_values::<f32>("f").unwrap().collect::<Vec<_>>(), [Some(0.5), None, Some(-1.0), None]);
    assert_eq!(cells.values::<u8>("rgb").unwrap(), (1..=12).collect::<Vec<u8>>());
    assert_eq!(cells.strings("s").unwrap().collect::<Vec<_>>(), [Some("één"), None, Some(""), Some("four")]);
    assert_eq!(cells.bytes("list").unwrap().map(|cell| cell.unwrap().len()).collect::<Vec<_>>(), [4, 0, 2, 2]);
    assert_eq!(cells.strings("code").unwrap().flatten().collect::<Vec<_>>(), ["aa", "bb", "cc", "dd"]);
    let around = array.read().range("y", 1).cells().unwrap();
    assert_eq!(around.values::<i64>("i").unwrap(), [i64::MIN; 4], "what was not written is the fill value");
    assert!(around.nullable_values::<f32>("f").unwrap().all(|value| value.is_none()));
}

#[test]
fn what_was_read_can_be_written_as_it_is() {
    let (first, _) = create(dense());
    four(first.write()).range("y", 1..=2).range("x", 3..=4).order(Order::ColMajor).commit().unwrap();
    let first = first.reopen().unwrap();
    let read = |array: &Array| array.read().cells().unwrap();
    let (second, _) = create(dense());
    second.write().fields(read(&first).into_fields()).commit().unwrap();
    assert_eq!(read(&second.reopen().unwrap()), read(&first));
    assert_eq!(first.read().range("y", 1..=2).range("x", 3).values::<i64>("i").unwrap(), [1, 2]);
}

#[test]
fn a_write_covers_the_current_domain_unless_told_otherwise() {
    let current = NdRange(vec![Range::Signed(1, 2), Range::Signed(1, 2)]);
    let (array, _) = create(dense().with(|schema| schema.current_domain(current.clone())));
    four(array.write()).commit().unwrap();
    assert_eq!(array.reopen().unwrap().non_empty_domain().unwrap(), current);
    four(array.write()).within(&current).commit().unwrap();
    let refused = four(array.write()).range("y", 2..=3).range("x", 1..=2).commit().unwrap_err();
    assert!(refused.to_string().contains("current domain"), "{refused}");
}

#[test]
fn sparse_cells_are_sorted_and_later_ones_count() {
    let (array, _) = create(sparse());
    let write = |x: &[i64], id: &[&str], v: &[i32], at| array.write().column("x", x).strings("id", id).column("v", v).at(at);
    write(&[30, 1, 1], &["c", "b", "a"], &[1, 2, 3], 10).commit().unwrap();
    write(&[30], &["c"], &[4], 20).commit().unwrap();
    assert_eq!(write(&[], &[], &[], 30).commit().unwrap(), None, "without cells there is no fragment");
    let array = array.reopen().unwrap();
    assert_eq!(array.fragments().count(), 2);
    let cells = array.read().order(Order::RowMajor).cells().unwrap();
    assert_eq!(cells.strings("id").unwrap().flatten().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(cells.values::<i32>("v").unwrap(), [3, 2, 4]);
}

#[test]
fn duplicates_are_treated_as_asked() {
    let (array, _) = create(sparse());
    let write = || array.write().column("x", &[5_i64, 5]).strings("id", ["a", "a"]).column("v", &[1, 2]);
    let refused = write().commit().unwrap_err();
    assert!(refused.to_string().contains("duplicate coordinates (5, "), "{refused}");
    assert!(write().duplicates(Duplicates::Allow).commit().is_err());
    write().duplicates(Duplicates::KeepLast).commit().unwrap();
    assert_eq!(array.reopen().unwrap().read().values::<i32>("v").unwrap(), [2]);
    let (array, _) = create(sparse().with(|schema| schema.allows_dups(true)));
    array.write().column("x", &[5_i64, 5]).strings("id", ["a", "a"]).column("v", &[1, 2]).commit().unwrap();
    assert_eq!(array.reopen().unwrap().read().cells().unwrap().len(), 2);
}

#[test]
fn a_stream_is_one_fragment_or_nothing() {
    let (array, storage) = create(sparse().with(|schema| schema.capacity(3)));
    let files = || storage.list_all(&root()).unwrap().len();
    let before = files();
    let writer = array.writer().unwrap();
    let part = |start: i64| -> Columns {
        let x: Vec<i64> = (start..start + 5).collect();
        writer.columns().column("x", &x).strings("id", ["a"; 5]).column("v", &[7; 5])
    };
    let mut stream = writer.stream().at(40);
    stream.append(part(0)).unwrap();
    stream.append(part(5)).unwrap();
    let out_of_order = stream.append(part(2)).unwrap_err();
    assert!(out_of_order.to_string().contains("not in global order"), "{out_of_order}");
    stream.abort();
    let mut stream = writer.stream();
    stream.append(part(0)).unwrap();
    drop(stream);
    assert_eq!(files(), before, "neither leaves anything");
    assert_eq!(writer.stream().finish().unwrap(), None);
    let mut stream = writer.stream().at(40);
    (0..4).for_each(|part_of| stream.append(part(part_of * 5)).unwrap());
    stream.finish().unwrap().unwrap();
    let array = array.reopen().unwrap();
    assert_eq!(array.fragments().map(|f| (f.timestamps, f.cell_count)).collect::<Vec<_>>(), [((40, 40), Some(20))]);
    let sorted = array.write().order(Order::Global).column("x", &[2_i64, 1]).strings("id", ["a"; 2]).column("v", &[0; 2]);
    assert!(sorted.commit().is_err(), "what is said to be in order is checked");
}

#[test]
fn what_does_not_fit_is_said_and_leaves_nothing() {
    let (array, storage) = create(dense());
    let files = || storage.list_all(&root()).unwrap().len();
    let before = files();
    let check = |write: Write, expected: &str| assert_eq!(write.commit().unwrap_err().to_string(), expected);
    let write = || array.write();
    check(write().column("z", &[1]), "there is no field 'z'");
    check(write().column("i", &[1]), "field 'i' takes INT64, not i32");
    check(write().strings("i", ["1"]), "field 'i' takes INT64, not text");
    check(write().column("rgb", &[1_u8, 2]), "field 'rgb' takes several values in a cell, and the last cell lacks some");
    check(write().nullable("rgb", &[Some(1_u8)]), "field 'rgb' has several values in a cell");
    check(write().column("s", b"text"), "field 's' has cells of variable length; give lists");
    check(write().nullable("i", &[Some(1_i64), None]), "field 'i', cell 1: a null, and the field is not nullable");
    check(write().strings("code", ["ab", "abc"]), "field 'code', cell 1: 3 bytes given, cells have 2");
    check(write().bytes("list", ["abc"]), "field 'list', cell 0: 3 bytes given, cells have 2");
    check(write().range("z", 1), "the array has no dimension 'z'");
    check(write().range("y", 1).range("y", 2), "a write takes one range along a dimension");
    check(write().column("z", &[1]).range("w", 1), "there is no field 'z'");
    check(write().column("i", &[1_i64]).range("y", 1).range("x", 1), "no cells for 'f'");
    check(four(write()), "the subarray has 16 cells, 4 were given");
    check(four(write()).range("y", 4..=5).range("x", 1..=2), "the subarray [4, 5] of dimension 'y' is not in its domain");
    check(
        four(write()).range("y", 1..=2).range("x", 1..=2).order(Order::Global),
        "the cells of a dense subarray come row-major or column-major",
    );
    assert_eq!(files(), before);
    let (array, _) = create(sparse());
    let write = array.write().column("x", &[1_i64]).strings("id", ["a"]).column("v", &[1]);
    check(write.range("x", 1), "a write takes no ranges of a sparse array, whose cells have coordinates");
    let outside = array.write().column("x", &[100_i64]).strings("id", ["a"]).column("v", &[1]).commit().unwrap_err();
    assert!(outside.to_string().contains("out of domain [0, 99] of dimension 'x'"), "{outside}");
}

#[test]
fn encrypted_arrays_are_written_and_read_with_their_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let key = b"0123456789abcdeF0123456789abcdeF";
    let options = CreateOptions::new().key_bytes(key).unwrap().at(5);
    let array = sparse().options(options).create(&path).unwrap();
    array.write().column("x", &[1_i64]).strings("id", ["a"]).column("v", &[7]).at(6).commit().unwrap();
    assert_eq!(array.reopen().unwrap().read().values::<i32>("v").unwrap(), [7]);
    assert!(Array::open(&path).is_err());
    assert!(Writer::open(&path).is_err());
    let open = Array::options().key_bytes(key).unwrap();
    assert_eq!(open.open(&path).unwrap().read().values::<i32>("v").unwrap(), [7]);
    assert!(open.clone().at(4).open(&path).unwrap().read().cells().unwrap().is_empty());
    open.open_writer(&path).unwrap().write().column("x", &[1_i64]).strings("id", ["b"]).column("v", &[8]).commit().unwrap();
    assert_eq!(open.open(&path).unwrap().read().cells().unwrap().len(), 2);
}

#[test]
fn nothing_is_created_over_what_exists_or_against_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    sparse().create(&path).unwrap();
    assert!(sparse().create(&path).unwrap_err().is_already_there());
    assert!(Writer::open(folder.path().join("none")).unwrap_err().is_not_found());
    let refused = |builder: ArrayBuilder| builder.create(folder.path().join("new")).unwrap_err().to_string();
    let (five, one) = (5_u8, 1_u8);
    let reversed = five..=one;
    let empty = refused(ArrayBuilder::dense().dimension("x", reversed, 2).attribute::<u8>("a"));
    assert!(empty.contains("dimension \"x\": the low end of the domain is above its high end"), "{empty}");
    let negative = refused(ArrayBuilder::dense().dimension("x", 1..=5_i8, -1).attribute::<u8>("a"));
    assert!(negative.contains("tile extent"), "{negative}");
    assert!(refused(ArrayBuilder::dense()).contains("at least one dimension"));
    assert!(!folder.path().join("new").exists());
}

#[test]
fn several_writers_need_no_lock() {
    let (array, _) = create(sparse());
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let writer = array.writer().unwrap();
            std::thread::spawn(move || {
                for x in 0..20_i64 {
                    let cell = writer.write().column("x", &[x]).strings("id", [thread.to_string()]).column("v", &[thread]);
                    cell.commit().unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let array = array.reopen().unwrap();
    assert_eq!((array.fragments().count(), array.read().cells().unwrap().len()), (80, 80));
}

#[test]
fn dates_and_arrays_of_dates_are_numbers_of_their_unit() {
    let days = Dimension::new("day", Datatype::DateTimeDay, Range::Signed(-10, 9), Some(TileExtent::Integer(5)));
    let stamp = Attribute::new("t", Datatype::DateTimeMs);
    let (array, _) = create(ArrayBuilder::dense().add_dimension(days).add_attribute(stamp));
    array.write().range("day", -2..=1).column("t", &[1_i64, 2, 3, 4]).commit().unwrap();
    assert_eq!(array.reopen().unwrap().read().range("day", -1..=2).values::<i64>("t").unwrap(), [2, 3, 4, i64::MIN]);
}

#[test]
fn the_first_mistake_counts() {
    let (array, _) = create(sparse());
    let error = array.write().column("v", &[1_u8]).strings("v", ["x"]).commit().unwrap_err();
    assert!(matches!(error, Error::GivenType { found: "u8", .. }), "{error}");
}
