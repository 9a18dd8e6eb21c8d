//! `cargo xtask fixtures`: small arrays written by several real releases, and what is in them.
//!
//! Each array is written by one release and read back by the newest; both are the reference, so that our code never
//! produces what it is compared with. A fixture that exists is never written again: a new case is a new folder.
//! Values are drawn from fixed seeds and, from 2.0 on, timestamps are fixed too; UUIDs and the timestamps of schemas
//! are not.

mod cases;
mod cells;
mod describe;
mod json;
pub(crate) mod random;
mod schema;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use talavera_peer::{Context, Library};

use crate::peer::{self, NEWEST, Release};
use crate::{Failure, hex, root};

/// The releases that write fixtures.
const WRITERS: &[&str] = &["1.5.0", "2.0.8", "2.3.3", "2.8.3", "2.16.3", NEWEST];
/// Goes up with each change of what a case writes or of how it is described.
const GENERATOR: u32 = 1;

/// One release's part, in a process of its own: releases do not share one, and a crash costs one case.
#[derive(Debug, clap::Args)]
pub(crate) struct Part {
    /// The shared library.
    #[arg(long)]
    library: PathBuf,
    /// The case.
    #[arg(long)]
    case: String,
    /// The release that writes or wrote the array.
    #[arg(long)]
    release: String,
    /// The array's path.
    #[arg(long)]
    array: PathBuf,
    /// Describe the array into this file instead of writing it.
    #[arg(long)]
    describe: Option<PathBuf>,
}

pub(crate) fn run() -> Result<(), Failure> {
    let fixtures = root().join("crates/testkit/fixtures");
    let newest = peer::fetch(&peer::find(NEWEST)?)?;
    for writer in WRITERS {
        let release = peer::find(writer)?;
        let library = peer::fetch(&release)?;
        for case in cases::names(&release) {
            let folder = fixtures.join(release.libtiledb).join(case);
            if folder.exists() {
                continue;
            }
            println!("{} {case}", release.libtiledb);
            let staging = tempfile::tempdir()?;
            part(&library, case, &release, &staging.path().join("array"), None)?;
            remove_empty_folders(staging.path())?;
            copy(staging.path(), &folder)?;
            let expected = folder.join("expected.json");
            if let Err(failure) = part(&newest, case, &release, &folder.join("array"), Some(&expected)) {
                fs::remove_dir_all(&folder)?;
                return Err(failure);
            }
        }
    }
    write_manifest(&fixtures)
}

fn part(library: &Path, case: &str, release: &Release, array: &Path, describe: Option<&Path>) -> Result<(), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("fixtures-part").arg("--library").arg(library).args(["--case", case, "--release", release.libtiledb]);
    command.arg("--array").arg(array);
    if let Some(describe) = describe {
        command.arg("--describe").arg(describe);
    }
    let status = command.status()?;
    let reading = if describe.is_some() { "reading" } else { "writing" };
    if status.success() { Ok(()) } else { Err(format!("{} {case}: {reading} failed ({status})", release.libtiledb).into()) }
}

pub(crate) fn run_part(part: &Part) -> Result<(), Failure> {
    let release = peer::find(&part.release)?;
    let library = Library::open(&part.library)?;
    let case = cases::build(&part.case, &release).ok_or_else(|| format!("no case {:?}", part.case))?;
    let context = match case.key {
        Some(key) => Context::encrypted(&library, &[], key.as_bytes())?,
        None => Context::new(&library, &[])?,
    };
    let uri = part.array.to_string_lossy();
    let Some(file) = &part.describe else {
        return case.write(&context, &uri);
    };
    let read_by = library.version();
    let mut expected = json!({
        "case": part.case,
        "format_version": release.format_version,
        "written_by": format!("libtiledb {}", release.libtiledb),
        "status": "ok",
        "read_by": format!("libtiledb {}.{}.{}", read_by.0, read_by.1, read_by.2),
    });
    let described = describe::array(&context, &part.array, &case)?;
    if let (Some(expected), Value::Object(described)) = (expected.as_object_mut(), described) {
        expected.extend(described);
    }
    fs::write(file, json::dumps(&expected) + "\n")?;
    Ok(())
}

/// Writes `manifest.json`: where each fixture comes from, and the hash of each of its files.
fn write_manifest(fixtures: &Path) -> Result<(), Failure> {
    let mut entries = Vec::new();
    for writer in WRITERS {
        let release = peer::find(writer)?;
        let mut cases: Vec<_> = fs::read_dir(fixtures.join(writer))?.collect::<Result<_, _>>()?;
        cases.sort_by_key(fs::DirEntry::file_name);
        for case in cases {
            let mut hashes = serde_json::Map::new();
            for file in files_below(&case.path())? {
                let name = file.strip_prefix(case.path())?.to_string_lossy().into_owned();
                hashes.insert(name, hex(&Sha256::digest(fs::read(&file)?)).into());
            }
            let name = case.file_name().to_string_lossy().into_owned();
            let version = release.format_version;
            entries.push(json!({"libtiledb": writer, "format_version": version, "case": name, "sha256": hashes}));
        }
    }
    let manifest = json!({
        "generator": format!("cargo xtask fixtures, version {GENERATOR}"),
        "read_by": format!("libtiledb {NEWEST}"),
        "fixtures": entries,
    });
    fs::write(fixtures.join("manifest.json"), json::dumps(&manifest) + "\n")?;
    Ok(())
}

/// All files below a folder, sorted by path.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(files_below(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

/// Git keeps no empty folders, so the arrays are described without them.
fn remove_empty_folders(folder: &Path) -> Result<(), std::io::Error> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_empty_folders(&path)?;
            if fs::read_dir(&path)?.next().is_none() {
                fs::remove_dir(&path)?;
            }
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    for file in files_below(from)? {
        let target = to.join(file.strip_prefix(from)?);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(&file, &target)?;
    }
    Ok(())
}
