//! Seconds, CPU seconds and peak memory, as Linux tells them.

use std::time::Instant;

use crate::Failure;

/// One run of a row.
pub(crate) struct Sample {
    seconds: f64,
    cpu_seconds: f64,
    amount: u64,
}

/// All runs of a row by one engine.
pub(crate) struct Measured {
    /// The median.
    pub(crate) seconds: f64,
    /// The median.
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_mb: f64,
    /// What the runs gave: bytes, the same each time.
    pub(crate) amount: u64,
}

impl Sample {
    /// Times a run; it gives the bytes it read or wrote.
    pub(crate) fn take(run: impl FnOnce() -> Result<u64, Failure>) -> Result<Self, Failure> {
        let (start, cpu) = (Instant::now(), cpu_seconds()?);
        let amount = run()?;
        Ok(Self { seconds: start.elapsed().as_secs_f64(), cpu_seconds: cpu_seconds()? - cpu, amount })
    }
}

impl Measured {
    pub(crate) fn of(samples: &[Sample], peak_mb: f64) -> Result<Self, Failure> {
        let amount = samples.first().map_or(0, |sample| sample.amount);
        if samples.iter().any(|sample| sample.amount != amount) {
            return Err("runs of one row differ in what they give".into());
        }
        let median = |value: fn(&Sample) -> f64| {
            let mut values: Vec<f64> = samples.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Ok(Self { seconds: median(|sample| sample.seconds), cpu_seconds: median(|sample| sample.cpu_seconds), peak_mb, amount })
    }
}

/// CPU seconds of this process so far, all threads together.
fn cpu_seconds() -> Result<f64, Failure> {
    /// What Linux counts in on every machine that this runs on.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses may hold spaces; times are the 14th and 15th field.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks =
        |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).ok_or("no CPU times in /proc/self/stat");
    Ok((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

/// The most memory that this process has held, in megabytes.
pub(crate) fn peak_mb() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak memory in /proc/self/status")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes / 1024.0)
}
