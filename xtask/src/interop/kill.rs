//! A process that writes is killed at random moments; afterwards both engines find all that it acknowledged, whole.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use talavera_engine::{ArrayWriter, EngineOptions, TimeWindow, WriteOptions};
use talavera_peer::Library;
use talavera_storage::{LocalStorage, ObjectPath};

use super::cells::{self, Pools};
use super::engines::{Engine, Place};
use super::questions::{Answer, Question};
use super::random;
use super::schema::{Bounds, Subject};
use crate::Failure;
use crate::peer::{self, NEWEST};

pub(super) fn run(kills: u64, seed: u64) -> Result<(), Failure> {
    println!("seed {seed}");
    let path = peer::fetch(&peer::find(NEWEST)?)?;
    let library = Library::open(&path)?;
    let (mut acknowledged, mut in_flight) = (0, 0);
    for kill in 0..kills {
        let folder = tempfile::tempdir()?;
        let (seen, surplus) =
            once(&library, &path, seed, kill, folder.path()).map_err(|failure| format!("kill {kill}: {failure}"))?;
        acknowledged += seen;
        in_flight += surplus;
    }
    println!("{kills} kills: {acknowledged} acknowledged fragments, all there; {in_flight} whole ones in flight");
    Ok(())
}

/// Counts acknowledged fragments, and those that were in flight and are there.
fn once(library: &Library, path: &Path, seed: u64, kill: u64, folder: &Path) -> Result<(usize, usize), Failure> {
    let mut random = random::of_case(seed, kill);
    let bounds = Bounds {
        version: talavera_types::FormatVersion::DEFAULT,
        may_be_encrypted: false,
        null_extents: true,
        last_datatype: u8::MAX,
        webp: true,
        validity_filters: true,
        twin_alone: false,
    };
    let mut subject = Subject::random(&mut random, bounds)?;
    while subject.large {
        subject = Subject::random(&mut random, bounds)?;
    }
    let place = Place::new(library, &folder.join("array"), None)?;
    place.create(Engine::Ours, &subject)?;
    let mut child = Command::new(std::env::current_exe()?);
    child.arg("interop-part").arg("--library").arg(path).arg("--write-to").arg(&place.folder);
    child.args(["--seed", &random.next().to_string(), "--first", "0", "--count", "0"]);
    let mut child = child.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("a child without output")?;
    std::thread::sleep(Duration::from_micros(random.below(400_000) as u64));
    child.kill()?;
    child.wait()?;
    // A line is whole, or it was not acknowledged.
    let mut text = String::new();
    let mut reader = BufReader::new(output);
    let mut named = BTreeSet::new();
    while reader.read_line(&mut text)? > 0 {
        if let Some(name) = text.strip_suffix('\n') {
            named.insert(name.to_owned());
        }
        text.clear();
    }
    let array = place.open(TimeWindow::ALL)?;
    let found: BTreeSet<String> = array.fragments().iter().map(|fragment| fragment.name().to_owned()).collect();
    let theirs: BTreeSet<String> =
        place.context.fragments(&place.uri())?.loaded.into_iter().map(|fragment| fragment.name).collect();
    if found != theirs {
        return Err(format!("we see {found:?}, the peer {theirs:?}").into());
    }
    let surplus = found.difference(&named).count();
    if !named.is_subset(&found) || surplus > 1 {
        return Err(format!("acknowledged were {named:?}, there are {found:?}").into());
    }
    // What is there is whole: both read all of it.
    match Question::everything().ask(&place)? {
        Answer::Same(_) => Ok((named.len(), surplus)),
        Answer::Refused => Err("the array cannot be read".into()),
    }
}

/// Writes fragments until killed, and names each one that is written.
pub(super) fn write(array: &Path, seed: u64) -> Result<(), Failure> {
    let mut random = random::of_case(seed, 0);
    let writer = ArrayWriter::open(Arc::new(LocalStorage::new(array)?), ObjectPath::root(), EngineOptions::default())?;
    let schema = writer.schema().clone();
    let pools = Pools::random(&mut random, &schema, false);
    for time in 1.. {
        let options = WriteOptions { timestamp: Some(time), duplicates: None };
        let name = if schema.is_dense() {
            let (subarray, fields) = cells::dense(&mut random, &schema)?;
            Some(writer.write_dense(&subarray, talavera_types::Layout::RowMajor, &fields, options)?)
        } else {
            let fields = cells::sparse(&mut random, &schema, &pools, 100, false)?;
            writer.write_sparse(&fields, options)?
        };
        super::say(&name.ok_or("a write of nothing")?)?;
    }
    Ok(())
}
