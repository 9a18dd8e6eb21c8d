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
        1 => decode_runs(runs, 1, cells, repeat::<1>),
        2 => decode_runs(runs, 2, cells, repeat::<2>),
        4 => decode_runs(runs, 4, cells, repeat::<4>),
        8 => decode_runs(runs, 8, cells, repeat::<8>),
        _ => decode_runs(runs, cell_bytes, cells, |run, cell| {
            run.chunks_exact_mut(cell_bytes).for_each(|target| target.copy_from_slice(cell));
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

#[inline]
fn decode_runs(runs: &[u8], cell_bytes: usize, cells: &mut [u8], repeat: impl Fn(&mut [u8], &[u8])) -> Result<(), DecodeError> {
    let whole = cells.len() as u64;
    let mut r = Reader::new(runs);
    if cell_bytes == 0 {
        return Err(r.invalid("cell size", 0, "the length of a cell"));
    }
    let mut rest = cells;
    while !r.is_empty() {
        let cell = r.bytes(cell_bytes as u64, "run value")?;
        let before_length = r.clone();
        let length = r.u16_be("run length")?;
        let run_bytes = usize::from(length).saturating_mul(cell_bytes);
        let split = std::mem::take(&mut rest).split_at_mut_checked(run_bytes).filter(|_| length > 0);
        let Some((run, behind)) = split else {
            return Err(before_length.invalid("run length", length.into(), "1 to the number of cells left"));
        };
        repeat(run, cell);
        rest = behind;
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(DecodeErrorKind::Mismatch { found: whole - rest.len() as u64, expected: whole }.at("decoded length", r.offset()))
}

/// Fills `run` with copies of `cell`, which is `N` bytes long.
#[inline]
fn repeat<const N: usize>(run: &mut [u8], cell: &[u8]) {
    if let Ok(cell) = <[u8; N]>::try_from(cell) {
        run.as_chunks_mut::<N>().0.fill(cell);
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
    }
}
