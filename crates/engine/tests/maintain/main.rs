//! What is done to arrays and groups besides reading and writing cells.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod create;
mod deletes;
mod evolve;
mod groups;
mod metadata;
mod objects;

use std::path::Path;
use std::sync::Arc;

use talavera_directory::TimeWindow;
use talavera_engine::{EngineOptions, Error, OpenArray};
use talavera_schema::{ArraySchema, Attribute, Dimension, Range, TileExtent};
use talavera_storage::{LocalStorage, MemoryStorage, ObjectPath, Storage, StorageExt};
use talavera_types::{ArrayType, Datatype, FormatVersion};

fn path(text: &str) -> ObjectPath {
    ObjectPath::new(text).unwrap()
}

fn version(number: u32) -> FormatVersion {
    FormatVersion::new(number).unwrap()
}

fn dimension(name: &str) -> Dimension {
    Dimension::new(name, Datatype::Int32, Range::Signed(1, 10), Some(TileExtent::Integer(5)))
}

/// A dense array of one dimension, `d`, and one attribute, `a`.
fn dense() -> talavera_schema::ArraySchemaBuilder {
    ArraySchema::builder(ArrayType::Dense).dimension(dimension("d")).attribute(Attribute::new("a", Datatype::Int32))
}

fn open(storage: &MemoryStorage, root: &ObjectPath, window: TimeWindow) -> Result<OpenArray, Error> {
    OpenArray::open(Arc::new(storage.clone()), root.clone(), window, EngineOptions::default())
}

/// An array that the real library wrote, in memory.
fn fixture(name: &str) -> (MemoryStorage, ObjectPath) {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures").join(name).join("array");
    let local = LocalStorage::new(local).unwrap();
    let (storage, root) = (MemoryStorage::new(), path("fixture"));
    for (file, bytes) in local.list_all(&ObjectPath::root()).unwrap() {
        storage.write(&root.join(file.as_str()).unwrap(), &local.read(&file, bytes).unwrap()).unwrap();
    }
    (storage, root)
}

/// Paths of all files below a folder, relative to it, sorted.
fn files(storage: &dyn Storage, root: &ObjectPath) -> Vec<String> {
    let all = storage.list_all(root).unwrap();
    let mut all: Vec<_> = all.iter().map(|(file, _)| file.relative_to(root).unwrap().to_owned()).collect();
    all.sort();
    all
}

fn invalid(result: Result<impl Sized, Error>) -> String {
    match result {
        Err(error @ (Error::Invalid(_) | Error::Schema(_) | Error::Condition(_))) => error.to_string(),
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("not refused"),
    }
}
