//! Minimum, maximum, sum and null count per tile and of the fragment: fragment page, "Tile Mins/Maxes", "Tile Sums",
//! "Tile Null Counts", "Fragment Min/Max/Sum/Null Count".

mod bounds;
mod fragment;
mod trust;

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_types::{Datatype, DatatypeClass};

pub use bounds::{TileMinMax, ValueSize};
pub use fragment::{FieldStatistics, FragmentStatistics};
pub use trust::{StatisticSet, exact_statistics, float_bounds_are_exact, statistics_are_exact, stored_statistics};

use crate::offsets::tile_list;

tile_list! {
    /// How many cells of each tile are null.
    pub struct TileNullCounts, "null count count", "null counts"
}

tile_list! {
    /// The sum of each tile, as the 8 bytes stored; [`Sum::from_bits`] gives them their meaning.
    pub struct TileSums, "sum count", "sums"
}

impl TileSums {
    /// The sum of a tile of a field with this datatype; `None` for a tile that is not there or a datatype without sums.
    #[must_use]
    pub fn sum(&self, tile: usize, datatype: Datatype) -> Option<Sum> {
        Sum::from_bits(self.get(tile)?, datatype)
    }
}

/// A sum of cells, null cells left out.
///
/// Writers stop at the bounds of the type instead of wrapping, so that a sum there is only a bound of the true one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sum {
    /// Signed integers, dates, times and CHAR.
    Signed(i64),
    /// Unsigned integers and booleans.
    Unsigned(u64),
    /// Floats.
    Float(f64),
}

impl Sum {
    /// The sum that these 8 bytes, as a number, stand for; `None` for a datatype without sums.
    #[must_use]
    pub fn from_bits(bits: u64, datatype: Datatype) -> Option<Self> {
        match datatype.class() {
            DatatypeClass::Signed => Some(Self::Signed(bits.cast_signed())),
            DatatypeClass::Text if datatype == Datatype::Char => Some(Self::Signed(bits.cast_signed())),
            DatatypeClass::Unsigned => Some(Self::Unsigned(bits)),
            DatatypeClass::Float => Some(Self::Float(f64::from_bits(bits))),
            DatatypeClass::Text | DatatypeClass::Opaque => None,
        }
    }

    /// The 8 bytes that are stored, as a number.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        match self {
            Self::Signed(sum) => sum.cast_unsigned(),
            Self::Unsigned(sum) => sum,
            Self::Float(sum) => sum.to_bits(),
        }
    }

    /// Whether the writer cannot have stopped at a bound of the type.
    #[must_use]
    pub fn is_exact(self) -> bool {
        match self {
            Self::Signed(sum) => sum != i64::MIN && sum != i64::MAX,
            Self::Unsigned(sum) => sum != u64::MAX,
            Self::Float(sum) => sum != f64::MIN && sum != f64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::Strategy;

    use super::*;
    use crate::test_support::encoded;

    #[test]
    fn a_sum_has_the_widest_type_of_its_class() {
        assert_eq!(Sum::from_bits(u64::MAX, Datatype::Int8), Some(Sum::Signed(-1)));
        assert_eq!(Sum::from_bits(u64::MAX, Datatype::Char), Some(Sum::Signed(-1)));
        assert_eq!(Sum::from_bits(u64::MAX, Datatype::Bool), Some(Sum::Unsigned(u64::MAX)));
        assert_eq!(Sum::from_bits(1.5f64.to_bits(), Datatype::Float32), Some(Sum::Float(1.5)));
        assert_eq!(Sum::from_bits(0, Datatype::StringAscii), None);
        assert_eq!(Sum::from_bits(0, Datatype::Blob), None);
    }

    #[test]
    fn a_sum_at_the_bounds_of_its_type_is_not_exact() {
        assert!(!Sum::Signed(i64::MAX).is_exact());
        assert!(!Sum::Float(f64::MIN).is_exact());
        assert!(Sum::Unsigned(0).is_exact());
    }

    talavera_testkit::decoder_laws! {
        mod sum_laws {
            value: TileSums = proptest::collection::vec(proptest::num::u64::ANY, 0..9).prop_map(TileSums),
            encode: |value: &TileSums| encoded(|w| value.encode(w)),
            decode: TileSums::decode,
        }
    }

    talavera_testkit::decoder_laws! {
        mod null_count_laws {
            value: TileNullCounts = proptest::collection::vec(proptest::num::u64::ANY, 0..9).prop_map(TileNullCounts),
            encode: |value: &TileNullCounts| encoded(|w| value.encode(w)),
            decode: TileNullCounts::decode,
        }
    }
}
