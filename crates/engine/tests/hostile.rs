//! Small real arrays with one file damaged: whatever opens is read to the end, and nothing panics.
//!
//! `data/hostile` holds arrays that released libraries wrote, their folder named by format version and kind. Damage comes
//! from a fixed seed. Where a checksum or encryption guards the damaged file, what is read is what was written, or an
//! error.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use talavera_engine::{Batch, EngineOptions, Error, OpenArray};
use talavera_pipeline::EncryptionKey;
use talavera_storage::{MemoryStorage, ObjectPath, StorageExt};

/// Damages of each array.
const ROUNDS: u64 = 400;
/// The key of the encrypted arrays.
const KEY: [u8; 32] = *b"0123456789abcdeF0123456789abcdeF";
/// Batches read of each array; a damaged domain can have any number of cells.
const MAX_BATCHES: usize = 64;

#[test]
fn no_damage_makes_reading_panic_and_none_passes_a_checksum() {
    let mut arrays = folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile"));
    arrays.sort();
    assert!(arrays.len() >= 10, "the arrays are there");
    for (index, path) in arrays.iter().enumerate() {
        let tally = damage(&Array::read(path), index as u64);
        println!("{}: {tally:?}", path.file_name().unwrap().display());
        assert!(tally.errors > 0, "some damage is found");
    }
}

/// An array's files by their path in it.
struct Array {
    name: String,
    files: Vec<(String, Vec<u8>)>,
}

/// What came of all damages.
#[derive(Debug, Default)]
struct Tally {
    /// Opening or reading said that something is wrong.
    errors: usize,
    /// The same was read as without the damage.
    harmless: usize,
    /// Something else was read; nothing guards every byte of an array.
    different: usize,
}

fn damage(array: &Array, index: u64) -> Tally {
    let undamaged = array.look(&array.files).unwrap();
    let mut tally = Tally::default();
    for round in 0..ROUNDS {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (index << 32) ^ (round + 1));
        let mut files = array.files.clone();
        let file = random.below(files.len());
        let (path, bytes) = &mut files[file];
        let what = random.damage(bytes);
        let path = path.clone();
        match array.look(&files) {
            Err(_) => tally.errors += 1,
            Ok(seen) if seen == undamaged => tally.harmless += 1,
            Ok(_) => {
                assert!(!array.guards(&path), "{}: {what} in {path} went unnoticed", array.name);
                tally.different += 1;
            }
        }
    }
    tally
}

impl Array {
    fn read(folder: &Path) -> Self {
        let mut files = Vec::new();
        read_folder(folder, "", &mut files);
        files.sort();
        Self { name: folder.file_name().unwrap().to_str().unwrap().to_owned(), files }
    }

    /// Whether every byte of the file that decides on cells is under a checksum or under authenticated encryption.
    fn guards(&self, path: &str) -> bool {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let in_fragment = folder.rsplit('/').next().is_some_and(|name| name.matches('_').count() >= 4);
        let is_data = in_fragment && file != "__fragment_metadata.tdb";
        // The dimensions of the array with checksums have none.
        is_data && (self.name.contains("encrypted") || self.name.contains("checksums") && file.starts_with('a'))
    }

    /// Everything that can be read, as bytes.
    fn look(&self, files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Error> {
        let storage = MemoryStorage::new();
        for (path, bytes) in files {
            storage.write(&ObjectPath::new(&format!("array/{path}")).unwrap(), bytes).unwrap();
        }
        let options = EngineOptions {
            key: self.name.contains("encrypted").then(|| EncryptionKey::new(KEY)),
            metadata_limit_bytes: 4 << 20,
            tile_limit_bytes: 4 << 20,
            ..EngineOptions::default()
        };
        let array = OpenArray::open(Arc::new(storage), ObjectPath::new("array").unwrap(), Default::default(), options)?;
        for fragment in array.fragments() {
            // No tile has this number; it is an argument like any other.
            assert_eq!(fragment.tile_cells(u64::MAX), fragment.schema().capacity);
        }
        let mut seen = Vec::new();
        for (key, value) in array.metadata()?.iter() {
            seen.extend_from_slice(key);
            seen.extend_from_slice(value.bytes());
        }
        for reference in &array.schema().enumerations {
            seen.extend_from_slice(array.enumeration(&reference.name)?.data());
        }
        for batch in array.query().memory_limit(1 << 20).batches()?.take(MAX_BATCHES) {
            see(&batch?, &mut seen);
        }
        see(&array.query().memory_limit(8 << 20).read()?, &mut seen);
        Ok(seen)
    }
}

fn see(batch: &Batch, seen: &mut Vec<u8>) {
    for (name, field) in &batch.fields {
        assert_eq!(field.len(), batch.cells, "cells of {name}");
        seen.extend_from_slice(name.as_bytes());
        seen.extend_from_slice(field.data());
        seen.extend(field.offsets().into_iter().flatten().flat_map(|offset| offset.to_le_bytes()));
        seen.extend(field.validity().into_iter().flatten());
    }
}

/// A sequence of numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    /// Damages bytes in one of four ways and says how.
    fn damage(&mut self, bytes: &mut Vec<u8>) -> String {
        let (kind, at) = (self.below(4), self.below(bytes.len()));
        let mut write = |new: [u8; 8]| bytes.iter_mut().skip(at).zip(new).for_each(|(to, from)| *to = from);
        match kind {
            0 => {
                let bit = self.below(8);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
                format!("bit {bit} of byte {at} flipped")
            }
            1 => {
                write(self.next().to_le_bytes());
                format!("8 random bytes at {at}")
            }
            2 => {
                write([0xff; 8]);
                format!("8 bytes of ones at {at}")
            }
            _ => {
                bytes.truncate(at);
                format!("the end at {at}")
            }
        }
    }
}

fn read_folder(folder: &Path, name: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = [name, path.file_name().unwrap().to_str().unwrap()].join(if name.is_empty() { "" } else { "/" });
        if path.is_dir() {
            read_folder(&path, &name, files);
        } else {
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}
