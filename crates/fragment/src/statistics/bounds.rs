//! Minima or maxima of a field, one per tile: fragment page, "Tile Mins/Maxes".

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

use crate::FieldShape;

/// How long the values in a list of minima or maxima are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSize {
    /// Each takes this many bytes, never 0.
    Fixed(u64),
    /// They differ; the fixed part holds their offsets.
    Var,
}

impl ValueSize {
    /// That of the cells of a field.
    #[must_use]
    pub fn of(shape: FieldShape) -> Self {
        shape.cell_bytes().map_or(Self::Var, Self::Fixed)
    }
}

/// The minimum, or the maximum, of a field in each tile; also the first or last coordinate of a dimension in global order
/// (version 23).
///
/// A tile whose cells are all null has zero bytes, or no bytes where values differ in length. Text is compared by unsigned
/// bytes up to the first NUL; NaN replaces what was found before it, see [`float_bounds_are_exact`](crate::float_bounds_are_exact).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileMinMax {
    size: ValueSize,
    fixed: Vec<u8>,
    var: Vec<u8>,
}

impl TileMinMax {
    /// The list of these values.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Mismatch`] for a value that does not take [`ValueSize::Fixed`] bytes.
    pub fn new<'v>(size: ValueSize, values: impl IntoIterator<Item = &'v [u8]>) -> Result<Self, DecodeError> {
        let mut list = Self { size, fixed: Vec::new(), var: Vec::new() };
        for value in values {
            let found = value.len() as u64;
            match size {
                ValueSize::Fixed(expected) if found == expected => list.fixed.extend_from_slice(value),
                ValueSize::Fixed(expected) => {
                    return Err(DecodeErrorKind::Mismatch { found, expected }.at("tile bound size", list.fixed.len() as u64));
                }
                ValueSize::Var => {
                    list.fixed.extend_from_slice(&(list.var.len() as u64).to_le_bytes());
                    list.var.extend_from_slice(value);
                }
            }
        }
        Ok(list)
    }

    /// The list of a field that has no minima and maxima.
    #[must_use]
    pub fn none() -> Self {
        Self { size: ValueSize::Var, fixed: Vec::new(), var: Vec::new() }
    }

    /// Reads the payload of a generic tile: the bytes of the fixed part, the bytes of the variable part, then the two parts.
    /// (The format's page names a number of values first; both numbers are bytes.)
    ///
    /// # Errors
    /// When the parts do not make up the payload, do not hold whole values, or hold offsets that descend or leave the
    /// variable part.
    pub fn decode(payload: &[u8], size: ValueSize) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let fixed_bytes = r.u64("fixed tile bounds size")?;
        let var_bytes = r.u64("variable tile bounds size")?;
        let fixed_offset = r.offset();
        let fixed = r.bytes(fixed_bytes, "fixed tile bounds")?.to_vec();
        let var = r.bytes(var_bytes, "variable tile bounds")?.to_vec();
        r.finish("tile bounds")?;
        let list = Self { size, fixed, var };
        list.check(fixed_offset)?;
        Ok(list)
    }

    /// Writes what [`TileMinMax::decode`] reads.
    pub fn encode(&self, w: &mut Writer) {
        w.len_u64(self.fixed.len());
        w.len_u64(self.var.len());
        w.bytes(&self.fixed);
        w.bytes(&self.var);
    }

    /// The number of tiles; 0 also for a field without minima and maxima.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fixed.len().checked_div(self.step()).unwrap_or(0)
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty()
    }

    /// The value of a tile, in the bytes of the field's datatype.
    #[must_use]
    pub fn value(&self, tile: usize) -> Option<&[u8]> {
        match self.size {
            ValueSize::Fixed(_) => self.slot(tile),
            ValueSize::Var => {
                let start = self.var_offset(tile)?;
                let end = self.var_offset(tile + 1).unwrap_or(self.var.len());
                self.var.get(start..end)
            }
        }
    }

    fn check(&self, fixed_offset: u64) -> Result<(), DecodeError> {
        let found = self.fixed.len() as u64;
        let step = self.step() as u64;
        if found.checked_rem(step) != Some(0) {
            return Err(DecodeErrorKind::Invalid { found, expected: "a whole number of values" }.at("fixed tile bounds size", 0));
        }
        if let ValueSize::Fixed(_) = self.size {
            return match self.var.len() as u64 {
                0 => Ok(()),
                found => Err(DecodeErrorKind::Mismatch { found, expected: 0 }.at("variable tile bounds size", 8)),
            };
        }
        let mut end = self.var.len() as u64;
        let (offsets, _) = self.fixed.as_chunks::<8>();
        for (tile, offset) in offsets.iter().enumerate().rev() {
            let start = u64::from_le_bytes(*offset);
            if start > end {
                let at = fixed_offset + 8 * tile as u64;
                return Err(
                    DecodeErrorKind::Invalid { found: start, expected: "below the end of its value" }.at("tile bound offset", at)
                );
            }
            end = start;
        }
        Ok(())
    }

    /// Bytes that a tile takes in the fixed part.
    fn step(&self) -> usize {
        match self.size {
            ValueSize::Fixed(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
            ValueSize::Var => 8,
        }
    }

    fn slot(&self, tile: usize) -> Option<&[u8]> {
        let start = tile.checked_mul(self.step())?;
        self.fixed.get(start..start.checked_add(self.step())?)
    }

    fn var_offset(&self, tile: usize) -> Option<usize> {
        let bytes = self.slot(tile)?.first_chunk()?;
        usize::try_from(u64::from_le_bytes(*bytes)).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::encoded;

    #[test]
    fn values_of_equal_size_lie_side_by_side() {
        let list = TileMinMax::decode(
            &[
                4, 0, 0, 0, 0, 0, 0, 0, // four bytes of values
                0, 0, 0, 0, 0, 0, 0, 0, // none of them variable
                1, 2, // first tile
                3, 4, // second tile
            ],
            ValueSize::Fixed(2),
        )
        .unwrap();
        assert_eq!((list.len(), list.value(1), list.value(2)), (2, Some(&[3, 4][..]), None));
    }

    #[test]
    fn values_that_differ_in_size_lie_behind_their_offsets() {
        let payload = [
            16, 0, 0, 0, 0, 0, 0, 0, // two offsets
            3, 0, 0, 0, 0, 0, 0, 0, // three bytes of values
            0, 0, 0, 0, 0, 0, 0, 0, // first tile
            1, 0, 0, 0, 0, 0, 0, 0, // second tile
            b'x', b'y', b'z',
        ];
        let list = TileMinMax::decode(&payload, ValueSize::Var).unwrap();
        assert_eq!((list.value(0), list.value(1), list.value(2)), (Some(&b"x"[..]), Some(&b"yz"[..]), None));
        assert_eq!(TileMinMax::new(ValueSize::Var, [&b"x"[..], b"yz"]).unwrap(), list);
    }

    #[test]
    fn offsets_that_descend_or_leave_the_values_are_refused() {
        let decode = |first: u8, second: u8| {
            let mut w = Writer::new();
            w.u64s(&[16, 3, first.into(), second.into()]);
            w.bytes(b"xyz");
            TileMinMax::decode(w.as_slice(), ValueSize::Var).map_err(|error| error.to_string())
        };
        assert_eq!(decode(2, 1).unwrap_err(), "tile bound offset: 2 is not below the end of its value (at byte 16)");
        assert_eq!(decode(0, 4).unwrap_err(), "tile bound offset: 4 is not below the end of its value (at byte 24)");
        assert!(decode(3, 3).is_ok());
    }

    #[test]
    fn parts_that_do_not_hold_whole_values_are_refused() {
        let payload = [&[3][..], &[0; 15], &[1, 2, 3]].concat();
        assert!(TileMinMax::decode(&payload, ValueSize::Fixed(2)).is_err());
        assert!(TileMinMax::decode(&payload, ValueSize::Fixed(0)).is_err());
        assert!(TileMinMax::decode(&payload, ValueSize::Fixed(u64::MAX)).is_err());
        assert!(TileMinMax::decode(&payload, ValueSize::Var).is_err());
        assert!(TileMinMax::new(ValueSize::Fixed(2), [&[1][..]]).is_err());
    }

    prop_compose! {
        fn var_lists()(values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..5), 0..6)) -> TileMinMax {
            TileMinMax::new(ValueSize::Var, values.iter().map(Vec::as_slice)).unwrap()
        }
    }

    prop_compose! {
        fn fixed_lists()(values in proptest::collection::vec(any::<[u8; 4]>(), 0..6)) -> TileMinMax {
            TileMinMax::new(ValueSize::Fixed(4), values.iter().map(<[u8; 4]>::as_slice)).unwrap()
        }
    }

    fn decode_and_look(payload: &[u8], size: ValueSize) -> Result<TileMinMax, DecodeError> {
        let list = TileMinMax::decode(payload, size)?;
        assert!((0..list.len()).all(|tile| list.value(tile).is_some()), "a value of a checked list is missing");
        Ok(list)
    }

    talavera_testkit::decoder_laws! {
        mod var_laws {
            value: TileMinMax = var_lists(),
            encode: |value: &TileMinMax| encoded(|w| value.encode(w)),
            decode: |payload: &[u8]| decode_and_look(payload, ValueSize::Var),
        }
    }

    talavera_testkit::decoder_laws! {
        mod fixed_laws {
            value: TileMinMax = fixed_lists(),
            encode: |value: &TileMinMax| encoded(|w| value.encode(w)),
            decode: |payload: &[u8]| decode_and_look(payload, ValueSize::Fixed(4)),
        }
    }
}
