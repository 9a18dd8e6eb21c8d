//! The status tables of the root README are current, and their data agree with the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::Metadata;
use serde_json::Value;
use talavera_types::{FilterType, FormatVersion};

use super::{Finding, layers};
use crate::{Failure, status};

const DATA: &str = "docs/status.json";

pub(super) fn check(root: &Path, metadata: &Metadata) -> Result<Vec<Finding>, Failure> {
    let data = status::data(root)?;
    let readme = fs::read_to_string(root.join("README.md"))?;
    let mut findings = check_data(&data, &filter_crates(metadata));
    if status::current(&readme, &data, metadata)? != readme {
        findings.push(Finding::new("README.md", "a table is not current: run `cargo xtask status`"));
    }
    Ok(findings)
}

fn filter_crates(metadata: &Metadata) -> BTreeSet<String> {
    let folders = metadata.workspace_packages().into_iter().map(|package| layers::folder(&package.name));
    folders.filter(|folder| folder.starts_with("filter-")).collect()
}

/// Every filter, every version and every filter crate has one row, in order, and every state is a known one.
fn check_data(data: &Value, filter_crates: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let rows = |table: &str| data[table].as_array().cloned().unwrap_or_default();
    let filters = (1..=u8::MAX).map_while(FilterType::from_code).map(|filter| (Some(filter.code().into()), Some(filter.name())));
    if !rows("filters").iter().map(|row| (row["number"].as_u64(), row["name"].as_str())).eq(filters) {
        findings.push(Finding::new(DATA, "the filters are not those of crates/types/src/codes.rs, in their order"));
    }
    let listed: BTreeSet<String> = rows("filters").iter().filter_map(|row| row["crate"].as_str().map(str::to_owned)).collect();
    for krate in listed.symmetric_difference(filter_crates) {
        findings.push(Finding::new(DATA, format!("{krate} is in the table or in crates/, and not in both")));
    }
    let versions = (1..=u64::from(FormatVersion::NEWEST.number())).map(Some);
    if !rows("versions").iter().map(|row| row["number"].as_u64()).eq(versions) {
        findings.push(Finding::new(DATA, "the versions are not all that there are, in their order"));
    }
    for row in ["filters", "versions", "features"].into_iter().flat_map(rows) {
        for key in ["read", "write"] {
            if !row[key].is_null() && !row[key].as_str().is_some_and(|state| status::STATES.contains(&state)) {
                findings.push(Finding::new(DATA, format!("{row}: '{key}' is none of {}", status::STATES.join(", "))));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_that_are_missing_or_say_nothing_are_found() {
        let root = crate::root();
        let crates: BTreeSet<String> = ["filter-gzip".to_owned()].into();
        let mut data = json!({"filters": [], "versions": [], "features": []});
        assert_eq!(check_data(&data, &crates).len(), 3, "no filters, no versions, a crate without a row");
        data = status::data(&root).unwrap();
        let listed = data["filters"].as_array().unwrap().iter().filter_map(|row| row["crate"].as_str().map(str::to_owned));
        let listed: BTreeSet<String> = listed.collect();
        assert_eq!(check_data(&data, &listed), []);
        data["features"][0]["read"] = json!("perhaps");
        assert_eq!(check_data(&data, &listed).len(), 1);
    }
}
