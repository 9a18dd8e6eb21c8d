//! Tiles that the reference implementation wrote: a small set in this repository, and thousands where the whole set lies
//! beside the checkout. Each is decoded and compared with what was written, then encoded again and compared with the file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests fail by panicking"
)]

#[path = "vectors/check.rs"]
mod check;
#[path = "vectors/vector.rs"]
mod vector;

use std::path::{Path, PathBuf};

use check::{Tally, check_damaged_files, check_vector};
use vector::{Vector, Vectors};

#[test]
fn the_small_set_is_decoded_and_encoded_as_the_reference_does() {
    let tally = check_all(&small_set());
    println!("small set: {tally:?}");
    assert_eq!(tally.vectors, 114);
}

#[test]
fn the_small_set_covers_every_filter() {
    let vectors = small_set();
    let mut filters: Vec<u8> = vectors.iter().flat_map(|vector| vector.filter_codes()).collect();
    filters.sort_unstable();
    filters.dedup();
    assert_eq!(filters, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19]);
}

#[test]
fn damaged_files_are_errors_or_values_never_panics() {
    small_set().iter().for_each(check_damaged_files);
}

#[test]
fn the_whole_set_is_decoded_and_encoded_as_the_reference_does() {
    let Some(folder) = whole_set() else { return };
    let vectors = Vectors::from_packs(&folder);
    let tally = check_all(&vectors);
    println!("whole set: {tally:?}");
    assert_eq!((tally.vectors, tally.decoded, tally.refused, tally.not_encoded), (4000, 4614, 4, 3));
    assert!(tally.identical >= 3900, "fewer tiles than before are encoded as the reference does");
}

#[test]
fn damaged_files_of_the_whole_set_are_errors_or_values_never_panics() {
    let Some(folder) = whole_set() else { return };
    Vectors::from_packs(&folder).iter().for_each(check_damaged_files);
}

fn small_set() -> Vectors {
    Vectors::from_hex(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors.json"))
}

/// The folder of the whole set, if it is there.
fn whole_set() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = shared.join("vectors/filters");
    if folder.join("index.json").exists() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none() || !shared.exists(), "the vectors are missing in {}", shared.display());
    println!("skipped: no vectors in {}", folder.display());
    None
}

/// Checks all vectors and lists every one that fails, not only the first.
fn check_all(vectors: &Vectors) -> Tally {
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for vector in vectors.iter() {
        tally.vectors += 1;
        if let Err(failure) = check_vector(vector, &mut tally) {
            failures.push(format!("{}: {failure}", vector.id));
        }
    }
    assert!(failures.is_empty(), "{} of {} failed:\n{}", failures.len(), tally.vectors, failures.join("\n"));
    tally
}
