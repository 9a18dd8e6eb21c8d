//! A whole array in memory: a small real one, with edits from the input, is opened and read.
//!
//! ```text
//! input := u8 array; u8 way to read (0 to 3 a layout, 4 part of the cells, 5 conditions); edits
//! edit  := u8 file; u8 kind; u32 offset; then
//!          kind 0: u8 length; bytes to write there          1: nothing; the file ends there
//!          kind 2: u8 length; bytes to insert there         3: nothing; the file is deleted
//!          kind 4: u8 tile; u8 length; bytes to write into the payload of that generic tile of the file
//! ```
//!
//! Edits of payloads get behind the checksums of compression and encryption, which would stop nearly all others.

mod edit;
mod look;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use talavera_engine::{EngineOptions, OpenArray, ThreadPool};
use talavera_pipeline::EncryptionKey;
use talavera_storage::{MemoryStorage, ObjectPath, StorageExt};

use crate::input::Input;
use crate::tiles::KEY;

/// Edits that are made at most.
const MAX_EDITS: usize = 16;
/// Bytes of a file, edits included.
const MAX_FILE_BYTES: usize = 1 << 20;

/// The files of an array, by path, sorted.
#[derive(Debug, Clone)]
struct Fixture {
    files: Vec<(String, Vec<u8>)>,
    key: Option<EncryptionKey>,
}

/// Opens and reads the array that the input describes. Any error will do.
pub fn array(data: &[u8]) {
    let mut input = Input::new(data);
    let fixtures = fixtures();
    let index = usize::from(input.u8()) % fixtures.len().max(1);
    let mut fixture = fixtures.get(index).expect("there are fixtures").clone();
    let way = input.u8();
    let mut rest = input;
    for _ in 0..MAX_EDITS {
        if rest.clone().rest().is_empty() {
            break;
        }
        edit::apply(&mut fixture, &mut rest);
    }
    let storage = MemoryStorage::new();
    for (path, bytes) in &fixture.files {
        let path = ObjectPath::new(path).expect("paths of fixtures are paths");
        storage.write(&path, bytes).expect("memory can be written to");
    }
    let options = EngineOptions {
        key: fixture.key.clone(),
        metadata_limit_bytes: 4 << 20,
        tile_limit_bytes: 4 << 20,
        pool: Some(one_thread()),
        ..EngineOptions::default()
    };
    let root = ObjectPath::new("array").expect("a path");
    if let Ok(array) = OpenArray::open(Arc::new(storage), root, Default::default(), options) {
        look::at(&array, way);
    }
}

/// Inputs run one after the other, and so do their tiles.
fn one_thread() -> ThreadPool {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    let build = || Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread"));
    POOL.get_or_init(build).clone()
}

/// The arrays that the engine's own test damages.
fn fixtures() -> &'static [Fixture] {
    static FIXTURES: OnceLock<Vec<Fixture>> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/engine/tests/data/hostile");
        let mut arrays: Vec<_> = entries(&folder).into_iter().filter(|(_, path)| path.is_dir()).collect();
        arrays.sort();
        let fixture = |(name, path): (String, std::path::PathBuf)| {
            let mut files = Vec::new();
            read_folder(&path, "array", &mut files);
            files.sort();
            Fixture { files, key: name.contains("encrypted").then(|| EncryptionKey::new(*KEY)) }
        };
        arrays.into_iter().map(fixture).collect()
    })
}

fn read_folder(folder: &Path, name: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for (entry, path) in entries(folder) {
        let name = format!("{name}/{entry}");
        if path.is_dir() {
            read_folder(&path, &name, files);
        } else {
            files.push((name, std::fs::read(path).expect("fixtures can be read")));
        }
    }
}

fn entries(folder: &Path) -> Vec<(String, std::path::PathBuf)> {
    let entries = std::fs::read_dir(folder).expect("fixtures lie beside the engine's tests");
    let entry = |entry: std::fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), entry.path());
    entries.map(|found| entry(found.expect("a folder can be listed"))).collect()
}
