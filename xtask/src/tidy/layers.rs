//! Dependencies between crates point strictly down the layers, and only where the map has an arrow.

use cargo_metadata::{DependencyKind, Metadata};

use super::Finding;

/// Each crate by its folder: its layer, and the crates that it may depend on. A `*` at the end stands for any ending.
const MAP: &[(&str, u32, &[&str])] = &[
    ("codec", 0, &[]),
    ("storage", 0, &[]),
    ("types", 1, &["codec"]),
    ("filter", 2, &["types", "codec"]),
    ("directory", 2, &["storage", "types", "codec"]),
    ("filter-*", 3, &["filter", "types", "codec"]),
    ("schema", 3, &["filter", "types", "codec"]),
    ("pipeline", 4, &["filter-*", "filter", "types", "codec"]),
    ("fragment", 4, &["schema", "types", "codec"]),
    ("condition", 4, &["schema", "types", "codec"]),
    ("engine", 5, &["pipeline", "fragment", "condition", "directory", "schema", "filter", "storage", "types", "codec"]),
    ("talavera", 6, &["engine", "schema", "condition", "storage", "types"]),
    // Stands beside the facade for those who use it, and is built upon it.
    ("arrow", 7, &["talavera", "engine", "schema", "types"]),
    ("cli", 8, &["talavera", "arrow"]),
    // Never published, for tests only.
    ("testkit", 3, &["filter", "codec", "types", "storage"]),
    ("peer", 0, &[]),
];

/// What any crate's tests may use besides.
const FOR_TESTS: &[&str] = &["testkit", "peer"];
/// Workspace members outside `crates/`, which may use everything.
const TOOLS: &[&str] = &["xtask", "talavera-benches"];

/// A dependency of one crate of ours on another.
#[derive(Debug)]
pub(super) struct Arrow {
    manifest: String,
    from: String,
    to: String,
    development: bool,
}

/// All dependencies between the workspace's packages, named by folder.
pub(super) fn arrows(metadata: &Metadata) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.to_string();
        if TOOLS.contains(&name.as_str()) {
            continue;
        }
        let manifest = package.manifest_path.strip_prefix(&metadata.workspace_root).unwrap_or(&package.manifest_path);
        for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_some()) {
            arrows.push(Arrow {
                manifest: manifest.to_string(),
                from: folder(&name),
                to: folder(&dependency.name),
                development: dependency.kind == DependencyKind::Development,
            });
        }
    }
    arrows
}

/// The folder of a package: its name without the prefix, but for the facade.
pub(crate) fn folder(package: &str) -> String {
    package.strip_prefix("talavera-").unwrap_or(package).to_owned()
}

pub(super) fn check(arrows: &[Arrow]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Arrow { manifest, from, to, development } in arrows {
        if *development && FOR_TESTS.contains(&to.as_str()) {
            continue;
        }
        let Some((_, from_layer, allowed)) = entry(from) else {
            findings.push(Finding::new(manifest, format!("{from} is not in MAP of xtask/src/tidy/layers.rs: give it a layer")));
            continue;
        };
        let advice = match entry(to) {
            Some((_, to_layer, _)) if to_layer >= from_layer => {
                format!("{from} (layer {from_layer}) depends on {to} (layer {to_layer}): move what it wants to a lower layer")
            }
            Some(_) if allowed.iter().any(|pattern| matches(pattern, to)) => continue,
            Some(_) if *development => {
                format!("tests of {from} may use only {} of what it does not depend on", FOR_TESTS.join(" and "))
            }
            _ => format!("{from} must not depend on {to}: the map has no such arrow"),
        };
        findings.push(Finding::new(manifest, advice));
    }
    findings
}

/// The layer of a crate, by its folder.
pub(crate) fn layer(folder: &str) -> Option<u32> {
    entry(folder).map(|(_, layer, _)| *layer)
}

fn entry(folder: &str) -> Option<&'static (&'static str, u32, &'static [&'static str])> {
    MAP.iter().find(|(pattern, ..)| matches(pattern, folder))
}

fn matches(pattern: &str, folder: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == folder, |start| folder.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(from: &str, to: &str, development: bool) -> Option<String> {
        let arrow = Arrow { manifest: "Cargo.toml".into(), from: from.into(), to: to.into(), development };
        check(&[arrow]).pop().map(|finding| finding.advice)
    }

    #[test]
    fn the_map_itself_points_strictly_down() {
        for (folder, layer, allowed) in MAP {
            for below in *allowed {
                assert!(super::layer(below.trim_end_matches('*').trim_end_matches('-')).unwrap() < *layer, "{folder} on {below}");
            }
        }
    }

    #[test]
    fn arrows_up_sideways_or_off_the_map_are_found() {
        assert_eq!(advice("engine", "pipeline", false), None);
        assert_eq!(advice("pipeline", "filter-xor", false), None);
        assert!(advice("filter-xor", "filter-delta", false).unwrap().contains("lower layer"));
        assert!(advice("codec", "types", false).unwrap().contains("lower layer"));
        assert!(advice("schema", "storage", false).unwrap().contains("no such arrow"));
        assert!(advice("unheard-of", "codec", false).unwrap().contains("give it a layer"));
    }

    #[test]
    fn tests_may_use_the_testkit_and_the_peer() {
        assert_eq!(advice("codec", "testkit", true), None);
        assert_eq!(advice("engine", "peer", true), None);
        assert!(advice("codec", "testkit", false).is_some());
        assert!(advice("schema", "storage", true).is_some());
    }
}
