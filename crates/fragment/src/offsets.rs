//! Lists of one number per tile: fragment page, "Tile Offsets", "Tile Var Offsets", "Tile Var Sizes", "Tile Validity
//! Offsets", "Tile Null Count".

use std::ops::Range;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

/// Declares a list of one 64-bit number per tile, stored as a count and the numbers.
macro_rules! tile_list {
    ($(#[$doc:meta])* pub struct $name:ident, $count:literal, $numbers:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name(pub Vec<u64>);

        impl $name {
            /// Reads the payload of a generic tile: a 64-bit count, then the numbers.
            ///
            /// # Errors
            /// When the count does not match the bytes.
            pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
                let mut r = Reader::new(payload);
                let list = Self::decode_next(&mut r)?;
                r.finish($numbers)?;
                Ok(list)
            }

            pub(crate) fn decode_next(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let count = r.u64($count)?;
                let numbers = r.u64s(count, $numbers)?;
                Ok(Self(numbers))
            }

            /// Writes what [`decode`](Self::decode) reads.
            pub fn encode(&self, w: &mut Writer) {
                w.len_u64(self.0.len());
                w.u64s(&self.0);
            }

            /// The number of tiles; 0 also where a list is stored empty because nothing needs it.
            #[must_use]
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether there are no numbers.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// The number of this tile.
            #[must_use]
            pub fn get(&self, tile: usize) -> Option<u64> {
                self.0.get(tile).copied()
            }
        }
    };
}

pub(crate) use tile_list;

tile_list! {
    /// Where each tile begins in its data file, in bytes; the tiles are stored one behind the other.
    ///
    /// One number per tile even for a field without such a file (all zeros); writers may leave such a list empty.
    pub struct TileOffsets, "tile offset count", "tile offsets"
}

tile_list! {
    /// How many bytes the values of each tile of a variable-length field take before filtering.
    pub struct TileSizes, "tile size count", "tile sizes"
}

impl TileOffsets {
    /// Where a tile lies in its data file of `file_bytes`: from its offset to that of the next one, or to the end.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Invalid`] for a tile that is not in the list, for offsets that descend and for those behind the
    /// end of the file.
    pub fn range(&self, tile: usize, file_bytes: u64) -> Result<Range<u64>, DecodeError> {
        let at = (tile as u64).saturating_mul(8).saturating_add(8);
        let Some(start) = self.get(tile) else {
            return Err(DecodeErrorKind::Invalid { found: tile as u64, expected: "a tile of the list" }.at("tile offsets", at));
        };
        let end = self.get(tile + 1).unwrap_or(file_bytes);
        if end > file_bytes {
            return Err(DecodeErrorKind::Invalid { found: end, expected: "an offset in the data file" }
                .at("tile offsets", at.saturating_add(8)));
        }
        if start > end {
            return Err(DecodeErrorKind::Invalid { found: start, expected: "below the end of its tile" }.at("tile offsets", at));
        }
        Ok(start..end)
    }

    /// Where every tile lies in the data file of `file_bytes`.
    ///
    /// # Errors
    /// As [`TileOffsets::range`].
    pub fn ranges(&self, file_bytes: u64) -> Result<Vec<Range<u64>>, DecodeError> {
        (0..self.len()).map(|tile| self.range(tile, file_bytes)).collect()
    }

    /// How many bytes each tile takes in the data file of `file_bytes`.
    ///
    /// # Errors
    /// As [`TileOffsets::range`].
    pub fn sizes(&self, file_bytes: u64) -> Result<Vec<u64>, DecodeError> {
        (0..self.len()).map(|tile| self.range(tile, file_bytes).map(|range| range.end - range.start)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::Strategy;

    use super::*;
    use crate::test_support::encoded;

    #[test]
    fn a_tile_ends_where_the_next_begins_and_the_last_at_the_end_of_the_file() {
        let offsets = TileOffsets::decode(&[
            2, 0, 0, 0, 0, 0, 0, 0, // two tiles
            0, 0, 0, 0, 0, 0, 0, 0, // at 0
            5, 0, 0, 0, 0, 0, 0, 0, // at 5
        ])
        .unwrap();
        assert_eq!(offsets.ranges(9).unwrap(), [0..5, 5..9]);
        assert_eq!(offsets.sizes(5).unwrap(), [5, 0]);
    }

    #[test]
    fn offsets_that_descend_or_leave_the_file_are_refused() {
        let check = |offsets: &[u64], expected: &str| {
            assert_eq!(TileOffsets(offsets.to_vec()).ranges(9).unwrap_err().to_string(), expected);
        };
        check(&[6, 5], "tile offsets: 6 is not below the end of its tile (at byte 8)");
        check(&[0, 10], "tile offsets: 10 is not an offset in the data file (at byte 16)");
        check(&[10], "tile offsets: 10 is not below the end of its tile (at byte 8)");
        assert!(TileOffsets(vec![0]).range(usize::MAX - 1, 9).is_err());
    }

    talavera_testkit::decoder_laws! {
        mod offset_laws {
            value: TileOffsets = proptest::collection::vec(proptest::num::u64::ANY, 0..9).prop_map(TileOffsets),
            encode: |value: &TileOffsets| encoded(|w| value.encode(w)),
            decode: TileOffsets::decode,
        }
    }

    talavera_testkit::decoder_laws! {
        mod size_laws {
            value: TileSizes = proptest::collection::vec(proptest::num::u64::ANY, 0..9).prop_map(TileSizes),
            encode: |value: &TileSizes| encoded(|w| value.encode(w)),
            decode: TileSizes::decode,
        }
    }
}
