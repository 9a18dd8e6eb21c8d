//! `cargo xtask compare`: our engine and libtiledb 2.30 on the same arrays, on the same machine, in the same minutes.
//!
//! Both engines run in this process, turn by turn, with as many threads each. A read is complete when all cells lie in
//! memory that the caller owns; a write, when the fragment is committed and on disk. Peak memory is that of a process
//! that does nothing else.

mod arrays;
mod bound;
mod cells;
mod dense;
mod filters;
pub(crate) mod measure;
mod points;
mod readme;
mod row;
mod sparse;
mod tables;

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use self::measure::{Measured, Sample};
use self::row::{Engine, Row};
use crate::Failure;

/// The release that we compare with.
const PEER: &str = "2.30.0";

/// What to compare.
#[derive(Args)]
pub(crate) struct Options {
    /// Only rows whose name starts so; several are divided by commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How often each engine runs each row.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Where to write the numbers as JSON, too; written anew after each row.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Runs nothing: writes the numbers of such a file into README.md and docs/performance.md.
    #[arg(long, conflicts_with_all = ["only", "json"])]
    readme: Option<PathBuf>,
}

/// One row by one engine.
#[derive(Args)]
pub(crate) struct Part {
    row: String,
    engine: Engine,
}

/// All rows, in the order of the issue.
fn rows() -> Result<Vec<Row>, Failure> {
    let mut rows = dense::rows();
    rows.extend(sparse::rows()?);
    rows.extend(points::rows());
    rows.extend(tables::rows()?);
    rows.extend(sparse::fragment_rows());
    Ok(rows)
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut rows = rows()?;
    if let Some(path) = &options.readme {
        return readme::write(path, &rows);
    }
    rows.retain(|row| options.only.is_empty() || options.only.iter().any(|start| row.id.starts_with(start.as_str())));
    let turns = rows.len() * (options.rounds.max(1) + 1) * 2;
    let progress = ProgressBar::new(turns as u64);
    progress.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} turns, {elapsed} of about {duration}  {msg}")?);
    println!("| row | what | ours s | MB/s | libtiledb s | MB/s | ratio | bound s | CPU s | libtiledb | MB | libtiledb |");
    println!("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    let mut done = Vec::new();
    for row in &rows {
        done.push(Compared::run(row, options.rounds.max(1), &progress)?);
        if let Some(path) = &options.json {
            std::fs::write(path, serde_json::to_vec_pretty(&to_json(&done, &[], options.rounds.max(1)))?)?;
        }
    }
    progress.finish_and_clear();
    let filters = filters::run(&options.only)?;
    if let Some(path) = &options.json {
        std::fs::write(path, serde_json::to_vec_pretty(&to_json(&done, &filters, options.rounds.max(1)))?)?;
    }
    Ok(())
}

pub(crate) fn run_part(part: &Part) -> Result<(), Failure> {
    let rows = rows()?;
    let row = rows.iter().find(|row| row.id == part.row).ok_or("no such row")?;
    let mut turn = row.work.prepare(part.engine)?;
    measure::forget_peak()?;
    turn()?;
    println!("{}", measure::peak_mb()?);
    Ok(())
}

/// What came of a row.
struct Compared<'a> {
    row: &'a Row,
    ours: Measured,
    theirs: Measured,
    bound: Option<f64>,
}

impl Row {
    /// One run by an engine.
    ///
    /// It has a thread of its own, and so an arena of the allocator: else the engine that comes next would be given memory that
    /// the one before has left in pieces, and clear it, instead of fresh memory of the system.
    fn sample(&self, engine: Engine) -> Result<Sample, Failure> {
        let run = || Sample::take(self.work.prepare(engine)?);
        let run = || run().map_err(|failure| failure.to_string());
        let sample = std::thread::scope(|scope| scope.spawn(run).join());
        Ok(sample.map_err(|_| format!("{}: a run panicked", self.id))??)
    }
}

impl<'a> Compared<'a> {
    fn run(row: &'a Row, rounds: usize, progress: &ProgressBar) -> Result<Self, Failure> {
        let (mut ours, mut theirs, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        let mut bound = row.work.bound()?;
        for _ in 0..rounds {
            for (engine, samples) in [(Engine::Ours, &mut ours), (Engine::Peer, &mut theirs)] {
                progress.set_message(format!("{} by {}", row.id, engine.name()));
                samples.push(row.sample(engine)?);
                progress.inc(1);
            }
            if let Some(turn) = &mut bound {
                bounds.push(Sample::take(|| turn().map(|()| 0))?.seconds());
            }
        }
        drop(bound);
        let peak = |engine: Engine| {
            progress.set_message(format!("{}: memory of {}", row.id, engine.name()));
            progress.inc(1);
            peak_mb(row, engine)
        };
        let ours = Measured::of(&ours, peak(Engine::Ours)?)?;
        let theirs = Measured::of(&theirs, peak(Engine::Peer)?)?;
        row.work.clean();
        if ours.amount != theirs.amount {
            return Err(format!("{}: we give {}, libtiledb {}", row.id, ours.amount, theirs.amount).into());
        }
        let bound = (!bounds.is_empty()).then(|| measure::median(&mut bounds));
        let compared = Self { row, ours, theirs, bound };
        progress.suspend(|| compared.print());
        Ok(compared)
    }

    fn ratio(&self) -> f64 {
        self.theirs.seconds / self.ours.seconds
    }

    fn print(&self) {
        let Self { row, ours, theirs, bound } = self;
        let bound = bound.map_or_else(String::new, |seconds| format!("{seconds:.3}"));
        println!(
            "| {} | {} | {:.3} | {:.0} | {:.3} | {:.0} | {:.2} | {bound} | {:.2} | {:.2} | {:.0} | {:.0} |",
            row.id,
            row.what,
            ours.seconds,
            ours.mb_per_second(),
            theirs.seconds,
            theirs.mb_per_second(),
            self.ratio(),
            ours.cpu_seconds,
            theirs.cpu_seconds,
            ours.peak_mb,
            theirs.peak_mb
        );
    }

    fn to_json(&self) -> Value {
        let Self { row, ours, theirs, bound } = self;
        json!({
            "id": row.id, "ours_s": ours.seconds, "peer_s": theirs.seconds, "ratio": self.ratio(),
            "ours_cpu_s": ours.cpu_seconds, "peer_cpu_s": theirs.cpu_seconds,
            "ours_peak_mb": ours.peak_mb, "peer_peak_mb": theirs.peak_mb, "bound_s": bound,
        })
    }
}

/// The most memory that a process holds which runs the row once, in megabytes.
fn peak_mb(row: &Row, engine: Engine) -> Result<f64, Failure> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.args(["compare-part", row.id, engine.name()]);
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{}: the process of {} failed", row.id, engine.name()).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// The rows, those of single filters behind the others, and beside them what the README shows besides.
fn to_json(done: &[Compared<'_>], filters: &[Value], rounds: usize) -> Value {
    let bytes: serde_json::Map<_, _> = done.iter().map(|done| (done.row.id.to_owned(), done.ours.amount.into())).collect();
    let of_filter = |filter: &Value| {
        json!({
            "id": filter["id"], "ours_s": filter["ours_s"], "peer_s": Value::Null, "ratio": Value::Null,
            "ours_cpu_s": Value::Null, "peer_cpu_s": Value::Null, "ours_peak_mb": Value::Null, "peer_peak_mb": Value::Null,
            "bound_s": filter["bound_s"],
        })
    };
    json!({
        "rows": done.iter().map(Compared::to_json).chain(filters.iter().map(of_filter)).collect::<Vec<_>>(),
        "run": {
            "machine": machine(), "threads": std::thread::available_parallelism().map_or(1, usize::from), "rounds": rounds,
            "peer": PEER, "bytes": bytes, "filters": filters,
        },
    })
}

/// Processor and memory, as Linux tells them.
fn machine() -> String {
    let field = |path: &str, name: &str| {
        let text = std::fs::read_to_string(Path::new("/proc").join(path)).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim_start_matches([' ', '\t', ':']).trim().to_owned()
    };
    let kilobytes: f64 = field("meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0.0);
    format!("{}, {:.0} GB of memory", field("cpuinfo", "model name"), kilobytes / 1e6)
}
