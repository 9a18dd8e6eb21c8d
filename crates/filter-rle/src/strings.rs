//! Runs of equal strings: 11-filters, "RLE, string mode".
//!
//! ```text
//! run := uint (big-endian, as wide as the longest run needs) length of the run, in strings
//!        uint (big-endian, as wide as the longest string needs) length of the string, in bytes
//!        u8 string[]
//! ```

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::FilterError;
use talavera_filter::strings::{copy, narrowest_width, split};
use talavera_types::FilterType;

/// Bytes of the two lengths in front of each run: 1, 2, 4 or 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// Of the length of a run.
    pub run: u8,
    /// Of the length of a string.
    pub string: u8,
}

/// The runs of strings and the widths of their lengths.
///
/// `offsets` holds the start of each string in `values`, one more than there are strings: the last is the length of
/// `values`.
///
/// # Errors
/// [`FilterError::InvalidInput`] for offsets that do not begin at 0, descend, or do not end at the length of `values`.
pub fn encode(values: &[u8], offsets: &[u64]) -> Result<(Widths, Vec<u8>), FilterError> {
    let runs = runs(values, offsets)?;
    let longest_run = runs.iter().map(|run| run.length).max().unwrap_or(0);
    let longest_string = runs.iter().map(|run| run.string.len() as u64).max().unwrap_or(0);
    let widths = Widths { run: narrowest_width(longest_run), string: narrowest_width(longest_string) };
    let mut w = Writer::new();
    for run in runs {
        w.uint_be(run.length, widths.run);
        w.uint_be(run.string.len() as u64, widths.string);
        w.bytes(run.string);
    }
    Ok((widths, w.into_vec()))
}

/// Fills `values` from the runs of `cells` strings and appends the start of each string to `offsets`.
///
/// After an error both hold what was decoded until then.
///
/// # Errors
/// A [`DecodeError`] for widths that are none, runs that are cut short or empty, and runs that are more or fewer strings
/// or bytes than asked for.
pub fn decode(runs: &[u8], widths: Widths, cells: usize, values: &mut [u8], offsets: &mut Vec<u64>) -> Result<(), DecodeError> {
    let whole = values.len() as u64;
    let mut r = Reader::new(runs);
    let (mut cells_left, mut rest, mut start) = (cells, values, 0);
    while !r.is_empty() {
        let before = r.clone();
        let run = r.uint_be(widths.run, "string run length")?;
        let length = r.uint_be(widths.string, "string length")?;
        let string = r.bytes(length, "string")?;
        let Some((run_cells, left)) = usize::try_from(run).ok().and_then(|run| Some((run, cells_left.checked_sub(run)?))) else {
            return Err(before.invalid("string run length", run, "at most the number of cells left"));
        };
        if run == 0 {
            return Err(before.invalid("string run length", run, "at least 1"));
        }
        let run_bytes = run_cells.saturating_mul(string.len());
        let Some((target, behind)) = std::mem::take(&mut rest).split_at_mut_checked(run_bytes) else {
            return Err(before.invalid("string length", length, "within the bytes left"));
        };
        target.chunks_exact_mut(string.len().max(1)).for_each(|target| copy(string, target));
        offsets.extend((0..run).map(|cell| start + cell * length));
        (cells_left, rest, start) = (left, behind, start + run_bytes as u64);
    }
    if cells_left > 0 {
        let (found, expected) = ((cells - cells_left) as u64, cells as u64);
        return Err(DecodeErrorKind::Mismatch { found, expected }.at("decoded cells", r.offset()));
    }
    if !rest.is_empty() {
        return Err(DecodeErrorKind::Mismatch { found: start, expected: whole }.at("decoded length", r.offset()));
    }
    Ok(())
}

struct Run<'a> {
    length: u64,
    string: &'a [u8],
}

fn runs<'a>(values: &'a [u8], offsets: &'a [u64]) -> Result<Vec<Run<'a>>, FilterError> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for string in split(FilterType::Rle, values, offsets)? {
        let string = string?;
        match runs.last_mut() {
            Some(run) if run.string == string => run.length += 1,
            _ => runs.push(Run { length: 1, string }),
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_counts_for_the_width_of_lengths() {
        // The reference writes one byte of the length here and cannot read it back.
        let values = [b"ab".as_slice(), &[b'x'; 300]].concat();
        let (widths, runs) = encode(&values, &[0, 1, 2, 302]).unwrap();
        assert_eq!(widths, Widths { run: 1, string: 2 });
        let (mut decoded, mut offsets) = (vec![0; 302], Vec::new());
        decode(&runs, widths, 3, &mut decoded, &mut offsets).unwrap();
        assert_eq!((decoded, offsets), (values, vec![0, 1, 2]));
    }

    #[test]
    fn a_run_of_more_cells_than_there_are_is_refused_before_they_are_appended() {
        let widths = Widths { run: 4, string: 1 };
        let mut offsets = Vec::new();
        let error = decode(&[0xff, 0xff, 0xff, 0xff, 0], widths, 5, &mut [], &mut offsets).unwrap_err();
        assert_eq!(error.to_string(), "string run length: 4294967295 is not at most the number of cells left (at byte 0)");
        assert!(offsets.is_empty());
    }

    #[test]
    fn runs_of_fewer_cells_or_bytes_are_refused() {
        let widths = Widths { run: 1, string: 1 };
        let check = |runs: &[u8], cells: usize, len: usize| decode(runs, widths, cells, &mut vec![0; len], &mut Vec::new());
        assert!(check(&[2, 1, b'a'], 2, 2).is_ok());
        assert!(check(&[2, 1, b'a'], 3, 2).is_err());
        assert!(check(&[2, 1, b'a'], 2, 3).is_err());
        assert!(check(&[2, 1, b'a'], 1, 2).is_err());
        assert!(check(&[2, 1, b'a'], 2, 1).is_err());
        assert!(check(&[0, 1, b'a'], 0, 0).is_err());
        assert!(check(&[2, 2, b'a'], 2, 4).is_err());
    }

    #[test]
    fn offsets_that_are_none_are_refused() {
        assert!(encode(b"abc", &[]).is_err());
        assert!(encode(b"abc", &[1, 3]).is_err());
        assert!(encode(b"abc", &[0, 2]).is_err());
        assert!(encode(b"abc", &[0, 2, 1, 3]).is_err());
        assert!(encode(b"abc", &[0, u64::MAX, 3]).is_err());
        assert_eq!(encode(b"", &[0]).unwrap().1, []);
    }
}
