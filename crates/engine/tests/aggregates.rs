//! Aggregates are those of the cells that a read returns, and statistics answer them where they can.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]
#![allow(clippy::cast_precision_loss, reason = "the expectations are small")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use talavera_condition::field;
use talavera_engine::{
    Aggregate, AggregateValue, ArrayWriter, Batch, CellBytes, CreateOptions, DeleteOptions, EngineOptions, Error, FieldBuffer,
    OpenArray, ReadQuery, TimeWindow, WriteOptions, create_array, delete_cells,
};
use talavera_pipeline::EncryptionKey;
use talavera_schema::{ArraySchema, Attribute, Dimension, NdRange, Range, TileExtent};
use talavera_storage::{LocalStorage, MemoryStorage, ObjectPath, Storage};
use talavera_testkit::fixtures::Case;
use talavera_types::{ArrayType, CellValNum, Datatype, DatatypeClass, Layout};

use AggregateValue::{Float, Null, Signed, Text, Unsigned};

/// The aggregates of a field that it can have.
fn aggregates_of(name: &str, buffer: &FieldBuffer) -> Vec<Aggregate> {
    let class = buffer.datatype().class();
    let number = buffer.cell_val_num() == CellValNum::ONE
        && matches!(class, DatatypeClass::Signed | DatatypeClass::Unsigned | DatatypeClass::Float);
    let mut aggregates = vec![Aggregate::NullCount(name.into())];
    if number {
        aggregates.extend([Aggregate::Sum(name.into()), Aggregate::Mean(name.into())]);
    }
    if number || class == DatatypeClass::Text || buffer.datatype() == Datatype::StringUtf8 {
        aggregates.extend([Aggregate::Min(name.into()), Aggregate::Max(name.into())]);
    }
    aggregates
}

/// An aggregate of the cells that `counts` names, found one by one.
fn slowly(aggregate: &Aggregate, buffer: &FieldBuffer, counts: &[bool]) -> AggregateValue {
    let cells: Vec<usize> = (0..buffer.len()).filter(|&cell| counts[cell]).collect();
    let values: Vec<AggregateValue> = cells
        .iter()
        .filter(|&&cell| !buffer.is_null(cell))
        .map(|&cell| value(buffer.datatype(), buffer.cell(cell).unwrap()))
        .collect();
    let sum = || -> f64 {
        values
            .iter()
            .map(|value| match value {
                Float(value) => *value,
                Signed(value) => *value as f64,
                Unsigned(value) => *value as f64,
                _ => unreachable!("text has no sum"),
            })
            .sum()
    };
    match aggregate {
        Aggregate::Count => Unsigned(cells.len() as u64),
        Aggregate::NullCount(_) => Unsigned((cells.len() - values.len()) as u64),
        Aggregate::Mean(_) if values.is_empty() => Null,
        Aggregate::Mean(_) => Float(sum() / values.len() as f64),
        Aggregate::Sum(_) if values.is_empty() && buffer.validity().is_some() => Null,
        Aggregate::Sum(_) => match buffer.datatype().class() {
            DatatypeClass::Float => Float(sum()),
            DatatypeClass::Unsigned => {
                let sum: u128 = values.iter().map(|value| if let Unsigned(value) = value { u128::from(*value) } else { 0 }).sum();
                Unsigned(u64::try_from(sum).unwrap_or(u64::MAX))
            }
            _ => {
                let sum: i128 = values.iter().map(|value| if let Signed(value) = value { i128::from(*value) } else { 0 }).sum();
                Signed(i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX }))
            }
        },
        _ => {
            let greatest = matches!(aggregate, Aggregate::Max(_));
            let better = |a: AggregateValue, b: AggregateValue| {
                let less = match (&a, &b) {
                    (Float(a), Float(b)) if a.is_nan() => return if b.is_nan() { Float(*a) } else { Float(*b) },
                    (Float(_), Float(b)) if b.is_nan() => return a,
                    (Float(a), Float(b)) => a < b,
                    (Signed(a), Signed(b)) => a < b,
                    (Unsigned(a), Unsigned(b)) => a < b,
                    (Text(a), Text(b)) => a < b,
                    _ => unreachable!("values of one field"),
                };
                if less == greatest { b } else { a }
            };
            values.into_iter().reduce(better).unwrap_or(Null)
        }
    }
}

fn value(datatype: Datatype, bytes: &[u8]) -> AggregateValue {
    match datatype.class() {
        _ if bytes.len() != datatype.size() => Text(bytes.into()),
        DatatypeClass::Float if bytes.len() == 4 => Float(f32::from_le_bytes(bytes.try_into().unwrap()).into()),
        DatatypeClass::Float => Float(f64::from_le_bytes(bytes.try_into().unwrap())),
        DatatypeClass::Signed | DatatypeClass::Unsigned => {
            let mut wide = [if datatype.class() == DatatypeClass::Signed && bytes.last().unwrap() >= &0x80 { 255 } else { 0 }; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            if datatype.class() == DatatypeClass::Signed {
                Signed(i64::from_le_bytes(wide))
            } else {
                Unsigned(u64::from_le_bytes(wide))
            }
        }
        _ => Text(bytes.into()),
    }
}

fn same(found: &AggregateValue, expected: &AggregateValue, scale: f64) -> bool {
    match (found, expected) {
        (Float(a), Float(b)) => a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= scale * 1e-9,
        _ => found == expected,
    }
}

/// Compares all aggregates of a query, at once, one by one, and under a tight budget, with those of its cells.
fn compare(query: &ReadQuery<'_>, counts: impl Fn(&Batch) -> Vec<bool>, name: &str) -> usize {
    let batch = query.clone().layout(Layout::RowMajor).read().unwrap();
    let counts = counts(&batch);
    let mut aggregates = Vec::new();
    let mut expected = Vec::new();
    for (field, buffer) in &batch.fields {
        for aggregate in aggregates_of(field, buffer) {
            expected.push((slowly(&aggregate, buffer, &counts), scale(buffer)));
            aggregates.push(aggregate);
        }
    }
    let found = query.clone().aggregate(aggregates.clone()).unwrap();
    let parts = query.clone().batch_bytes(1000).aggregate(aggregates.clone()).unwrap();
    for (((aggregate, (expected, scale)), found), in_parts) in aggregates.iter().zip(&expected).zip(&found).zip(&parts) {
        assert!(same(found, expected, *scale), "{name}: {aggregate:?} is {found:?} and should be {expected:?}");
        assert!(same(in_parts, expected, *scale), "{name}: {aggregate:?} in parts is {in_parts:?} and should be {expected:?}");
        let alone = query.clone().aggregate([aggregate.clone()]).unwrap();
        assert!(same(&alone[0], expected, *scale), "{name}: {aggregate:?} alone is {alone:?} and should be {expected:?}");
    }
    aggregates.len()
}

/// How large the numbers are that a sum of floats rounds.
fn scale(buffer: &FieldBuffer) -> f64 {
    let finite = |bytes: &[u8]| match value(buffer.datatype(), bytes) {
        Float(value) if value.is_finite() => value.abs(),
        Signed(value) => (value as f64).abs(),
        Unsigned(value) => value as f64,
        _ => 0.0,
    };
    (0..buffer.len()).map(|cell| finite(buffer.cell(cell).unwrap())).sum()
}

#[test]
fn aggregates_of_arrays_that_libraries_wrote_are_those_of_their_cells() {
    let cases = Case::all_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures"));
    let compared: usize = cases.par_iter().map(compare_case).sum();
    println!("{compared} aggregates of {} arrays", cases.len());
    assert!(compared > 5 * cases.len(), "{compared} aggregates of {} arrays are too few to tell", cases.len());
}

fn compare_case(case: &Case) -> usize {
    let key = case.key().map(|key| EncryptionKey::from_bytes(&key).unwrap());
    let options = EngineOptions { key, ..EngineOptions::default() };
    let storage = Arc::new(LocalStorage::new(case.array()).unwrap());
    let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow { start: 0, end: u64::MAX }, options).unwrap();
    let schema = array.schema();
    let dense = schema.is_dense();
    let evolved = array.fragments().iter().any(|fragment| fragment.schema() != schema);
    if dense && (evolved || array.fragments().iter().any(|fragment| !fragment.footer().dense)) {
        // Which cells were written is not told by the domains of fragments there.
        return 0;
    }
    let dimensions: Vec<String> = schema.domain.dimensions.iter().map(|dimension| dimension.name.clone()).collect();
    let fields = dimensions.iter().cloned().chain(schema.attributes.iter().map(|attribute| attribute.name.clone()));
    let query = array.query().fields(fields);
    let written = |batch: &Batch| -> Vec<bool> {
        let inside = |fragment: &talavera_engine::Fragment, cell: usize| {
            fragment.non_empty_domain().iter().zip(&dimensions).all(|(range, name)| {
                let column = batch.field(name).unwrap();
                match (range, value(column.datatype(), column.cell(cell).unwrap())) {
                    (Range::Signed(low, high), Signed(at)) => (low..=high).contains(&&at),
                    (Range::Unsigned(low, high), Unsigned(at)) => (low..=high).contains(&&at),
                    other => panic!("{other:?} in a dense array"),
                }
            })
        };
        (0..batch.cells).map(|cell| !dense || array.fragments().iter().any(|fragment| inside(fragment, cell))).collect()
    };
    let mut compared = compare(&query, written, &case.name());
    let half = array.fragments().first().and_then(|fragment| match fragment.non_empty_domain().first() {
        Some(Range::Signed(low, high)) => Some(Range::Signed(low + (high - low) / 3, *high)),
        Some(Range::Unsigned(low, high)) => Some(Range::Unsigned(low + (high - low) / 3, *high)),
        _ => None,
    });
    if let Some(half) = half {
        compared += compare(&query.range(0, half).unwrap(), written, &format!("{}, in a range", case.name()));
    }
    compared
}

fn integers(values: &[i32]) -> FieldBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    FieldBuffer::new(Datatype::Int32, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
}

fn floats(values: &[f64]) -> FieldBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    FieldBuffer::new(Datatype::Float64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
}

fn longs(values: &[i64]) -> FieldBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
}

fn texts(values: &[&str]) -> FieldBuffer {
    let mut offsets = vec![0];
    values.iter().for_each(|text| offsets.push(offsets.last().unwrap() + text.len() as u64));
    let data = CellBytes::copied(values.concat().as_bytes());
    FieldBuffer::new(Datatype::StringAscii, CellValNum::Var, data, Some(offsets), None).unwrap()
}

fn new_array(schema: &ArraySchema) -> (Arc<dyn Storage>, ArrayWriter) {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    create_array(&*storage, &ObjectPath::root(), schema, &[], &CreateOptions::default()).unwrap();
    let writer = ArrayWriter::open(Arc::clone(&storage), ObjectPath::root(), EngineOptions::default()).unwrap();
    (storage, writer)
}

fn one_dimension(array_type: ArrayType) -> talavera_schema::ArraySchemaBuilder {
    let dimension = Dimension::new("d", Datatype::Int32, Range::Signed(0, 99), Some(TileExtent::Integer(10)));
    ArraySchema::builder(array_type).dimension(dimension).capacity(4)
}

fn open(storage: &Arc<dyn Storage>) -> OpenArray {
    OpenArray::open(Arc::clone(storage), ObjectPath::root(), TimeWindow::until(100), EngineOptions::default()).unwrap()
}

fn at(timestamp: u64) -> WriteOptions {
    WriteOptions { timestamp: Some(timestamp), ..WriteOptions::default() }
}

/// The answers, and how many tiles were decoded for them.
fn ask(query: ReadQuery<'_>, aggregates: &[Aggregate]) -> (Vec<AggregateValue>, u64) {
    let tiles = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&tiles);
    let query = query.on_progress(Arc::new(move |progress| {
        told.fetch_max(progress.tiles, Ordering::Relaxed);
    }));
    let answers = query.aggregate(aggregates.to_vec()).unwrap();
    (answers, tiles.load(Ordering::Relaxed))
}

fn of(names: &[&str]) -> Vec<Aggregate> {
    let each = |name: &&str| {
        let name = (*name).to_owned();
        [Aggregate::Sum(name.clone()), Aggregate::Min(name.clone()), Aggregate::Max(name.clone()), Aggregate::Mean(name)]
    };
    std::iter::once(Aggregate::Count).chain(names.iter().flat_map(each)).collect()
}

fn sparse_array() -> (Arc<dyn Storage>, ArrayWriter) {
    let builder = one_dimension(ArrayType::Sparse).attribute(Attribute::new("a", Datatype::Int32));
    let builder = builder.attribute(Attribute::var("s", Datatype::StringAscii));
    let (storage, writer) = new_array(&builder.build().unwrap());
    let cells: Vec<i32> = (0..20).collect();
    let names: Vec<String> = cells.iter().map(|cell| format!("n{cell:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let a: Vec<i32> = cells.iter().map(|cell| cell * cell - 50).collect();
    let fields = vec![("d".into(), integers(&cells)), ("a".into(), integers(&a)), ("s".into(), texts(&names))];
    writer.write_sparse(&fields, at(1)).unwrap();
    (storage, writer)
}

#[test]
fn statistics_alone_answer_for_whole_tiles_of_a_sparse_array() {
    let (storage, _) = sparse_array();
    let array = open(&storage);
    let mut aggregates = of(&["a", "d"]);
    aggregates.extend([Aggregate::Min("s".into()), Aggregate::Max("s".into()), Aggregate::NullCount("s".into())]);
    let (answers, tiles) = ask(array.query(), &aggregates);
    let expected = [
        Unsigned(20),
        Signed(1470),
        Signed(-50),
        Signed(311),
        Float(73.5),
        Signed(190),
        Signed(0),
        Signed(19),
        Float(9.5),
        Text(b"n00"[..].into()),
        Text(b"n19"[..].into()),
        Unsigned(0),
    ];
    assert_eq!(answers, expected);
    assert_eq!(tiles, 0, "no tile is decoded");
    // Cells 0..4, 4..8, ...: two tiles lie inside, of one a coordinate has to be looked at and then its values.
    let (answers, tiles) = ask(array.query().range(0, Range::Signed(4, 13)).unwrap(), &of(&["a"]));
    assert_eq!(answers[..4], [Unsigned(10), Signed(305), Signed(-34), Signed(119)]);
    assert_eq!(tiles, 2, "the coordinates and the values of one tile");
    let (answers, tiles) = ask(array.query().range(0, Range::Signed(4, 13)).unwrap(), &[Aggregate::Count]);
    assert_eq!((answers, tiles), (vec![Unsigned(10)], 1), "a count needs no attribute");
}

#[test]
fn a_condition_that_statistics_prove_costs_no_tile() {
    let (storage, _) = sparse_array();
    let array = open(&storage);
    let (answers, tiles) = ask(array.query().condition(field("a").ge(-50) & field("d").lt(8)), &of(&["a"]));
    assert_eq!(answers[..4], [Unsigned(8), Signed(-260), Signed(-50), Signed(-1)]);
    assert_eq!(tiles, 0);
    let (answers, _) = ask(array.query().condition(field("a").gt(-50) & field("d").lt(8)), &of(&["a"]));
    assert_eq!(answers[..4], [Unsigned(7), Signed(-210), Signed(-49), Signed(-1)]);
}

#[test]
fn statistics_are_not_asked_where_cells_hide_each_other_or_were_deleted() {
    let (storage, writer) = sparse_array();
    let fields = vec![("d".into(), integers(&[2])), ("a".into(), integers(&[1000])), ("s".into(), texts(&["z"]))];
    writer.write_sparse(&fields, at(2)).unwrap();
    let array = open(&storage);
    let (answers, tiles) = ask(array.query(), &of(&["a"]));
    assert_eq!(answers[..4], [Unsigned(20), Signed(1470 + 46 + 1000), Signed(-50), Signed(1000)]);
    assert!(tiles > 0 && tiles <= 4, "{tiles} tiles: only the two that meet are decoded");
    let options = DeleteOptions { timestamp: Some(3), ..DeleteOptions::default() };
    delete_cells(&open(&storage), &field("a").lt(-40), &options).unwrap();
    let (answers, _) = ask(open(&storage).query(), &of(&["a"]));
    assert_eq!(answers[..4], [Unsigned(17), Signed(1470 + 46 + 1000 + 50 + 49 + 41), Signed(-34), Signed(1000)]);
}

/// The expected values are those of libtiledb 2.30, but for the count under a condition, which it ignores, and for the
/// mean over the whole tile, which it divides by 10 (docs/correctness.md).
#[test]
fn of_dense_arrays_only_cells_that_were_written_count() {
    let dimension = Dimension::new("d", Datatype::Int32, Range::Signed(0, 9), Some(TileExtent::Integer(10)));
    let schema = ArraySchema::builder(ArrayType::Dense).dimension(dimension).attribute(Attribute::new("a", Datatype::Int32));
    let (storage, writer) = new_array(&schema.build().unwrap());
    let empty = open(&storage);
    assert_eq!(ask(empty.query(), &of(&["a", "d"])).0, [Unsigned(10), Signed(0), Null, Null, Null, Signed(0), Null, Null, Null]);
    writer
        .write_dense(&NdRange(vec![Range::Signed(0, 4)]), Layout::RowMajor, &[("a".into(), integers(&[1, 2, 3, 4, 5]))], at(1))
        .unwrap();
    let array = open(&storage);
    let check = |query: ReadQuery<'_>, expected: &[AggregateValue]| assert_eq!(ask(query, &of(&["a"])).0, expected);
    check(array.query(), &[Unsigned(10), Signed(15), Signed(1), Signed(5), Float(3.0)]);
    let large = || array.query().condition(field("a").gt(3));
    check(large(), &[Unsigned(2), Signed(9), Signed(4), Signed(5), Float(4.5)]);
    check(array.query().range(0, Range::Signed(6, 8)).unwrap(), &[Unsigned(3), Signed(0), Null, Null, Null]);
    let twice = array.query().range(0, Range::Signed(0, 1)).unwrap().range(0, Range::Signed(4, 5)).unwrap();
    check(twice, &[Unsigned(4), Signed(8), Signed(1), Signed(5), Float(8.0 / 3.0)]);
    check(large().range(0, Range::Signed(0, 3)).unwrap(), &[Unsigned(1), Signed(4), Signed(4), Signed(4), Float(4.0)]);
    assert_eq!(ask(array.query().range(0, Range::Signed(2, 7)).unwrap(), &of(&["d"])).0[1..4], [Signed(9), Signed(2), Signed(4)]);
}

#[test]
fn statistics_alone_answer_for_dense_tiles_that_one_fragment_wrote_whole() {
    let (storage, writer) =
        new_array(&one_dimension(ArrayType::Dense).attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
    let write = |low: i32, values: &[i32], time| {
        let high = low + i32::try_from(values.len()).unwrap() - 1;
        let subarray = NdRange(vec![Range::Signed(low.into(), high.into())]);
        writer.write_dense(&subarray, Layout::RowMajor, &[("a".into(), integers(values))], at(time)).unwrap();
    };
    write(0, &(0..60).collect::<Vec<_>>(), 1);
    let (answers, tiles) = ask(open(&storage).query(), &of(&["a"]));
    assert_eq!(answers, [Unsigned(100), Signed(1770), Signed(0), Signed(59), Float(29.5)]);
    assert_eq!(tiles, 0, "no tile is decoded");
    write(15, &[-1, -1], 2);
    let (answers, tiles) = ask(open(&storage).query(), &of(&["a"]));
    assert_eq!(answers[..4], [Unsigned(100), Signed(1770 - 15 - 16 - 2), Signed(-1), Signed(59)]);
    assert_eq!(tiles, 2, "the tile that both fragments wrote");
    write(0, &[7; 20], 3);
    let (answers, tiles) = ask(open(&storage).query(), &of(&["a"]));
    assert_eq!(answers[..4], [Unsigned(100), Signed(1770 - 190 + 140), Signed(7), Signed(59)]);
    assert_eq!(tiles, 0, "what the newest fragment hides is not read");
}

#[test]
fn sums_stop_at_the_bounds_of_their_type_and_nan_is_no_bound() {
    let schema = one_dimension(ArrayType::Sparse)
        .attribute(Attribute::new("i", Datatype::Int64))
        .attribute(Attribute::new("f", Datatype::Float64));
    let schema = schema.capacity(2).build().unwrap();
    let check = |i: &[i64], f: &[f64], expected: &[AggregateValue]| {
        let (storage, writer) = new_array(&schema);
        let cells: Vec<i32> = (0..i32::try_from(i.len()).unwrap()).collect();
        writer.write_sparse(&[("d".into(), integers(&cells)), ("i".into(), longs(i)), ("f".into(), floats(f))], at(1)).unwrap();
        let (found, _) = ask(open(&storage).query(), &of(&["i", "f"])[1..]);
        for (found, expected) in found.iter().zip(expected) {
            assert!(same(found, expected, 1.0), "{i:?}, {f:?}: {found:?} is not {expected:?}");
        }
    };
    const MAX: i64 = i64::MAX;
    let float = |sum, min, max, mean| [Float(sum), Float(min), Float(max), Float(mean)];
    let with = |i: [AggregateValue; 4], f: [AggregateValue; 4]| [i, f].concat();
    // The true sum decides, not that of some of the cells: here the library says i64::MAX.
    let half = [Signed(MAX - 10), Signed(-20), Signed(MAX), Float((MAX - 10) as f64 / 3.0)];
    check(&[MAX, 10, -20], &[2.0, f64::NAN, 5.0], &with(half, float(f64::NAN, 2.0, 5.0, f64::NAN)));
    let over = [Signed(MAX), Signed(1), Signed(MAX), Float(MAX as f64 / 2.0)];
    check(&[MAX, 1], &[f64::NAN; 2], &with(over, float(f64::NAN, f64::NAN, f64::NAN, f64::NAN)));
    let under = [Signed(i64::MIN), Signed(-MAX), Signed(-5), Float(-MAX as f64 / 2.0)];
    check(&[-MAX, -5], &[1.0, f64::INFINITY], &with(under, float(f64::INFINITY, 1.0, f64::INFINITY, f64::INFINITY)));
}

#[test]
fn what_a_field_cannot_have_is_refused_by_name() {
    let (storage, _) = sparse_array();
    let array = open(&storage);
    let refused = |aggregate: Aggregate| array.query().aggregate([aggregate]).unwrap_err().to_string();
    assert!(refused(Aggregate::Sum("s".into())).contains("STRING_ASCII"));
    assert!(refused(Aggregate::Min("nope".into())).contains("'nope'"));
    let limited = array.query().memory_limit(1).range(0, Range::Signed(4, 13)).unwrap();
    assert!(matches!(limited.aggregate([Aggregate::Count]).unwrap_err(), Error::Budget { .. }));
}
