//! Dimension labels, and dense cells in global order.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::sync::Arc;

use talavera_engine::{
    ArrayWriter, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
    write_labels,
};
use talavera_schema::{ArraySchema, Attribute, Dimension, DimensionLabel, NdRange, Range, TileExtent};
use talavera_storage::{LocalStorage, MemoryStorage, ObjectPath, Storage};
use talavera_testkit::fixtures::shared_fixtures;
use talavera_types::{ArrayType, CellValNum, DataOrder, Datatype, Layout};

fn floats(values: &[f64]) -> FieldBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    FieldBuffer::new(Datatype::Float64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
}

fn integers(values: &[i32]) -> FieldBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    FieldBuffer::new(Datatype::Int32, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
}

fn open(storage: &Arc<dyn Storage>) -> OpenArray {
    OpenArray::open(Arc::clone(storage), ObjectPath::root(), TimeWindow::until(u64::MAX - 1), EngineOptions::default()).unwrap()
}

fn create(labels: &[DimensionLabel]) -> Arc<dyn Storage> {
    let dimension = |name: &str| Dimension::new(name, Datatype::Int64, Range::Signed(-4, 3), Some(TileExtent::Integer(2)));
    let mut builder = ArraySchema::builder(ArrayType::Dense).dimension(dimension("y")).dimension(dimension("x"));
    builder = builder.attribute(Attribute::new("a", Datatype::Int32));
    for label in labels {
        builder = builder.label(label.clone());
    }
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    create_array(&*storage, &ObjectPath::root(), &builder.build().unwrap(), &[], &CreateOptions::default()).unwrap();
    storage
}

#[test]
fn a_range_of_labels_is_a_range_of_indices_whichever_way_they_go() {
    let rising = DimensionLabel::internal(0, 0, "rising", DataOrder::Increasing, Datatype::Float64);
    let falling = DimensionLabel::internal(1, 1, "falling", DataOrder::Decreasing, Datatype::Float64);
    let storage = create(&[rising, falling]);
    let write = |name: &str, first: i64, values: &[f64]| {
        let first = Range::Signed(first, first);
        let options = EngineOptions::default();
        write_labels(Arc::clone(&storage), &ObjectPath::root(), options, name, &first, floats(values), WriteOptions::default())
    };
    write("rising", -4, &[0.5, 1.5, 2.5]).unwrap();
    write("rising", -1, &[3.5]).unwrap();
    write("falling", -2, &[30.0, 20.0, 10.0]).unwrap();
    let array = open(&storage);
    let rising = array.labels("rising").unwrap();
    assert_eq!(rising.indices(), &Range::Signed(-4, -1));
    assert_eq!(rising.indices_of(&Range::Float64(1.0, 3.5)).unwrap(), Range::Signed(-3, -1));
    assert!(rising.indices_of(&Range::Float64(1.6, 2.4)).unwrap_err().to_string().contains("no value of label 'rising'"));
    let falling = array.labels("falling").unwrap();
    assert_eq!((falling.dimension(), falling.indices_of(&Range::Float64(15.0, 99.0)).unwrap()), (1, Range::Signed(-2, -1)));
    assert!(write("rising", 0, &[1.0, 1.0]).unwrap_err().to_string().contains("is not in increasing order"));
}

#[test]
fn labels_with_a_gap_are_refused() {
    let storage = create(&[DimensionLabel::internal(0, 0, "l", DataOrder::Increasing, Datatype::Float64)]);
    for (first, value) in [(-4, 1.0), (0, 2.0)] {
        let (first, values) = (Range::Signed(first, first), floats(&[value]));
        let options = EngineOptions::default();
        write_labels(Arc::clone(&storage), &ObjectPath::root(), options, "l", &first, values, WriteOptions::default()).unwrap();
    }
    assert!(open(&storage).labels("l").unwrap_err().to_string().contains("none between"));
}

#[test]
fn labels_that_libtiledb_wrote_are_found() {
    let Some(fixtures) = shared_fixtures(env!("CARGO_MANIFEST_DIR")) else { return };
    let storage: Arc<dyn Storage> =
        Arc::new(LocalStorage::new(fixtures.join("legacy/v22/dimension_labels_dense/array")).unwrap());
    let array = open(&storage);
    for label in &array.schema().labels {
        let labels = array.labels(&label.name).unwrap();
        assert_eq!(labels.values().datatype(), label.datatype);
    }
}

#[test]
fn dense_cells_come_in_global_order_over_many_calls() {
    let storage = create(&[]);
    let writer = ArrayWriter::open(Arc::clone(&storage), ObjectPath::root(), EngineOptions::default()).unwrap();
    let subarray = NdRange(vec![Range::Signed(-4, -3), Range::Signed(-2, 1)]);
    let mut stream = writer.stream_dense(&subarray, WriteOptions::default()).unwrap();
    for values in [&[1, 2, 3][..], &[4, 5, 6, 7], &[8]] {
        stream.append(&[("a".into(), integers(values))]).unwrap();
    }
    assert!(stream.append(&[("a".into(), integers(&[9]))]).is_err(), "more cells than the subarray has");
    let mut stream = writer.stream_dense(&subarray, WriteOptions::default()).unwrap();
    stream.append(&[("a".into(), integers(&[1, 2, 3, 4, 5, 6, 7, 8]))]).unwrap();
    stream.finish().unwrap();
    let array = open(&storage);
    let query = array.query().range(0, Range::Signed(-4, -3)).unwrap().range(1, Range::Signed(-2, 1)).unwrap();
    let found = query.layout(Layout::RowMajor).read().unwrap();
    assert_eq!(found.field("a").unwrap().values::<i32>().unwrap(), [1, 2, 5, 6, 3, 4, 7, 8]);
    assert_eq!(array.fragments().len(), 1, "what was not finished left nothing");
    let unaligned = NdRange(vec![Range::Signed(-4, -4), Range::Signed(-2, 1)]);
    assert!(writer.stream_dense(&unaligned, WriteOptions::default()).unwrap_err().to_string().contains("cuts tiles"));
}
