//! `cargo xtask status`: the tables of the root README, from `docs/status.json` and the crates' manifests.
//!
//! A table stands between two markers, `<!-- status: NAME -->` and `<!-- status end -->`, and nobody writes it by hand.

use std::fs;
use std::path::Path;

use cargo_metadata::{Metadata, MetadataCommand};
use serde_json::Value;

use crate::Failure;
use crate::tidy::layers;

/// What stands in the columns "Read" and "Written": here; in the engine and not yet in the facade; not at all.
pub(crate) const STATES: &[&str] = &["yes", "in part", "engine", "no"];

/// Rewrites the tables.
pub(crate) fn run() -> Result<(), Failure> {
    let root = crate::root();
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let path = root.join("README.md");
    let readme = fs::read_to_string(&path)?;
    let current = current(&readme, &data(&root)?, &metadata)?;
    if current != readme {
        fs::write(path, current)?;
    }
    Ok(())
}

/// What the tables are made from.
pub(crate) fn data(root: &Path) -> Result<Value, Failure> {
    Ok(serde_json::from_str(&fs::read_to_string(root.join("docs/status.json"))?)?)
}

/// A README with its tables as they should be.
pub(crate) fn current(readme: &str, data: &Value, metadata: &Metadata) -> Result<String, Failure> {
    let mut parts = readme.split(BEGIN);
    let mut current = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").ok_or("a marker without end")?;
        let (_, rest) = rest.split_once(END).ok_or_else(|| format!("the table '{name}' has no end"))?;
        let rows = match name {
            "filters" => filters(data),
            "versions" => versions(data),
            "features" => features(data),
            "crates" => crates(metadata),
            _ => return Err(format!("there is no table '{name}'").into()),
        };
        current += &format!("{BEGIN}{name} -->\n{}{END}{rest}", table(&rows));
    }
    Ok(current)
}

/// Rows of cells as Markdown; the first row is the head.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
    let mut lines = rows.iter().map(line);
    let head = lines.next().unwrap_or_default();
    let rule = format!("|{}\n", " --- |".repeat(rows.first().map_or(0, Vec::len)));
    std::iter::once(head).chain(std::iter::once(rule)).chain(lines).collect()
}

fn filters(data: &Value) -> Vec<Vec<String>> {
    let krate = |row: &Value| row["crate"].as_str().map_or_else(String::new, |krate| format!("[`{krate}`](crates/{krate})"));
    let row = |row: &Value| {
        vec![cell(row, "number"), cell(row, "name"), krate(row), cell(row, "read"), cell(row, "write"), cell(row, "note")]
    };
    rows(&["№", "Filter", "Crate", "Read", "Written", ""], &data["filters"], row)
}

fn versions(data: &Value) -> Vec<Vec<String>> {
    let row = |row: &Value| ["number", "libtiledb", "brought", "read", "write"].map(|key| cell(row, key)).to_vec();
    rows(&["Version", "Since libtiledb", "What it brought", "Read", "Written"], &data["versions"], row)
}

fn features(data: &Value) -> Vec<Vec<String>> {
    let row = |row: &Value| ["feature", "read", "write", "note"].map(|key| cell(row, key)).to_vec();
    rows(&["", "Read", "Written", ""], &data["features"], row)
}

/// All crates but those of filters, from the lowest layer up, as their manifests describe them.
fn crates(metadata: &Metadata) -> Vec<Vec<String>> {
    let mut crates = Vec::new();
    for package in metadata.workspace_packages() {
        let folder = layers::folder(&package.name);
        if let Some(layer) = layers::layer(&folder).filter(|_| !folder.starts_with("filter-")) {
            let purpose = package.description.clone().unwrap_or_default();
            let published = package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
            let layer_text = if published { layer.to_string() } else { "for tests".to_owned() };
            crates.push((!published, layer, vec![format!("[`{folder}`](crates/{folder})"), layer_text, purpose]));
        }
    }
    let purpose = "One filter each, by its name in the table above: plain functions on slices, and the filter of the pipeline";
    crates.push((false, 3, vec!["`crates/filter-*`".to_owned(), "3".to_owned(), purpose.to_owned()]));
    crates.sort();
    let head = ["Crate", "Layer", "What it is for"].map(str::to_owned).to_vec();
    std::iter::once(head).chain(crates.into_iter().map(|(.., row)| row)).collect()
}

fn rows(head: &[&str], data: &Value, row: impl Fn(&Value) -> Vec<String>) -> Vec<Vec<String>> {
    let head = head.iter().map(|&cell| cell.to_owned()).collect();
    std::iter::once(head).chain(data.as_array().into_iter().flatten().map(row)).collect()
}

/// A value as it stands in a table; what does not apply is a dash.
fn cell(row: &Value, key: &str) -> String {
    match &row[key] {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

const BEGIN: &str = "<!-- status: ";
const END: &str = "<!-- status end -->";
