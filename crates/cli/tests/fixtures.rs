//! Every read, schema, fragment list and metadata of the arrays that the reference has written in all format versions,
//! against what the reference says of them. Without those arrays beside the checkout there is nothing to compare.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

/// Where the cases are.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures");

/// What came of the questions to one case.
#[derive(Default)]
struct Outcome {
    checked: usize,
    failures: Vec<String>,
}

#[test]
fn every_case_reads_as_the_reference_says() {
    let cases = cases();
    if cases.is_empty() {
        println!("no fixtures at {FIXTURES}");
        return;
    }
    let keys = tempfile::tempdir().unwrap();
    let outcomes: Vec<_> = cases.par_iter().map(|(name, path)| (name, check_case(path, keys.path()))).collect();
    let mut by_version: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    for (name, outcome) in &outcomes {
        let version = name.split('/').next().unwrap();
        let totals = by_version.entry(version).or_default();
        totals.0 += 1;
        totals.1 += outcome.checked;
        totals.2 += outcome.failures.len();
    }
    for (version, (cases, checked, failed)) in &by_version {
        println!("{version}: {cases} cases, {checked} answers compared, {failed} differ");
    }
    let failures = outcomes.iter().flat_map(|(name, outcome)| outcome.failures.iter().map(move |it| format!("{name}: {it}")));
    let failures: Vec<_> = failures.collect();
    assert!(failures.is_empty(), "{} answers differ:\n{}", failures.len(), failures.join("\n"));
}

fn cases() -> Vec<(String, PathBuf)> {
    let subfolders = |path: &Path| -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
        paths.sort();
        paths
    };
    let mut folders = subfolders(&Path::new(FIXTURES).join("legacy"));
    folders.push(Path::new(FIXTURES).join("upstream"));
    let name = |path: &Path| {
        let parts: Vec<_> = path.iter().rev().take(2).map(|part| part.to_str().unwrap()).collect();
        format!("{}/{}", parts[1], parts[0])
    };
    folders.iter().flat_map(|folder| subfolders(folder)).map(|case| (name(&case), case)).collect()
}

fn check_case(case: &Path, keys: &Path) -> Outcome {
    let expected: Value = serde_json::from_slice(&fs::read(case.join("expected.json")).unwrap()).unwrap();
    let mut checker = Checker { key_file: key_file(&expected, case, keys), outcome: Outcome::default() };
    let object = case.join(expected["kind"].as_str().unwrap());
    match (expected["status"].as_str(), expected["kind"].as_str()) {
        (Some("ok"), Some("array")) => checker.array(&object, &expected),
        (Some("ok"), _) => checker.group(&object, &expected),
        // The reference cannot read it: what was written will do, and so will an error.
        _ => checker.refused(&object, &expected),
    }
    checker.outcome
}

fn key_file(expected: &Value, case: &Path, keys: &Path) -> Option<PathBuf> {
    let key = expected["encryption"]["key"].as_str()?;
    let path = keys.join(case.iter().rev().take(2).map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("-"));
    fs::write(&path, key).unwrap();
    Some(path)
}

struct Checker {
    key_file: Option<PathBuf>,
    outcome: Outcome,
}

impl Checker {
    fn run(&self, command: &str, object: &Path, more: &[String]) -> Result<Value, String> {
        let mut arguments: Vec<OsString> = vec!["talavera".into(), command.into(), object.into()];
        if let Some(key_file) = &self.key_file {
            arguments.extend(["--key-file".into(), key_file.into()]);
        }
        arguments.extend(more.iter().map(Into::into));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        match talavera_cli::run(arguments, &mut out, &mut err) {
            0 => serde_json::from_slice(&out).map_err(|error| format!("no JSON: {error}")),
            status => Err(format!("status {status}: {}", String::from_utf8_lossy(&err).trim_end())),
        }
    }

    fn compare(&mut self, what: &str, found: Result<Value, String>, expected: &Value) {
        self.outcome.checked += 1;
        let difference = match found {
            Ok(found) => difference(&found, expected, ""),
            Err(error) => Some(error),
        };
        self.outcome.failures.extend(difference.map(|difference| format!("{what}: {difference}")));
    }

    fn array(&mut self, array: &Path, expected: &Value) {
        let json = || vec!["--json".to_owned()];
        let schema = self.run("schema", array, &json());
        self.compare("schema", schema, &schema_without_cells(&expected["schema"]));
        let meta = self.run("meta", array, &json());
        self.compare("metadata", meta, &expected["metadata"]);
        for past in expected["metadata_history"].as_array().into_iter().flatten() {
            let meta = self.run("meta", array, &[json(), vec![format!("--timestamps=0..{}", past["at"])]].concat());
            self.compare(&format!("metadata at {}", past["at"]), meta, &past["metadata"]);
        }
        let fragments = self.run("fragments", array, &json()).map(|found| found["fragments"].clone());
        self.compare("fragments", fragments, &expected["fragments"]);
        let info = self.run("info", array, &json()).map(|found| found["non_empty_domain"].clone());
        self.compare("non-empty domain", info, &expected["non_empty_domain"]);
        for (index, read) in expected["reads"].as_array().unwrap().iter().enumerate() {
            self.read(array, index, read, expected);
        }
        for label in expected["schema"]["dimension_labels"].as_array().into_iter().flatten() {
            if label["array"].is_object() {
                self.array(&array.join(label["uri"].as_str().unwrap()), &label["array"]);
            }
        }
    }

    fn read(&mut self, array: &Path, index: usize, read: &Value, expected: &Value) {
        let mut wanted = read.clone();
        wanted.as_object_mut().unwrap().shift_remove("note");
        let mut found = self.run("read", array, &arguments(read, &expected["schema"]));
        // The reference takes the bytes of a dropped attribute for those of a new one with its name and another type.
        if expected["case"] == "evolved_readd_other_type" && read["at"].is_null() {
            for read in [&mut wanted].into_iter().chain(found.as_mut()) {
                read["attrs"].as_object_mut().unwrap().shift_remove("a");
            }
        }
        // Where the reference merges fragments wrongly, what was written is as right.
        let written = expected.get("written").filter(|_| read["at"].is_null());
        if let (Some(written), Ok(cells)) = (written, &found) {
            let written = within(written, &read["subarray"]);
            if difference(&cells["dims"], &written["dims"], "").is_none() {
                wanted = cells.clone();
                wanted["attrs"] = written["attrs"].clone();
            }
        }
        self.compare(&format!("read {index}"), found, &wanted);
    }

    fn group(&mut self, group: &Path, expected: &Value) {
        let json = ["--json".to_owned()];
        let members = self.run("ls", group, &json).map(|found| found["members"].clone());
        self.compare("members", members, &expected["members"]);
        let meta = self.run("meta", group, &json);
        self.compare("metadata", meta, &expected["metadata"]);
        for (path, object) in expected["objects"].as_object().into_iter().flatten() {
            match object["kind"].as_str() {
                Some("array") => self.array(&group.join(path), object),
                _ => {
                    let meta = self.run("meta", &group.join(path), &json);
                    self.compare(&format!("metadata of {path}"), meta, &object["metadata"]);
                }
            }
        }
    }

    fn refused(&mut self, array: &Path, expected: &Value) {
        let found = self.run("read", array, &["--format=json".to_owned()]);
        let Some(written) = expected.get("written") else {
            self.outcome.checked += 1;
            return;
        };
        if let Ok(found) = found {
            self.compare("dims as written", Ok(found["dims"].clone()), &written["dims"]);
            self.compare("attrs as written", Ok(found["attrs"].clone()), &written["attrs"]);
        }
    }
}

/// The command line of a read.
fn arguments(read: &Value, schema: &Value) -> Vec<String> {
    let mut arguments = vec!["--format=json".to_owned()];
    if !read["at"].is_null() {
        arguments.push(format!("--timestamps=0..{}", read["at"]));
    }
    if let Some(layout) = read["layout"].as_str() {
        arguments.push(format!("--order={layout}"));
    }
    let dimensions = schema["dims"].as_array().unwrap();
    for (range, dimension) in read["subarray"].as_array().into_iter().flatten().zip(dimensions) {
        let end = |end: &Value| match end {
            Value::String(text) if dimension["type"] == "STRING_ASCII" => format!("\"{text}\""),
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        let name = dimension["name"].as_str().unwrap();
        arguments.push("--range".to_owned());
        arguments.push(format!("{name}={}..{}", end(&range[0]), end(&range[1])));
    }
    arguments
}

/// The cells of a read whose coordinates lie in a subarray.
fn within(read: &Value, subarray: &Value) -> Value {
    let Some(ranges) = subarray.as_array() else { return read.clone() };
    let dimensions: Vec<_> = read["dims"].as_object().unwrap().values().collect();
    let count = usize::try_from(read["count"].as_u64().unwrap()).unwrap();
    let inside = |cell: &usize| {
        ranges.iter().zip(&dimensions).all(|(range, cells)| {
            let (value, low, high) = (cells[*cell].as_f64(), range[0].as_f64(), range[1].as_f64());
            low <= value && value <= high
        })
    };
    let kept: Vec<_> = (0..count).filter(inside).collect();
    let fields = |fields: &Value| -> Value {
        let fields = fields.as_object().unwrap().iter();
        let kept = |cells: &Value| -> Value { kept.iter().map(|cell| cells[*cell].clone()).collect() };
        fields.map(|(name, cells)| (name.clone(), kept(cells))).collect()
    };
    serde_json::json!({ "count": kept.len(), "dims": fields(&read["dims"]), "attrs": fields(&read["attrs"]) })
}

/// The schema with no more of the labels' arrays than `schema --json` shows.
fn schema_without_cells(schema: &Value) -> Value {
    let mut schema = schema.clone();
    for label in schema["dimension_labels"].as_array_mut().into_iter().flatten() {
        if let Some(array) = label["array"].as_object_mut() {
            array.retain(|key, _| key == "kind" || key == "schema");
        }
    }
    if schema["dimension_labels"].is_null() {
        schema.as_object_mut().unwrap().shift_remove("dimension_labels");
    }
    schema
}

/// Where two values first differ; floats must have the same bits.
fn difference(found: &Value, expected: &Value, at: &str) -> Option<String> {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            let extra = found.keys().find(|key| !expected.contains_key(*key)).map(|key| format!("{at}/{key}: not expected"));
            let each = |(key, expected): (&String, &Value)| match found.get(key) {
                Some(found) => difference(found, expected, &format!("{at}/{key}")),
                None => Some(format!("{at}/{key}: missing")),
            };
            extra.or_else(|| expected.iter().find_map(each))
        }
        (Value::Array(found), Value::Array(expected)) if found.len() != expected.len() => {
            Some(format!("{at}: {} values, expected {}", found.len(), expected.len()))
        }
        (Value::Array(found), Value::Array(expected)) => {
            let mut pairs = found.iter().zip(expected).enumerate();
            pairs.find_map(|(index, (found, expected))| difference(found, expected, &format!("{at}/{index}")))
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let same = a.as_f64().map(f64::to_bits) == b.as_f64().map(f64::to_bits);
            (!same).then(|| format!("{at}: {found}, expected {expected}"))
        }
        _ => (found != expected).then(|| format!("{at}: {found}, expected {expected}")),
    }
}
