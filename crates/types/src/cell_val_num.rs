//! How many values make a cell.

use std::num::NonZeroU32;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

/// How many values of the datatype make a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellValNum {
    /// The same number in every cell.
    Fixed(NonZeroU32),
    /// Any number, none included; offsets say where a cell starts.
    Var,
}

impl CellValNum {
    /// One value in every cell.
    pub const ONE: Self = Self::Fixed(NonZeroU32::MIN);
    const VAR: u32 = u32::MAX;

    /// Whether cells differ in length.
    #[must_use]
    pub fn is_var(self) -> bool {
        self == Self::Var
    }

    /// The number of values in a cell, if it is the same in each.
    #[must_use]
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Fixed(values) => Some(values.get()),
            Self::Var => None,
        }
    }

    /// Reads the 32-bit number; all ones mean a variable one.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Invalid`] for 0.
    pub fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let offset = r.offset();
        match r.u32(field)? {
            Self::VAR => Ok(Self::Var),
            values => match NonZeroU32::new(values) {
                Some(values) => Ok(Self::Fixed(values)),
                None => Err(DecodeErrorKind::Invalid { found: 0, expected: "a number of values in a cell" }.at(field, offset)),
            },
        }
    }

    /// Writes the 32-bit number.
    pub fn encode(self, w: &mut Writer) {
        w.u32(self.fixed().unwrap_or(Self::VAR));
    }
}
