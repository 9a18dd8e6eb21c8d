//! Fixtures never change: each file has the hash that the manifest gives, and no file is without one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Finding;
use crate::fixtures::files_below;
use crate::{Failure, hex};

const FOLDER: &str = "crates/testkit/fixtures";

pub(super) fn check(root: &Path) -> Result<Vec<Finding>, Failure> {
    let folder = root.join(FOLDER);
    let manifest: Value = serde_json::from_str(&fs::read_to_string(folder.join("manifest.json"))?)?;
    let mut findings = Vec::new();
    let mut known = BTreeSet::new();
    for fixture in manifest["fixtures"].as_array().into_iter().flatten() {
        let (release, case) = (text(&fixture["libtiledb"]), text(&fixture["case"]));
        for (file, expected) in fixture["sha256"].as_object().into_iter().flatten() {
            let path = format!("{release}/{case}/{file}");
            let place = format!("{FOLDER}/{path}");
            match fs::read(folder.join(&path)) {
                Ok(bytes) if hex(&Sha256::digest(&bytes)) == text(expected) => {}
                Ok(_) => findings.push(Finding::new(place, "changed; restore it, and make what is new a new case")),
                Err(_) => findings.push(Finding::new(place, "in manifest.json, but missing")),
            }
            known.insert(path);
        }
    }
    for file in files_below(&folder)? {
        let path = file.strip_prefix(&folder)?.to_string_lossy().into_owned();
        if path.contains('/') && !known.contains(&path) {
            findings.push(Finding::new(format!("{FOLDER}/{path}"), "not in manifest.json: run `cargo xtask fixtures`"));
        }
    }
    Ok(findings)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
