//! From the disk: 11-filters, "DOUBLE_DELTA"; the layout stands at the head of `encode.rs`.

use talavera_codec::{DecodeError, DecodeErrorKind, Reader};
use talavera_filter::differences::element_bytes;
use talavera_types::Datatype;

/// Fills `cells` from differences of differences.
///
/// # Errors
/// A [`DecodeError`] for floats, for a number of elements that does not fill `cells` exactly, and for too few or too many
/// bits.
pub fn decode(encoded: &[u8], datatype: Datatype, cells: &mut [u8]) -> Result<(), DecodeError> {
    // Signs make no difference here: sums wrap to the same bytes.
    match element_bytes(datatype) {
        Some(1) => decode_elements::<1>(encoded, cells),
        Some(2) => decode_elements::<2>(encoded, cells),
        Some(4) => decode_elements::<4>(encoded, cells),
        Some(_) => decode_elements::<8>(encoded, cells),
        None => Err(Reader::new(encoded).invalid("element datatype", datatype.code().into(), "a datatype of integers")),
    }
}

fn decode_elements<const N: usize>(encoded: &[u8], cells: &mut [u8]) -> Result<(), DecodeError> {
    let whole = cells.len() as u64;
    let mut r = Reader::new(encoded);
    let bits = u32::from(r.u8("bit size")?);
    let count = r.u64("element count")?;
    if count.checked_mul(N as u64) != Some(whole) {
        return Err(DecodeErrorKind::Mismatch { found: count, expected: whole / N as u64 }.at("element count", 1));
    }
    if bits as usize >= 8 * N - 1 {
        cells.copy_from_slice(r.bytes(whole, "elements")?);
        return r.finish("elements");
    }
    let elements = cells.as_chunks_mut::<N>().0;
    match elements {
        [] => {
            // The reference writes two elements of any content here, and no other writer does better.
            r.bytes(r.remaining().min(2 * N) as u64, "surplus elements")?;
        }
        [first] => *first = *r.array("first element")?,
        [first, second, rest @ ..] => {
            *first = *r.array("first element")?;
            *second = *r.array("second element")?;
            let word_count = (rest.len() as u64).saturating_mul(u64::from(bits) + 1).div_ceil(64);
            let words = r.bytes(word_count.saturating_mul(8), "double deltas")?.as_chunks::<8>().0;
            sum(words, bits, widen(first), widen(second), rest);
        }
    }
    r.finish("double deltas")
}

/// Adds up the differences of differences in `words`, of which there are enough for `elements`; `bits` is at most 62.
fn sum<const N: usize>(words: &[[u8; 8]], bits: u32, first: u64, second: u64, elements: &mut [[u8; N]]) {
    let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
    let code_bits = bits + 1;
    let magnitude = (1 << bits) - 1;
    let (mut delta, mut value) = (second.wrapping_sub(first), second);
    let (mut at, mut skip) = (0, 0);
    for element in elements {
        // Two words hold any code; finding it does not wait for the one before, which is what makes this loop fast.
        // Shifting by 1 first keeps the second shift below 64.
        let code = (word(at) << skip | word(at + 1) >> 1 >> (63 - skip)) >> (64 - code_bits);
        skip += code_bits;
        at += (skip / 64) as usize;
        skip %= 64;
        let negative = (code >> bits).wrapping_neg();
        let dd = ((code & magnitude) ^ negative).wrapping_sub(negative);
        delta = delta.wrapping_add(dd);
        value = value.wrapping_add(delta);
        if let Some(bytes) = value.to_le_bytes().first_chunk() {
            *element = *bytes;
        }
    }
}

fn widen<const N: usize>(element: &[u8; N]) -> u64 {
    element.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use talavera_codec::{BitReader, BitWriter, Writer};

    use super::*;

    #[test]
    fn a_number_of_elements_other_than_asked_for_is_refused() {
        // Bits, count, the only element.
        let one = [0, 1, 0, 0, 0, 0, 0, 0, 0, 42];
        assert!(decode(&one, Datatype::Int8, &mut [0; 1]).is_ok());
        assert!(decode(&one, Datatype::Int8, &mut [0; 2]).is_err());
        assert!(decode(&one, Datatype::Int8, &mut []).is_err());
        assert!(decode(&one, Datatype::Float32, &mut [0; 4]).is_err());
        assert!(decode(&[], Datatype::Int8, &mut []).is_err());
    }

    #[test]
    fn what_the_reference_writes_for_no_elements_is_read() {
        // An empty chunk of an INT32 array: bits 0, count 0, two elements of leftover memory.
        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0x9c, 0x0b, 0xd5, 0x5b, 5, 0, 0, 0];
        decode(&bytes, Datatype::Int32, &mut []).unwrap();
        assert!(decode(&[bytes.as_slice(), &[0]].concat(), Datatype::Int32, &mut []).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// The model takes sign and magnitude one after the other from the bit cursor.
        #[test]
        fn codes_are_those_of_the_bit_cursor(bits in 0u32..=62, codes: Vec<u64>, first: u64, second: u64) {
            let mut w = Writer::new();
            let mut stream = BitWriter::new(&mut w);
            codes.iter().for_each(|&code| stream.bits(code, bits + 1));
            stream.finish();
            let bytes = w.into_vec();

            let mut r = Reader::new(&bytes);
            let mut stream = BitReader::new(&mut r);
            let (mut delta, mut value) = (second.wrapping_sub(first), second);
            let mut expected = Vec::new();
            for _ in &codes {
                let negative = stream.bits(1, "sign").unwrap() == 1;
                let magnitude = stream.bits(bits, "magnitude").unwrap();
                delta = if negative { delta.wrapping_sub(magnitude) } else { delta.wrapping_add(magnitude) };
                value = value.wrapping_add(delta);
                expected.push(value.to_le_bytes());
            }

            let mut elements = vec![[0; 8]; codes.len()];
            sum(bytes.as_chunks::<8>().0, bits, first, second, &mut elements);
            prop_assert_eq!(elements, expected);
        }
    }
}
