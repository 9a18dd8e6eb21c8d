#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader};
use talavera_filter::FilterError;
use talavera_filter::differences::{element_bytes, require_element_bytes};
use talavera_filter::running::sums;
use talavera_types::{Datatype, FilterType};

pub use filter::Delta;

/// Appends the number of elements, the first element and the difference of each further one from the one before, which
/// wraps, to `out` (11-filters, "DELTA").
///
/// # Errors
/// [`FilterError::Unsupported`] for floats, [`FilterError::InvalidInput`] when `cells` does not hold whole elements: the
/// reference would lose the rest without a word.
pub fn encode(cells: &[u8], datatype: Datatype, out: &mut Vec<u8>) -> Result<(), FilterError> {
    let element_bytes = require_element_bytes(FilterType::Delta, datatype)?;
    if !cells.len().is_multiple_of(element_bytes) {
        let reason = format!("{} bytes, which are not whole elements of {datatype}", cells.len());
        return Err(FilterError::invalid_input(FilterType::Delta, reason));
    }
    out.extend_from_slice(&((cells.len() / element_bytes) as u64).to_le_bytes());
    let start = out.len();
    out.resize(start + cells.len(), 0);
    let deltas = out.get_mut(start..).unwrap_or_default();
    match element_bytes {
        1 => subtract::<u8, 1>(cells, deltas),
        2 => subtract::<u16, 2>(cells, deltas),
        4 => subtract::<u32, 4>(cells, deltas),
        _ => subtract::<u64, 8>(cells, deltas),
    }
    Ok(())
}

/// Fills `cells` from a number of elements and their differences.
///
/// One element more than the number says is ignored; libtiledb 2.16 writes it.
///
/// # Errors
/// A [`DecodeError`] for floats, for a number of elements that does not fill `cells` exactly, and for too few or too many
/// differences.
pub fn decode(deltas: &[u8], datatype: Datatype, cells: &mut [u8]) -> Result<(), DecodeError> {
    let mut r = Reader::new(deltas);
    let Some(element_bytes) = element_bytes(datatype) else {
        return Err(r.invalid("element datatype", datatype.code().into(), "a datatype of integers"));
    };
    let count = r.u64("element count")?;
    if count.checked_mul(element_bytes as u64) != Some(cells.len() as u64) {
        let kind = DecodeErrorKind::Mismatch { found: count, expected: (cells.len() / element_bytes) as u64 };
        return Err(kind.at("element count", 0));
    }
    let deltas = r.bytes(cells.len() as u64, "element differences")?;
    if r.remaining() == element_bytes {
        r.bytes(element_bytes as u64, "surplus element")?;
    }
    r.finish("element differences")?;
    match element_bytes {
        1 => sums::<1>(0, deltas, cells),
        2 => sums::<2>(0, deltas, cells),
        4 => sums::<4>(0, deltas, cells),
        _ => sums::<8>(0, deltas, cells),
    }
    Ok(())
}

/// An integer of `N` bytes; signed ones wrap to the same bytes.
trait Element<const N: usize>: Copy + Default {
    fn from_bytes(bytes: [u8; N]) -> Self;
    fn to_bytes(self) -> [u8; N];
    fn minus(self, other: Self) -> Self;
}

macro_rules! elements {
    ($($type:ty = $bytes:literal)*) => {$(
        impl Element<$bytes> for $type {
            #[inline]
            fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self::from_le_bytes(bytes)
            }

            #[inline]
            fn to_bytes(self) -> [u8; $bytes] {
                self.to_le_bytes()
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}

elements! { u8 = 1 u16 = 2 u32 = 4 u64 = 8 }

fn subtract<T: Element<N>, const N: usize>(cells: &[u8], deltas: &mut [u8]) {
    let mut previous = T::default();
    for (delta, cell) in deltas.as_chunks_mut::<N>().0.iter_mut().zip(cells.as_chunks::<N>().0) {
        let element = T::from_bytes(*cell);
        *delta = element.minus(previous).to_bytes();
        previous = element;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_are_cut_are_refused() {
        assert!(encode(&[1, 2, 3], Datatype::Int16, &mut Vec::new()).is_err());
        let one = [1, 0, 0, 0, 0, 0, 0, 0, 5, 0];
        assert!(decode(&one, Datatype::Int16, &mut [0; 2]).is_ok());
        assert!(decode(&one, Datatype::Int16, &mut [0; 3]).is_err());
        assert!(decode(&one, Datatype::Int16, &mut [0; 1]).is_err());
    }

    #[test]
    fn floats_are_refused_both_ways() {
        assert!(matches!(encode(&[], Datatype::Float32, &mut Vec::new()), Err(FilterError::Unsupported { .. })));
        assert!(decode(&[0; 8], Datatype::Float64, &mut []).is_err());
    }

    #[test]
    fn text_of_any_encoding_counts_in_bytes() {
        let mut deltas = Vec::new();
        encode(&[1, 2, 4], Datatype::StringUtf16, &mut deltas).unwrap();
        assert_eq!(deltas, [3, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2]);
    }

    #[test]
    fn counts_that_wrap_are_refused() {
        // 2^61 elements of eight bytes are 2^64 bytes, which wraps to none.
        let bytes = (1u64 << 61).to_le_bytes();
        assert!(decode(&bytes, Datatype::Int64, &mut []).is_err());
    }
}
