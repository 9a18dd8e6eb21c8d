//! A line on the terminal for what takes longer than a second.

use std::cell::Cell;
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

/// Follows the rows of an input, on the one thread that reads them.
#[derive(Debug)]
pub(crate) struct Rows {
    started: Instant,
    visible: bool,
    count: Cell<u64>,
    verb: &'static str,
    bar: OnceLock<ProgressBar>,
}

impl Rows {
    /// A line that begins with what is done: "reading".
    pub(crate) fn new(verb: &'static str) -> Self {
        let visible = std::io::stderr().is_terminal();
        Self { started: Instant::now(), visible, count: Cell::new(0), verb, bar: OnceLock::new() }
    }

    /// Counts rows.
    pub(crate) fn add(&self, rows: u64) {
        /// Rows between two looks at the clock.
        const STEP: u64 = 1 << 12;
        let before = self.count.get();
        self.count.set(before + rows);
        if self.visible && before / STEP != self.count.get() / STEP && self.started.elapsed() > SILENCE {
            self.show(self.verb);
        }
    }

    /// Says what is done with the rows now, if the line is shown already or there are so many that it will be.
    pub(crate) fn say(&self, verb: &str) {
        const MANY: u64 = 1 << 20;
        if self.visible && (self.bar.get().is_some() || self.count.get() > MANY) {
            self.show(verb);
        }
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    fn show(&self, verb: &str) {
        let bar = self.bar.get_or_init(new_bar);
        bar.set_message(format!("{verb} {} rows", HumanCount(self.count.get())));
        bar.tick();
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.finish();
    }
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
