//! `cargo xtask fuzz`: runs the fuzz targets for a while and prints what came of it.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::Failure;

/// What to run and how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// These targets only.
    #[arg(long)]
    target: Vec<String>,
    /// Targets that run at the same time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// What came of one target.
struct Outcome {
    target: String,
    executions: String,
    per_second: String,
    findings: usize,
}

/// Builds the targets, writes their seeds, runs them and prints a table; fails when anything was found.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let root = crate::root();
    let targets = if options.target.is_empty() { targets(&root)? } else { options.target.clone() };
    crate::corpus::run()?;
    let status = cargo_fuzz(&root, "build").status()?;
    if !status.success() {
        return Err("the fuzz targets do not build".into());
    }
    let queue = Mutex::new(VecDeque::from(targets));
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                while let Some(target) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                    let outcome = run_target(&root, target, options.seconds);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap_or_default().into_iter().collect::<Result<Vec<_>, _>>()?;
    print(outcomes)
}

/// All targets, by their files.
fn targets(root: &Path) -> Result<Vec<String>, Failure> {
    let mut targets = Vec::new();
    for entry in fs::read_dir(root.join("fuzz/fuzz_targets"))? {
        targets.extend(entry?.file_name().to_string_lossy().strip_suffix(".rs").map(str::to_owned));
    }
    targets.sort();
    Ok(targets)
}

fn run_target(root: &Path, target: String, seconds: u32) -> Result<Outcome, std::io::Error> {
    let artifacts = root.join("fuzz/artifacts").join(&target);
    let before = count(&artifacts);
    let output = cargo_fuzz(root, "run")
        .args([&target, "--", "-rss_limit_mb=1024", "-timeout=10", "-print_final_stats=1"])
        .arg(format!("-max_total_time={seconds}"))
        .stdout(Stdio::null())
        .output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    let number = |name: &str| {
        let line = log.lines().find_map(|line| line.strip_prefix(name));
        line.map_or("?".to_owned(), |rest| rest.trim().to_owned())
    };
    let findings = count(&artifacts).saturating_sub(before).max(usize::from(!output.status.success()));
    if findings > 0 {
        let told =
            log.lines().filter(|line| line.contains("panicked at") || line.contains("ERROR") || line.contains("Test unit"));
        told.for_each(|line| eprintln!("{target}: {line}"));
    }
    let (executions, per_second) = (number("stat::number_of_executed_units:"), number("stat::average_exec_per_sec:"));
    Ok(Outcome { target, executions, per_second, findings })
}

fn cargo_fuzz(root: &Path, command: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["+nightly", "fuzz", command]).current_dir(root);
    // C compilers turn a constant local table of zstd into a global one and still mark it as out of scope.
    cargo.env("CFLAGS", "-fno-sanitize-address-use-after-scope");
    cargo
}

/// How many files a folder holds; none if it is not there.
fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

fn print(mut outcomes: Vec<Outcome>) -> Result<(), Failure> {
    outcomes.sort_by(|left, right| left.target.cmp(&right.target));
    println!("{:<28} {:>12} {:>10} {:>9}", "target", "executions", "exec/s", "findings");
    for outcome in &outcomes {
        println!("{:<28} {:>12} {:>10} {:>9}", outcome.target, outcome.executions, outcome.per_second, outcome.findings);
    }
    let findings: usize = outcomes.iter().map(|outcome| outcome.findings).sum();
    if findings > 0 { Err(format!("{findings} findings, in fuzz/artifacts").into()) } else { Ok(()) }
}
