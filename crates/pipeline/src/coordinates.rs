//! Zipped coordinates, as format versions before dimension fields stored them in `__coords`: 10-tile-chunks §5.
//!
//! Cells are tuples of one value per dimension, `x1 y1 x2 y2 …`. Before filtering they are split into one run of values
//! per dimension, `x1 x2 … y1 y2 …`, and no chunk reaches from one dimension into the next.

use std::ops::Range;

use talavera_filter::FilterList;
use talavera_types::{FilterType, FormatVersion};

use crate::{PipelineError, chunking};

/// Whether a tile of coordinates holds split tuples: in version 1 only where a compressor is in the list.
#[must_use]
pub fn are_split(version: FormatVersion, filters: &FilterList) -> bool {
    use FilterType as F;
    let compressors = [F::Gzip, F::Zstd, F::Lz4, F::Rle, F::Bzip2, F::DoubleDelta];
    version.always_splits_coordinates() || compressors.into_iter().any(|compressor| filters.contains(compressor))
}

/// Makes tuples of split coordinates: the last step of reading.
///
/// Both slices hold `cells × dimensions` values of `value_bytes` bytes.
///
/// # Errors
/// [`PipelineError::InvalidInput`] when the slices differ in length or do not hold whole tuples.
pub fn zip(split: &[u8], dimensions: usize, value_bytes: usize, tuples: &mut [u8]) -> Result<(), PipelineError> {
    let dimension_bytes = check(split.len(), tuples.len(), dimensions, value_bytes)?;
    for (dimension, values) in split.chunks_exact(dimension_bytes).enumerate() {
        let slots = tuples.chunks_exact_mut(value_bytes).skip(dimension).step_by(dimensions);
        for (value, slot) in values.chunks_exact(value_bytes).zip(slots) {
            slot.copy_from_slice(value);
        }
    }
    Ok(())
}

/// Splits tuples by dimension: the first step of writing, the reverse of [`zip`].
///
/// # Errors
/// As [`zip`].
pub fn unzip(tuples: &[u8], dimensions: usize, value_bytes: usize, split: &mut [u8]) -> Result<(), PipelineError> {
    let dimension_bytes = check(tuples.len(), split.len(), dimensions, value_bytes)?;
    for (dimension, values) in split.chunks_exact_mut(dimension_bytes).enumerate() {
        let slots = tuples.chunks_exact(value_bytes).skip(dimension).step_by(dimensions);
        for (value, slot) in values.chunks_exact_mut(value_bytes).zip(slots) {
            value.copy_from_slice(slot);
        }
    }
    Ok(())
}

/// The chunks of a tile of coordinates: each dimension is cut by itself, split or not. `value_bytes` is the size of the
/// dimensions' datatype.
#[must_use]
pub fn chunks(tile_bytes: usize, dimensions: usize, value_bytes: usize) -> Vec<Range<usize>> {
    let dimension_bytes = tile_bytes / dimensions.max(1);
    let mut chunks = Vec::new();
    for dimension in 0..dimensions {
        let start = dimension * dimension_bytes;
        let chunk_bytes = chunking::chunk_bytes(dimension_bytes, value_bytes);
        chunking::equal_chunks(start..start + dimension_bytes, chunk_bytes, &mut chunks);
    }
    chunks
}

/// Bytes of one dimension, at least 1.
fn check(from_bytes: usize, to_bytes: usize, dimensions: usize, value_bytes: usize) -> Result<usize, PipelineError> {
    let tuple_bytes = dimensions.checked_mul(value_bytes).filter(|&bytes| bytes > 0);
    match tuple_bytes {
        Some(bytes) if from_bytes == to_bytes && from_bytes.is_multiple_of(bytes) => Ok((from_bytes / dimensions).max(1)),
        _ => Err(PipelineError::invalid_input(format!(
            "{from_bytes} and {to_bytes} bytes are not the same number of coordinates of {dimensions} × {value_bytes} bytes"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talavera_filter::FilterSpec;

    #[test]
    fn split_values_become_tuples_and_back() {
        let split = [1, 1, 2, 2, 3, 3, 7, 7, 8, 8, 9, 9];
        let tuples = [1, 1, 7, 7, 2, 2, 8, 8, 3, 3, 9, 9];
        let mut out = [0; 12];
        zip(&split, 2, 2, &mut out).unwrap();
        assert_eq!(out, tuples);
        unzip(&tuples, 2, 2, &mut out).unwrap();
        assert_eq!(out, split);
    }

    #[test]
    fn lengths_that_are_no_whole_tuples_are_refused() {
        assert!(zip(&[0; 12], 2, 4, &mut [0; 12]).is_err());
        assert!(zip(&[0; 8], 2, 4, &mut [0; 16]).is_err());
        assert!(zip(&[0; 8], 0, 4, &mut [0; 8]).is_err());
        assert!(zip(&[0; 8], 2, 0, &mut [0; 8]).is_err());
        assert!(zip(&[], 2, 4, &mut []).is_ok());
    }

    #[test]
    fn no_chunk_reaches_from_one_dimension_into_the_next() {
        assert_eq!(chunks(132_000, 2, 4), [0..65_536, 65_536..66_000, 66_000..131_536, 131_536..132_000]);
        assert_eq!(chunks(320, 2, 4), [0..160, 160..320]);
    }

    #[test]
    fn version_1_splits_only_for_compressors() {
        let first = FormatVersion::OLDEST;
        let second = FormatVersion::new(2).unwrap();
        assert!(!are_split(first, &FilterList::new(vec![FilterSpec::Byteshuffle])));
        assert!(are_split(first, &FilterList::new(vec![FilterSpec::Byteshuffle, FilterSpec::Zstd { level: -1 }])));
        assert!(are_split(second, &FilterList::new(vec![])));
    }
}
