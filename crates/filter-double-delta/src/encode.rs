//! Towards the disk: 11-filters, "DOUBLE_DELTA".
//!
//! ```text
//! part := u8 bits; u64 element count; then
//!         bits at least 8 × element size - 1: the elements as they are
//!         otherwise: the first two elements; for each further one a sign bit and `bits` bits, in 64-bit words
//! ```

use talavera_codec::{BitWriter, Writer};
use talavera_filter::FilterError;
use talavera_filter::differences::require_element_bytes;
use talavera_types::{Datatype, FilterType};

use crate::element::Element;

/// Appends the differences of differences of `cells` to `out`.
///
/// # Errors
/// [`FilterError::Unsupported`] for floats; [`FilterError::InvalidInput`] when `cells` does not hold whole elements, which
/// the reference would lose without a word, and when a difference does not fit into 64 bits with a sign.
pub fn encode(cells: &[u8], datatype: Datatype, out: &mut Vec<u8>) -> Result<(), FilterError> {
    use Datatype as D;
    let element_bytes = require_element_bytes(FilterType::DoubleDelta, datatype)?;
    match datatype {
        D::Int8 | D::Char => encode_elements::<i8, 1>(cells, out),
        D::Int16 => encode_elements::<i16, 2>(cells, out),
        D::UInt16 => encode_elements::<u16, 2>(cells, out),
        D::Int32 => encode_elements::<i32, 4>(cells, out),
        D::UInt32 => encode_elements::<u32, 4>(cells, out),
        D::UInt64 => encode_elements::<u64, 8>(cells, out),
        // Text in any encoding, and whatever else is one byte.
        _ if element_bytes == 1 => encode_elements::<u8, 1>(cells, out),
        // Dates and times are as INT64.
        _ => encode_elements::<i64, 8>(cells, out),
    }
}

fn encode_elements<T: Element<N>, const N: usize>(cells: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    let (elements, []) = cells.as_chunks::<N>() else {
        return Err(refused(format!("{} bytes, which are not whole elements of {N}", cells.len())));
    };
    let bits = bits::<T, N>(elements).ok_or_else(|| refused("a difference does not fit into 64 bits".into()))?;
    let mut w = Writer::new();
    w.u8(u8::try_from(bits).unwrap_or(u8::MAX));
    w.len_u64(elements.len());
    if bits as usize >= 8 * N - 1 {
        w.bytes(cells);
    } else {
        w.bytes(elements.as_flattened().get(..2 * N).unwrap_or(cells));
        let mut stream = BitWriter::new(&mut w);
        for dd in double_deltas::<T, N>(elements).flatten() {
            stream.bits(u64::from(dd < 0) << bits | dd.unsigned_abs(), bits + 1);
        }
        stream.finish();
    }
    out.extend_from_slice(w.as_slice());
    Ok(())
}

/// The bits that the largest magnitude needs, at least 1; none where there is nothing to write.
fn bits<T: Element<N>, const N: usize>(elements: &[[u8; N]]) -> Option<u32> {
    let [first, second, _, ..] = elements else { return Some(0) };
    // A union of bits is as long as the longest. Since 2.29 the reference counts the first difference too, as the
    // difference from a difference of 0.
    let mut union = T::from_bytes(*second).minus(T::from_bytes(*first))?.unsigned_abs();
    for dd in double_deltas::<T, N>(elements) {
        union |= dd?.unsigned_abs();
    }
    Some((u64::BITS - union.leading_zeros()).max(1))
}

/// The difference of differences of each element from the third on, where it fits.
#[inline]
fn double_deltas<T: Element<N>, const N: usize>(elements: &[[u8; N]]) -> impl Iterator<Item = Option<i64>> {
    elements.windows(3).map(|elements| {
        let [a, b, c] = *<&[[u8; N]; 3]>::try_from(elements).ok()?;
        let (a, b, c) = (T::from_bytes(a), T::from_bytes(b), T::from_bytes(c));
        c.minus(b)?.checked_sub(b.minus(a)?)
    })
}

#[cold]
fn refused(reason: String) -> FilterError {
    FilterError::invalid_input(FilterType::DoubleDelta, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded<const N: usize>(elements: &[[u8; N]], datatype: Datatype) -> Result<Vec<u8>, FilterError> {
        let mut out = Vec::new();
        encode(elements.as_flattened(), datatype, &mut out)?;
        Ok(out)
    }

    #[test]
    fn differences_that_do_not_fit_are_refused() {
        let signed = |elements: &[i64]| {
            let bytes: Vec<_> = elements.iter().map(|element| element.to_le_bytes()).collect();
            encoded(&bytes, Datatype::Int64)
        };
        assert!(signed(&[i64::MIN, i64::MAX]).is_ok(), "two elements are stored as they are");
        assert!(signed(&[i64::MIN, i64::MAX, 0]).is_err());
        assert!(signed(&[0, i64::MAX, 0]).is_err(), "the difference of differences");
        assert_eq!(signed(&[0, i64::MAX / 2, 0]).unwrap()[0], 63, "as they are");
        let unsigned = [0, u64::MAX, 0].map(u64::to_le_bytes);
        assert!(encoded(&unsigned, Datatype::UInt64).is_err());
        assert!(encoded(&[u64::MAX, u64::MAX - 1, u64::MAX].map(u64::to_le_bytes), Datatype::UInt64).is_ok());
    }

    #[test]
    fn the_first_difference_counts_for_the_bits() {
        // 100, 110, 120: the only difference of differences is 0, the first difference 10 needs four bits.
        assert_eq!(encoded(&[[100], [110], [120]], Datatype::UInt8).unwrap()[0], 4);
    }

    #[test]
    fn elements_that_are_cut_are_refused() {
        assert!(encode(&[1, 2, 3], Datatype::Int16, &mut Vec::new()).is_err());
        assert!(matches!(encode(&[], Datatype::Float32, &mut Vec::new()), Err(FilterError::Unsupported { .. })));
    }
}
