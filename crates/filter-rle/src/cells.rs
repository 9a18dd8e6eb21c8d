//! Runs of equal cells: 11-filters, "RLE, fixed".
//!
//! ```text
//! run := u8 cell[cell_bytes]; u16 (big-endian) length, 1 to 65535
//! ```

use talavera_codec::{DecodeError, DecodeErrorKind, Reader};
use talavera_filter::FilterError;
use talavera_types::FilterType;

/// Appends the runs of `cells`, each `cell_bytes` long, to `out`.
///
/// # Errors
/// [`FilterError::InvalidInput`] when `cells` does not hold whole cells.
pub fn encode(cells: &[u8], cell_bytes: usize, out: &mut Vec<u8>) -> Result<(), FilterError> {
    if cell_bytes == 0 || !cells.len().is_multiple_of(cell_bytes) {
        let reason = format!("{} bytes, which are not whole cells of {cell_bytes}", cells.len());
        return Err(FilterError::invalid_input(FilterType::Rle, reason));
    }
    match cell_bytes {
        1 => encode_runs(cells.as_chunks::<1>().0.iter(), out),
        2 => encode_runs(cells.as_chunks::<2>().0.iter(), out),
        4 => encode_runs(cells.as_chunks::<4>().0.iter(), out),
        8 => encode_runs(cells.as_chunks::<8>().0.iter(), out),
        _ => encode_runs(cells.chunks_exact(cell_bytes), out),
    }
    Ok(())
}

/// Fills `cells`, each `cell_bytes` long, from runs.
///
/// # Errors
/// A [`DecodeError`] for a run that is cut short, is empty or goes past the end of `cells`, and for runs that end before.
pub fn decode(runs: &[u8], cell_bytes: usize, cells: &mut [u8]) -> Result<(), DecodeError> {
    match cell_bytes {
        1 => decode_runs(runs, 1, cells, repeat_byte),
        2 => decode_runs(runs, 2, cells, repeat::<2, 8>),
        4 => decode_runs(runs, 4, cells, repeat::<4, 4>),
        8 => decode_runs(runs, 8, cells, repeat::<8, 4>),
        _ => decode_runs(runs, cell_bytes, cells, |rest, length, cell| {
            rest.chunks_exact_mut(cell_bytes).take(length).for_each(|target| target.copy_from_slice(cell));
        }),
    }
}

fn encode_runs<C: AsRef<[u8]> + PartialEq>(mut cells: impl Iterator<Item = C>, out: &mut Vec<u8>) {
    let Some(mut run) = cells.next() else { return };
    let mut length: u16 = 1;
    let mut end_run = |run: &C, length: u16| {
        out.extend_from_slice(run.as_ref());
        out.extend_from_slice(&length.to_be_bytes());
    };
    for cell in cells {
        if cell == run && length < u16::MAX {
            length += 1;
        } else {
            end_run(&run, length);
            (run, length) = (cell, 1);
        }
    }
    end_run(&run, length);
}

/// `repeat` writes a number of copies of a cell to the front of the cells left; what is behind may change too.
#[inline]
fn decode_runs(
    runs: &[u8],
    cell_bytes: usize,
    cells: &mut [u8],
    repeat: impl Fn(&mut [u8], usize, &[u8]),
) -> Result<(), DecodeError> {
    if cell_bytes == 0 {
        return Err(Reader::new(runs).invalid("cell size", 0, "the length of a cell"));
    }
    let whole = cells.len() as u64;
    let (run_size, mut rest) = (cell_bytes.saturating_add(2), cells);
    let whole_runs = runs.chunks_exact(run_size);
    let cut_run = whole_runs.remainder();
    for (index, run) in whole_runs.enumerate() {
        let Some((cell, length)) = run.split_last_chunk() else { break };
        let length = usize::from(u16::from_be_bytes(*length));
        let run_bytes = length.saturating_mul(cell_bytes);
        if length == 0 || run_bytes > rest.len() {
            let kind = DecodeErrorKind::Invalid { found: length as u64, expected: "1 to the number of cells left" };
            return Err(kind.at("run length", (index * run_size + cell_bytes) as u64));
        }
        repeat(rest, length, cell);
        rest = rest.get_mut(run_bytes..).unwrap_or_default();
    }
    let end = runs.len() as u64;
    if !cut_run.is_empty() {
        Reader::at(cut_run, end - cut_run.len() as u64).bytes(run_size as u64, "run")?;
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(DecodeErrorKind::Mismatch { found: whole - rest.len() as u64, expected: whole }.at("decoded length", end))
}

/// Writes `length` copies of `cell`, which is `N` bytes long, to the front of `rest`.
///
/// Short runs are always written as `SHORT` cells where there is room, which is faster than to look at their length; the
/// runs behind write over what was too much.
#[inline]
fn repeat<const N: usize, const SHORT: usize>(rest: &mut [u8], length: usize, cell: &[u8]) {
    let Ok(cell) = <[u8; N]>::try_from(cell) else { return };
    let cells = rest.as_chunks_mut::<N>().0;
    match cells.first_chunk_mut::<SHORT>() {
        Some(short) if length <= SHORT => *short = [cell; SHORT],
        _ => cells.iter_mut().take(length).for_each(|target| *target = cell),
    }
}

/// As [`repeat`] for cells of one byte, which compilers write better as bytes than as arrays of one.
#[inline]
fn repeat_byte(rest: &mut [u8], length: usize, cell: &[u8]) {
    match (rest.first_chunk_mut::<16>(), cell) {
        (Some(short), &[byte]) if length <= 16 => *short = [byte; 16],
        _ => repeat::<1, 1>(rest, length, cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_longer_than_a_length_can_say_is_split() {
        let cells = vec![7; 65_537];
        let mut runs = Vec::new();
        encode(&cells, 1, &mut runs).unwrap();
        assert_eq!(runs, [7, 0xff, 0xff, 7, 0, 2]);
        let mut decoded = vec![0; cells.len()];
        decode(&runs, 1, &mut decoded).unwrap();
        assert_eq!(decoded, cells);
    }

    #[test]
    fn cells_that_are_cut_are_refused() {
        assert!(encode(&[1, 2, 3], 2, &mut Vec::new()).is_err());
        assert!(encode(&[1, 2, 3], 0, &mut Vec::new()).is_err());
        assert!(decode(&[], 0, &mut [0]).is_err());
    }

    #[test]
    fn runs_that_do_not_fill_the_cells_exactly_are_refused() {
        let runs = [5, 0, 3];
        assert!(decode(&runs, 1, &mut [0; 3]).is_ok());
        assert_eq!(
            decode(&runs, 1, &mut [0; 2]).unwrap_err().to_string(),
            "run length: 3 is not 1 to the number of cells left (at byte 1)"
        );
        assert_eq!(decode(&runs, 1, &mut [0; 4]).unwrap_err().to_string(), "decoded length: is 3, expected 4 (at byte 3)");
        assert!(decode(&[5, 0, 0], 1, &mut []).is_err(), "a run of nothing");
        assert_eq!(decode(&[5, 0, 3, 6], 1, &mut [0; 3]).unwrap_err().to_string(), "run: needs 3 bytes, 1 left (at byte 3)");
    }
}
