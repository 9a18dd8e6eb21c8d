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
    pub(crate) fn take(mut run: impl FnMut() -> Result<u64, Failure>) -> Result<Self, Failure> {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let amount = run()?;
        Ok(Self { seconds: start.elapsed().as_secs_f64(), cpu_seconds: cpu_seconds() - cpu, amount })
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl Measured {
    /// Megabytes of cells in a second.
    pub(crate) fn mb_per_second(&self) -> f64 {
        std::time::Duration::from_micros(self.amount).as_secs_f64() / self.seconds
    }

    pub(crate) fn of(samples: &[Sample], peak_mb: f64) -> Result<Self, Failure> {
        let amount = samples.first().map_or(0, |sample| sample.amount);
        if samples.iter().any(|sample| sample.amount != amount) {
            return Err("runs of one row differ in what they give".into());
        }
        let median = |value: fn(&Sample) -> f64| median(&mut samples.iter().map(value).collect::<Vec<_>>());
        Ok(Self { seconds: median(|sample| sample.seconds), cpu_seconds: median(|sample| sample.cpu_seconds), peak_mb, amount })
    }
}

/// The middle one of some numbers.
pub(crate) fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// CPU seconds of this process so far, all threads together.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    std::time::Duration::try_from(time).unwrap_or_default().as_secs_f64()
}

/// Counts the peak of memory anew, from what is held now.
pub(crate) fn forget_peak() -> Result<(), Failure> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}

/// The most memory that this process has held, in megabytes.
pub(crate) fn peak_mb() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak memory in /proc/self/status")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes / 1024.0)
}
