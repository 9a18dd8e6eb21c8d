//! Chores of the talavera workspace: `cargo xtask <command>`.

#![forbid(unsafe_code)]

mod compare;
mod corpus;
mod fixtures;
mod fuzz;
mod interop;
mod peer;
mod points;
mod status;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Why a chore could not be done, for people.
type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the talavera workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the rules of the workspace that no compiler checks.
    Tidy,
    /// Write the tables of the root README.
    Status,
    /// Fetch the real library from PyPI into .peer and print where it lies.
    Peer {
        /// Every release of the table, one for each format version that a wheel writes, not just the newest.
        #[arg(long)]
        all: bool,
        /// One release of the table, such as 2.8.3.
        #[arg(long, conflicts_with = "all")]
        release: Option<String>,
    },
    /// Write the arrays under crates/testkit/fixtures that are not there yet, by real releases.
    Fixtures,
    /// One release's part of `fixtures`, in a process of its own.
    #[command(hide = true)]
    FixturesPart(fixtures::Part),
    /// Run random arrays through our engine and the real library and compare what they read.
    Interop(interop::Options),
    /// Some cases of `interop`, in a process of their own.
    #[command(hide = true)]
    InteropPart(interop::Part),
    /// Time our engine and the real library on the same arrays.
    Compare(compare::Options),
    /// One row of `compare` by one engine, in a process of its own, for its peak memory.
    #[command(hide = true)]
    ComparePart(compare::Part),
    /// Time a million points of a sparse array by our engine and the real library, and weigh the memory they take.
    Points(points::Options),
    /// One question of `points` by one engine, in a process of its own.
    #[command(hide = true)]
    PointsPart(points::Part),
    /// Write seeds for the fuzz targets into fuzz/corpus.
    Corpus,
    /// Run the fuzz targets for a while and print what came of it.
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Tidy => tidy::run(),
        Command::Status => status::run(),
        Command::Peer { all, release } => peer::run(all, release.as_deref()),
        Command::Fixtures => fixtures::run(),
        Command::FixturesPart(part) => fixtures::run_part(&part),
        Command::Interop(options) => interop::run(&options),
        Command::InteropPart(part) => interop::run_part(&part),
        Command::Compare(options) => compare::run(&options),
        Command::ComparePart(part) => compare::run_part(&part),
        Command::Points(options) => points::run(&options),
        Command::PointsPart(part) => points::run_part(&part),
        Command::Corpus => corpus::run(),
        Command::Fuzz(options) => fuzz::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// Lower-case hex digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
