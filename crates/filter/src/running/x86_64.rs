//! The kernels: SSE2, which every x86-64 has, and AVX-512.
//!
//! Within a vector, each element takes on the total of ever longer stretches before it: of one element, two, four. Only
//! the total of a whole vector is carried on, spread over all places, so that a vector waits for the one before by a
//! single step.

use std::arch::x86_64::{
    __m128i, __m512i, _mm_add_epi8, _mm_add_epi16, _mm_add_epi32, _mm_add_epi64, _mm_cvtsi128_si64, _mm_set1_epi8,
    _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x, _mm_shuffle_epi32, _mm_shufflehi_epi16, _mm_slli_si128, _mm_unpackhi_epi8,
    _mm_unpackhi_epi64, _mm_xor_si128, _mm512_add_epi8, _mm512_add_epi16, _mm512_add_epi32, _mm512_alignr_epi32,
    _mm512_broadcast_i32x4, _mm512_bslli_epi128, _mm512_castsi512_si128, _mm512_maskz_permutexvar_epi8, _mm512_permutexvar_epi8,
    _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_xor_si512,
};

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128, _mm512_loadu_si512, _mm512_storeu_si512};

use super::scalar;

/// As the plain version, by the vectors that are fastest: steps from lane to lane cost more than those within one, so that
/// elements of eight bytes, two to a lane, gain nothing from more lanes.
pub(super) fn totals<const S: usize, const XOR: bool>(before: u64, differences: &[u8], elements: &mut [u8]) {
    if S < 8 && differences.len() >= 64 && has_avx512() {
        // SAFETY: the features were detected on the line above.
        return unsafe { totals_avx512::<S, XOR>(before, differences, elements) };
    }
    // SAFETY: SSE2 is part of x86-64.
    unsafe { totals_sse2::<S, XOR>(before, differences, elements) }
}

fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi")
}

/// Of elements of one, two or four bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn totals_avx512<const S: usize, const XOR: bool>(before: u64, differences: &[u8], elements: &mut [u8]) {
    let (vectors, tail) = differences.as_chunks::<64>();
    let (out_vectors, out_tail) = elements.as_chunks_mut::<64>();
    let [odd, upper, last] = const { [last_of::<S>([0, 0, 0, 2]), last_of::<S>([0, 0, 1, 1]), last_of::<S>([3; 4])] };
    let (odd, upper, last) = (_mm512_loadu_si512(&odd), _mm512_loadu_si512(&upper), _mm512_loadu_si512(&last));
    let mut carry = _mm512_broadcast_i32x4(spread::<S>(before));
    for (out, vector) in out_vectors.iter_mut().zip(vectors) {
        let mut v = _mm512_loadu_si512(vector);
        if S == 4 {
            v = totals_of_sixteen::<XOR>(v);
            _mm512_storeu_si512(out, combine_64::<S, XOR>(v, carry));
            carry = combine_64::<S, XOR>(carry, _mm512_permutexvar_epi32(_mm512_set1_epi32(15), v));
            continue;
        }
        if S == 1 {
            v = combine_64::<S, XOR>(v, _mm512_bslli_epi128::<1>(v));
        }
        v = combine_64::<S, XOR>(v, _mm512_bslli_epi128::<2>(v));
        v = combine_64::<S, XOR>(v, _mm512_bslli_epi128::<4>(v));
        v = combine_64::<S, XOR>(v, _mm512_bslli_epi128::<8>(v));
        // Shifts stay within each of four lanes. The odd lanes take on the lane before, then the upper two the lower two.
        v = combine_64::<S, XOR>(v, _mm512_maskz_permutexvar_epi8(0xffff_0000_ffff_0000, odd, v));
        v = combine_64::<S, XOR>(v, _mm512_maskz_permutexvar_epi8(0xffff_ffff_0000_0000, upper, v));
        _mm512_storeu_si512(out, combine_64::<S, XOR>(v, carry));
        carry = combine_64::<S, XOR>(carry, _mm512_permutexvar_epi8(last, v));
    }
    totals_from::<S, XOR>(_mm512_castsi512_si128(carry), tail, out_tail);
}

/// The totals within a vector of elements of four bytes, of which shifts reach from lane to lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn totals_of_sixteen<const XOR: bool>(mut v: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    v = combine_64::<4, XOR>(v, _mm512_alignr_epi32::<15>(v, zero));
    v = combine_64::<4, XOR>(v, _mm512_alignr_epi32::<14>(v, zero));
    v = combine_64::<4, XOR>(v, _mm512_alignr_epi32::<12>(v, zero));
    combine_64::<4, XOR>(v, _mm512_alignr_epi32::<8>(v, zero))
}

#[target_feature(enable = "sse2")]
fn totals_sse2<const S: usize, const XOR: bool>(before: u64, differences: &[u8], elements: &mut [u8]) {
    totals_from::<S, XOR>(spread::<S>(before), differences, elements);
}

/// The totals behind one that stands in every place of `carry`.
#[inline]
#[target_feature(enable = "sse2")]
fn totals_from<const S: usize, const XOR: bool>(mut carry: __m128i, differences: &[u8], elements: &mut [u8]) {
    let (vectors, tail) = differences.as_chunks::<16>();
    let (out_vectors, out_tail) = elements.as_chunks_mut::<16>();
    for (out, vector) in out_vectors.iter_mut().zip(vectors) {
        let mut v = _mm_loadu_si128(vector);
        if S <= 1 {
            v = combine_16::<S, XOR>(v, _mm_slli_si128::<1>(v));
        }
        if S <= 2 {
            v = combine_16::<S, XOR>(v, _mm_slli_si128::<2>(v));
        }
        if S <= 4 {
            v = combine_16::<S, XOR>(v, _mm_slli_si128::<4>(v));
        }
        v = combine_16::<S, XOR>(v, _mm_slli_si128::<8>(v));
        _mm_storeu_si128(out, combine_16::<S, XOR>(v, carry));
        carry = combine_16::<S, XOR>(carry, spread_last::<S>(v));
    }
    scalar::totals::<S, XOR>(_mm_cvtsi128_si64(carry).cast_unsigned(), tail, out_tail);
}

/// For each byte of a vector, where the last element of a lane has it: of the given lane for each lane.
const fn last_of<const S: usize>(lanes: [u8; 4]) -> [u8; 64] {
    let mut places = [0; 64];
    let mut lane = 0;
    while lane < 4 {
        let mut byte = 0;
        while byte < 16 {
            #[expect(clippy::cast_possible_truncation, reason = "below 64")]
            #[expect(clippy::indexing_slicing, reason = "below 64")]
            {
                places[16 * lane + byte] = 16 * lanes[lane] + (16 - S + byte % S) as u8;
            }
            byte += 1;
        }
        lane += 1;
    }
    places
}

/// The low bytes of a number in every place.
#[inline]
#[target_feature(enable = "sse2")]
#[expect(clippy::cast_possible_truncation, reason = "the low bytes are asked for")]
fn spread<const S: usize>(element: u64) -> __m128i {
    let element = element.cast_signed();
    match S {
        1 => _mm_set1_epi8(element as i8),
        2 => _mm_set1_epi16(element as i16),
        4 => _mm_set1_epi32(element as i32),
        _ => _mm_set1_epi64x(element),
    }
}

/// The last element of a vector in every place.
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
fn combine_16<const S: usize, const XOR: bool>(a: __m128i, b: __m128i) -> __m128i {
    match S {
        _ if XOR => _mm_xor_si128(a, b),
        1 => _mm_add_epi8(a, b),
        2 => _mm_add_epi16(a, b),
        4 => _mm_add_epi32(a, b),
        _ => _mm_add_epi64(a, b),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn combine_64<const S: usize, const XOR: bool>(a: __m512i, b: __m512i) -> __m512i {
    match S {
        _ if XOR => _mm512_xor_si512(a, b),
        1 => _mm512_add_epi8(a, b),
        2 => _mm512_add_epi16(a, b),
        _ => _mm512_add_epi32(a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const S: usize, const XOR: bool>() {
        for len in 0..300 {
            let differences: Vec<u8> = (0..len).map(|i: usize| (i.wrapping_mul(0x9e37_79b1) >> 7).to_le_bytes()[0]).collect();
            let before = 0x1234_5678_9abc_def0;
            let (mut expected, mut found) = (vec![0; len], vec![0; len]);
            scalar::totals::<S, XOR>(before, &differences, &mut expected);
            totals::<S, XOR>(before, &differences, &mut found);
            assert_eq!(found, expected, "{len} bytes in elements of {S}");
            // SAFETY: SSE2 is part of x86-64.
            unsafe { totals_sse2::<S, XOR>(before, &differences, &mut found) };
            assert_eq!(found, expected, "{len} bytes in elements of {S}");
        }
    }

    #[test]
    fn the_kernels_equal_the_plain_version_on_odd_lengths() {
        check::<1, false>();
        check::<2, false>();
        check::<4, false>();
        check::<8, false>();
        check::<1, true>();
        check::<2, true>();
        check::<4, true>();
        check::<8, true>();
    }
}
