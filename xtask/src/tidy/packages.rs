//! Names of packages, their READMEs, and the crate table of the root README.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::Metadata;

use super::Finding;
use crate::Failure;

const README_LINES: usize = 60;

pub(super) fn check(root: &Path, metadata: &Metadata) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    let mut folders = BTreeSet::new();
    for package in metadata.workspace_packages() {
        let Ok(manifest) = package.manifest_path.strip_prefix(&metadata.workspace_root) else { continue };
        let Some(folder) = manifest.as_str().strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/Cargo.toml")) else {
            continue;
        };
        folders.insert(folder.to_owned());
        let name = if folder == "talavera" { folder.to_owned() } else { format!("talavera-{folder}") };
        if package.name.as_str() != name {
            findings.push(Finding::new(manifest.as_str(), format!("name the package {name}, as its folder is {folder}")));
        }
        let readme = format!("crates/{folder}/README.md");
        match fs::read_to_string(root.join(&readme)) {
            Ok(text) if text.lines().count() > README_LINES => {
                let advice = format!("{} lines; say it in {README_LINES}, details belong to the modules", text.lines().count());
                findings.push(Finding::new(readme, advice));
            }
            Ok(_) => {}
            Err(_) => findings.push(Finding::new(readme, "missing; it is the crate's documentation")),
        }
    }
    if let Ok(readme) = fs::read_to_string(root.join("README.md")) {
        findings.extend(check_table(&readme, &folders));
    }
    Ok(findings)
}

/// Compares the rows of a README's table that name folders as `crates/…` with the folders that there are.
fn check_table(readme: &str, folders: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut listed = BTreeSet::new();
    for (line, text) in readme.lines().enumerate().filter(|(_, text)| text.starts_with('|')) {
        for mention in text.split("crates/").skip(1) {
            let folder: String = mention.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '*')).collect();
            if let Some(start) = folder.strip_suffix('*') {
                listed.extend(folders.iter().filter(|folder| folder.starts_with(start)).cloned());
            } else {
                if !folders.contains(&folder) {
                    findings.push(Finding::on_line("README.md", line, format!("there is no crates/{folder}: take the row out")));
                }
                listed.insert(folder);
            }
        }
    }
    if !listed.is_empty() {
        let missing = folders.iter().filter(|folder| !listed.contains(*folder));
        findings.extend(missing.map(|folder| Finding::new("README.md", format!("the table of crates has no crates/{folder}"))));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_table_names_all_crates_and_no_others() {
        let folders: BTreeSet<String> = ["codec", "filter-xor", "filter-rle", "types"].map(String::from).into();
        let places = |readme| check_table(readme, &folders).into_iter().map(|finding| finding.advice).collect::<Vec<_>>();
        assert!(places("no table, but crates/gone").is_empty());
        assert!(places("| [`codec`](crates/codec) | x |\n| `crates/types` |\n| `crates/filter-*` |").is_empty());
        let found = places("| crates/codec |\n| crates/gone |\n| crates/filter-xor |\n| crates/types |");
        assert_eq!(found, ["there is no crates/gone: take the row out", "the table of crates has no crates/filter-rle"]);
    }
}
