//! How much work dense reads are: requests, bytes and decoded tiles, which do not depend on the machine as seconds do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::sync::{Arc, Mutex};

use talavera_engine::{
    ArrayWriter, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, Progress, ReadQuery, TimeWindow, WriteOptions,
    create_array,
};
use talavera_filter::{FilterList, FilterSpec};
use talavera_schema::{ArraySchema, Attribute, Dimension, NdRange, Range, TileExtent};
use talavera_storage::{CountingStorage, MemoryStorage, ObjectPath, Requests, Storage};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

/// Tiles of 128 × 128 cells of 8 bytes: two chunks of 64 rows, each as large as chunks get.
const EXTENT: u64 = 128;
const TILE_BYTES: u64 = EXTENT * EXTENT * 8;
const SIDE: i64 = 512;

struct Array {
    storage: Arc<CountingStorage<MemoryStorage>>,
    open: OpenArray,
}

/// 4 × 4 tiles, each cell its own number; then each of `boxes` (rows, columns) written again, as fragments of their own.
fn array(filters: Vec<FilterSpec>, boxes: &[[(i64, i64); 2]]) -> Array {
    let storage = Arc::new(CountingStorage::new(MemoryStorage::new()));
    let dimension =
        |name: &str| Dimension::new(name, Datatype::Int64, Range::Signed(0, SIDE - 1), Some(TileExtent::Integer(EXTENT)));
    let mut attribute = Attribute::new("a", Datatype::Int64);
    attribute.filters = FilterList::new(filters);
    let builder = ArraySchema::builder(ArrayType::Dense).dimension(dimension("y")).dimension(dimension("x"));
    let schema = builder.attribute(attribute).build().unwrap();
    create_array(&*storage, &ObjectPath::root(), &schema, &[], &CreateOptions::default()).unwrap();
    let shared: Arc<dyn Storage> = Arc::clone(&storage) as _;
    let writer = ArrayWriter::open(Arc::clone(&shared), ObjectPath::root(), EngineOptions::default()).unwrap();
    let whole = [(0, SIDE - 1); 2];
    for (time, ranges) in (1..).zip(std::iter::once(&whole).chain(boxes)) {
        let [rows, columns] = *ranges;
        let numbers = (rows.0..=rows.1).flat_map(|y| (columns.0..=columns.1).map(move |x| number(y, x)));
        let bytes: Vec<u8> = numbers.flat_map(i64::to_le_bytes).collect();
        let cells = FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap();
        let subarray = NdRange(vec![Range::Signed(rows.0, rows.1), Range::Signed(columns.0, columns.1)]);
        let options = WriteOptions { timestamp: Some(time), ..WriteOptions::default() };
        writer.write_dense(&subarray, Layout::RowMajor, &[("a".into(), cells)], options).unwrap();
    }
    let open = OpenArray::open(shared, ObjectPath::root(), TimeWindow::until(100), EngineOptions::default()).unwrap();
    // The lists of tiles are read once, by the first who asks.
    open.query().range(0, Range::Signed(0, 0)).unwrap().range(1, Range::Signed(0, 0)).unwrap().read().unwrap();
    storage.take();
    Array { storage, open }
}

fn number(y: i64, x: i64) -> i64 {
    y * SIDE + x
}

impl Array {
    /// Reads a box, checks its cells, and gives what that took.
    fn read(&self, layout: Layout, [rows, columns]: [(i64, i64); 2]) -> (Requests, Progress) {
        let last = Arc::new(Mutex::new(None::<Progress>));
        let seen = Arc::clone(&last);
        let query: ReadQuery<'_> = self.open.query().layout(layout);
        let query = query.range(0, Range::Signed(rows.0, rows.1)).unwrap();
        let query = query.range(1, Range::Signed(columns.0, columns.1)).unwrap();
        let more = move |progress: Progress| {
            let mut seen = seen.lock().unwrap();
            if seen.is_none_or(|seen| progress.tiles > seen.tiles) {
                *seen = Some(progress);
            }
        };
        let batch = query.on_progress(Arc::new(more)).read().unwrap();
        let of_row = |y| (columns.0..=columns.1).map(move |x| number(y, x));
        let of_column = |x| (rows.0..=rows.1).map(move |y| number(y, x));
        let expected: Vec<i64> = match layout {
            Layout::ColMajor => (columns.0..=columns.1).flat_map(of_column).collect(),
            _ => (rows.0..=rows.1).flat_map(of_row).collect(),
        };
        assert_eq!(batch.field("a").unwrap().values::<i64>().unwrap(), expected);
        let progress = last.lock().unwrap().expect("a tile was decoded");
        (self.storage.take(), progress)
    }
}

fn zstd() -> Vec<FilterSpec> {
    vec![FilterSpec::Byteshuffle, FilterSpec::Zstd { level: 1 }]
}

#[test]
fn a_read_of_all_cells_reads_and_decodes_each_tile_once() {
    for (filters, layout) in [(zstd(), Layout::RowMajor), (Vec::new(), Layout::RowMajor), (zstd(), Layout::ColMajor)] {
        let filtered = !filters.is_empty();
        let array = array(filters, &[]);
        let (requests, progress) = array.read(layout, [(0, SIDE - 1); 2]);
        assert_eq!((requests.reads, requests.lists, requests.sizes), (16, 0, 0));
        assert_eq!((progress.tiles, progress.decoded_bytes), (16, 16 * TILE_BYTES));
        assert_eq!(progress.read_bytes, requests.read_bytes);
        if !filtered {
            // Each tile counts its chunks, and each chunk says three lengths.
            assert_eq!(requests.read_bytes, 16 * (TILE_BYTES + 8 + 2 * 12));
        }
    }
}

#[test]
fn a_window_reads_the_tiles_it_touches_and_decodes_their_chunks_that_it_touches() {
    let array = array(zstd(), &[]);
    let touched = |ranges| {
        let (requests, progress) = array.read(Layout::RowMajor, ranges);
        (requests.reads, progress.tiles, progress.decoded_bytes)
    };
    assert_eq!(touched([(10, 60), (10, 60)]), (1, 1, TILE_BYTES / 2), "in the first chunk of one tile");
    assert_eq!(touched([(60, 70), (10, 60)]), (1, 1, TILE_BYTES), "over both chunks of one tile");
    assert_eq!(touched([(100, 150), (100, 150)]), (4, 4, 2 * TILE_BYTES), "over a corner of four tiles");
    assert_eq!(touched([(0, 511), (200, 200)]), (4, 4, 4 * TILE_BYTES), "a column");
    assert_eq!(touched([(200, 200), (0, 511)]), (4, 4, 2 * TILE_BYTES), "a row");
}

#[test]
fn tiles_that_a_newer_fragment_hides_are_not_read() {
    let array = array(zstd(), &[[(0, 255), (0, 255)]]);
    let (requests, progress) = array.read(Layout::RowMajor, [(0, SIDE - 1); 2]);
    assert_eq!((requests.reads, progress.tiles), (16, 16), "four of the new fragment, twelve of the old one");
    let (_, progress) = array.read(Layout::RowMajor, [(0, 255), (0, 255)]);
    assert_eq!(progress.tiles, 4);
}

#[test]
fn opening_an_array_lists_folders_and_reads_footers_and_no_cells() {
    let array = array(zstd(), &[[(0, 127), (0, 127)], [(128, 255), (0, 127)]]);
    let shared: Arc<dyn Storage> = Arc::clone(&array.storage) as _;
    OpenArray::open(shared, ObjectPath::root(), TimeWindow::until(100), EngineOptions::default()).unwrap();
    let opened = array.storage.take();
    // One schema, and three footers, each at the end of its file.
    assert_eq!((opened.reads, opened.sizes, opened.writes), (4, 0, 0));
    assert!(opened.lists <= 6, "{opened:?}");
}
