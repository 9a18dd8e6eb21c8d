//! `cargo xtask fuzz`: runs the fuzz targets for a while and prints what came of it.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
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
    /// Run what was built last, with the seeds that are there.
    #[arg(long)]
    no_build: bool,
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
    if !options.no_build {
        crate::corpus::run()?;
        build(&root)?;
    }
    let fuzzer = Fuzzer::new(&root)?;
    let queue = Mutex::new(VecDeque::from(targets));
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                while let Some(target) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                    let outcome = fuzzer.run(target, options.seconds);
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

fn build(root: &Path) -> Result<(), Failure> {
    let mut cargo = Command::new("cargo");
    cargo.args(["+nightly", "fuzz", "build", "--target-dir", "fuzz/target"]).current_dir(root);
    // C compilers turn a constant local table of zstd into a global one and still mark it as out of scope.
    cargo.env("CFLAGS", "-fno-sanitize-address-use-after-scope");
    if cargo.status()?.success() { Ok(()) } else { Err("the fuzz targets do not build".into()) }
}

/// Runs targets as they were built, so that sources may change meanwhile.
struct Fuzzer {
    folder: PathBuf,
    binaries: PathBuf,
}

impl Fuzzer {
    fn new(root: &Path) -> Result<Self, Failure> {
        let about = String::from_utf8(Command::new("rustc").args(["+nightly", "-vV"]).output()?.stdout)?;
        let host = about.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not name its host")?;
        let folder = root.join("fuzz");
        Ok(Self { binaries: folder.join("target").join(host).join("release"), folder })
    }

    fn run(&self, target: String, seconds: u32) -> Result<Outcome, std::io::Error> {
        let (corpus, artifacts) = (self.folder.join("corpus").join(&target), self.folder.join("artifacts").join(&target));
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&artifacts)?;
        let before = fs::read_dir(&artifacts)?.count();
        let output = Command::new(self.binaries.join(&target))
            .args(["-rss_limit_mb=1024", "-timeout=10", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(format!("-max_total_time={seconds}"))
            .arg(corpus)
            .env("ASAN_OPTIONS", "detect_odr_violation=0")
            .stdout(Stdio::null())
            .output()?;
        let log = String::from_utf8_lossy(&output.stderr);
        let number = |name: &str| {
            let line = log.lines().find_map(|line| line.strip_prefix(name));
            line.map_or("?".to_owned(), |rest| rest.trim().to_owned())
        };
        let new = fs::read_dir(&artifacts)?.count().saturating_sub(before);
        let findings = new.max(usize::from(!output.status.success()));
        if findings > 0 {
            let tells = |line: &&str| ["panicked at", "ERROR", "Test unit"].iter().any(|part| line.contains(part));
            log.lines().filter(tells).for_each(|line| eprintln!("{target}: {line}"));
        }
        let (executions, per_second) = (number("stat::number_of_executed_units:"), number("stat::average_exec_per_sec:"));
        Ok(Outcome { target, executions, per_second, findings })
    }
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
