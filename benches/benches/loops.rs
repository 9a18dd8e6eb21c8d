//! The inner loops of the engine, on arrays in memory without filters: placing cells, sorting them, choosing them. And how
//! threads share a write, with zstd. Throughput is in cells.

#![allow(missing_docs, clippy::unwrap_used, reason = "benches document themselves by their names, and fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use talavera_condition::field;
use talavera_engine::{
    ArrayWriter, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, ReadQuery, TimeWindow, WriteOptions,
    create_array,
};
use talavera_filter::{FilterList, FilterSpec};
use talavera_schema::{ArraySchema, ArraySchemaBuilder, Attribute, Dimension, NdRange, Range, TileExtent};
use talavera_storage::{MemoryStorage, ObjectPath, Storage};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

/// Cells along each side.
const SIDE: i64 = 1 << 10;

fn builder(array_type: ArrayType, extent: u64) -> ArraySchemaBuilder {
    builder_of(array_type, extent, Vec::new())
}

fn builder_of(array_type: ArrayType, extent: u64, filters: Vec<FilterSpec>) -> ArraySchemaBuilder {
    let mut attribute = Attribute::new("v", Datatype::Int64);
    attribute.filters = FilterList::new(filters);
    let dimension = |name| Dimension::new(name, Datatype::Int64, Range::Signed(0, SIDE - 1), Some(TileExtent::Integer(extent)));
    let builder = ArraySchema::builder(array_type).dimension(dimension("y")).dimension(dimension("x"));
    builder.attribute(attribute).capacity(1 << 14)
}

/// A new array in memory, and what writes to it.
fn created(schema: &ArraySchema) -> (Arc<dyn Storage>, ArrayWriter) {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    create_array(&*storage, &ObjectPath::root(), schema, &[], &CreateOptions::default()).unwrap();
    let writer = ArrayWriter::open(Arc::clone(&storage), ObjectPath::root(), EngineOptions::default()).unwrap();
    (storage, writer)
}

fn column(values: impl Iterator<Item = i64>) -> FieldBuffer {
    let bytes: Vec<u8> = values.flat_map(i64::to_le_bytes).collect();
    FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
}

/// Every place once, in an order that has none.
fn places() -> impl Iterator<Item = i64> {
    (0..SIDE * SIDE).map(|number| number * 7_919 % (SIDE * SIDE))
}

fn sparse_cells() -> Vec<(String, FieldBuffer)> {
    let columns = [
        ("y", column(places().map(|place| place / SIDE))),
        ("x", column(places().map(|place| place % SIDE))),
        ("v", column(places())),
    ];
    columns.map(|(name, column)| (name.to_owned(), column)).into()
}

fn dense() -> OpenArray {
    let (storage, writer) = created(&builder(ArrayType::Dense, 128).build().unwrap());
    write_whole(&writer, &[("v".to_owned(), column(0..SIDE * SIDE))]);
    open(storage)
}

fn write_whole(writer: &ArrayWriter, cells: &[(String, FieldBuffer)]) {
    let whole = NdRange(vec![Range::Signed(0, SIDE - 1), Range::Signed(0, SIDE - 1)]);
    writer.write_dense(&whole, Layout::RowMajor, cells, WriteOptions::default()).unwrap();
}

fn sparse(schema: &ArraySchema) -> OpenArray {
    let (storage, writer) = created(schema);
    writer.write_sparse(&sparse_cells(), WriteOptions::default()).unwrap();
    open(storage)
}

fn open(storage: Arc<dyn Storage>) -> OpenArray {
    OpenArray::open(storage, ObjectPath::root(), TimeWindow::ALL, EngineOptions::default()).unwrap()
}

fn loops(criterion: &mut Criterion) {
    let cells = SIDE * SIDE;
    let mut group = criterion.benchmark_group("loops");
    group.throughput(Throughput::Elements(cells.unsigned_abs()));
    let mut read = |name: &str, query: &dyn Fn() -> ReadQuery<'static>| {
        group.bench_function(name, |b| b.iter(|| query().read().unwrap().cells));
    };
    // Benches run once and end with the process.
    let array: &'static OpenArray = Box::leak(Box::new(dense()));
    read("dense/row-major", &|| array.query().layout(Layout::RowMajor));
    read("dense/column-major", &|| array.query().layout(Layout::ColMajor));
    read("dense/condition", &|| array.query().condition(field("v").gt(cells / 2)));
    let array: &'static OpenArray = Box::leak(Box::new(sparse(&builder(ArrayType::Sparse, 128).build().unwrap())));
    read("sparse/unordered", &|| array.query().layout(Layout::Unordered));
    read("sparse/row-major", &|| array.query().layout(Layout::RowMajor));
    read("sparse/condition", &|| array.query().layout(Layout::Unordered).condition(field("v").gt(cells / 2)));
    read("sparse/box", &|| array.query().layout(Layout::Unordered).range(0, Range::Signed(100, 900)).unwrap());
    let schemas = [
        ("sort/row-major", builder(ArrayType::Sparse, 128).build().unwrap()),
        ("sort/hilbert", builder(ArrayType::Sparse, 128).cell_order(Layout::Hilbert).build().unwrap()),
    ];
    for (name, schema) in schemas {
        let setup = || (created(&schema).1, sparse_cells());
        let write = |(writer, cells): &mut (ArrayWriter, Vec<_>)| writer.write_sparse(cells, WriteOptions::default()).unwrap();
        group.bench_function(name, |b| b.iter_batched_ref(setup, write, criterion::BatchSize::PerIteration));
    }
    for (name, extent) in [("write/64 tiles", 128), ("write/one tile", SIDE.unsigned_abs())] {
        let schema = builder_of(ArrayType::Dense, extent, vec![FilterSpec::Zstd { level: 3 }]).build().unwrap();
        let setup = || (created(&schema).1, [("v".to_owned(), column(places()))]);
        let write = |(writer, cells): &mut (ArrayWriter, [_; 1])| write_whole(writer, cells);
        group.bench_function(name, |b| b.iter_batched_ref(setup, write, criterion::BatchSize::PerIteration));
    }
}

fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(10)
}

criterion_group! {
    name = benches;
    config = short();
    targets = loops
}
criterion_main!(benches);
