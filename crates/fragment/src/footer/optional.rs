//! Sections at the end of a footer that a reader may skip: fragment page, "Optional Footer Sections" (version 23).

use talavera_codec::{DecodeError, Reader, Writer};

/// A section at the end of a footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionalSection {
    /// The first and last coordinate of each tile in global order, sparse fragments only.
    GlobalOrderBounds {
        /// For each dimension, the offset of a [`TileMinMax`](crate::TileMinMax) with that of each tile's first cell.
        mins: Vec<u64>,
        /// For each dimension, the offset of a [`TileMinMax`](crate::TileMinMax) with that of each tile's last cell.
        maxes: Vec<u64>,
    },
    /// A section that is not known here.
    Unknown {
        /// What says so; never 0.
        id: u64,
        /// Its bytes.
        data: Vec<u8>,
    },
}

impl OptionalSection {
    const GLOBAL_ORDER_BOUNDS: u64 = 0;

    /// Reads all sections of a fragment with this many dimensions: a 32-bit count; number, 32-bit size and bytes of each.
    ///
    /// # Errors
    /// When the count or a size does not match the bytes.
    pub(crate) fn decode_all(r: &mut Reader<'_>, dimensions: u64) -> Result<Vec<Self>, DecodeError> {
        let count = r.count_u32("optional section count", 12)?;
        (0..count).map(|_| Self::decode(r, dimensions)).collect()
    }

    fn decode(r: &mut Reader<'_>, dimensions: u64) -> Result<Self, DecodeError> {
        let id = r.u64("optional section id")?;
        let size = r.u32("optional section size")?;
        let mut section = r.split(size.into(), "optional section")?;
        if id != Self::GLOBAL_ORDER_BOUNDS {
            return Ok(Self::Unknown { id, data: section.rest().to_vec() });
        }
        let mins = section.u64s(dimensions, "global order mins offsets")?;
        let maxes = section.u64s(dimensions, "global order maxes offsets")?;
        section.finish("global order bounds")?;
        Ok(Self::GlobalOrderBounds { mins, maxes })
    }

    /// Writes what [`OptionalSection::decode_all`] reads.
    pub(crate) fn encode_all(sections: &[Self], w: &mut Writer) {
        w.len_u32(sections.len());
        for section in sections {
            section.encode(w);
        }
    }

    fn encode(&self, w: &mut Writer) {
        match self {
            Self::GlobalOrderBounds { mins, maxes } => {
                w.u64(Self::GLOBAL_ORDER_BOUNDS);
                w.len_u32(8 * (mins.len() + maxes.len()));
                w.u64s(mins);
                w.u64s(maxes);
            }
            Self::Unknown { id, data } => {
                w.u64(*id);
                w.bytes_u32(data);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::encoded;

    #[test]
    fn sections_that_are_not_known_are_passed_over_by_their_size() {
        let bytes = [
            2, 0, 0, 0, // two sections
            7, 0, 0, 0, 0, 0, 0, 0, // number 7, not known
            3, 0, 0, 0, // of three bytes
            1, 2, 3, //
            0, 0, 0, 0, 0, 0, 0, 0, // global order bounds
            16, 0, 0, 0, // of sixteen bytes: one dimension
            100, 0, 0, 0, 0, 0, 0, 0, // minima at 100
            200, 0, 0, 0, 0, 0, 0, 0, // maxima at 200
        ];
        let mut r = Reader::new(&bytes);
        let sections = OptionalSection::decode_all(&mut r, 1).unwrap();
        assert!(r.is_empty());
        assert_eq!(
            sections,
            [
                OptionalSection::Unknown { id: 7, data: vec![1, 2, 3] },
                OptionalSection::GlobalOrderBounds { mins: vec![100], maxes: vec![200] },
            ]
        );
        assert_eq!(encoded(|w| OptionalSection::encode_all(&sections, w)), bytes);
        let error = OptionalSection::decode_all(&mut Reader::new(&bytes), 2).unwrap_err();
        assert_eq!(error.field, "global order maxes offsets");
    }

    fn sections() -> impl Strategy<Value = Vec<OptionalSection>> {
        let offsets = || proptest::collection::vec(any::<u64>(), 2);
        let bounds = (offsets(), offsets()).prop_map(|(mins, maxes)| OptionalSection::GlobalOrderBounds { mins, maxes });
        let unknown =
            (1u64.., proptest::collection::vec(any::<u8>(), 0..9)).prop_map(|(id, data)| OptionalSection::Unknown { id, data });
        proptest::collection::vec(prop_oneof![bounds, unknown], 0..4)
    }

    talavera_testkit::decoder_laws! {
        mod laws {
            value: Vec<OptionalSection> = sections(),
            encode: |value: &Vec<OptionalSection>| encoded(|w| OptionalSection::encode_all(value, w)),
            decode: |bytes: &[u8]| OptionalSection::decode_all(&mut Reader::new(bytes), 2),
        }
    }
}
