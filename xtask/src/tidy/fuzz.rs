//! Every decoder has a fuzz target, and every fuzz target something that it reaches.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Finding;
use super::sources::Source;
use crate::Failure;

/// The targets, and the files with decoders that each reaches, by the beginning of their path. Filters are not listed:
/// the crate `filter-xor` is reached by `filter_xor`.
const TARGETS: &[(&str, &[&str])] = &[
    ("array", &["crates/engine/"]),
    ("array_metadata", &["crates/directory/src/metadata."]),
    ("condition_text", &["crates/condition/src/text"]),
    ("consolidated_commits", &["crates/directory/src/commits."]),
    ("consolidated_footers", &["crates/fragment/src/consolidated."]),
    ("delete_condition", &["crates/condition/src/commit."]),
    ("enumeration", &["crates/schema/src/enumeration."]),
    ("filter_list", &["crates/filter/src/spec."]),
    ("footer", &["crates/fragment/src/footer"]),
    ("footer_peek", &["crates/fragment/src/footer"]),
    ("fragment_statistics", &["crates/fragment/src/statistics/fragment."]),
    ("generic_tile", &["crates/pipeline/src/generic_tile."]),
    ("group_details", &["crates/directory/src/group."]),
    ("ignore_list", &["crates/directory/src/commits."]),
    ("legacy_metadata", &["crates/fragment/src/legacy"]),
    ("processed_conditions", &["crates/fragment/src/processed."]),
    ("rtree", &["crates/fragment/src/rtree."]),
    (
        "schema",
        &[
            "crates/schema/src/array.",
            "crates/schema/src/attribute.",
            "crates/schema/src/current_domain.",
            "crates/schema/src/dimension.",
            "crates/schema/src/domain.",
            "crates/schema/src/label.",
            "crates/schema/src/nd_range.",
            "crates/schema/src/range.",
            "crates/types/src/cell_val_num.",
            "crates/types/src/on_disk.",
            "crates/types/src/version.",
        ],
    ),
    (
        "tile",
        &[
            "crates/filter/src/checksum.",
            "crates/filter/src/compressor.",
            "crates/filter/src/part_table.",
            "crates/filter/src/strings.",
            "crates/filter/src/part_table.",
            "crates/filter/src/strings.",
            "crates/pipeline/src/pipeline/",
            "crates/pipeline/src/registry.",
            "crates/pipeline/src/tile.",
        ],
    ),
    ("tile_min_max", &["crates/fragment/src/statistics/bounds."]),
    ("tile_null_counts", &["crates/fragment/src/offsets."]),
    ("tile_offsets", &["crates/fragment/src/offsets."]),
    ("tile_sizes", &["crates/fragment/src/offsets."]),
    ("tile_sums", &["crates/fragment/src/offsets."]),
    ("timestamped_name", &["crates/directory/src/name."]),
    ("update_commit", &["crates/condition/src/commit."]),
    ("vacuum_list", &["crates/directory/src/vacuum."]),
];

/// Checks the table against both sides, once there is a fuzz crate.
pub(super) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>, Failure> {
    let Ok(manifest) = fs::read_to_string(root.join("fuzz/Cargo.toml")) else { return Ok(Vec::new()) };
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root.join("fuzz/fuzz_targets"))? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        found.extend(file.strip_suffix(".rs").map(str::to_owned));
    }
    let decoders: Vec<&str> = sources.iter().filter(|source| decodes(source)).map(|source| source.path.as_str()).collect();
    Ok(compare(&decoders, &found, &manifest))
}

/// Compares files that decode, targets that there are, and the fuzz crate's manifest.
fn compare(decoders: &[&str], targets: &BTreeSet<String>, manifest: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let filters = decoders.iter().filter_map(|path| filter_target(path));
    let expected: BTreeSet<String> = TARGETS.iter().map(|(target, _)| (*target).to_owned()).chain(filters).collect();
    for path in decoders {
        let listed = TARGETS.iter().any(|(_, starts)| starts.iter().any(|start| path.starts_with(start)));
        if !listed && filter_target(path).is_none() {
            findings.push(Finding::new(*path, "decodes, but TARGETS of xtask/src/tidy/fuzz.rs has no fuzz target for it"));
        }
    }
    for target in expected.difference(targets) {
        findings
            .push(Finding::new(format!("fuzz/fuzz_targets/{target}.rs"), "missing: write it, or take out its row of TARGETS"));
    }
    for target in targets {
        let place = format!("fuzz/fuzz_targets/{target}.rs");
        if !expected.contains(target) {
            findings.push(Finding::new(&place, "add a row to TARGETS of xtask/src/tidy/fuzz.rs that says what it reaches"));
        }
        if !manifest.contains(&format!("name = \"{target}\"")) {
            findings.push(Finding::new(place, "has no [[bin]] in fuzz/Cargo.toml, so it is never built"));
        }
    }
    findings
}

/// Whether a file has a public decoder or is a filter.
fn decodes(source: &Source) -> bool {
    let is_decoder = |line: &String| {
        line.contains("pub fn decode") || ["impl Filter for", "impl PartCodec for"].iter().any(|part| line.contains(part))
    };
    source.krate != "testkit" && source.code.iter().any(is_decoder)
}

/// The target of a file in a filter's crate.
fn filter_target(path: &str) -> Option<String> {
    let filter = path.strip_prefix("crates/filter-")?.split('/').next()?;
    Some(format!("filter_{}", filter.replace('-', "_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoders_without_target_and_targets_without_row_or_bin_are_found() {
        let mut targets: BTreeSet<String> = TARGETS.iter().map(|(target, _)| (*target).to_owned()).collect();
        let bins = |targets: &BTreeSet<String>| targets.iter().map(|target| format!("name = \"{target}\"\n")).collect::<String>();
        let decoders = ["crates/schema/src/array.rs", "crates/filter-rle/src/filter.rs", "crates/new/src/lib.rs"];

        targets.insert("filter_rle".into());
        let manifest = bins(&targets);
        assert_eq!(compare(&decoders[..2], &targets, &manifest), []);
        assert_eq!(compare(&decoders, &targets, &manifest)[0].place, "crates/new/src/lib.rs");

        targets.insert("stray".into());
        let found = compare(&decoders[..2], &targets, &manifest);
        assert_eq!(found.len(), 2, "no row and no bin: {found:?}");
        targets.remove("stray");
        targets.remove("schema");
        assert_eq!(compare(&decoders[..2], &targets, &manifest)[0].place, "fuzz/fuzz_targets/schema.rs");
    }
}
