//! A range of one dimension (fragment metadata, "MBR"; 04-fragment-metadata §5).

use std::cmp::Ordering;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::Datatype;

use crate::Coordinate;

/// All values of one dimension from a low end to a high end, both included.
///
/// Bytes from outside may hold ranges that contain nothing (reversed, or with NaN); [`Range::is_valid`] tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// INT8 to INT64, dates and times.
    Signed(i64, i64),
    /// UINT8 to UINT64.
    Unsigned(u64, u64),
    /// FLOAT32.
    Float32(f32, f32),
    /// FLOAT64.
    Float64(f64, f64),
    /// STRING_ASCII, any bytes.
    String(Box<[u8]>, Box<[u8]>),
}

/// As `[low, high]`.
impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {}]", self.low(), self.high())
    }
}

impl Range {
    /// The range between two coordinates of one kind; `None` for two kinds.
    #[must_use]
    pub fn new(low: Coordinate<'_>, high: Coordinate<'_>) -> Option<Self> {
        Some(match (low, high) {
            (Coordinate::Signed(low), Coordinate::Signed(high)) => Self::Signed(low, high),
            (Coordinate::Unsigned(low), Coordinate::Unsigned(high)) => Self::Unsigned(low, high),
            (Coordinate::Float32(low), Coordinate::Float32(high)) => Self::Float32(low, high),
            (Coordinate::Float64(low), Coordinate::Float64(high)) => Self::Float64(low, high),
            (Coordinate::String(low), Coordinate::String(high)) => Self::String(low.into(), high.into()),
            _ => return None,
        })
    }

    /// The range of a single value.
    #[must_use]
    pub fn point(value: Coordinate<'_>) -> Self {
        match value {
            Coordinate::Signed(value) => Self::Signed(value, value),
            Coordinate::Unsigned(value) => Self::Unsigned(value, value),
            Coordinate::Float32(value) => Self::Float32(value, value),
            Coordinate::Float64(value) => Self::Float64(value, value),
            Coordinate::String(value) => Self::String(value.into(), value.into()),
        }
    }

    /// Reads the range of a dimension of `datatype`: both ends, behind two lengths for strings.
    ///
    /// Ends are taken as they are, because metadata of real arrays holds NaN; see [`Range::is_valid`].
    ///
    /// # Errors
    /// A [`DecodeError`] when bytes are missing, when lengths contradict each other, or when no dimension has this
    /// datatype.
    pub fn decode(r: &mut Reader<'_>, datatype: Datatype, field: &'static str) -> Result<Self, DecodeError> {
        if datatype == Datatype::StringAscii {
            return Self::decode_string(r, field);
        }
        let offset = r.offset();
        let low = Coordinate::decode(r, datatype, field)?;
        let high = Coordinate::decode(r, datatype, field)?;
        let two_kinds = DecodeErrorKind::Invalid { found: datatype.code().into(), expected: "the datatype of a dimension" };
        Self::new(low, high).ok_or_else(|| two_kinds.at(field, offset))
    }

    fn decode_string(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let total = r.u64(field)?;
        let at_low = r.offset();
        let low_bytes = r.u64(field)?;
        let Some(high_bytes) = total.checked_sub(low_bytes) else {
            let kind = DecodeErrorKind::Invalid { found: low_bytes, expected: "a length within that of the range" };
            return Err(kind.at(field, at_low));
        };
        let low = r.bytes(low_bytes, field)?;
        let high = r.bytes(high_bytes, field)?;
        Ok(Self::String(low.into(), high.into()))
    }

    /// Writes the range of a dimension of `datatype`.
    pub fn encode(&self, w: &mut Writer, datatype: Datatype) {
        if let Self::String(low, high) = self {
            w.u64((low.len() as u64).saturating_add(high.len() as u64));
            w.len_u64(low.len());
        }
        self.low().encode(w, datatype);
        self.high().encode(w, datatype);
    }

    /// The low end.
    #[must_use]
    #[inline]
    pub fn low(&self) -> Coordinate<'_> {
        match self {
            Self::Signed(low, _) => Coordinate::Signed(*low),
            Self::Unsigned(low, _) => Coordinate::Unsigned(*low),
            Self::Float32(low, _) => Coordinate::Float32(*low),
            Self::Float64(low, _) => Coordinate::Float64(*low),
            Self::String(low, _) => Coordinate::String(low),
        }
    }

    /// The high end.
    #[must_use]
    #[inline]
    pub fn high(&self) -> Coordinate<'_> {
        match self {
            Self::Signed(_, high) => Coordinate::Signed(*high),
            Self::Unsigned(_, high) => Coordinate::Unsigned(*high),
            Self::Float32(_, high) => Coordinate::Float32(*high),
            Self::Float64(_, high) => Coordinate::Float64(*high),
            Self::String(_, high) => Coordinate::String(high),
        }
    }

    /// Whether the low end is at most the high end and neither is NaN.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.low() <= self.high()
    }

    /// Whether dimensions of `datatype` have ranges of this kind, and a number fits into its bytes.
    #[must_use]
    pub fn is_of(&self, datatype: Datatype) -> bool {
        let bits = 8 * datatype.size();
        let fits = match *self {
            Self::Signed(low, high) => {
                let limit = i64::MAX >> 64usize.saturating_sub(bits).min(63);
                [low, high].iter().all(|end| (-limit - 1..=limit).contains(end))
            }
            Self::Unsigned(low, high) => low.max(high) <= u64::MAX >> 64usize.saturating_sub(bits).min(63),
            _ => true,
        };
        fits && self.low().is_of(datatype)
    }

    /// Whether a value lies in the range.
    #[must_use]
    #[inline]
    pub fn contains_coordinate(&self, value: Coordinate<'_>) -> bool {
        self.low() <= value && value <= self.high()
    }

    /// Whether all of `other` lies in the range; never for ranges of two kinds.
    #[must_use]
    #[inline]
    pub fn contains(&self, other: &Self) -> bool {
        self.low() <= other.low() && other.high() <= self.high()
    }

    /// Whether some value lies in both ranges; never for ranges of two kinds.
    #[must_use]
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        self.low() <= other.high() && other.low() <= self.high()
    }

    /// The values in both ranges, if there are any.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        if !self.intersects(other) {
            return None;
        }
        let low = if self.low() < other.low() { other.low() } else { self.low() };
        let high = if self.high() > other.high() { other.high() } else { self.high() };
        Self::new(low, high).filter(Self::is_valid)
    }

    /// Widens the range so that it contains `other`; a range of another kind changes nothing.
    pub fn union_with(&mut self, other: &Self) {
        let lower = other.low().partial_cmp(&self.low()) == Some(Ordering::Less);
        let higher = other.high().partial_cmp(&self.high()) == Some(Ordering::Greater);
        let low = if lower { other.low() } else { self.low() };
        let high = if higher { other.high() } else { self.high() };
        if let (true, Some(union)) = (lower || higher, Self::new(low, high)) {
            *self = union;
        }
    }

    /// The number of values in a valid range of integers; `None` for others, and for all 2⁶⁴ values.
    #[must_use]
    pub fn cell_count(&self) -> Option<u64> {
        let (low, high) = (self.low().integer_bits()?, self.high().integer_bits()?);
        if !self.is_valid() {
            return None;
        }
        high.wrapping_sub(low).checked_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_ranges_have_the_bytes_of_the_reference() {
        // [aa, zzz]: both lengths together, the first length, the bytes (03-schema §11).
        let bytes = [5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, b'a', b'a', b'z', b'z', b'z'];
        let range = Range::decode(&mut Reader::new(&bytes), Datatype::StringAscii, "range").unwrap();
        assert_eq!(range, Range::String(Box::from(*b"aa"), Box::from(*b"zzz")));
        let mut w = Writer::new();
        range.encode(&mut w, Datatype::StringAscii);
        assert_eq!(w.as_slice(), bytes);
    }

    #[test]
    fn a_first_length_above_the_whole_is_refused() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, b'a', b'a'];
        let error = Range::decode(&mut Reader::new(&bytes), Datatype::StringAscii, "MBR").unwrap_err();
        assert_eq!(error.to_string(), "MBR: 2 is not a length within that of the range (at byte 8)");
    }

    #[test]
    fn ranges_include_both_ends() {
        let (a, b) = (Range::Signed(-5, 3), Range::Signed(3, 9));
        assert!(a.intersects(&b) && !a.contains(&b));
        assert_eq!(a.intersection(&b), Some(Range::Signed(3, 3)));
        assert_eq!(a.intersection(&Range::Signed(4, 9)), None);
        assert_eq!(a.cell_count(), Some(9));
        let mut union = a.clone();
        union.union_with(&b);
        assert_eq!(union, Range::Signed(-5, 9));
        assert!(union.contains(&a) && union.contains(&b));
    }

    #[test]
    fn ranges_of_two_kinds_have_nothing_in_common() {
        let mut signed = Range::Signed(0, 9);
        let unsigned = Range::Unsigned(0, 9);
        assert!(!signed.intersects(&unsigned) && !signed.contains(&unsigned) && signed.intersection(&unsigned).is_none());
        signed.union_with(&unsigned);
        assert_eq!(signed, Range::Signed(0, 9));
    }

    #[test]
    fn nan_and_reversed_ranges_are_not_valid() {
        assert!(!Range::Float64(f64::NAN, 1.0).is_valid() && !Range::Float32(0.0, f32::NAN).is_valid());
        assert!(!Range::Unsigned(2, 1).is_valid());
        assert_eq!(Range::Unsigned(2, 1).cell_count(), None);
        assert_eq!(Range::Unsigned(0, u64::MAX).cell_count(), None);
        assert_eq!(Range::Signed(i64::MIN, i64::MAX - 1).cell_count(), Some(u64::MAX));
    }

    #[test]
    fn numbers_must_fit_their_datatype() {
        assert!(Range::Signed(-128, 127).is_of(Datatype::Int8) && !Range::Signed(-129, 0).is_of(Datatype::Int8));
        assert!(Range::Unsigned(0, 255).is_of(Datatype::UInt8) && !Range::Unsigned(0, 256).is_of(Datatype::UInt8));
        assert!(Range::Signed(i64::MIN, i64::MAX).is_of(Datatype::TimeNs));
        assert!(!Range::Float32(0.0, 1.0).is_of(Datatype::Float64));
    }
}
