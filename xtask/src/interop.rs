//! `cargo xtask interop`: random arrays through both engines, ours and the real library.
//!
//! Each case makes an array, has it written by one engine or by both, and asks both for cells: every answer has to be the
//! same, cell by cell. Cases run in child processes, so that a crash of the library costs one case. What the library is
//! known to do wrongly is left out by rules, each of which says so where it stands.

mod asked;
mod case;
mod cells;
mod engines;
mod filters;
mod fragments;
mod kill;
mod model;
mod questions;
mod random;
mod run;
mod schema;
pub(crate) mod translate;
mod versions;

use std::io::Write;
use std::path::PathBuf;

use talavera_peer::Library;

use crate::peer::{self, NEWEST};
use crate::{Failure, root};

/// What kind of case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// We write, both read.
    Ours,
    /// The library writes, both read.
    Theirs,
    /// Both write into one array.
    Mixed,
    /// Both write, delete and evolve; the library consolidates and vacuums.
    Maintained,
    /// Both write, and are asked for conditions, several ranges and aggregates.
    Questions,
    /// Both write the same cells, and the metadata of the fragments are compared.
    Metadata,
    /// A process of ours that writes is killed; both read what is left.
    Kill,
    /// We write in each format version, and the oldest release that knows it reads.
    Versions,
}

impl Kind {
    /// The kinds of cases of a run that asks for none in particular.
    const RANDOM: [Self; 5] = [Self::Ours, Self::Theirs, Self::Mixed, Self::Maintained, Self::Metadata];

    fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
            Self::Mixed => "mixed",
            Self::Maintained => "maintained",
            Self::Questions => "questions",
            Self::Metadata => "metadata",
            Self::Kill => "kill",
            Self::Versions => "versions",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many cases; of `kill`, how many kills.
    #[arg(long, default_value_t = 200)]
    cases: u64,
    /// The seed of all draws; a fresh one without it.
    #[arg(long)]
    seed: Option<u64>,
    /// This case alone, with what it says on standard error.
    #[arg(long)]
    case: Option<u64>,
    /// Cases of this kind alone.
    #[arg(long)]
    only: Option<Kind>,
    /// Leave the array of the case in this folder.
    #[arg(long, requires = "case")]
    keep: Option<PathBuf>,
}

/// Some cases of a run, in a process of their own.
#[derive(Debug, clap::Args)]
pub(crate) struct Part {
    /// The shared library.
    #[arg(long)]
    library: PathBuf,
    #[arg(long)]
    seed: u64,
    /// The first case.
    #[arg(long)]
    first: u64,
    /// How many cases.
    #[arg(long)]
    count: u64,
    #[arg(long)]
    only: Option<Kind>,
    #[arg(long)]
    keep: Option<PathBuf>,
    /// The release that reads, for `versions`.
    #[arg(long)]
    release: Option<String>,
    /// Have the release read just what it writes itself, for `versions`.
    #[arg(long)]
    twin_alone: bool,
    /// Write into this array until killed, for `kill`.
    #[arg(long)]
    write_to: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let seed = options.seed.map_or_else(fresh_seed, Ok)?;
    match options.only {
        Some(Kind::Kill) => kill::run(options.cases, seed),
        Some(Kind::Versions) => versions::run(options, seed),
        _ => {
            let library = peer::fetch(&peer::find(NEWEST)?)?;
            run::run(options, seed, &[run::Source { library, release: None, first: 0, count: options.cases }])
        }
    }
}

pub(crate) fn run_part(part: &Part) -> Result<(), Failure> {
    if let Some(array) = &part.write_to {
        return kill::write(array, part.seed);
    }
    let library = Library::open(&part.library)?;
    let bounds = part.release.as_deref().map(versions::bounds).transpose()?;
    let bounds = bounds.map(|bounds| schema::Bounds { twin_alone: part.twin_alone, ..bounds });
    let scratch = root().join("target/interop");
    std::fs::create_dir_all(&scratch)?;
    for case in part.first..part.first + part.count {
        let mut random = random::of_case(part.seed, case);
        let drawn = *random.pick(&Kind::RANDOM);
        let kind = part.only.unwrap_or(drawn);
        say(&format!("start {case} {}", kind.name()))?;
        let temporary = tempfile::tempdir_in(&scratch)?;
        let folder = part.keep.as_deref().unwrap_or(temporary.path());
        std::fs::create_dir_all(folder)?;
        match case::run(kind, &mut random, &library, folder, bounds) {
            Ok(outcome) => say(&format!("done {case} {} {}", outcome.asked, outcome.refused))?,
            // As bad as a crash: the parent asks whether the release manages what it writes itself.
            Err(failure) if part.twin_alone && case::is_refusal(&failure) => return Err(failure),
            Err(failure) => say(&format!("fail {case} {}", failure.to_string().replace('\n', " ")))?,
        }
    }
    Ok(())
}

/// Tells the parent at once, so that it knows what crashed.
fn say(line: &str) -> Result<(), std::io::Error> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn fresh_seed() -> Result<u64, Failure> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers: {error}"))?;
    Ok(u32::from_le_bytes(bytes).into())
}
