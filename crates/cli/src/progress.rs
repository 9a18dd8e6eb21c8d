//! A line on the terminal for reads that take longer than a second.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use talavera::{Progress, Read};

/// How long a read may take in silence.
const SILENCE: Duration = Duration::from_secs(1);

/// Follows a read.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    started: Instant,
    visible: bool,
    bar: OnceLock<ProgressBar>,
    /// The threads that decode report one after the other; the highest numbers are the newest.
    latest: Mutex<Progress>,
}

impl Meter {
    /// A meter that shows itself only on a terminal, and only if `allowed`: not where cells scroll by on the same one.
    pub(crate) fn new(allowed: bool) -> Self {
        let visible = allowed && std::io::stderr().is_terminal();
        let latest = Mutex::new(Progress { tiles: 0, read_bytes: 0, decoded_bytes: 0 });
        Self { shared: Arc::new(Shared { started: Instant::now(), visible, bar: OnceLock::new(), latest }) }
    }

    /// Has the read report here.
    pub(crate) fn follow<'a>(&self, read: Read<'a>) -> Read<'a> {
        let shared = Arc::clone(&self.shared);
        read.on_progress(move |progress| shared.tell(progress))
    }

    /// How far the read has come.
    pub(crate) fn latest(&self) -> Progress {
        *self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long ago it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = self.shared.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Shared {
    fn tell(&self, progress: Progress) {
        {
            let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
            if progress.tiles > latest.tiles {
                *latest = progress;
            }
        }
        if self.visible && self.started.elapsed() > SILENCE {
            let bar = self.bar.get_or_init(new_bar);
            let (read, decoded) = (HumanBytes(progress.read_bytes), HumanBytes(progress.decoded_bytes));
            bar.set_message(format!("{} tiles, {read} read, {decoded} decoded", HumanCount(progress.tiles)));
            bar.tick();
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
