//! Schemas as JSON, of arrays that the reference has written: an array made by what `schema --json` shows has the same
//! schema. Without those arrays beside the checkout, only the few in `data` are tried.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Where the cases are.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures/legacy");
/// What is not made any more: versions that are too old, and domains whose last tile the datatype cannot count, in which
/// the reference fails to write.
const REFUSED: [&str; 2] = ["new arrays cannot be of this format version", "the last tile ends above the largest value"];
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

#[test]
fn an_array_made_by_a_schema_has_that_schema() {
    let folder = tempfile::tempdir().unwrap();
    let (mut made, mut failures) = (0, Vec::new());
    for (index, (array, key)) in arrays().into_iter().enumerate() {
        let key = key.map(|key| {
            let path = folder.path().join(format!("key{index}"));
            fs::write(&path, key).unwrap();
            path
        });
        let Ok(shown) = run(&["schema", text(&array), "--json"], key.as_deref()) else { continue };
        let json = folder.path().join(format!("{index}.json"));
        fs::write(&json, &shown).unwrap();
        let copy = folder.path().join(format!("copy{index}"));
        match run(&["create", text(&copy), "--schema", text(&json)], key.as_deref()) {
            Ok(_) => {}
            Err(error) if REFUSED.iter().any(|reason| error.contains(reason)) => continue,
            Err(error) => {
                failures.push(format!("{}: {error}", array.display()));
                continue;
            }
        }
        made += 1;
        let again = run(&["schema", text(&copy), "--json"], key.as_deref()).unwrap();
        let value = |json: &str| without_label_arrays(serde_json::from_str(json).unwrap());
        if value(&again) != value(&shown) {
            failures.push(format!("{}:\n{shown}\nbecame\n{again}", array.display()));
        }
    }
    println!("{made} arrays were made");
    assert!(made > 0 && failures.is_empty(), "{}", failures.join("\n"));
}

/// The arrays of labels are made anew, with tiles of their own.
fn without_label_arrays(mut schema: Value) -> Value {
    for label in schema["dimension_labels"].as_array_mut().into_iter().flatten() {
        label.as_object_mut().unwrap().shift_remove("array");
    }
    schema
}

fn arrays() -> Vec<(PathBuf, Option<String>)> {
    let mut arrays: Vec<_> = folders(Path::new(DATA)).into_iter().filter(|path| path.join("__schema").is_dir()).collect();
    arrays.retain(|path| !path.ends_with("dense_encrypted"));
    let mut found: Vec<_> = arrays.into_iter().map(|path| (path, None)).collect();
    for case in folders(Path::new(FIXTURES)).iter().flat_map(|version| folders(version)) {
        let expected: Value = serde_json::from_slice(&fs::read(case.join("expected.json")).unwrap()).unwrap();
        if case.join("array").is_dir() {
            found.push((case.join("array"), expected["encryption"]["key"].as_str().map(str::to_owned)));
        }
    }
    found
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    paths
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn run(arguments: &[&str], key_file: Option<&Path>) -> Result<String, String> {
    let key = key_file.into_iter().flat_map(|key| ["--key-file", text(key)]);
    let arguments = ["talavera"].into_iter().chain(arguments.iter().copied()).chain(key);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    match talavera_cli::run(arguments.map(Into::into), &mut out, &mut err) {
        0 => Ok(String::from_utf8(out).unwrap()),
        _ => Err(String::from_utf8(err).unwrap()),
    }
}
