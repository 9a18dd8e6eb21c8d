//! `cargo xtask tidy`: the rules of the workspace that no compiler checks. Also a test of this crate.

mod fixtures;
mod fuzz;
pub(crate) mod layers;
mod packages;
mod sources;
mod status;

use std::fmt;
use std::path::Path;

use crate::{Failure, root};

/// A broken rule: where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    place: String,
    advice: String,
}

impl Finding {
    fn new(place: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { place: place.into(), advice: advice.into() }
    }

    /// A finding on one line of a file, counted from 0.
    fn on_line(file: &str, line: usize, advice: impl Into<String>) -> Self {
        Self::new(format!("{file}:{}", line + 1), advice)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.advice)
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let findings = findings(&root())?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("tidy: {count} to mend").into()),
    }
}

fn findings(root: &Path) -> Result<Vec<Finding>, Failure> {
    let metadata = cargo_metadata::MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let sources = sources::read(root)?;
    let mut findings = layers::check(&layers::arrows(&metadata));
    findings.extend(packages::check(root, &metadata)?);
    findings.extend(sources::check(&sources));
    findings.extend(fuzz::check(root, &sources)?);
    findings.extend(fixtures::check(root)?);
    findings.extend(status::check(root, &metadata)?);
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let findings = findings(&root()).unwrap();
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }
}
