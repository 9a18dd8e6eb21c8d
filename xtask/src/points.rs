//! `cargo xtask points`: a million points of a sparse array in one question, by our engine and by libtiledb 2.30.
//!
//! The points are cells of the array, taken at random. We ask for them twice: as a list of points, and as ranges of both
//! dimensions, which is how libtiledb is asked, too. The domain is so large that hardly any other cell lies on a crossing
//! of the ranges. Each run has a process of its own; its memory is counted above what it held before the question, without
//! the result.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use talavera_engine::{
    ArrayWriter, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
};
use talavera_peer::{Context, Layout as PeerLayout, Library, Mode, Range as PeerRange, Read, Window};
use talavera_schema::{ArraySchema, Attribute, Dimension, FilterList, FilterSpec, Range, TileExtent};
use talavera_storage::{LocalStorage, ObjectPath, Storage};
use talavera_types::{ArrayType, CellValNum, Datatype};

use crate::Failure;
use crate::compare::measure;

/// What to ask.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Cells of the array.
    #[arg(long, default_value_t = 20_000_000)]
    cells: u64,
    /// Points to ask for.
    #[arg(long, default_value_t = 1_000_000)]
    points: u64,
    /// How often each engine is asked.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// One question by one engine.
#[derive(Debug, Args)]
pub(crate) struct Part {
    question: Question,
    #[command(flatten)]
    options: Options,
}

/// Who is asked, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Question {
    OursPoints,
    OursRanges,
    PeerRanges,
}

/// Values of a dimension: many more than there are cells.
const SIDE: u64 = 1 << 32;

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    prepare(options)?;
    println!("| {} of {} cells | s | MB above the result | cells |", options.points, options.cells);
    println!("| --- | --: | --: | --: |");
    for (question, name) in [
        (Question::OursPoints, "ours, points"),
        (Question::OursRanges, "ours, ranges"),
        (Question::PeerRanges, "libtiledb, ranges"),
    ] {
        let mut runs = Vec::new();
        for _ in 0..options.rounds.max(1) {
            runs.push(ask(question, options)?);
        }
        let median = |field: &str| {
            let mut values: Vec<f64> = runs.iter().filter_map(|run| run.get(field)?.as_f64()).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        println!("| {name} | {:.3} | {:.0} | {} |", median("seconds"), median("megabytes"), median("cells"));
    }
    Ok(())
}

/// Asks in a process of its own.
fn ask(question: Question, options: &Options) -> Result<Value, Failure> {
    let name = question.to_possible_value().ok_or("a question without a name")?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["points-part", name.get_name(), "--cells"]).arg(options.cells.to_string());
    command.arg("--points").arg(options.points.to_string());
    let output = command.stderr(Stdio::inherit()).output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) fn run_part(part: &Part) -> Result<(), Failure> {
    let folder = folder(&part.options);
    let [x, y] = points(&part.options);
    let (before, started, bytes, cells);
    if part.question == Question::PeerRanges {
        let path = Library::locate("2.30.0").ok_or("libtiledb is not here; run `cargo xtask peer`")?;
        let context = Context::new(&Library::open(&path)?, &[])?;
        let ranges = [&x, &y].map(|values| values.iter().map(|&value| PeerRange::from(value..=value)).collect::<Vec<_>>());
        let buffer_bytes = x.len() * 9;
        before = reset_peak()?;
        started = Instant::now();
        let array = context.open(folder.to_str().ok_or("the path is not UTF-8")?, Mode::Read, Window::default())?;
        let read = Read { layout: PeerLayout::Unordered, ranges: ranges.into(), buffer_bytes, ..Read::default() };
        bytes = array.read_discard(&read)?;
        cells = bytes / 20;
    } else {
        before = reset_peak()?;
        started = Instant::now();
        let storage = Arc::new(LocalStorage::new(&folder)?);
        let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow::until(u64::MAX - 1), EngineOptions::default())?;
        let query = if part.question == Question::OursPoints {
            array.query().points(&[column(&x)?, column(&y)?])?
        } else {
            let ranges = |values: &[i64]| values.iter().map(|&value| Range::Signed(value, value)).collect::<Vec<_>>();
            array.query().ranges(0, ranges(&x))?.ranges(1, ranges(&y))?
        };
        let batch = query.read()?;
        bytes = batch.memory_bytes();
        cells = batch.cells as u64;
    }
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    let megabytes = (measure::peak_mb()? - before) - bytes as f64 / 1_048_576.0;
    println!("{}", json!({ "seconds": seconds, "megabytes": megabytes, "cells": cells }));
    Ok(())
}

/// Forgets the peak of memory so far; gives the megabytes that are held.
fn reset_peak() -> Result<f64, Failure> {
    measure::forget_peak()?;
    measure::peak_mb()
}

fn folder(options: &Options) -> PathBuf {
    crate::root().join(".data/compare").join(format!("points-{}", options.cells))
}

/// The coordinates of a cell, by its number: a walk through the numbers below 2⁶⁴ that looks random and never repeats.
fn cell(number: u64) -> [i64; 2] {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^= mixed >> 31;
    [mixed >> 32, mixed & (SIDE - 1)].map(u64::cast_signed)
}

/// Columns of coordinates of cells, spread over all there are.
fn points(options: &Options) -> [Vec<i64>; 2] {
    let step = options.cells / options.points.max(1);
    let cells = (0..options.points).map(|point| cell(point * step));
    cells.map(|[x, y]| (x, y)).unzip::<_, _, Vec<_>, Vec<_>>().into()
}

fn column(values: &[i64]) -> Result<FieldBuffer, Failure> {
    let mut bytes = CellBytes::zeroed(values.len() * 8);
    for (target, value) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(values) {
        *target = value.to_le_bytes();
    }
    Ok(FieldBuffer::new(Datatype::Int64, CellValNum::ONE, bytes, None, None)?)
}

/// Writes the array if it is not there yet.
fn prepare(options: &Options) -> Result<(), Failure> {
    let folder = folder(options);
    if folder.join("__commits").read_dir().is_ok_and(|mut files| files.next().is_some()) {
        return Ok(());
    }
    std::fs::create_dir_all(folder.parent().ok_or("a folder without a parent")?)?;
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(&folder)?);
    let last = SIDE.cast_signed() - 1;
    let dimension = |name| {
        let mut dimension = Dimension::new(name, Datatype::Int64, Range::Signed(0, last), Some(TileExtent::Integer(1 << 24)));
        dimension.filters = FilterList::new(vec![FilterSpec::Zstd { level: 3 }]);
        dimension
    };
    let schema = ArraySchema::builder(ArrayType::Sparse).dimension(dimension("x")).dimension(dimension("y")).capacity(10_000);
    let schema = schema.attribute(Attribute::new("v", Datatype::Float32)).build()?;
    create_array(&*storage, &ObjectPath::root(), &schema, &[], &CreateOptions::default())?;
    let (x, y) = (0..options.cells).map(cell).map(|[x, y]| (x, y)).unzip::<_, _, Vec<_>, Vec<_>>();
    let values = CellBytes::zeroed(x.len() * 4);
    let fields = vec![
        ("x".to_owned(), column(&x)?),
        ("y".to_owned(), column(&y)?),
        ("v".to_owned(), FieldBuffer::new(Datatype::Float32, CellValNum::ONE, values, None, None)?),
    ];
    ArrayWriter::open(storage, ObjectPath::root(), EngineOptions::default())?.write_sparse(&fields, WriteOptions::default())?;
    Ok(())
}
