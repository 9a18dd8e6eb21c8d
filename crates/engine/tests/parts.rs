//! Parts of a read, sent through JSON and read alone, are together the whole.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rayon::prelude::*;
use talavera_condition::field;
use talavera_directory::TimeWindow;
use talavera_engine::{
    ArrayWriter, Batch, CellBytes, CreateOptions, DeleteOptions, EngineOptions, FieldBuffer, OpenArray, ReadPart, ReadQuery,
    SplitBy, WriteOptions, create_array, delete_cells,
};
use talavera_pipeline::EncryptionKey;
use talavera_schema::{ArraySchema, Attribute, Coordinate, Dimension, NdRange, Range, TileExtent};
use talavera_storage::{LocalStorage, ObjectPath, Storage};
use talavera_testkit::fixtures::{Case, Cell};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

type Rows = Vec<Vec<Cell>>;

const ALWAYS: TimeWindow = TimeWindow { start: 0, end: u64::MAX };

fn rows(batch: &Batch) -> Rows {
    let cell = |row: usize| {
        let fields = batch.fields.iter();
        fields.map(|(_, field)| if field.is_null(row) { None } else { Some(field.cell(row).unwrap().to_vec()) }).collect()
    };
    (0..batch.cells).map(cell).collect()
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort_unstable();
    rows
}

fn sent(part: &ReadPart) -> ReadPart {
    let json = serde_json::to_string(part).unwrap();
    let received: ReadPart = serde_json::from_str(&json).unwrap();
    assert_eq!(received, *part, "{json}");
    received
}

/// Checks the rows of a part against what it said of itself.
fn check_promises(part: &ReadPart, batch: &Batch, array: &OpenArray, name: &str) {
    let (count, cells) = (part.cells(), batch.cells as u64);
    assert!(if count.exact { cells == count.cells } else { cells <= count.cells }, "{name}: {count:?}, {cells} cells");
    for (statistics, (field, buffer)) in part.statistics().iter().zip(&batch.fields) {
        assert_eq!(statistics.field, *field);
        let nulls = (0..buffer.len()).filter(|&cell| buffer.is_null(cell)).count() as u64;
        assert!(statistics.null_count.is_none_or(|count| count == nulls), "{name}, {field}: {statistics:?}, {nulls} nulls");
        let datatype = array.schema().attribute(field).map_or(buffer.datatype(), |(_, attribute)| attribute.datatype);
        let (Some(min), Some(max)) = (&statistics.min, &statistics.max) else { continue };
        let value = |bytes| Coordinate::from_le_bytes(datatype, bytes).unwrap();
        for cell in (0..buffer.len()).filter(|&cell| !buffer.is_null(cell)) {
            // Cells that hold several values have no bounds.
            let own = value(buffer.cell(cell).unwrap());
            let (min, max) =
                (Coordinate::from_le_bytes(datatype, min).unwrap(), Coordinate::from_le_bytes(datatype, max).unwrap());
            assert!(min <= own && own <= max, "{name}, {field}: {own:?} is not in {min:?}..{max:?}");
        }
    }
}

#[test]
fn the_parts_of_every_fixture_are_the_whole() {
    let cases = Case::all_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures"));
    let parts: usize = cases.par_iter().map(compare).sum();
    println!("{parts} parts of {} arrays", cases.len());
    assert!(parts > 10 * cases.len(), "{parts} parts of {} arrays are too few to tell", cases.len());
}

fn compare(case: &Case) -> usize {
    let key = case.key().map(|key| EncryptionKey::from_bytes(&key).unwrap());
    let options = EngineOptions { key, ..EngineOptions::default() };
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(case.array()).unwrap());
    let array = OpenArray::open(Arc::clone(&storage), ObjectPath::root(), ALWAYS, options.clone()).unwrap();
    let mut total = 0;
    for layout in [Layout::Unordered, Layout::RowMajor, Layout::ColMajor, Layout::GlobalOrder] {
        let mut queries = vec![array.query().layout(layout)];
        let attributes = array.schema().attributes.iter().filter(|attribute| attribute.cell_val_num == CellValNum::ONE);
        let attribute = attributes.into_iter().find(|attribute| attribute.datatype.is_integer());
        if let Some(attribute) = attribute.filter(|attribute| attribute.enumeration.is_none()) {
            queries
                .push(array.query().layout(layout).condition(field(&attribute.name).gt(50) | field(&attribute.name).is_null()));
        }
        for query in queries {
            for by in [SplitBy::Parts(4), SplitBy::Bytes(2_000)] {
                total += compare_query(&query, by, &array, &storage, &format!("{}, {layout}, {by:?}", case.name()));
            }
        }
    }
    total
}

fn compare_query(query: &ReadQuery<'_>, by: SplitBy, array: &OpenArray, storage: &Arc<dyn Storage>, name: &str) -> usize {
    let expected = rows(&query.clone().read().unwrap());
    let parts = query.split(by).unwrap();
    let mut found = Vec::new();
    for part in parts.iter().map(sent) {
        let batch = part.run(Arc::clone(storage), array.options().clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        check_promises(&part, &batch, array, name);
        found.extend(rows(&batch));
    }
    let (expected, found) = (sorted(expected), sorted(found));
    assert!(found == expected, "{name}: {} parts have {} of {} cells", parts.len(), found.len(), expected.len());
    parts.len()
}

/// What an array is made like.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Dense,
    Sparse,
    Duplicates,
    Hilbert,
}

const KINDS: [Kind; 4] = [Kind::Dense, Kind::Sparse, Kind::Duplicates, Kind::Hilbert];

/// An array of three overlapping fragments of some thousand cells each.
fn write(kind: Kind, folder: &Path) {
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder).unwrap());
    let array_type = if matches!(kind, Kind::Dense) { ArrayType::Dense } else { ArrayType::Sparse };
    let dimension = |name| Dimension::new(name, Datatype::Int64, Range::Signed(0, 199), Some(TileExtent::Integer(20)));
    let mut builder = ArraySchema::builder(array_type).dimension(dimension("y")).dimension(dimension("x")).capacity(100);
    builder = builder.allows_dups(matches!(kind, Kind::Duplicates));
    if matches!(kind, Kind::Hilbert) {
        builder = builder.cell_order(Layout::Hilbert);
    }
    let schema = builder.attribute(Attribute::new("v", Datatype::Int64)).build().unwrap();
    create_array(&*storage, &ObjectPath::root(), &schema, &[], &CreateOptions::default()).unwrap();
    let writer = ArrayWriter::open(storage, ObjectPath::root(), EngineOptions::default()).unwrap();
    let column = |values: Vec<i64>| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
    };
    for fragment in 0..3_i64 {
        let options = WriteOptions { timestamp: Some(10 + fragment.unsigned_abs()), ..WriteOptions::default() };
        if matches!(kind, Kind::Dense) {
            let (low, high) = (30 * fragment, 30 * fragment + 99);
            let range = NdRange(vec![Range::Signed(low, high), Range::Signed(0, 149)]);
            let cells = column((0..100 * 150).map(|cell| cell + fragment * 1_000_000).collect());
            writer.write_dense(&range, Layout::RowMajor, &[("v".to_owned(), cells)], options).unwrap();
        } else {
            // A step that meets every place once, and the same places in every fragment.
            let places: Vec<i64> = (0..4_000).map(|cell| cell * 7_919 % 40_000).collect();
            let fields = [
                ("y", places.iter().map(|place| place / 200).collect()),
                ("x", places.iter().map(|place| place % 200).collect()),
                ("v", (0..4_000).map(|cell| cell + fragment * 1_000_000).collect::<Vec<i64>>()),
            ];
            let fields = fields.into_iter().map(|(name, values)| (name.to_owned(), column(values))).collect::<Vec<_>>();
            writer.write_sparse(&fields, options).unwrap();
        }
    }
}

/// Reads one part in a process that knows nothing but the part and the folder, and prints its rows.
#[test]
fn a_process_for_one_part() {
    let (Ok(part), Ok(folder)) = (std::env::var("TALAVERA_TEST_PART"), std::env::var("TALAVERA_TEST_ARRAY")) else { return };
    let part: ReadPart = serde_json::from_str(&std::fs::read_to_string(part).unwrap()).unwrap();
    let batch = part.run(Arc::new(LocalStorage::new(folder).unwrap()), EngineOptions::default()).unwrap();
    println!("rows {}", serde_json::to_string(&rows(&batch)).unwrap());
}

#[test]
fn parts_read_by_processes_of_their_own_are_the_whole() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        write(kind, &path);
        let storage = Arc::new(LocalStorage::new(&path).unwrap());
        let array = OpenArray::open(storage, ObjectPath::root(), ALWAYS, EngineOptions::default()).unwrap();
        for layout in [Layout::Unordered, Layout::RowMajor] {
            let query = array.query().fields(["y", "x", "v"]).layout(layout).condition(field("v").gt(100));
            let parts = query.split(SplitBy::Parts(5)).unwrap();
            assert!((4..=8).contains(&parts.len()), "{kind:?}, {layout}: {} parts", parts.len());
            let mut found: Rows = Vec::new();
            for (number, part) in parts.iter().enumerate() {
                let file = folder.path().join(format!("part-{number}"));
                std::fs::write(&file, serde_json::to_string(part).unwrap()).unwrap();
                let mut child = Command::new(std::env::current_exe().unwrap());
                child.args(["a_process_for_one_part", "--exact", "--nocapture"]);
                let output = child.env("TALAVERA_TEST_PART", &file).env("TALAVERA_TEST_ARRAY", &path).output().unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                let line = text.lines().find_map(|line| line.split_once("rows ")).expect(&text).1;
                let rows: Rows = serde_json::from_str(line).unwrap();
                assert!(!rows.is_empty() || matches!(kind, Kind::Dense), "{kind:?}, {layout}: part {number} is empty");
                found.extend(rows);
            }
            let expected = rows(&query.read().unwrap());
            assert_eq!(sorted(found.clone()), sorted(expected.clone()), "{kind:?}, {layout}");
            if layout == Layout::RowMajor {
                assert_eq!(found, expected, "{kind:?}: the parts are in the order of the result");
            }
        }
    }
}

#[test]
fn a_part_shows_what_the_read_saw_whatever_is_written_since() {
    let folder = tempfile::tempdir().unwrap();
    write(Kind::Sparse, folder.path());
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder.path()).unwrap());
    let open = || OpenArray::open(Arc::clone(&storage), ObjectPath::root(), ALWAYS, EngineOptions::default()).unwrap();
    let array = open();
    let parts = array.query().split(SplitBy::Parts(3)).unwrap();
    let expected = sorted(rows(&array.query().read().unwrap()));
    let writer = ArrayWriter::open(Arc::clone(&storage), ObjectPath::root(), EngineOptions::default()).unwrap();
    let one =
        |value: i64| FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&value.to_le_bytes()), None, None);
    let cell = ["y", "x", "v"].map(|name| (name.to_owned(), one(3).unwrap()));
    writer.write_sparse(&cell, WriteOptions::default()).unwrap();
    delete_cells(&open(), &field("v").lt(2_001_000), &DeleteOptions::default()).unwrap();
    assert_ne!(sorted(rows(&open().query().read().unwrap())), expected);
    let batches = parts.iter().map(|part| part.run(Arc::clone(&storage), EngineOptions::default()).unwrap());
    assert_eq!(sorted(batches.flat_map(|batch| rows(&batch)).collect()), expected);
}

#[test]
fn parts_of_a_dense_array_know_the_bounds_of_its_fields() {
    let folder = tempfile::tempdir().unwrap();
    write(Kind::Dense, folder.path());
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder.path()).unwrap());
    let array = OpenArray::open(Arc::clone(&storage), ObjectPath::root(), ALWAYS, EngineOptions::default()).unwrap();
    let bounds = |query: &ReadQuery<'_>| -> Vec<(i64, i64)> {
        let value = |bytes: &Option<Vec<u8>>| i64::from_le_bytes(bytes.clone().unwrap().try_into().unwrap());
        let parts = query.split(SplitBy::Parts(10)).unwrap();
        for part in &parts {
            let batch = part.run(Arc::clone(&storage), EngineOptions::default()).unwrap();
            check_promises(part, &batch, &array, "dense");
            assert!(part.statistics().iter().all(|field| field.null_count == Some(0)));
        }
        assert_eq!(value(&parts[3].statistics()[0].min), 60, "a dimension");
        assert_eq!(value(&parts[3].statistics()[0].max), 79, "a dimension");
        parts.iter().map(|part| (value(&part.statistics()[2].min), value(&part.statistics()[2].max))).collect()
    };
    let fill = i64::MIN;
    // Twenty rows of a hundred and fifty cells each; nobody wrote the cells beside them, nor the last rows.
    let whole = bounds(&array.query().fields(["y", "x", "v"]));
    assert_eq!((whole[0], whole[9]), ((fill, 20 * 150 - 1), (fill, fill)));
    // In these columns a part is seven tiles that the last fragment wrote whole.
    let inside = bounds(&array.query().fields(["y", "x", "v"]).range(1, Range::Signed(0, 139)).unwrap());
    assert_eq!(inside[4], (2_000_000 + 20 * 150, 2_000_000 + 40 * 150 - 11));
    // Cells that a condition does not hold for show the fill value.
    let some = array.query().fields(["y", "x", "v"]).range(1, Range::Signed(0, 139)).unwrap().condition(field("v").gt(100));
    assert_eq!(bounds(&some)[4].0, fill);
}

#[test]
fn a_part_of_another_array_is_refused() {
    let (sparse, dense) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(Kind::Sparse, sparse.path());
    write(Kind::Dense, dense.path());
    let open = |folder: &Path| {
        let storage = Arc::new(LocalStorage::new(folder).unwrap());
        OpenArray::open(storage, ObjectPath::root(), ALWAYS, EngineOptions::default()).unwrap()
    };
    let (sparse, dense) = (open(sparse.path()), open(dense.path()));
    let part = sparse.query().split(SplitBy::Parts(2)).unwrap().remove(0);
    let error = part.query(&dense).unwrap_err().to_string();
    assert_eq!(error, "the array is not open at the fragments of the part; open it by the part");
}
