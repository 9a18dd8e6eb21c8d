//! One coordinate of a cell: the value of one dimension.

use std::cmp::Ordering;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::{Datatype, DatatypeClass};

/// The value of one dimension.
///
/// Values of one kind compare as the format compares them: numbers by size, strings by unsigned bytes with the shorter
/// prefix first. Values of different kinds, and NaN, do not compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coordinate<'a> {
    /// INT8 to INT64, dates and times.
    Signed(i64),
    /// UINT8 to UINT64.
    Unsigned(u64),
    /// FLOAT32.
    Float32(f32),
    /// FLOAT64.
    Float64(f64),
    /// STRING_ASCII, any bytes.
    String(&'a [u8]),
}

/// As a person writes it; strings in quotes, bytes that are no text escaped.
impl std::fmt::Display for Coordinate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Float32(value) => value.fmt(f),
            Self::Float64(value) => value.fmt(f),
            Self::String(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
        }
    }
}

impl<'a> Coordinate<'a> {
    /// The coordinate whose bytes, little-endian, are all of `bytes`; `None` when their number or the datatype does not
    /// fit.
    #[must_use]
    pub fn from_le_bytes(datatype: Datatype, bytes: &'a [u8]) -> Option<Self> {
        if datatype == Datatype::StringAscii {
            return Some(Self::String(bytes));
        }
        if !datatype.is_dimension_type() || bytes.len() != datatype.size() {
            return None;
        }
        Some(match datatype {
            Datatype::Float32 => Self::Float32(f32::from_le_bytes(*bytes.first_chunk()?)),
            Datatype::Float64 => Self::Float64(f64::from_le_bytes(*bytes.first_chunk()?)),
            _ if datatype.class() == DatatypeClass::Signed => Self::Signed(signed_le(bytes)),
            _ => Self::Unsigned(unsigned_le(bytes)),
        })
    }

    /// Reads a coordinate of fixed size.
    pub(crate) fn decode(r: &mut Reader<'a>, datatype: Datatype, field: &'static str) -> Result<Self, DecodeError> {
        let offset = r.offset();
        let bytes = r.bytes(datatype.size() as u64, field)?;
        Self::from_le_bytes(datatype, bytes).ok_or_else(|| {
            DecodeErrorKind::Invalid { found: datatype.code().into(), expected: "the datatype of a dimension" }.at(field, offset)
        })
    }

    /// Writes the lowest `datatype.size()` bytes of a number, or the bytes of a string.
    pub fn encode(&self, w: &mut Writer, datatype: Datatype) {
        let size = datatype.size();
        match *self {
            Self::Signed(value) => w.bytes(value.to_le_bytes().get(..size).unwrap_or_default()),
            Self::Unsigned(value) => w.bytes(value.to_le_bytes().get(..size).unwrap_or_default()),
            Self::Float32(value) => w.f32(value),
            Self::Float64(value) => w.f64(value),
            Self::String(bytes) => w.bytes(bytes),
        }
    }

    /// Whether dimensions of `datatype` have coordinates of this kind.
    #[must_use]
    pub fn is_of(&self, datatype: Datatype) -> bool {
        match self {
            Self::Signed(_) => datatype.class() == DatatypeClass::Signed,
            Self::Unsigned(_) => datatype.class() == DatatypeClass::Unsigned && datatype != Datatype::Bool,
            Self::Float32(_) => datatype == Datatype::Float32,
            Self::Float64(_) => datatype == Datatype::Float64,
            Self::String(_) => datatype == Datatype::StringAscii,
        }
    }

    /// The bits of an integer as an unsigned number, so that wrapping subtraction gives distances; `None` otherwise.
    #[must_use]
    pub fn integer_bits(&self) -> Option<u64> {
        match *self {
            Self::Signed(value) => Some(value.cast_unsigned()),
            Self::Unsigned(value) => Some(value),
            _ => None,
        }
    }

    /// A number as the nearest 64-bit float, as the Hilbert order takes it; `None` for strings.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is what the format asks for")]
    pub fn to_f64(&self) -> Option<f64> {
        match *self {
            Self::Signed(value) => Some(value as f64),
            Self::Unsigned(value) => Some(value as f64),
            Self::Float32(value) => Some(value.into()),
            Self::Float64(value) => Some(value),
            Self::String(_) => None,
        }
    }
}

impl PartialOrd for Coordinate<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Signed(a), Self::Signed(b)) => a.partial_cmp(b),
            (Self::Unsigned(a), Self::Unsigned(b)) => a.partial_cmp(b),
            (Self::Float32(a), Self::Float32(b)) => a.partial_cmp(b),
            (Self::Float64(a), Self::Float64(b)) => a.partial_cmp(b),
            (Self::String(a), Self::String(b)) => a.partial_cmp(b),
            _ => None,
        }
    }
}

/// The number in up to eight little-endian bytes.
pub(crate) fn unsigned_le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The number in one to eight little-endian bytes, sign included.
fn signed_le(bytes: &[u8]) -> i64 {
    let unused_bits = 64u32.saturating_sub(8 * u32::try_from(bytes.len()).unwrap_or(8)).min(63);
    (unsigned_le(bytes) << unused_bits).cast_signed() >> unused_bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_keep_their_sign() {
        let read = |datatype, bytes: &'static [u8]| Coordinate::from_le_bytes(datatype, bytes).unwrap();
        assert_eq!(read(Datatype::Int8, &[0xff]), Coordinate::Signed(-1));
        assert_eq!(read(Datatype::Int16, &[0, 0x80]), Coordinate::Signed(-32768));
        assert_eq!(read(Datatype::UInt8, &[0xff]), Coordinate::Unsigned(255));
        assert_eq!(read(Datatype::DateTimeDay, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Coordinate::Signed(-2));
        assert_eq!(Coordinate::from_le_bytes(Datatype::Int16, &[0]), None);
        assert_eq!(Coordinate::from_le_bytes(Datatype::Bool, &[0]), None);
    }

    #[test]
    fn strings_compare_as_unsigned_bytes() {
        let string = |bytes: &'static [u8]| Coordinate::String(bytes);
        assert!(string(b"") < string(b"\0") && string(b"a") < string(b"ab") && string(b"z") < string(b"\x80"));
    }

    #[test]
    fn different_kinds_do_not_compare() {
        assert_eq!(Coordinate::Signed(1).partial_cmp(&Coordinate::Unsigned(1)), None);
    }
}
