//! Conditions on reads of real arrays, against the cells that are read without one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::sync::Arc;

use talavera_condition::{QueryCondition, field};
use talavera_engine::{
    ArrayWriter, Batch, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
};
use talavera_schema::{ArraySchema, Attribute, Dimension, NdRange, Range, TileExtent};
use talavera_storage::{MemoryStorage, ObjectPath, Storage};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

fn integers(values: &[i32]) -> FieldBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    FieldBuffer::new(Datatype::Int32, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
}

fn values(batch: &Batch, field: &str) -> Vec<i32> {
    batch.field(field).unwrap().values::<i32>().unwrap().to_vec()
}

fn array(array_type: ArrayType) -> (Arc<dyn Storage>, ArrayWriter) {
    let dimension = Dimension::new("d", Datatype::Int32, Range::Signed(1, 10), Some(TileExtent::Integer(4)));
    let builder = ArraySchema::builder(array_type).dimension(dimension).capacity(3);
    let schema =
        builder.attribute(Attribute::new("a", Datatype::Int32)).attribute(Attribute::new("b", Datatype::Int32)).build().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    create_array(&*storage, &ObjectPath::root(), &schema, &[], &CreateOptions::default()).unwrap();
    let writer = ArrayWriter::open(Arc::clone(&storage), ObjectPath::root(), EngineOptions::default()).unwrap();
    (storage, writer)
}

fn at(timestamp: u64) -> WriteOptions {
    WriteOptions { timestamp: Some(timestamp), ..WriteOptions::default() }
}

fn read(storage: &Arc<dyn Storage>, condition: QueryCondition) -> Batch {
    let window = TimeWindow::until(100);
    let array = OpenArray::open(Arc::clone(storage), ObjectPath::root(), window, EngineOptions::default()).unwrap();
    array.query().layout(Layout::RowMajor).condition(condition).read().unwrap()
}

#[test]
fn of_equal_coordinates_the_newest_decides_even_if_it_is_left_out() {
    let (storage, writer) = array(ArrayType::Sparse);
    let write = |coordinates: &[i32], a: &[i32], time| {
        let fields = vec![("d".into(), integers(coordinates)), ("a".into(), integers(a)), ("b".into(), integers(a))];
        writer.write_sparse(&fields, at(time)).unwrap();
    };
    write(&[1, 2, 3, 4, 5], &[10, 20, 30, 40, 50], 1);
    write(&[2, 4], &[-2, -4], 2);
    let found = read(&storage, field("a").gt(15));
    assert_eq!((values(&found, "d"), values(&found, "a")), (vec![3, 5], vec![30, 50]));
    let found = read(&storage, field("d").le(2) | field("b").eq(50));
    assert_eq!(values(&found, "d"), [1, 2, 5]);
}

#[test]
fn a_dense_result_keeps_its_shape_and_shows_fill_values() {
    let (storage, writer) = array(ArrayType::Dense);
    let fields = vec![("a".into(), integers(&[1, 2, 3, 4])), ("b".into(), integers(&[5, 6, 7, 8]))];
    writer.write_dense(&NdRange(vec![Range::Signed(2, 5)]), Layout::RowMajor, &fields, at(1)).unwrap();
    let found = read(&storage, field("a").ge(3));
    let fill = i32::MIN;
    assert_eq!(values(&found, "b"), [fill, fill, fill, 7, 8, fill, fill, fill, fill, fill]);
    assert_eq!(values(&found, "a"), [fill, fill, fill, 3, 4, fill, fill, fill, fill, fill]);
}

#[test]
fn batches_of_a_condition_make_up_the_whole() {
    let (storage, writer) = array(ArrayType::Sparse);
    let fields =
        |values: &[i32]| vec![("d".into(), integers(values)), ("a".into(), integers(values)), ("b".into(), integers(values))];
    writer.write_sparse(&fields(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), at(1)).unwrap();
    let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow::until(9), EngineOptions::default()).unwrap();
    let query = array.query().layout(Layout::RowMajor).condition(field("a").is_in([2, 9, 10]));
    let batches: Vec<Batch> = query.batch_bytes(1).batches().unwrap().collect::<Result<_, _>>().unwrap();
    assert!(batches.iter().all(|batch| batch.cells > 0), "no batch is empty");
    assert_eq!(batches.iter().flat_map(|batch| values(batch, "d")).collect::<Vec<_>>(), [2, 9, 10]);
}

#[test]
fn an_unknown_field_is_named() {
    let (storage, _) = array(ArrayType::Sparse);
    let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow::until(9), EngineOptions::default()).unwrap();
    let error = array.query().condition(field("nope").gt(1)).read().unwrap_err();
    assert!(error.to_string().contains("nope"), "{error}");
}

/// Conditions over statistics that are there for every tile, and some that are not, on values with runs, nulls and NaN.
#[test]
fn tiles_are_passed_over_only_where_no_cell_matches() {
    let dimension = Dimension::new("d", Datatype::Int32, Range::Signed(0, 999), Some(TileExtent::Integer(100)));
    let mut nullable = Attribute::new("n", Datatype::Int32);
    nullable.nullable = true;
    let builder = ArraySchema::builder(ArrayType::Sparse).dimension(dimension).capacity(7).attribute(nullable);
    let builder = builder.attribute(Attribute::new("f", Datatype::Float64)).attribute(Attribute::var("s", Datatype::StringAscii));
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    create_array(&*storage, &ObjectPath::root(), &builder.build().unwrap(), &[], &CreateOptions::default()).unwrap();
    let writer = ArrayWriter::open(Arc::clone(&storage), ObjectPath::root(), EngineOptions::default()).unwrap();
    let cells: Vec<i32> = (0..400).collect();
    let n: Vec<u8> = cells.iter().flat_map(|cell| (cell / 10).to_le_bytes()).collect();
    let validity = cells.iter().map(|cell| u8::from(cell / 20 % 3 != 0)).collect();
    let f: Vec<u8> =
        cells.iter().flat_map(|cell| if cell % 50 == 3 { f64::NAN } else { f64::from(cell / 5) }.to_le_bytes()).collect();
    let texts: Vec<String> = cells.iter().map(|cell| format!("{:03}", cell / 9)).collect();
    let offsets = (0..=400).map(|cell| 3 * cell).collect();
    let field_of = |datatype, cell_val_num, bytes: &[u8], offsets, validity| {
        FieldBuffer::new(datatype, cell_val_num, CellBytes::copied(bytes), offsets, validity).unwrap()
    };
    let fields = vec![
        ("d".to_owned(), integers(&cells)),
        ("n".to_owned(), field_of(Datatype::Int32, CellValNum::ONE, &n, None, Some(validity))),
        ("f".to_owned(), field_of(Datatype::Float64, CellValNum::ONE, &f, None, None)),
        ("s".to_owned(), field_of(Datatype::StringAscii, CellValNum::Var, texts.concat().as_bytes(), Some(offsets), None)),
    ];
    writer.write_sparse(&fields, at(1)).unwrap();
    let valid = |cell: i32| cell / 20 % 3 != 0;
    let check = |condition: QueryCondition, expected: &dyn Fn(i32) -> bool| {
        let text = condition.to_string();
        let expected: Vec<i32> = cells.iter().copied().filter(|&cell| expected(cell)).collect();
        assert_eq!(values(&read(&storage, condition), "d"), expected, "{text}");
    };
    check(field("n").eq(17), &|cell| valid(cell) && cell / 10 == 17);
    check(field("n").lt(3) | field("n").ge(38), &|cell| valid(cell) && !(3..38).contains(&(cell / 10)));
    check(field("n").is_null(), &|cell| !valid(cell));
    check(field("n").is_not_null() & field("d").gt(390), &|cell| valid(cell) && cell > 390);
    check(field("f").gt(78.0), &|cell| cell % 50 != 3 && cell / 5 > 78);
    check(field("f").ne(10.0) & field("d").lt(60), &|cell| cell < 60 && (cell % 50 == 3 || cell / 5 != 10));
    check(field("s").is_in(["004", "040"]), &|cell| [4, 40].contains(&(cell / 9)));
    check(field("d").ge(398) | field("s").eq("000"), &|cell| cell >= 398 || cell / 9 == 0);
}
