//! The SSE2 kernel: as the plain version, with vectors of 16 bytes instead of words of eight.

use std::arch::x86_64::{
    __m128i, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_setzero_si128, _mm_shuffle_epi32, _mm_shufflehi_epi16, _mm_slli_si128,
    _mm_unpackhi_epi8, _mm_unpackhi_epi64, _mm_xor_si128,
};

use crate::scalar;

/// Undoes xor for elements of 1, 2, 4 or 8 bytes.
pub(crate) fn unxor<const S: usize>(differences: &[u8], elements: &mut [u8]) {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { unxor_sse2::<S>(differences, elements) }
}

#[target_feature(enable = "sse2")]
fn unxor_sse2<const S: usize>(differences: &[u8], elements: &mut [u8]) {
    let (vectors, tail) = differences.as_chunks::<16>();
    let (out_vectors, out_tail) = elements.as_chunks_mut::<16>();
    let mut carry = _mm_setzero_si128();
    for (out, vector) in out_vectors.iter_mut().zip(vectors) {
        let running = running_xor::<S>(load(vector));
        store(out, _mm_xor_si128(running, carry));
        carry = _mm_xor_si128(carry, spread_last::<S>(running));
    }
    scalar::unxor_words::<S>(tail, out_tail, _mm_cvtsi128_si64(carry).cast_unsigned());
}

/// Each element of a vector xor all those before it in the vector.
#[inline]
#[target_feature(enable = "sse2")]
fn running_xor<const S: usize>(mut v: __m128i) -> __m128i {
    if S <= 1 {
        v = _mm_xor_si128(v, _mm_slli_si128::<1>(v));
    }
    if S <= 2 {
        v = _mm_xor_si128(v, _mm_slli_si128::<2>(v));
    }
    if S <= 4 {
        v = _mm_xor_si128(v, _mm_slli_si128::<4>(v));
    }
    _mm_xor_si128(v, _mm_slli_si128::<8>(v))
}

/// The last element of a vector in the place of every one.
#[inline]
#[target_feature(enable = "sse2")]
fn spread_last<const S: usize>(v: __m128i) -> __m128i {
    const LAST_OF_FOUR: i32 = 0xff;
    match S {
        1 => {
            let twice = _mm_shufflehi_epi16::<LAST_OF_FOUR>(_mm_unpackhi_epi8(v, v));
            _mm_unpackhi_epi64(twice, twice)
        }
        2 => {
            let high = _mm_shufflehi_epi16::<LAST_OF_FOUR>(v);
            _mm_unpackhi_epi64(high, high)
        }
        4 => _mm_shuffle_epi32::<LAST_OF_FOUR>(v),
        _ => _mm_unpackhi_epi64(v, v),
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn load(bytes: &[u8; 16]) -> __m128i {
    let (low, high) = bytes.split_at(8);
    _mm_set_epi64x(half(high), half(low))
}

#[inline]
fn half(bytes: &[u8]) -> i64 {
    bytes.first_chunk().copied().map_or(0, i64::from_le_bytes)
}

#[inline]
#[target_feature(enable = "sse2")]
fn store(bytes: &mut [u8; 16], v: __m128i) {
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&_mm_cvtsi128_si64(v).to_le_bytes());
    high.copy_from_slice(&_mm_cvtsi128_si64(_mm_unpackhi_epi64(v, v)).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const S: usize>() {
        for len in 0..100 {
            let differences: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(151) ^ 0x5a).collect();
            let (mut expected, mut found) = (vec![0; differences.len()], vec![0; differences.len()]);
            scalar::unxor(S, &differences, &mut expected);
            unxor::<S>(&differences, &mut found);
            assert_eq!(found, expected, "{len} bytes in elements of {S}");
        }
    }

    #[test]
    fn the_kernel_equals_the_plain_version_on_odd_lengths() {
        check::<1>();
        check::<2>();
        check::<4>();
        check::<8>();
    }
}
