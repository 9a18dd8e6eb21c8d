//! Processes that write to one array: killed ones, and several at once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "tests fail by panicking"
)]

mod kill;
mod writers;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use talavera_engine::{
    ArrayWriter, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
};
use talavera_schema::{ArraySchema, Attribute, Dimension, NdRange, Range, TileExtent};
use talavera_storage::{LocalStorage, ObjectPath};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

/// Cells along a dimension, two of which a dense array has.
const WIDTH: i64 = 20;
/// Where a child finds its array.
const PATH: &str = "TALAVERA_TEST_ARRAY";
/// What a child is to write.
const TASK: &str = "TALAVERA_TEST_TASK";

/// Runs this binary again, as the named test alone.
fn spawn(test: &str, array: &Path, task: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PATH, array)
        .env(TASK, task)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The fragments that a child acknowledged; a line counts once it is whole.
fn acknowledged(output: &str) -> impl Iterator<Item = String> {
    let whole = output.rfind('\n').map_or("", |end| &output[..end]);
    whole.lines().filter_map(|line| line.strip_prefix('>')).map(str::to_owned)
}

fn storage(array: &Path) -> Arc<LocalStorage> {
    Arc::new(LocalStorage::new(array).unwrap())
}

fn open(array: &Path, window: TimeWindow) -> OpenArray {
    OpenArray::open(storage(array), ObjectPath::root(), window, EngineOptions::default()).unwrap()
}

fn create(array: &Path, array_type: ArrayType) {
    let mut schema = ArraySchema::builder(array_type).capacity(70);
    for name in ["x", "y"] {
        let domain = Range::Signed(0, if array_type == ArrayType::Dense { WIDTH - 1 } else { 1 << 40 });
        schema = schema.dimension(Dimension::new(name, Datatype::Int64, domain, Some(TileExtent::Integer(7))));
    }
    let schema =
        schema.attribute(Attribute::new("number", Datatype::Int64)).attribute(Attribute::var("text", Datatype::StringUtf8));
    create_array(&*storage(array), &ObjectPath::root(), &schema.build().unwrap(), &[], &CreateOptions::default()).unwrap();
}

/// Writes a fragment whose cells tell `number`, and gives its name.
fn write(array: &Path, number: i64, timestamp: Option<u64>) -> String {
    let writer = ArrayWriter::open(storage(array), ObjectPath::root(), EngineOptions::default()).unwrap();
    let options = WriteOptions { timestamp, duplicates: None };
    let mut fields = attributes(number);
    if writer.schema().is_dense() {
        let whole = NdRange(vec![Range::Signed(0, WIDTH - 1); 2]);
        return writer.write_dense(&whole, Layout::RowMajor, &fields, options).unwrap();
    }
    fields.push(("x".to_owned(), integers(|_| number)));
    fields.push(("y".to_owned(), integers(|cell| cell)));
    writer.write_sparse(&fields, options).unwrap().unwrap()
}

/// Whether these are the attributes of all cells of that write, in row-major order.
fn check(found: &[(String, FieldBuffer)], number: i64) {
    for (name, expected) in attributes(number) {
        let found = found.iter().find(|(of, _)| *of == name).map(|(_, field)| field);
        assert_eq!(found, Some(&expected), "'{name}' of write {number}");
    }
}

fn attributes(number: i64) -> Vec<(String, FieldBuffer)> {
    let texts: Vec<String> = (0..WIDTH * WIDTH).map(|cell| "x".repeat(((number + cell) % 9) as usize)).collect();
    let mut offsets = vec![0];
    offsets.extend(texts.iter().scan(0, |end, text| {
        *end += text.len() as u64;
        Some(*end)
    }));
    let data = CellBytes::copied(texts.concat().as_bytes());
    let texts = FieldBuffer::new(Datatype::StringUtf8, CellValNum::Var, data, Some(offsets), None).unwrap();
    vec![("number".to_owned(), integers(|cell| number * 1000 + cell)), ("text".to_owned(), texts)]
}

fn integers(value: impl Fn(i64) -> i64) -> FieldBuffer {
    let data: Vec<u8> = (0..WIDTH * WIDTH).flat_map(|cell| value(cell).to_le_bytes()).collect();
    FieldBuffer::new(Datatype::Int64, CellValNum::ONE, CellBytes::copied(&data), None, None).unwrap()
}
