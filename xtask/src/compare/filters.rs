//! The rows P1 to P18: each filter alone, on 1 MiB of cells in chunks of 64 KiB, on one thread, beside its codec called
//! directly and beside a copy of the same cells.
//!
//! What is timed is what a pipeline calls, framing and buffers included. The library has no call for one filter alone, so
//! its columns are empty. Runs last microseconds to milliseconds: filter, codec and copy take turns, and of each the best
//! run counts, which other processes on the machine disturb least.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use talavera_benches::subjects::{self, Subject};

use crate::Failure;

/// Bytes of cells that each filter is given.
const BYTES: usize = 1 << 20;
/// How long each row is run.
const TIME: Duration = Duration::from_secs(1);
/// How often each row is run at least.
const RUNS: usize = 8;

/// Seconds of the best run of each.
struct Best {
    filter: f64,
    codec: Option<f64>,
    copy: f64,
}

/// The direction of a row.
#[derive(Clone, Copy)]
enum Direction {
    Encode,
    Decode,
}

/// Runs the rows whose names start as wanted, prints them, and gives them back as JSON.
pub(super) fn run(only: &[String]) -> Result<Vec<Value>, Failure> {
    let wanted = |id: &str| only.is_empty() || only.iter().any(|start| id.starts_with(start.as_str()));
    if !only.is_empty() && !only.iter().any(|start| start.starts_with('P')) {
        return Ok(Vec::new());
    }
    println!();
    println!("| row | filter | GB/s | codec alone GB/s | memcpy GB/s | of codec | of memcpy |");
    println!("| --- | --- | --: | --: | --: | --: | --: |");
    let mut rows = Vec::new();
    for mut subject in subjects::all(BYTES)? {
        for (direction, name) in [(Direction::Encode, "encode"), (Direction::Decode, "decode")] {
            let id = format!("P{}-{}-{name}", subject.number, subject.cells.name());
            if wanted(&id) {
                let best = measure(&mut subject, direction)?;
                rows.push(report(&id, &format!("{} {name}, {}", subject.name, subject.cells.name()), subject.bytes(), &best));
            }
        }
    }
    Ok(rows)
}

fn measure(subject: &mut Subject, direction: Direction) -> Result<Best, Failure> {
    let mut cells = vec![0; subject.bytes()];
    let mut best = Best { filter: f64::INFINITY, codec: None, copy: f64::INFINITY };
    let start = Instant::now();
    for run in 0.. {
        if run >= RUNS && start.elapsed() > TIME {
            break;
        }
        let before = Instant::now();
        match direction {
            Direction::Encode => subject.encode()?,
            Direction::Decode => subject.decode(&mut cells)?,
        }
        best.filter = best.filter.min(before.elapsed().as_secs_f64());
        let before = Instant::now();
        let ran = match direction {
            Direction::Encode => subject.encode_by_codec()?,
            Direction::Decode => subject.decode_by_codec(&mut cells)?,
        };
        if ran {
            best.codec = Some(best.codec.unwrap_or(f64::INFINITY).min(before.elapsed().as_secs_f64()));
        }
        let before = Instant::now();
        subject.copy(&mut cells);
        best.copy = best.copy.min(before.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Prints a row.
fn report(id: &str, what: &str, bytes: usize, best: &Best) -> Value {
    let gb_s = |seconds: f64| u32::try_from(bytes).map_or(f64::NAN, f64::from) / seconds / 1e9;
    let of = |seconds: f64| format!("{:.0} %", 100.0 * seconds / best.filter);
    let or_none = |text: Option<String>| text.unwrap_or_default();
    println!(
        "| {id} | {what} | {:.2} | {} | {:.1} | {} | {} |",
        gb_s(best.filter),
        or_none(best.codec.map(|seconds| format!("{:.2}", gb_s(seconds)))),
        gb_s(best.copy),
        or_none(best.codec.map(of)),
        of(best.copy),
    );
    json!({
        "id": id, "what": what, "ours_s": best.filter,
        "bound_s": best.codec.unwrap_or(best.copy),
        "gb_s": gb_s(best.filter), "codec_gb_s": best.codec.map(gb_s), "memcpy_gb_s": gb_s(best.copy),
    })
}
