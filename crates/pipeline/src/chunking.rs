//! How a tile is cut into chunks on the way to disk: the format's filter-pipeline page and 10-tile-chunks §3.
//!
//! Readers need none of this: every chunk says how long it is.

use std::ops::Range;

/// The most bytes that a chunk of fixed-length cells has, unless one cell is longer.
///
/// Libraries since 2.0 use this number whatever the pipeline says.
pub const MAX_CHUNK_BYTES: usize = 65536;

/// The bytes of a chunk: as many whole cells as fit, at least one.
#[must_use]
pub fn chunk_bytes(tile_bytes: usize, cell_bytes: usize) -> usize {
    let cell_bytes = cell_bytes.max(1);
    let cells = tile_bytes.min(MAX_CHUNK_BYTES) / cell_bytes;
    cells.max(1).saturating_mul(cell_bytes)
}

/// The chunks of a tile of fixed-length cells (§3.1): equal ones, the last may be shorter. A tile without bytes is one
/// chunk of 0 bytes.
#[must_use]
pub fn fixed(tile_bytes: usize, cell_bytes: usize) -> Vec<Range<usize>> {
    let chunks = equal(tile_bytes, cell_bytes);
    if chunks.is_empty() { one(0) } else { chunks }
}

/// The chunks of a tile of variable-length cells in versions whose chunks may cut such cells (§3.3): as those of
/// fixed-length cells, but a tile without bytes has none.
#[must_use]
pub fn equal(tile_bytes: usize, value_bytes: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    equal_chunks(0..tile_bytes, chunk_bytes(tile_bytes, value_bytes), &mut chunks);
    chunks
}

/// The whole tile as one chunk: what images, strings with their offsets, and a maximum chunk size of 0 get.
#[must_use]
pub fn one(tile_bytes: usize) -> Vec<Range<usize>> {
    std::iter::once(0..tile_bytes).collect()
}

/// The chunks of a tile of variable-length cells (§3.3): no cell is cut, and a chunk may have half as many bytes again.
///
/// `offsets` holds where each cell starts, ascending, and at last the length of the tile; `value_bytes` is the size of
/// the datatype. Where the reference ends a tile in an empty chunk, this does not, because some of its filters cannot
/// read such a chunk back; only a tile without bytes is one chunk of 0 bytes.
#[must_use]
pub fn var(offsets: &[u64], value_bytes: usize) -> Vec<Range<usize>> {
    let ends = || offsets.iter().skip(1).map(|&end| usize::try_from(end).unwrap_or(usize::MAX));
    let tile_bytes = ends().next_back().unwrap_or(0);
    let full = chunk_bytes(tile_bytes, value_bytes);
    if tile_bytes <= full {
        return one(tile_bytes);
    }
    let mut chunks = Vec::new();
    let mut start = 0usize; // Of the current chunk.
    let mut cell_start = 0usize;
    let mut close = |start: &mut usize, end: usize| {
        if end > *start {
            chunks.push(*start..end);
            *start = end;
        }
    };
    for cell_end in ends() {
        let before = cell_start.saturating_sub(start);
        let with = cell_end.saturating_sub(start);
        if with > full {
            if before <= full / 2 || with <= full.saturating_add(full / 2) {
                close(&mut start, cell_end);
            } else {
                close(&mut start, cell_start);
                if cell_end.saturating_sub(cell_start) > full {
                    close(&mut start, cell_end);
                }
            }
        }
        cell_start = cell_end;
    }
    close(&mut start, tile_bytes);
    chunks
}

/// Appends chunks of `chunk_bytes` for a range of a tile; the last may be shorter.
pub(crate) fn equal_chunks(bytes: Range<usize>, chunk_bytes: usize, chunks: &mut Vec<Range<usize>>) {
    let mut start = bytes.start;
    while start < bytes.end {
        let end = start.saturating_add(chunk_bytes.max(1)).min(bytes.end);
        chunks.push(start..end);
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed_lengths(tile_bytes: usize, cell_bytes: usize) -> Vec<usize> {
        fixed(tile_bytes, cell_bytes).into_iter().map(|chunk| chunk.len()).collect()
    }

    fn var_lengths(cells: &[u64], value_bytes: usize) -> Vec<usize> {
        var(&offsets(cells), value_bytes).into_iter().map(|chunk| chunk.len()).collect()
    }

    fn offsets(cells: &[u64]) -> Vec<u64> {
        let mut offsets = vec![0];
        offsets.extend(cells.iter().scan(0, |end, cell| {
            *end += cell;
            Some(*end)
        }));
        offsets
    }

    #[test]
    fn old_versions_cut_cells_of_variable_length_and_have_no_empty_chunk() {
        assert_eq!(equal(0, 8), []);
        assert_eq!(equal(100_000, 8), [0..65_536, 65_536..100_000]);
        let format = |version| crate::TileFormat {
            datatype: talavera_types::Datatype::Int64,
            cell_bytes: 8,
            version: talavera_types::FormatVersion::new(version).unwrap(),
        };
        let empty = |version| {
            let pipeline = crate::Pipeline::new(&talavera_filter::FilterList::new(Vec::new()), format(version), None).unwrap();
            pipeline.encode_var_tile(&[], &[0, 0]).unwrap()
        };
        // As libtiledb 2.4 and 2.7 write it.
        assert_eq!(empty(10), [0; 8]);
        assert_eq!(empty(11), [[1, 0, 0, 0], [0; 4], [0; 4], [0; 4], [0; 4]].concat());
    }

    #[test]
    fn a_chunk_of_fixed_cells_holds_as_many_whole_cells_as_fit() {
        assert_eq!(fixed_lengths(72_000, 12), [65_532, 6_468]);
        assert_eq!(fixed_lengths(160_000, 80_000), [80_000, 80_000]);
        assert_eq!(fixed_lengths(65_536, 1), [65_536]);
        assert_eq!(fixed_lengths(65_537, 1), [65_536, 1]);
        assert_eq!(fixed_lengths(0, 4), [0]);
    }

    /// The lengths that the reference wrote, without an empty chunk at the end.
    #[test]
    fn variable_cells_are_not_cut() {
        assert_eq!(var_lengths(&[100; 700], 1), [65_600, 4_400]);
        assert_eq!(var_lengths(&[40_000; 2], 1), [80_000]);
        assert_eq!(var_lengths(&[40_000; 3], 1), [80_000, 40_000]);
        assert_eq!(var_lengths(&[100_000], 1), [100_000]);
        assert_eq!(var_lengths(&[], 1), [0]);
        assert_eq!(var_lengths(&[0; 5], 4), [0]);
    }

    proptest::proptest! {
        #[test]
        fn chunks_of_variable_cells_cover_the_tile_on_cell_bounds(cells in proptest::collection::vec(0u64..90_000, 0..40)) {
            let offsets = offsets(&cells);
            let chunks = var(&offsets, 1);
            let total = usize::try_from(cells.iter().sum::<u64>()).unwrap();
            let mut end = 0;
            for chunk in &chunks {
                proptest::prop_assert_eq!(chunk.start, end);
                proptest::prop_assert!(!chunk.is_empty() || total == 0);
                proptest::prop_assert!(offsets.contains(&(chunk.end as u64)));
                end = chunk.end;
            }
            proptest::prop_assert_eq!(end, total);
        }
    }
}
