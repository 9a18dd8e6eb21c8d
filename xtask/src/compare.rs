//! `cargo xtask compare`: our engine and libtiledb 2.30 on the same arrays, on the same machine, in the same minutes.
//!
//! Both engines run in this process, turn by turn, with as many threads each. A read is complete when all cells lie in
//! memory that the caller owns; a write, when the fragment is committed. Peak memory is that of a process that does
//! nothing else.

mod arrays;
mod filters;
mod measure;
mod rows;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use self::measure::{Measured, Sample};
use self::rows::{Engine, ROWS, Row};
use crate::Failure;

/// What to compare.
#[derive(Args)]
pub(crate) struct Options {
    /// Only rows whose name starts so.
    #[arg(long)]
    only: Option<String>,
    /// How often each engine runs each row.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Cells of the sparse array of the S1 rows.
    #[arg(long, default_value_t = 20_000_000)]
    cells: usize,
    /// Where to write the numbers as JSON, too.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// One row by one engine.
#[derive(Args)]
pub(crate) struct Part {
    row: String,
    engine: Engine,
    cells: usize,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let wanted = |row: &&Row| options.only.as_ref().is_none_or(|only| row.id.starts_with(only.as_str()));
    println!("| row | what | ours s | libtiledb s | ratio | ours CPU s | libtiledb CPU s | ours MB | libtiledb MB |");
    println!("| --- | --- | --: | --: | --: | --: | --: | --: | --: |");
    let mut rows = Vec::new();
    for row in ROWS.iter().filter(wanted) {
        let data = arrays::Data::prepare(row.array, options.cells)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds.max(1) {
            for (engine, samples) in [(Engine::Ours, &mut ours), (Engine::Peer, &mut theirs)] {
                let prepared = row.prepare(engine, &data)?;
                samples.push(Sample::take(|| row.run(engine, &data, prepared))?);
            }
        }
        let ours = Measured::of(&ours, peak_mb(row, Engine::Ours, options)?)?;
        let theirs = Measured::of(&theirs, peak_mb(row, Engine::Peer, options)?)?;
        if ours.amount != theirs.amount {
            return Err(format!("{}: we read {} bytes, libtiledb {}", row.id, ours.amount, theirs.amount).into());
        }
        let ratio = theirs.seconds / ours.seconds;
        println!(
            "| {} | {} | {:.3} | {:.3} | {ratio:.2} | {:.2} | {:.2} | {:.0} | {:.0} |",
            row.id, row.what, ours.seconds, theirs.seconds, ours.cpu_seconds, theirs.cpu_seconds, ours.peak_mb, theirs.peak_mb
        );
        rows.push(to_json(row, &ours, &theirs, ratio));
    }
    rows.extend(filters::run(options.only.as_deref())?);
    if let Some(path) = &options.json {
        std::fs::write(path, serde_json::to_vec_pretty(&json!({ "rows": rows }))?)?;
    }
    Ok(())
}

pub(crate) fn run_part(part: &Part) -> Result<(), Failure> {
    let row = ROWS.iter().find(|row| row.id == part.row).ok_or("no such row")?;
    let data = arrays::Data::prepare(row.array, part.cells)?;
    row.run(part.engine, &data, row.prepare(part.engine, &data)?)?;
    println!("{}", measure::peak_mb()?);
    Ok(())
}

/// The most memory that a process holds which runs the row once, in megabytes.
fn peak_mb(row: &Row, engine: Engine, options: &Options) -> Result<f64, Failure> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.args(["compare-part", row.id, engine.name()]).arg(options.cells.to_string());
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

fn to_json(row: &Row, ours: &Measured, theirs: &Measured, ratio: f64) -> Value {
    json!({
        "id": row.id, "ours_s": ours.seconds, "peer_s": theirs.seconds, "ratio": ratio,
        "ours_cpu_s": ours.cpu_seconds, "peer_cpu_s": theirs.cpu_seconds,
        "ours_peak_mb": ours.peak_mb, "peer_peak_mb": theirs.peak_mb, "bound_s": Value::Null,
    })
}
