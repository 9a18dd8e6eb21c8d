//! The rows: what both engines are asked to do.

use clap::ValueEnum;
use talavera_engine::{ArrayWriter, EngineOptions, FieldBuffer, ReadQuery, WriteOptions};
use talavera_peer::{Column, Context, Layout as PeerLayout, Library, Mode, Range as PeerRange, Read, Window, Write};
use talavera_schema::Range;
use talavera_storage::ObjectPath;
use talavera_types::Layout;

use super::arrays::{ArrayKind, Data, whole};
use crate::Failure;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Ours,
    Peer,
}

impl Engine {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
        }
    }
}

/// A row of the table.
pub(crate) struct Row {
    pub(crate) id: &'static str,
    pub(crate) what: &'static str,
    pub(crate) array: ArrayKind,
    task: Task,
}

/// What is done with an array.
#[derive(Clone, Copy)]
enum Task {
    /// Opened and read whole.
    Whole(Order),
    /// Opened once; windows of 256 × 256.
    Windows,
    /// Opened; a box of a tenth of the domain.
    Box,
    /// Written whole.
    Write,
}

/// An order, as both engines name it.
#[derive(Clone, Copy)]
enum Order {
    Row,
    Column,
    Global,
    Unordered,
}

macro_rules! rows {
    ($($id:literal $what:literal $array:expr, $task:expr;)*) => {
        pub(crate) const ROWS: &[Row] = &[$(Row { id: $id, what: $what, array: $array, task: $task },)*];
    };
}

rows! {
    "D1r" "dense 512 MB, byteshuffle + zstd 5, read whole" ArrayKind::Dense(1), Task::Whole(Order::Row);
    "D1w" "the same, written whole" ArrayKind::Dense(1), Task::Write;
    "D2r" "dense 512 MB, no filter, read whole" ArrayKind::Dense(2), Task::Whole(Order::Row);
    "D2w" "the same, written whole" ArrayKind::Dense(2), Task::Write;
    "D3r" "dense 512 MB, bitshuffle + lz4, read whole" ArrayKind::Dense(3), Task::Whole(Order::Row);
    "D3w" "the same, written whole" ArrayKind::Dense(3), Task::Write;
    "D4r" "dense 512 MB, gzip 6, read whole" ArrayKind::Dense(4), Task::Whole(Order::Row);
    "D5" "100 windows of 256 × 256 of D1" ArrayKind::Dense(1), Task::Windows;
    "D6" "D1 in column-major order" ArrayKind::Dense(1), Task::Whole(Order::Column);
    "S1w" "sparse cells in random order, written" ArrayKind::Sparse, Task::Write;
    "S1u" "the same, read whole, unordered" ArrayKind::Sparse, Task::Whole(Order::Unordered);
    "S1r" "read whole, row-major" ArrayKind::Sparse, Task::Whole(Order::Row);
    "S1g" "read whole, global order" ArrayKind::Sparse, Task::Whole(Order::Global);
    "S1b" "a box of a tenth, row-major" ArrayKind::Sparse, Task::Box;
    "F1" "1,000 fragments of 1,000 cells, opened and read whole" ArrayKind::Fragments, Task::Whole(Order::Unordered);
}

impl Row {
    /// What has to be there before the clock runs: for a write, its cells and an empty array.
    pub(crate) fn prepare(&self, engine: Engine, data: &Data) -> Result<Prepared, Failure> {
        match self.task {
            Task::Write => Prepared::write(engine, data),
            _ => Ok(Prepared::Nothing),
        }
    }

    /// Does the row's task once; gives the bytes of cells read or written.
    pub(crate) fn run(&self, engine: Engine, data: &Data, prepared: Prepared) -> Result<u64, Failure> {
        match (self.task, engine) {
            (Task::Write, _) => prepared.run(),
            (task, Engine::Ours) => {
                let array = data.open()?;
                let mut total = 0;
                for (order, ranges) in reads(task) {
                    let ask =
                        |query: ReadQuery<'_>| -> Result<u64, Failure> { Ok(query.layout(order.ours()).read()?.memory_bytes()) };
                    let mut query = array.query();
                    for (dimension, &(low, high)) in ranges.iter().enumerate() {
                        query = query.range(dimension, Range::Signed(low, high))?;
                    }
                    total += ask(query)?;
                }
                Ok(total)
            }
            (task, Engine::Peer) => {
                let context = context()?;
                let array = context.open(&uri(data)?, Mode::Read, Window::default())?;
                let mut total = 0;
                for (order, ranges) in reads(task) {
                    let cells = match data.kind {
                        ArrayKind::Dense(_) if ranges.is_empty() => 8192 * 8192,
                        ArrayKind::Dense(_) => 256 * 256,
                        ArrayKind::Sparse => data.cells(),
                        ArrayKind::Fragments => 1_000_000,
                    };
                    let ranges = ranges.iter().map(|&(low, high)| vec![PeerRange::from(low..=high)]).collect();
                    // Each buffer holds the whole answer, so that one submission does.
                    let read = Read { layout: order.peer(), ranges, buffer_bytes: cells * 8, ..Read::default() };
                    total += array.read_discard(&read)?;
                }
                Ok(total)
            }
        }
    }
}

/// The reads of a task: their order and the range of each dimension.
fn reads(task: Task) -> Vec<(Order, Vec<(i64, i64)>)> {
    match task {
        Task::Whole(order) => vec![(order, Vec::new())],
        Task::Windows => {
            let corner = |step: i64| (step * 4_999 % 7_936, step * 7_919 % 7_936);
            (1..=100).map(corner).map(|(y, x)| (Order::Row, vec![(y, y + 255), (x, x + 255)])).collect()
        }
        Task::Box => vec![(Order::Row, vec![(20_000, 61_447), (1_000, 11_361)])],
        Task::Write => Vec::new(),
    }
}

/// What a row needs before the clock runs.
pub(crate) enum Prepared {
    Nothing,
    Ours { writer: ArrayWriter, dense: bool, fields: Vec<(String, FieldBuffer)> },
    Peer { context: Context, uri: String, write: Write },
}

impl Prepared {
    fn write(engine: Engine, data: &Data) -> Result<Self, Failure> {
        let dense = matches!(data.kind, ArrayKind::Dense(_));
        let fields = if dense { data.dense_cells()? } else { data.sparse_cells(data.cells(), 1)? };
        let folder = data.folder.join(format!("written-{}", engine.name()));
        drop(std::fs::remove_dir_all(&folder));
        let storage = data.create_empty(&folder)?;
        if engine == Engine::Ours {
            let writer = ArrayWriter::open(storage, ObjectPath::root(), EngineOptions::default())?;
            return Ok(Self::Ours { writer, dense, fields });
        }
        let column = |(name, buffer): (String, FieldBuffer)| (name, Column { data: buffer.data().to_vec(), ..Column::default() });
        let columns = fields.into_iter().map(column).collect();
        let whole = vec![PeerRange::from(0_i64..=8191); 2];
        let write = if dense { Write::dense(PeerLayout::RowMajor, whole, columns) } else { Write::sparse(columns) };
        let uri = folder.join("array").to_str().ok_or("the path is not UTF-8")?.to_owned();
        Ok(Self::Peer { context: context()?, uri, write })
    }

    fn run(self) -> Result<u64, Failure> {
        match self {
            Self::Nothing => Ok(0),
            Self::Ours { writer, dense, fields } => {
                let bytes = fields.iter().map(|(_, buffer)| buffer.memory_bytes()).sum();
                if dense {
                    writer.write_dense(&whole(), Layout::RowMajor, fields, WriteOptions::default())?;
                } else {
                    writer.write_sparse(fields, WriteOptions::default())?;
                }
                Ok(bytes)
            }
            Self::Peer { context, uri, write } => {
                let columns = write.batches.iter().flatten();
                let bytes = columns.map(|(_, column)| column.data.len() as u64).sum();
                context.open(&uri, Mode::Write, Window::default())?.write(&write)?;
                Ok(bytes)
            }
        }
    }
}

/// libtiledb with as many threads as we take.
fn context() -> Result<Context, Failure> {
    let threads = std::thread::available_parallelism()?.to_string();
    let path = Library::locate("2.30.0").ok_or("libtiledb is not here; run `cargo xtask peer`")?;
    let library = Library::open(&path)?;
    let config = [("sm.compute_concurrency_level", threads.as_str()), ("sm.io_concurrency_level", threads.as_str())];
    Ok(Context::new(&library, &config)?)
}

fn uri(data: &Data) -> Result<String, Failure> {
    Ok(data.array().to_str().ok_or("the path is not UTF-8")?.to_owned())
}

impl Order {
    fn ours(self) -> Layout {
        match self {
            Self::Row => Layout::RowMajor,
            Self::Column => Layout::ColMajor,
            Self::Global => Layout::GlobalOrder,
            Self::Unordered => Layout::Unordered,
        }
    }

    fn peer(self) -> PeerLayout {
        match self {
            Self::Row => PeerLayout::RowMajor,
            Self::Column => PeerLayout::ColMajor,
            Self::Global => PeerLayout::GlobalOrder,
            Self::Unordered => PeerLayout::Unordered,
        }
    }
}
