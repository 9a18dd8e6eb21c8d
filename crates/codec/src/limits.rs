//! A budget for sizes that bytes cannot vouch for.

use std::cell::Cell;

use crate::{DecodeError, DecodeErrorKind};

/// An upper bound on the bytes that one decode may allocate, all its buffers together.
///
/// A decompressed length or a dictionary size is a number that somebody wrote; before it becomes an allocation it is
/// charged here. The sum counts, not each piece.
#[derive(Debug)]
pub struct Limits {
    limit: u64,
    charged: Cell<u64>,
}

impl Limits {
    /// A budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, charged: Cell::new(0) }
    }

    /// Takes `bytes` from the budget and gives them back as a length.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Limit`] when less than `bytes` is left; nothing is charged then.
    pub fn charge(&self, field: &'static str, bytes: u64) -> Result<usize, DecodeError> {
        let needed = self.charged.get().saturating_add(bytes);
        if needed > self.limit {
            return Err(DecodeErrorKind::Limit { needed, limit: self.limit }.at(field, 0));
        }
        self.charged.set(needed);
        usize::try_from(bytes).map_err(|_| DecodeErrorKind::Limit { needed, limit: self.limit }.at(field, 0))
    }

    /// Bytes still to be had.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.limit - self.charged.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_counts_not_each_piece() {
        let limits = Limits::new(10);
        assert_eq!(limits.charge("part", 6).unwrap(), 6);
        let error = limits.charge("part", 6).unwrap_err();
        assert_eq!(error.to_string(), "part: 12 bytes exceed the limit of 10 (at byte 0)");
        assert_eq!(limits.left(), 4);
    }

    #[test]
    fn a_charge_near_the_end_of_u64_does_not_wrap() {
        let limits = Limits::new(u64::MAX - 1);
        limits.charge("part", 5).unwrap();
        assert!(limits.charge("part", u64::MAX).is_err());
    }
}
