//! `cargo xtask corpus`: seeds for the fuzz targets, from bytes that the reference implementation wrote.
//!
//! They come from the crates' own test data and, where they lie beside the checkout, from the shared fixtures. The
//! functions of `fuzz/src` say how the inputs of their targets look.

mod arrays;
mod chunks;
mod fragments;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::Failure;
use crate::fixtures::files_below;

/// Writes the seeds and prints how many there are for each target.
pub(crate) fn run() -> Result<(), Failure> {
    let root = crate::root();
    let mut corpus = Corpus::default();
    schemas(&root.join("crates/schema/tests/data"), &mut corpus)?;
    fragments::seeds(&root.join("crates/fragment/tests/data"), &mut corpus)?;
    chunks::seeds(&root, &mut corpus);
    for folder in ["crates/testkit/fixtures", "crates/engine/tests/data", "../shared/fixtures"] {
        arrays::seeds(&root.join(folder), &mut corpus)?;
    }
    arrays::edits(&root.join("crates/engine/tests/data/hostile"), &mut corpus)?;
    for text in TEXTS {
        corpus.add("condition_text", &[&[0, 4], text.as_bytes()]);
    }
    corpus.write(&root.join("fuzz/corpus"))
}

/// Seeds by target; those of a target by their digest, so that a part of them is a fair sample.
#[derive(Default)]
struct Corpus(BTreeMap<&'static str, BTreeMap<String, Vec<u8>>>);

impl Corpus {
    /// Adds a seed made of these parts, unless it is too long.
    fn add(&mut self, target: &'static str, parts: &[&[u8]]) {
        let bytes = parts.concat();
        if bytes.len() > MAX_SEED_BYTES {
            return;
        }
        let name = crate::hex(&Sha256::digest(&bytes)).chars().take(16).collect();
        self.0.entry(target).or_default().insert(name, bytes);
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        for (target, seeds) in &self.0 {
            let folder = folder.join(target);
            fs::create_dir_all(&folder)?;
            for (name, bytes) in seeds.iter().take(MAX_SEEDS) {
                fs::write(folder.join(name), bytes)?;
            }
            println!("{target}: {} seeds", seeds.len().min(MAX_SEEDS));
        }
        Ok(())
    }
}

/// Bytes behind their length of two bytes; nothing for those that are too long.
fn counted(bytes: &[u8]) -> Vec<u8> {
    let len = u16::try_from(bytes.len()).unwrap_or(0);
    let mut counted = len.to_le_bytes().to_vec();
    counted.extend(bytes.iter().take(usize::from(len)));
    counted
}

/// Schemas and enumerations that lie there without their generic tile.
fn schemas(folder: &Path, corpus: &mut Corpus) -> Result<(), Failure> {
    for path in files_below(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".bin") {
            let target = if name.contains("_enumeration_") { "enumeration" } else { "schema" };
            corpus.add(target, &[&fs::read(&path)?]);
        }
    }
    Ok(())
}

/// Longest seed.
const MAX_SEED_BYTES: usize = 8 << 10;
/// Most seeds of a target.
const MAX_SEEDS: usize = 400;
/// Conditions as people write them.
const TEXTS: &[&str] = &[
    "v < 5",
    "v >= -7 and v <= 0x1f",
    "not (a = 1 or b != 2.5e-3)",
    "name = 'Zo\\'e' or name in ('a', \"b\", 'ccc')",
    "x not in (1, 2, 3) and y is null",
    "y is not null",
    "true",
    "false or not true",
    "`odd name` > 3",
    "\"odd name\" == 3 && z <> 4 || !w",
    "d >= '2024-05-17T08:30:00' and d < '2025-01-01'",
    "((((a = 1))))",
    "a = 170141183460469231731687303715884105727",
    "f = nan or f = -inf",
    "b = x'00ff' and c between 1 and 2",
];
