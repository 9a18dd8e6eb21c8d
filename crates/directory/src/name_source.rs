//! New names.

use talavera_types::FormatVersion;

use crate::{DirectoryError, TimestampedName};

/// Makes names that sort in the order they were made when their times are equal.
///
/// Readers order what has equal start times by name. The UUID therefore begins with a counter of eight hexadecimal
/// digits, as in the reference implementation since 2.26; unlike there the counter goes on for the life of the source
/// instead of starting anew each millisecond, so that it also orders names whose times the caller chose. One source for
/// all writers of a process keeps that order among them.
#[derive(Debug, Clone)]
pub struct NameSource {
    counter: u32,
}

impl NameSource {
    /// A source whose counter starts at a number that differs from process to process; it lasts for 2³¹ names.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self { counter: seed & (u32::MAX >> 1) }
    }

    /// The next name, for content of the times `start` to `end` in milliseconds, with `random` as the rest of the UUID.
    ///
    /// # Errors
    /// [`DirectoryError::InvalidName`] when `start` is after `end`.
    pub fn next(
        &mut self,
        start: u64,
        end: u64,
        version: Option<FormatVersion>,
        random: [u8; 12],
    ) -> Result<TimestampedName, DirectoryError> {
        self.next_with_suffix(start, end, version.map(FormatVersion::number), random)
    }

    /// As [`NameSource::next`], with a number at the end that is no format version: that of a group, or none.
    ///
    /// # Errors
    /// As [`NameSource::next`].
    pub fn next_with_suffix(
        &mut self,
        start: u64,
        end: u64,
        suffix: Option<u32>,
        random: [u8; 12],
    ) -> Result<TimestampedName, DirectoryError> {
        let mut uuid = [0; 16];
        let (counter, rest) = uuid.split_at_mut(4);
        counter.copy_from_slice(&self.counter.to_be_bytes());
        rest.copy_from_slice(&random);
        let name = TimestampedName::new(start, end, uuid, suffix)?;
        self.counter = self.counter.wrapping_add(1);
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_equal_times_sort_in_the_order_they_were_made() {
        let mut source = NameSource::new(0x8000_00ff);
        let names: Vec<_> =
            (0..1000u32).map(|i| source.next(7, 7, Some(FormatVersion::DEFAULT), [(i % 251) as u8; 12]).unwrap()).collect();
        assert!(names.is_sorted());
        assert_eq!(names[0].as_str(), "__7_7_000000ff000000000000000000000000_22");
        assert_eq!(names[1].as_str(), "__7_7_00000100010101010101010101010101_22");
    }

    #[test]
    fn a_span_that_ends_before_it_starts_has_no_name() {
        assert!(NameSource::new(1).next(8, 7, None, [0; 12]).is_err());
    }
}
