//! What source files may not hold: comparisons of format versions, files and clocks in lower crates, unsafe code, and too
//! many lines.

use std::fs;
use std::path::Path;

use super::{Finding, layers};
use crate::Failure;
use crate::fixtures::files_below;

/// Crates that may hold `unsafe`: those with SIMD kernels, and one that calls C. They deny it and except one module.
const MAY_BE_UNSAFE: &[&str] = &["filter", "filter-bit-width-reduction", "filter-bitshuffle", "filter-byteshuffle", "peer"];
/// The one file in which format versions are compared.
const VERSION_TABLE: &str = "crates/types/src/version.rs";
/// Standard modules that lower crates do without, and the crates that may have them all the same.
const FORBIDDEN_MODULES: &[(&str, &[&str])] = &[
    ("fs", &["storage"]),
    ("time", &[]),
    // It keeps a context for each thread that calls it and names the type of such a slot.
    ("thread", &["filter-zstd"]),
    ("env", &[]),
    ("net", &[]),
];
/// The engine's layer: below it, code is a pure function of what it is given.
const ENGINE: u32 = 5;
/// Longest file without its tests.
const LINES: usize = 500;
/// Files that may be longer, and why.
const LONG_FILES: &[(&str, &str)] = &[];

/// A source file of a crate.
pub(super) struct Source {
    /// Its path below the workspace's root.
    pub(super) path: String,
    /// The crate's folder.
    pub(super) krate: String,
    /// Its lines without tests; comments are empty lines.
    pub(super) code: Vec<String>,
    /// Its number of lines without tests.
    lines: usize,
}

/// Reads the sources of all crates, but for files that hold only tests.
pub(super) fn read(root: &Path) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        let src = folder.join("src");
        if !src.is_dir() {
            continue;
        }
        let krate = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in files_below(&src)? {
            let path = file.strip_prefix(root)?.to_string_lossy().into_owned();
            if path.ends_with(".rs") && !path.ends_with("/tests.rs") && !path.contains("/tests/") {
                sources.push(Source::new(path, krate.clone(), &fs::read_to_string(&file)?));
            }
        }
    }
    Ok(sources)
}

impl Source {
    fn new(path: String, krate: String, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let is_tests =
            |pair: &[&str]| matches!(pair, [a, b] if a.trim() == "#[cfg(test)]" && b.contains("mod ") && b.ends_with('{'));
        let end = lines.windows(2).position(is_tests).unwrap_or(lines.len());
        let without_comment = |line: &&str| line.split("//").next().unwrap_or_default().to_owned();
        Self { path, krate, code: lines.iter().take(end).map(without_comment).collect(), lines: end }
    }
}

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        findings.extend(versions(source));
        findings.extend(modules(source));
        findings.extend(safety(source));
        findings.extend(length(source));
    }
    findings
}

fn versions(source: &Source) -> Vec<Finding> {
    if source.path == VERSION_TABLE || source.krate == "peer" {
        return Vec::new();
    }
    let advice = format!("compares format versions: ask a named predicate, or add a row to {VERSION_TABLE}");
    let compared = source.code.iter().enumerate().filter(|(_, line)| compares_version(line));
    compared.map(|(line, _)| Finding::on_line(&source.path, line, &advice)).collect()
}

/// Whether a line compares a format version: one by the order of numbers, or its number in any way. Structures with a
/// numbering of their own compare theirs by `==`, `!=` and `match`.
fn compares_version(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| word.contains("version") && word.contains(".number()");
    let is_version = |word: &str| {
        let bare = word.trim_start_matches(['(', '!', '&', '*']).trim_end_matches([')', ',', ';']);
        let named = bare == "version" || bare.ends_with(".version") || bare.ends_with("_version");
        is_number(bare) || bare.starts_with("FormatVersion::") || named && !bare.contains('(')
    };
    let ordered = |word: &str| matches!(word, "<" | ">" | "<=" | ">=");
    let equal = |word: &str| matches!(word, "==" | "!=");
    let compared = words.windows(3).any(|window| match *window {
        [left, operator, right] if ordered(operator) => is_version(left) || is_version(right),
        [left, operator, right] if equal(operator) => is_number(left) || is_number(right) || right.starts_with("FormatVersion::"),
        _ => false,
    });
    let matched = line.trim_start().starts_with("match ") && is_number(line);
    compared || matched || (line.contains("matches!(") && is_number(line))
}

fn modules(source: &Source) -> Vec<Finding> {
    if layers::layer(&source.krate).is_none_or(|layer| layer >= ENGINE) || matches!(source.krate.as_str(), "testkit" | "peer") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, text) in source.code.iter().enumerate() {
        for (module, exceptions) in FORBIDDEN_MODULES {
            if uses_std(text, module) && !exceptions.contains(&source.krate.as_str()) {
                let advice = format!("uses std::{module}: below the engine there are no files, clocks, threads or environment");
                findings.push(Finding::on_line(&source.path, line, advice));
            }
        }
    }
    findings
}

/// Whether a line names a module of std, alone or in a list.
fn uses_std(line: &str, module: &str) -> bool {
    line.split("std::").skip(1).any(|rest| {
        let named = |name: &str| name.trim().split("::").next().unwrap_or_default().trim_end_matches([';', '}']) == module;
        match rest.strip_prefix('{') {
            Some(list) => list.split(',').any(named),
            None => rest.split(|c: char| !c.is_alphanumeric() && c != '_').next() == Some(module),
        }
    })
}

fn safety(source: &Source) -> Vec<Finding> {
    let is_root = ["lib.rs", "main.rs"].iter().any(|file| source.path == format!("crates/{}/src/{file}", source.krate));
    let has = |attribute: &str| source.code.iter().any(|line| line.trim() == attribute);
    let excepted = MAY_BE_UNSAFE.contains(&source.krate.as_str());
    if !is_root || has("#![forbid(unsafe_code)]") || excepted && has("#![deny(unsafe_code)]") {
        return Vec::new();
    }
    let attribute = if excepted { "#![deny(unsafe_code)]" } else { "#![forbid(unsafe_code)]" };
    vec![Finding::new(&source.path, format!("add {attribute}"))]
}

fn length(source: &Source) -> Vec<Finding> {
    if source.lines <= LINES || LONG_FILES.iter().any(|(path, _)| *path == source.path) {
        return Vec::new();
    }
    let advice = format!("{} lines without tests, {LINES} is the most: split it by subject", source.lines);
    vec![Finding::new(&source.path, advice)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(krate: &str, text: &str) -> Source {
        Source::new(format!("crates/{krate}/src/lib.rs"), krate.into(), text)
    }

    #[test]
    fn comparisons_of_format_versions_are_found() {
        for line in [
            "if version >= FormatVersion::new(5)? {",
            "let old = header.format_version < limit;",
            "if (version.number() == 10) {",
            "match version.number() {",
            "if version != FormatVersion::NEWEST {",
            "if 5 < version && ok {",
        ] {
            assert!(compares_version(line), "{line}");
        }
        for line in [
            "if version.has_fill_value() {",
            "if version != 0 {",
            "if enumeration_version == 1 {",
            "match version {",
            "write!(f, \"{}\", version.number())",
            "fn decode(version: FormatVersion) -> Result<Self> {",
            "let is_var = index < self.layout.var_count(self.version);",
        ] {
            assert!(!compares_version(line), "{line}");
        }
    }

    #[test]
    fn files_and_clocks_in_lower_crates_are_found_and_tests_are_not_looked_at() {
        let found = modules(&source("schema", "use std::{fmt, fs::File};\nlet t = std::time::Instant::now();"));
        assert_eq!(
            found.iter().map(|finding| finding.place.as_str()).collect::<Vec<_>>(),
            ["crates/schema/src/lib.rs:1", "crates/schema/src/lib.rs:2"]
        );
        assert!(modules(&source("storage", "use std::fs;")).is_empty());
        assert!(modules(&source("engine", "use std::thread;")).is_empty());
        assert!(
            modules(&source("codec", "// std::fs\nuse std::fmt;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}")).is_empty()
        );
    }

    #[test]
    fn every_crate_forbids_unsafe_code_or_denies_it_but_for_a_module() {
        assert_eq!(safety(&source("codec", "//! x")).len(), 1);
        assert!(safety(&source("codec", "#![forbid(unsafe_code)]")).is_empty());
        assert_eq!(safety(&source("codec", "#![deny(unsafe_code)]")).len(), 1);
        assert!(safety(&source("peer", "#![deny(unsafe_code)]")).is_empty());
        assert_eq!(safety(&source("peer", "")).len(), 1);
    }

    #[test]
    fn long_files_are_found_by_their_lines_without_tests() {
        let tests = "#[cfg(test)]\nmod tests {\n".to_owned() + &"x\n".repeat(600) + "}\n";
        assert!(length(&source("codec", &tests)).is_empty());
        assert_eq!(length(&source("codec", &"x\n".repeat(501))).len(), 1);
    }
}
