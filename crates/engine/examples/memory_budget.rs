//! Reads a sparse array of many cells under a memory budget and without one, and measures both.
//!
//! `cargo run --release -p talavera-engine --example memory_budget -- [CELLS] [MEGABYTES]`
//!
//! The array is made on the first run, in `.data/memory-budget-CELLS`. Every read runs in a process of its own; "above idle"
//! is the most memory that the process ever held less what it held once the array was open. Only Linux tells these numbers.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use talavera_engine::{
    ArrayWriter, Batch, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
};
use talavera_filter::{FilterList, FilterSpec};
use talavera_schema::{ArraySchema, Attribute, Dimension, Range, TileExtent};
use talavera_storage::{LocalStorage, ObjectPath, Storage};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Rows and columns of the array.
const SHAPE: (u64, u64) = (131_072, 32_768);

const ORDERS: [(&str, Layout); 3] =
    [("unordered", Layout::Unordered), ("row-major", Layout::RowMajor), ("global", Layout::GlobalOrder)];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [child, folder, order, megabytes] = arguments.as_slice()
        && child == "read"
    {
        return read(Path::new(folder), order, megabytes.parse()?);
    }
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (cells, megabytes) = (number(0, 20_000_000)?, number(1, 64)?);
    let folder = prepare(cells)?;
    println!("| order | budget MB | above idle MB | cells | seconds |\n| --- | --: | --: | --: | --: |");
    for (order, _) in ORDERS {
        let mut sums = Vec::new();
        for budget in [0, megabytes, 0, megabytes] {
            let mut command = Command::new(std::env::current_exe()?);
            let output = command.arg("read").arg(&folder).args([order, &budget.to_string()]).output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
            }
            let text = String::from_utf8(output.stdout)?;
            let (row, sum) = text.trim().split_once('#').ok_or("a child without an answer")?;
            println!("{row}");
            sums.push(sum.to_owned());
        }
        if sums.iter().any(|sum| Some(sum) != sums.first()) {
            return Err(format!("{order}: the cells differ").into());
        }
    }
    Ok(())
}

/// Reads the array in this process, which does nothing else.
fn read(folder: &Path, order: &str, megabytes: u64) -> Outcome<()> {
    let (_, layout) = ORDERS.iter().find(|(name, _)| *name == order).ok_or("no such order")?;
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder)?);
    let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow::until(u64::MAX - 1), EngineOptions::default())?;
    let idle = status_megabytes("VmRSS:")?;
    let start = Instant::now();
    let query = array.query().layout(*layout);
    let (mut cells, mut sum) = (0, 0_u64);
    let mut add = |batch: &Batch| {
        cells += batch.cells;
        for (_, field) in &batch.fields {
            sum = field
                .data()
                .as_chunks::<4>()
                .0
                .iter()
                .fold(sum, |sum, bytes| sum.wrapping_add(u32::from_le_bytes(*bytes).into()));
        }
    };
    if megabytes == 0 {
        add(&query.read()?);
    } else {
        for batch in query.memory_limit(megabytes << 20).batches()? {
            add(&batch?);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let above = status_megabytes("VmHWM:")? - idle;
    let budget = if megabytes == 0 { "none".to_owned() } else { megabytes.to_string() };
    println!("| {order} | {budget} | {above:.1} | {cells} | {seconds:.3} |#{cells} {sum}");
    Ok(())
}

/// The folder of an array of so many cells, written from random order.
fn prepare(cells: u64) -> Outcome<PathBuf> {
    let folder = PathBuf::from(format!(".data/memory-budget-{cells}"));
    if folder.join("complete").exists() {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder)?;
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(&folder)?);
    create_array(&*storage, &ObjectPath::root(), &schema()?, &[], &CreateOptions::default())?;
    let writer = ArrayWriter::open(storage, ObjectPath::root(), EngineOptions::default())?;
    writer.write_sparse(&random_cells(cells)?, WriteOptions::default())?;
    std::fs::write(folder.join("complete"), b"")?;
    Ok(folder)
}

fn schema() -> Outcome<ArraySchema> {
    let shuffled = || FilterList::new(vec![FilterSpec::Byteshuffle, FilterSpec::Zstd { level: 3 }]);
    let dimension = |name: &str, cells: u64, filters: FilterList| -> Outcome<Dimension> {
        let domain = Range::Signed(0, i64::try_from(cells)? - 1);
        let mut dimension = Dimension::new(name, Datatype::Int64, domain, Some(TileExtent::Integer(2048)));
        dimension.filters = filters;
        Ok(dimension)
    };
    let mut data = Attribute::new("soma_data", Datatype::Float32);
    data.filters = shuffled();
    let builder = ArraySchema::builder(ArrayType::Sparse).capacity(100_000);
    let builder = builder.dimension(dimension("soma_dim_0", SHAPE.0, FilterList::new(vec![FilterSpec::Zstd { level: 3 }]))?);
    Ok(builder.dimension(dimension("soma_dim_1", SHAPE.1, shuffled())?).attribute(data).build()?)
}

/// Cells in an order that looks random, no coordinate twice: places in a walk through the domain by a step that has no
/// factor in common with it.
fn random_cells(cells: u64) -> Outcome<Vec<(String, FieldBuffer)>> {
    const STEP: u64 = 2_654_435_761;
    let count = usize::try_from(cells)?;
    let [mut rows, mut columns, mut values] = [8, 8, 4].map(|bytes| CellBytes::zeroed(count * bytes));
    let targets = rows.as_chunks_mut::<8>().0.iter_mut().zip(columns.as_chunks_mut::<8>().0);
    let mut place = 0_u64;
    for ((row, column), value) in targets.zip(values.as_chunks_mut::<4>().0) {
        place = (place + STEP) % (SHAPE.0 * SHAPE.1);
        *row = (place / SHAPE.1).to_le_bytes();
        *column = (place % SHAPE.1).to_le_bytes();
        *value = f32::from_bits(f32::to_bits(1.0) | u32::try_from(place.wrapping_mul(STEP) >> 41)?).to_le_bytes();
    }
    let field = |datatype, bytes| FieldBuffer::new(datatype, CellValNum::ONE, bytes, None, None);
    Ok(vec![
        ("soma_dim_0".to_owned(), field(Datatype::Int64, rows)?),
        ("soma_dim_1".to_owned(), field(Datatype::Int64, columns)?),
        ("soma_data".to_owned(), field(Datatype::Float32, values)?),
    ])
}

/// A line of `/proc/self/status`, in megabytes.
fn status_megabytes(name: &str) -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line in /proc/self/status")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}
