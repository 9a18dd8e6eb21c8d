//! The times that somebody looks at: page 01-layout, "Opening for read".

use crate::TimestampedName;

/// A span of time in milliseconds since 1970, both ends included.
///
/// With `start` after `end` nothing is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    /// The first millisecond.
    pub start: u64,
    /// The last millisecond.
    pub end: u64,
}

impl TimeWindow {
    /// Every time.
    pub const ALL: Self = Self { start: 0, end: u64::MAX };

    /// Every time up to `end`, with it.
    #[must_use]
    pub fn until(end: u64) -> Self {
        Self { start: 0, end }
    }

    /// Whether the whole span of a name is in the window.
    #[must_use]
    pub fn contains(&self, name: &TimestampedName) -> bool {
        self.start <= name.start() && name.end() <= self.end
    }

    /// Whether any of the span of a name is in the window.
    #[must_use]
    pub fn overlaps(&self, name: &TimestampedName) -> bool {
        name.start() <= self.end && self.start <= name.end() && self.start <= self.end
    }
}

impl Default for TimeWindow {
    fn default() -> Self {
        Self::ALL
    }
}
