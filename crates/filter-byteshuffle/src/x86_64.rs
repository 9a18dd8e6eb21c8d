//! The AVX2 kernels.
//!
//! Everything is one step repeated: zip the bytes of the first half of a list of vectors with those of its second half.
//! Number the bytes of `S` vectors of 16: the step moves the highest bit of a byte's number to the lowest place. Rows
//! have the byte's weight in the high `log2(S)` bits and elements have it in the low ones, so `log2(S)` steps unshuffle
//! and four steps shuffle. The two halves of a 32-byte register hold two such lists side by side.

#![expect(clippy::indexing_slicing, reason = "all indices are below S, and offsets below the lengths checked at entry")]

use std::arch::x86_64::{
    __m256i, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_set_m128i, _mm256_setzero_si256, _mm256_unpackhi_epi8,
    _mm256_unpacklo_epi8,
};

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256};

/// Elements that one round takes: 16 in each half of the registers.
const GROUP: usize = 32;

/// Groups of elements of eight bytes that are shuffled before their rows are written.
const GROUPS: usize = 16;

/// Shuffles and says so, or leaves it to the plain version.
pub(crate) fn shuffle<const S: usize>(elements: &[u8], rows: &mut [u8]) -> bool {
    let count = elements.len() / S;
    if count < GROUP || rows.len() != elements.len() || !is_x86_feature_detected!("avx2") {
        return false;
    }
    // SAFETY: AVX2 was detected on the line above.
    unsafe { shuffle_avx2::<S>(elements, rows, count) };
    for i in count - count % GROUP..count {
        for b in 0..S {
            rows[b * count + i] = elements[i * S + b];
        }
    }
    true
}

/// Unshuffles and says so, or leaves it to the plain version.
pub(crate) fn unshuffle<const S: usize>(rows: &[u8], elements: &mut [u8]) -> bool {
    let count = elements.len() / S;
    if count < GROUP || rows.len() != elements.len() || !is_x86_feature_detected!("avx2") {
        return false;
    }
    // SAFETY: AVX2 was detected on the line above.
    unsafe { unshuffle_avx2::<S>(rows, elements, count) };
    for i in count - count % GROUP..count {
        for b in 0..S {
            elements[i * S + b] = rows[b * count + i];
        }
    }
    true
}

/// Shuffles whole groups.
#[target_feature(enable = "avx2")]
fn shuffle_avx2<const S: usize>(elements: &[u8], rows: &mut [u8], count: usize) {
    if S == 8 {
        return shuffle_by_rows::<S>(elements, rows, count);
    }
    for (g, group) in elements.chunks_exact(GROUP * S).enumerate() {
        for (b, v) in shuffle_group::<S>(group).into_iter().enumerate() {
            if let Some(out) = rows[b * count + g * GROUP..].first_chunk_mut() {
                _mm256_storeu_si256(out, v);
            }
        }
    }
}

/// As the loop above, with several groups at a time before their rows are written.
///
/// Where a row takes a multiple of 4 KiB, as in chunks of 64 KiB, the cache lines of all rows compete for the same place
/// in the cache. Writing each row a while before the next gains a third there for eight rows, and nothing for fewer.
#[inline]
#[target_feature(enable = "avx2")]
fn shuffle_by_rows<const S: usize>(elements: &[u8], rows: &mut [u8], count: usize) {
    let mut gathered = [[_mm256_setzero_si256(); GROUPS]; S];
    for (run, groups) in elements.chunks(GROUPS * GROUP * S).enumerate() {
        let groups = groups.chunks_exact(GROUP * S);
        let group_count = groups.len();
        for (g, group) in groups.enumerate() {
            for (row, v) in gathered.iter_mut().zip(shuffle_group::<S>(group)) {
                row[g] = v;
            }
        }
        for (b, row) in gathered.iter().enumerate() {
            let out = &mut rows[b * count + run * GROUPS * GROUP..][..group_count * GROUP];
            for (out, v) in out.as_chunks_mut().0.iter_mut().zip(row) {
                _mm256_storeu_si256(out, *v);
            }
        }
    }
}

/// One register of each row, from the group at the front of `elements`.
#[inline]
#[target_feature(enable = "avx2")]
fn shuffle_group<const S: usize>(elements: &[u8]) -> [__m256i; S] {
    let (first, second) = elements.split_at(16 * S);
    let mut v = [_mm256_setzero_si256(); S];
    for (v, (low, high)) in v.iter_mut().zip(first.as_chunks().0.iter().zip(second.as_chunks().0)) {
        *v = _mm256_set_m128i(_mm_loadu_si128(high), _mm_loadu_si128(low));
    }
    zip(zip(zip(zip(v))))
}

/// Unshuffles whole groups.
#[target_feature(enable = "avx2")]
fn unshuffle_avx2<const S: usize>(rows: &[u8], elements: &mut [u8], count: usize) {
    for (g, group) in elements.chunks_exact_mut(GROUP * S).enumerate() {
        let mut v = [_mm256_setzero_si256(); S];
        for (b, v) in v.iter_mut().enumerate() {
            let at = b * count + g * GROUP;
            if let Some(row) = rows[at..].first_chunk() {
                *v = _mm256_loadu_si256(row);
            }
        }
        for _ in 0..S.ilog2() {
            v = zip(v);
        }
        let (first, second) = group.split_at_mut(16 * S);
        for (v, (low, high)) in v.into_iter().zip(first.as_chunks_mut().0.iter_mut().zip(second.as_chunks_mut().0)) {
            _mm_storeu_si128(low, _mm256_castsi256_si128(v));
            _mm_storeu_si128(high, _mm256_extracti128_si256::<1>(v));
        }
    }
}

/// Zips the first half of the vectors with the second, in both halves of the registers alike.
#[inline]
#[target_feature(enable = "avx2")]
fn zip<const S: usize>(v: [__m256i; S]) -> [__m256i; S] {
    let mut zipped = v;
    for i in 0..S / 2 {
        zipped[2 * i] = _mm256_unpacklo_epi8(v[i], v[i + S / 2]);
        zipped[2 * i + 1] = _mm256_unpackhi_epi8(v[i], v[i + S / 2]);
    }
    zipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar;

    /// Kernel and plain version, both ways, on every count of elements around a few groups.
    fn check<const S: usize>() {
        for count in (0..4 * GROUP + 3).chain([1000, 8192, 8225]) {
            let elements: Vec<u8> = (0..count * S).map(|i: usize| (i.wrapping_mul(0x9e37_79b1) >> 7).to_le_bytes()[0]).collect();
            let mut expected = vec![0; elements.len()];
            scalar::shuffle(S, &elements, &mut expected);
            let mut rows = vec![0; elements.len()];
            if !shuffle::<S>(&elements, &mut rows) {
                continue;
            }
            assert_eq!(rows, expected, "{count} elements of {S} bytes");
            let mut back = vec![0; elements.len()];
            assert!(unshuffle::<S>(&rows, &mut back));
            assert_eq!(back, elements, "{count} elements of {S} bytes");
        }
    }

    #[test]
    fn the_kernels_equal_the_plain_version_on_odd_lengths() {
        check::<2>();
        check::<4>();
        check::<8>();
    }
}
