//! Every decoder has a fuzz target, and every fuzz target a decoder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Finding;
use super::sources::Source;
use crate::Failure;

/// Files that decode, by the beginning of their path, and the target that reaches them; the longest beginning counts.
/// Filter crates are not listed: `filter-xor` is reached by `filter_xor`.
const TARGETS: &[(&str, &str)] = &[
    ("crates/codec/", "generic_tile"),
    ("crates/types/", "array_schema"),
    ("crates/filter/", "filter_list"),
    ("crates/directory/src/name", "timestamped_name"),
    ("crates/directory/src/commits", "commits"),
    ("crates/directory/src/metadata", "array_metadata"),
    ("crates/directory/src/group", "group"),
    ("crates/schema/", "array_schema"),
    ("crates/schema/src/enumeration", "enumeration"),
    ("crates/pipeline/", "tile"),
    ("crates/pipeline/src/generic_tile", "generic_tile"),
    ("crates/fragment/src/footer", "footer"),
    ("crates/fragment/src/rtree", "rtree"),
    ("crates/fragment/src/offsets", "tile_offsets"),
    ("crates/fragment/src/statistics", "tile_statistics"),
    ("crates/fragment/src/processed", "processed_conditions"),
    ("crates/fragment/src/legacy", "legacy_fragment_metadata"),
    ("crates/fragment/src/consolidated", "consolidated_footers"),
    ("crates/condition/", "condition"),
];
/// Targets that reach no single decoder.
const OTHER_TARGETS: &[&str] = &["array"];

/// Checks the table against both sides, once there is a fuzz crate.
pub(super) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>, Failure> {
    let Ok(manifest) = fs::read_to_string(root.join("fuzz/Cargo.toml")) else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let mut used: BTreeSet<String> = OTHER_TARGETS.iter().map(ToString::to_string).collect();
    for source in sources.iter().filter(|source| decodes(source)) {
        let Some(target) = target_of(&source.path) else {
            let advice = "decodes, but no row of TARGETS in xtask/src/tidy/fuzz.rs says which fuzz target reaches it";
            findings.push(Finding::new(&source.path, advice));
            continue;
        };
        if !root.join(format!("fuzz/fuzz_targets/{target}.rs")).is_file() {
            findings.push(Finding::new(&source.path, format!("its fuzz target fuzz/fuzz_targets/{target}.rs is missing")));
        }
        used.insert(target);
    }
    for entry in fs::read_dir(root.join("fuzz/fuzz_targets"))? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        let Some(target) = file.strip_suffix(".rs") else { continue };
        let place = format!("fuzz/fuzz_targets/{file}");
        if !used.contains(target) {
            findings
                .push(Finding::new(&place, "reaches no decoder of TARGETS in xtask/src/tidy/fuzz.rs: add a row or remove it"));
        }
        if !manifest.contains(&format!("\"{target}\"")) {
            findings.push(Finding::new(place, "has no [[bin]] in fuzz/Cargo.toml"));
        }
    }
    Ok(findings)
}

/// Whether a file has a public decoder or is a filter.
fn decodes(source: &Source) -> bool {
    let is_decoder = |line: &String| line.contains("pub fn decode") || line.contains("impl Filter for");
    source.krate != "testkit" && source.code.iter().any(is_decoder)
}

fn target_of(path: &str) -> Option<String> {
    if let Some(filter) = path.strip_prefix("crates/filter-") {
        let name = filter.split('/').next().unwrap_or_default();
        return Some(format!("filter_{}", name.replace('-', "_")));
    }
    let rows = TARGETS.iter().filter(|(start, _)| path.starts_with(start));
    rows.max_by_key(|(start, _)| start.len()).map(|(_, target)| (*target).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_row_names_the_target() {
        assert_eq!(target_of("crates/filter-bit-width-reduction/src/filter.rs").unwrap(), "filter_bit_width_reduction");
        assert_eq!(target_of("crates/filter/src/spec.rs").unwrap(), "filter_list");
        assert_eq!(target_of("crates/schema/src/enumeration.rs").unwrap(), "enumeration");
        assert_eq!(target_of("crates/schema/src/domain.rs").unwrap(), "array_schema");
        assert_eq!(target_of("crates/new/src/lib.rs"), None);
    }
}
