//! What a long job carries along: its memory budget, its cancellation, its progress. One value passed down, no globals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Error;

/// How far a job has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Tiles decoded so far, counted for each field.
    pub tiles: u64,
    /// Bytes read from storage so far.
    pub read_bytes: u64,
    /// Bytes decoded so far.
    pub decoded_bytes: u64,
}

/// Stops a job from another thread.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

/// A callback for progress; called from the threads that decode, so it should return at once.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// The memory a job may hold at once, all its buffers together, and its cancellation and progress.
#[derive(Clone, Default)]
pub(crate) struct Job {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    limit: Option<u64>,
    used: AtomicU64,
    cancel: CancelToken,
    on_progress: Option<OnProgress>,
    tiles: AtomicU64,
    read_bytes: AtomicU64,
    decoded_bytes: AtomicU64,
}

/// Memory taken from a budget; given back when dropped.
pub(crate) struct Reservation {
    shared: Arc<Shared>,
    bytes: u64,
}

impl CancelToken {
    /// A token that nobody has cancelled yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the jobs with this token to stop; they do so before their next tile.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Job {
    /// A job; without a limit it may take what the machine has.
    #[must_use]
    pub(crate) fn new(memory_bytes: Option<u64>, cancel: CancelToken, on_progress: Option<OnProgress>) -> Self {
        Self { shared: Arc::new(Shared { limit: memory_bytes, cancel, on_progress, ..Shared::default() }) }
    }

    /// Whether memory is limited at all.
    pub(crate) fn has_limit(&self) -> bool {
        self.shared.limit.is_some()
    }

    /// Takes memory from the budget before it is allocated.
    ///
    /// # Errors
    /// [`Error::Budget`] when less is left.
    pub(crate) fn reserve(&self, what: &'static str, bytes: u64) -> Result<Reservation, Error> {
        let limit = self.shared.limit.unwrap_or(u64::MAX);
        let sum = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= limit);
        match self.shared.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum) {
            Ok(_) => Ok(Reservation { shared: Arc::clone(&self.shared), bytes }),
            Err(used) => Err(Error::Budget { what, needed: bytes, left: limit - used, limit }),
        }
    }

    /// Stops a job that was cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`] then.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.shared.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Counts one decoded tile of one field.
    pub(crate) fn tile_done(&self, read_bytes: u64, decoded_bytes: u64) {
        self.shared.tiles.fetch_add(1, Ordering::Relaxed);
        self.shared.read_bytes.fetch_add(read_bytes, Ordering::Relaxed);
        self.shared.decoded_bytes.fetch_add(decoded_bytes, Ordering::Relaxed);
        if let Some(on_progress) = &self.shared.on_progress {
            on_progress(self.progress());
        }
    }

    /// How far the job has come.
    #[must_use]
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            tiles: self.shared.tiles.load(Ordering::Relaxed),
            read_bytes: self.shared.read_bytes.load(Ordering::Relaxed),
            decoded_bytes: self.shared.decoded_bytes.load(Ordering::Relaxed),
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("limit", &self.shared.limit).field("progress", &self.progress()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Reservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reservation({} bytes)", self.bytes)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shared.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_can_be_taken_again() {
        let job = Job::new(Some(100), CancelToken::new(), None);
        let first = job.reserve("cells", 60).unwrap();
        assert!(matches!(job.reserve("cells", 60), Err(Error::Budget { needed: 60, left: 40, limit: 100, .. })));
        drop(first);
        job.reserve("cells", 100).unwrap();
        assert!(job.reserve("cells", u64::MAX).is_err());
    }
}
