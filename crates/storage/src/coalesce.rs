//! Ranges that lie close together are read as one.

use std::ops::Range;

use bytes::Bytes;

use crate::{ObjectPath, StorageError};

/// The widest gap between two wanted ranges that is cheaper to read than to ask for twice, in bytes.
pub const COALESCE_GAP_BYTES: u64 = 64 << 10;

/// The ranges to read so that each range of `wanted` lies in one of them: ascending, apart by more than `gap` bytes.
#[must_use]
pub fn coalesce_ranges(wanted: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut sorted = wanted.to_vec();
    sorted.sort_unstable_by_key(|range| (range.start, range.end));
    let mut reads: Vec<Range<u64>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match reads.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => reads.push(range),
        }
    }
    reads
}

/// Reads `wanted` of an object by calls of `read` on coalesced ranges; the results share the memory of what was read.
pub(crate) fn read_coalesced(
    path: &ObjectPath,
    wanted: &[Range<u64>],
    mut read: impl FnMut(Range<u64>) -> Result<Bytes, StorageError>,
) -> Result<Vec<Bytes>, StorageError> {
    let ranges = coalesce_ranges(wanted, COALESCE_GAP_BYTES);
    let parts = ranges.iter().map(|range| read(range.clone())).collect::<Result<Vec<_>, _>>()?;
    wanted
        .iter()
        .map(|range| {
            let at = ranges.partition_point(|read| read.start <= range.start).checked_sub(1);
            let slice = at.and_then(|at| slice(parts.get(at)?, ranges.get(at)?.start, range));
            slice.ok_or_else(|| outside(path, range, ranges.last().map_or(0, |last| last.end)))
        })
        .collect()
}

/// Refuses a range that does not lie in an object of `size` bytes; its length is what to allocate.
pub(crate) fn check_range(path: &ObjectPath, range: &Range<u64>, size: u64) -> Result<usize, StorageError> {
    let length = range.end.checked_sub(range.start).filter(|_| range.end <= size);
    length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| outside(path, range, size))
}

#[cold]
fn outside(path: &ObjectPath, range: &Range<u64>, size: u64) -> StorageError {
    StorageError::Range { path: path.clone(), start: range.start, end: range.end, size }
}

fn slice(part: &Bytes, part_start: u64, range: &Range<u64>) -> Option<Bytes> {
    let start = usize::try_from(range.start.checked_sub(part_start)?).ok()?;
    let end = usize::try_from(range.end.checked_sub(part_start)?).ok()?;
    (start <= end && end <= part.len()).then(|| part.slice(start..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_within_the_gap_become_one() {
        assert_eq!(coalesce_ranges(&[20..30, 0..5, 8..10, 9..12], 3), [0..12, 20..30]);
        assert_eq!(coalesce_ranges(&[0..5, 5..6, 7..8], 0), [0..6, 7..8]);
        assert_eq!(coalesce_ranges(&[], 3), []);
    }

    #[test]
    fn the_end_of_u64_does_not_wrap() {
        assert_eq!(coalesce_ranges(&[u64::MAX - 1..u64::MAX, 0..1], u64::MAX).len(), 1);
    }

    #[test]
    fn a_range_that_ends_before_it_starts_is_an_error() {
        let path = ObjectPath::root();
        let backwards = Range { start: 5, end: 2 };
        assert!(check_range(&path, &backwards, 10).is_err());
        let read = |range: Range<u64>| Ok(Bytes::from(vec![0; check_range(&path, &range, 10)?]));
        assert!(read_coalesced(&path, std::slice::from_ref(&backwards), read).is_err());
        assert!(read_coalesced(&path, &[1..4, backwards, 0..9], read).is_err());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn coalesced_reads_equal_separate_ones(wanted in proptest::collection::vec((0u64..200, 0u64..60), 0..20), gap in 0u64..40) {
            let object: Vec<u8> = (0..=255).collect();
            let object = Bytes::from(object);
            let path = ObjectPath::root();
            let wanted: Vec<_> = wanted.into_iter().map(|(start, len)| start..start + len).collect();
            let cut = |range: &Range<u64>| slice(&object, 0, range);
            let read = |range: Range<u64>| cut(&range).ok_or_else(|| outside(&path, &range, 256));
            match read_coalesced(&path, &wanted, read) {
                Ok(parts) => proptest::prop_assert_eq!(parts, wanted.iter().filter_map(cut).collect::<Vec<_>>()),
                Err(_) => proptest::prop_assert!(wanted.iter().any(|range| range.end > 256)),
            }
            let reads = coalesce_ranges(&wanted, gap);
            proptest::prop_assert!(reads.windows(2).all(|pair| pair[0].end + gap < pair[1].start));
            proptest::prop_assert!(wanted.iter().all(|w| reads.iter().any(|r| r.start <= w.start && w.end <= r.end)));
        }
    }
}
