//! How much work a sparse read does: tiles decoded, bytes decoded, requests. No clock decides here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::sync::{Arc, Mutex};

use talavera_directory::TimeWindow;
use talavera_engine::{
    ArrayWriter, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, Progress, ReadQuery, WriteOptions, create_array,
};
use talavera_schema::{ArraySchema, Attribute, Dimension, Range, TileExtent};
use talavera_storage::{CountingStorage, MemoryStorage, ObjectPath, Requests, Storage};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

/// Cells of the array: one at every place of its domain.
const CELLS: i64 = 100_000;

/// Cells of a tile.
const CAPACITY: i64 = 20_000;

/// Tiles of a field.
const TILES: u64 = 5;

/// Bytes of a chunk, which is as many whole cells as fit.
const CHUNK_BYTES: u64 = 64 << 10;

struct Array {
    storage: Arc<CountingStorage<MemoryStorage>>,
    open: OpenArray,
}

/// What a read took.
#[derive(Debug)]
struct Cost {
    cells: usize,
    progress: Progress,
    requests: Requests,
}

/// Dimension `x` and attribute `a`, both INT64 and equal, unfiltered, in as many fragments as given, one part of the domain
/// each.
fn array(fragments: i64) -> Array {
    let storage = Arc::new(CountingStorage::new(MemoryStorage::new()));
    let shared: Arc<dyn Storage> = Arc::<CountingStorage<MemoryStorage>>::clone(&storage);
    let domain = Range::Signed(0, CELLS - 1);
    let builder = ArraySchema::builder(ArrayType::Sparse).capacity(CAPACITY.try_into().unwrap());
    let builder = builder.dimension(Dimension::new("x", Datatype::Int64, domain, Some(TileExtent::Integer(1000))));
    let schema = builder.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    create_array(&*shared, &ObjectPath::root(), &schema, &[], &CreateOptions::default()).unwrap();
    let writer = ArrayWriter::open(Arc::clone(&shared), ObjectPath::root(), EngineOptions::default()).unwrap();
    for fragment in 0..fragments {
        let part = CELLS / fragments;
        let values: Vec<u8> = (fragment * part..(fragment + 1) * part).rev().flat_map(i64::to_le_bytes).collect();
        let column = || FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&values), None, None).unwrap();
        let options = WriteOptions { timestamp: Some(fragment.unsigned_abs() + 1), ..WriteOptions::default() };
        writer.write_sparse(&[("x".to_owned(), column()), ("a".to_owned(), column())], options).unwrap();
    }
    let window = TimeWindow { start: 0, end: u64::MAX };
    let open = OpenArray::open(shared, ObjectPath::root(), window, EngineOptions::default()).unwrap();
    // What every read needs is there from here on.
    open.query().range(0, Range::Signed(0, 0)).unwrap().read().unwrap();
    storage.take();
    Array { storage, open }
}

impl Array {
    fn query(&self) -> ReadQuery<'_> {
        self.open.query()
    }

    fn cost(&self, query: ReadQuery<'_>) -> Cost {
        let last = Arc::new(Mutex::new(Progress { tiles: 0, read_bytes: 0, decoded_bytes: 0 }));
        let seen = Arc::clone(&last);
        let keep_last = move |progress: Progress| {
            let mut last = seen.lock().unwrap();
            if progress.tiles > last.tiles {
                *last = progress;
            }
        };
        self.storage.take();
        let batches = query.on_progress(Arc::new(keep_last)).batches().unwrap();
        let cells = batches.map(|batch| batch.unwrap().cells).sum();
        let progress = *last.lock().unwrap();
        Cost { cells, progress, requests: self.storage.take() }
    }
}

#[test]
fn a_whole_read_decodes_each_tile_of_each_field_once_and_asks_once_for_it() {
    let array = array(1);
    for order in [Layout::Unordered, Layout::GlobalOrder, Layout::RowMajor] {
        let cost = array.cost(array.query().layout(order));
        assert_eq!(cost.cells, 100_000);
        assert_eq!((cost.progress.tiles, cost.requests.reads), (2 * TILES, 2 * TILES), "{order}: {cost:?}");
        assert_eq!(cost.progress.decoded_bytes, 2 * 8 * 100_000, "{order}");
    }
}

#[test]
fn an_attribute_in_no_order_is_read_without_coordinates() {
    let array = array(1);
    let cost = array.cost(array.query().fields(["a"]));
    assert_eq!((cost.cells, cost.progress.tiles), (100_000, TILES));
}

#[test]
fn batches_in_no_order_decode_no_tile_twice() {
    let array = array(1);
    let cost = array.cost(array.query().batch_bytes(1));
    assert_eq!((cost.cells, cost.progress.tiles), (100_000, 2 * TILES));
}

#[test]
fn a_range_decodes_the_tiles_that_it_meets() {
    let array = array(1);
    let two_tiles = Range::Signed(CAPACITY - 1, CAPACITY);
    let cost = array.cost(array.query().range(0, two_tiles).unwrap());
    assert_eq!((cost.cells, cost.progress.tiles), (2, 2 * 2), "{cost:?}");
}

#[test]
fn of_an_attribute_only_the_chunks_are_decoded_that_hold_cells_of_the_result() {
    let array = array(1);
    let cost = array.cost(array.query().fields(["a"]).range(0, Range::Signed(7, 9)).unwrap());
    assert_eq!(cost.cells, 3);
    assert_eq!(cost.progress.decoded_bytes, 8 * CAPACITY.unsigned_abs() + CHUNK_BYTES, "the coordinates and one chunk");
}

#[test]
fn along_a_dimension_without_range_coordinates_are_decoded_near_the_cells_of_the_result() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let dimension = |name, cells, extent| {
        Dimension::new(name, Datatype::Int64, Range::Signed(0, cells - 1), Some(TileExtent::Integer(extent)))
    };
    let builder = ArraySchema::builder(ArrayType::Sparse).capacity(CAPACITY.unsigned_abs());
    let builder = builder.dimension(dimension("y", 2, 2)).dimension(dimension("x", CAPACITY / 2, CAPACITY.unsigned_abs() / 2));
    let schema = builder.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    create_array(&*storage, &ObjectPath::root(), &schema, &[], &CreateOptions::default()).unwrap();
    let column = |value: fn(i64) -> i64| {
        let bytes: Vec<u8> = (0..CAPACITY).flat_map(|cell| value(cell).to_le_bytes()).collect();
        FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
    };
    let fields = [("y", column(|cell| cell % 2)), ("x", column(|cell| cell / 2)), ("a", column(|cell| cell))];
    let writer = ArrayWriter::open(Arc::clone(&storage), ObjectPath::root(), EngineOptions::default()).unwrap();
    let fields = fields.map(|(name, column)| (name.to_owned(), column)).to_vec();
    writer.write_sparse(&fields, WriteOptions::default()).unwrap();
    let window = TimeWindow { start: 0, end: u64::MAX };
    let open = OpenArray::open(storage, ObjectPath::root(), window, EngineOptions::default()).unwrap();
    for order in [Layout::RowMajor, Layout::Unordered] {
        let decoded = Arc::new(Mutex::new(0));
        let seen = Arc::clone(&decoded);
        let most = move |progress: Progress| {
            let mut seen = seen.lock().unwrap();
            *seen = progress.decoded_bytes.max(*seen);
        };
        let query = open.query().layout(order).range(0, Range::Signed(0, 0)).unwrap().on_progress(Arc::new(most));
        let batch = query.read().unwrap();
        let values = |name: &str| batch.field(name).unwrap().values::<i64>().unwrap().to_vec();
        assert_eq!(values("x"), (0..CAPACITY / 2).collect::<Vec<_>>(), "{order}");
        assert_eq!(values("a"), (0..CAPACITY / 2).map(|cell| 2 * cell).collect::<Vec<_>>(), "{order}");
        // The first half of the cells lies in two of the three chunks of a field.
        assert_eq!(*decoded.lock().unwrap(), 8 * CAPACITY.unsigned_abs() + 2 * 2 * CHUNK_BYTES, "{order}");
    }
}

#[test]
fn fragments_beside_the_range_cost_nothing() {
    let array = array(20);
    let cost = array.cost(array.query().range(0, Range::Signed(12_000, 12_999)).unwrap());
    assert_eq!((cost.cells, cost.progress.tiles), (1000, 2), "{cost:?}");
    assert_eq!((cost.requests.sizes, cost.requests.lists), (0, 0));
}

#[test]
fn a_small_fragment_is_opened_with_one_request() {
    let array = array(20);
    let storage: Arc<dyn Storage> = Arc::<CountingStorage<MemoryStorage>>::clone(&array.storage);
    array.storage.take();
    let window = TimeWindow { start: 0, end: u64::MAX };
    OpenArray::open(storage, ObjectPath::root(), window, EngineOptions::default()).unwrap();
    let requests = array.storage.take();
    assert_eq!((requests.reads, requests.sizes), (20 + 1, 0), "one for each fragment, one for the schema: {requests:?}");
}
