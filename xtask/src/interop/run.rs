//! Runs cases in child processes and sums up what they say.

use std::io::{BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Options;
use crate::Failure;

/// Cases of one child. Its memory is the library's to lose, and a start costs little.
const CASES_OF_A_CHILD: u64 = 50;
/// How long a case may take: far more than any does.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a case may take in an old release, some of which wait for ever on what they themselves wrote.
const PATIENCE_WITH_RELEASES: Duration = Duration::from_secs(20);

/// How often a release that crashed is tried with what it writes itself.
const TRIES: usize = 5;

/// Cases, and the library that they run with.
pub(super) struct Source {
    pub(super) library: PathBuf,
    pub(super) release: Option<String>,
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Source {
    fn patience(&self) -> Duration {
        if self.release.is_some() { PATIENCE_WITH_RELEASES } else { PATIENCE }
    }
}

/// What came of the cases of one kind.
#[derive(Debug, Default, Clone)]
struct Tally {
    cases: u64,
    asked: u64,
    refused: u64,
    mismatches: u64,
    crashes: u64,
}

struct Run<'a> {
    options: &'a Options,
    seed: u64,
    bar: ProgressBar,
    tallies: Mutex<Vec<(String, Tally)>>,
}

/// Some cases that no child runs yet.
struct Batch<'a> {
    source: &'a Source,
    first: u64,
    count: u64,
}

pub(super) fn run(options: &Options, seed: u64, sources: &[Source]) -> Result<(), Failure> {
    println!("seed {seed}");
    let mut batches = Vec::new();
    for source in sources {
        let (first, count) = options.case.map_or((source.first, source.count), |case| (case, 1));
        let starts = (first..first + count).step_by(usize::try_from(CASES_OF_A_CHILD)?);
        batches.extend(starts.map(|start| Batch { source, first: start, count: CASES_OF_A_CHILD.min(first + count - start) }));
    }
    let total = batches.iter().map(|batch| batch.count).sum();
    let run = Run { options, seed, bar: bar(total)?, tallies: Mutex::default() };
    batches.reverse();
    let queue = Mutex::new(batches);
    let started = Instant::now();
    let workers = std::thread::available_parallelism()?.get();
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let work = || loop {
            let batch = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(batch) = batch else { return Ok(()) };
            run.batch(&batch).map_err(|failure| failure.to_string())?;
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err("a worker panicked".into()))).collect()
    });
    run.bar.finish_and_clear();
    results.into_iter().collect::<Result<Vec<_>, _>>()?;
    run.sum_up(started.elapsed())
}

fn bar(total: u64) -> Result<ProgressBar, Failure> {
    let bar = ProgressBar::new(total);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(ProgressStyle::with_template("{pos}/{len} cases {bar:40} {eta} left")?);
    Ok(bar)
}

/// What a child says of a case.
enum Said {
    Line(String),
    End,
}

impl Run<'_> {
    /// Runs all cases of a batch, with a new child behind each crash.
    fn batch(&self, batch: &Batch<'_>) -> Result<(), Failure> {
        let (mut next, end) = (batch.first, batch.first + batch.count);
        while next < end {
            let mut child = self.child(batch.source, next, end - next)?;
            let stdout = child.stdout.take().ok_or("a child without output")?;
            let (sender, receiver) = channel();
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(Said::Line(line)).is_err() {
                        return;
                    }
                }
                let _ = sender.send(Said::End);
            });
            let mut running: Option<(u64, String)> = None;
            let ended = loop {
                match receiver.recv_timeout(batch.source.patience()) {
                    Ok(Said::Line(line)) => next = self.line(batch.source, &line, &mut running).unwrap_or(next),
                    Ok(Said::End) | Err(RecvTimeoutError::Disconnected) => break child.wait()?.to_string(),
                    Err(RecvTimeoutError::Timeout) => {
                        child.kill()?;
                        child.wait()?;
                        break "no answer".to_owned();
                    }
                }
            };
            match running {
                Some((case, kind))
                    if self.crashes_on_its_own(batch.source, case)? || self.crashed_by_chance(batch.source, case)? =>
                {
                    self.count(batch.source, &kind, |tally| tally.refused += 1);
                    next = case + 1;
                }
                Some((case, kind)) => {
                    self.failed(batch.source, case, &kind, &format!("the process ended: {ended}"), true);
                    next = case + 1;
                }
                None if next < end => return Err(format!("a child ended before case {next}: {ended}").into()),
                None => {}
            }
        }
        Ok(())
    }

    /// Whether it is not what we wrote that an old release crashes on: the same case runs through another time, as what the
    /// release gets wrong depends on its memory, or it crashes on what it writes itself.
    fn crashes_on_its_own(&self, source: &Source, case: u64) -> Result<bool, Failure> {
        for _ in 0..if source.release.is_some() { TRIES } else { 0 } {
            let again = self.command(source, case, 1)?;
            let mut alone = self.command(source, case, 1)?;
            alone.arg("--twin-alone");
            if ends_well(again, source.patience())? || !ends_well(alone, source.patience())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether it was by chance that the reference crashed on questions, some of which it answers from memory that is not its
    /// own: alone the case is done, time and again.
    fn crashed_by_chance(&self, source: &Source, case: u64) -> Result<bool, Failure> {
        if source.release.is_some() || self.options.only != Some(super::Kind::Questions) {
            return Ok(false);
        }
        for _ in 0..TRIES {
            let output = self.command(source, case, 1)?.output()?;
            if !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains("\ndone ") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn child(&self, source: &Source, first: u64, count: u64) -> Result<Child, Failure> {
        Ok(self.command(source, first, count)?.stdout(Stdio::piped()).spawn()?)
    }

    fn command(&self, source: &Source, first: u64, count: u64) -> Result<Command, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("interop-part").arg("--library").arg(&source.library);
        command.args(["--seed", &self.seed.to_string(), "--first", &first.to_string(), "--count", &count.to_string()]);
        if let Some(kind) = self.options.only {
            command.args(["--only", kind.name()]);
        }
        if let Some(release) = &source.release {
            command.args(["--release", release]);
        }
        if let Some(keep) = &self.options.keep {
            command.arg("--keep").arg(keep);
        }
        let alone = self.options.case.is_some();
        command.stderr(if alone { Stdio::inherit() } else { Stdio::null() });
        Ok(command)
    }

    /// Takes a line of a child; gives the next case once one is done.
    fn line(&self, source: &Source, line: &str, running: &mut Option<(u64, String)>) -> Option<u64> {
        let mut words = line.splitn(3, ' ');
        let (verb, case, rest) = (words.next()?, words.next()?.parse().ok()?, words.next().unwrap_or_default());
        match verb {
            "start" => {
                *running = Some((case, rest.to_owned()));
                None
            }
            "done" | "fail" => {
                let (_, kind) = running.take()?;
                if verb == "fail" {
                    self.failed(source, case, &kind, rest, false);
                } else {
                    let numbers: Vec<u64> = rest.split(' ').filter_map(|number| number.parse().ok()).collect();
                    self.count(source, &kind, |tally| {
                        tally.asked += numbers.first().unwrap_or(&0);
                        tally.refused += numbers.get(1).unwrap_or(&0);
                    });
                }
                Some(case + 1)
            }
            _ => None,
        }
    }

    fn failed(&self, source: &Source, case: u64, kind: &str, what: &str, crashed: bool) {
        let short: String = what.chars().take(if self.options.case.is_some() { 1 << 20 } else { 1500 }).collect();
        // Which release reads a case of `versions` depends on their number.
        let cases = source.release.as_ref().map_or_else(String::new, |_| format!(" --cases {}", self.options.cases));
        let only = self.options.only.map_or_else(String::new, |kind| format!("{cases} --only {}", kind.name()));
        let release = source.release.as_ref().map_or_else(String::new, |release| format!(" (libtiledb {release})"));
        self.bar.suspend(|| {
            println!("FAILED {kind}{release}: {short}\n  again: cargo xtask interop --seed {} --case {case}{only}", self.seed);
        });
        self.count(source, kind, |tally| if crashed { tally.crashes += 1 } else { tally.mismatches += 1 });
    }

    fn count(&self, source: &Source, kind: &str, change: impl FnOnce(&mut Tally)) {
        let name = source.release.as_ref().map_or_else(|| kind.to_owned(), |release| format!("read by {release}"));
        let mut tallies = self.tallies.lock().unwrap_or_else(PoisonError::into_inner);
        let at = tallies.iter().position(|(of, _)| *of == name).unwrap_or_else(|| {
            tallies.push((name, Tally::default()));
            tallies.len() - 1
        });
        if let Some((_, tally)) = tallies.get_mut(at) {
            tally.cases += 1;
            change(tally);
        }
        self.bar.inc(1);
    }

    fn sum_up(&self, took: Duration) -> Result<(), Failure> {
        let mut tallies = self.tallies.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tallies.sort_by(|(a, _), (b, _)| a.cmp(b));
        println!("{:<16} {:>8} {:>10} {:>8} {:>10} {:>8}", "kind", "cases", "questions", "refused", "mismatches", "crashes");
        let mut all = Tally::default();
        for (name, tally) in &tallies {
            let Tally { cases, asked, refused, mismatches, crashes } = tally;
            println!("{name:<16} {cases:>8} {asked:>10} {refused:>8} {mismatches:>10} {crashes:>8}");
            all.cases += cases;
            all.mismatches += mismatches + crashes;
        }
        println!("{} cases from seed {} in {:.0?}", all.cases, self.seed, took);
        if all.mismatches == 0 { Ok(()) } else { Err(format!("{} cases failed", all.mismatches).into()) }
    }
}

/// Runs a child to its end, or until patience does; whether it ended by itself.
fn ends_well(mut command: Command, patience: Duration) -> Result<bool, Failure> {
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let started = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(status.success()),
            None if started.elapsed() > patience => {
                child.kill()?;
                child.wait()?;
                return Ok(false);
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
