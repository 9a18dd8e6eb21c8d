//! The AVX2 kernels.
//!
//! Shuffling a block is two steps. Bytes of equal place come together: elements of `S` bytes become `S` rows. Then each
//! eight bytes of a row are a matrix of bits that becomes one byte of eight rows: the bytes come together once more, eight
//! registers now hold the rows of 32 matrices, and bits change places between registers. Unshuffling goes backwards.
//!
//! Bringing bytes together is one move repeated: zip the bytes of the first half of a list of vectors with those of its
//! second half. Number the bytes of `S` vectors of 16: the move takes the highest bit of a byte's number to the lowest
//! place. Rows have the byte's weight in the high `log2(S)` bits and elements have it in the low ones, so four moves lead
//! to rows and `log2(S)` moves to elements. The two halves of a 32-byte register hold two such lists side by side.

#![expect(clippy::indexing_slicing, reason = "all indices are below S, and offsets below the lengths checked at entry")]

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_set_m128i, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8, _mm256_xor_si256,
};

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256};

use crate::{BLOCK_BYTES, scalar::transpose};

/// Elements that one round takes: 16 in each half of the registers.
pub(super) const GROUP: usize = 32;

#[target_feature(enable = "avx2")]
pub(super) fn shuffle<const S: usize>(elements: &[u8], rows: &mut [u8]) {
    let mut buffer = [0; BLOCK_BYTES];
    let byte_rows = if S == 1 {
        elements
    } else {
        let byte_rows = &mut buffer[..elements.len()];
        to_rows::<S, false>(elements, byte_rows);
        byte_rows
    };
    let row_bytes = elements.len() / S;
    for (byte_row, rows) in byte_rows.chunks_exact(row_bytes).zip(rows.chunks_exact_mut(row_bytes)) {
        to_rows::<8, true>(byte_row, rows);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn unshuffle<const S: usize>(rows: &[u8], elements: &mut [u8]) {
    if S == 1 {
        return to_elements::<8, true>(rows, elements);
    }
    let mut buffer = [0; BLOCK_BYTES];
    let byte_rows = &mut buffer[..rows.len()];
    let row_bytes = rows.len() / S;
    for (rows, byte_row) in rows.chunks_exact(row_bytes).zip(byte_rows.chunks_exact_mut(row_bytes)) {
        to_elements::<8, true>(rows, byte_row);
    }
    to_elements::<S, false>(byte_rows, elements);
}

/// Elements of `S` bytes become `S` rows; with `BITS`, elements are eight bytes and the rows
/// those of bits.
#[inline]
#[target_feature(enable = "avx2")]
fn to_rows<const S: usize, const BITS: bool>(elements: &[u8], rows: &mut [u8]) {
    let count = elements.len() / S;
    for (g, group) in elements.chunks_exact(GROUP * S).enumerate() {
        let (first, second) = group.split_at(16 * S);
        let mut v = [_mm256_setzero_si256(); S];
        for (v, (low, high)) in v.iter_mut().zip(first.as_chunks().0.iter().zip(second.as_chunks().0)) {
            *v = _mm256_set_m128i(_mm_loadu_si128(high), _mm_loadu_si128(low));
        }
        v = zip(zip(zip(zip(v))));
        if BITS {
            v = transpose_32(v);
        }
        for (b, v) in v.into_iter().enumerate() {
            let at = b * count + g * GROUP;
            if let Some(out) = rows[at..].first_chunk_mut() {
                _mm256_storeu_si256(out, v);
            }
        }
    }
    for i in count - count % GROUP..count {
        let mut element = [0; S];
        element.copy_from_slice(&elements[i * S..][..S]);
        for (b, byte) in bits::<S, BITS>(element).into_iter().enumerate() {
            rows[b * count + i] = byte;
        }
    }
}

/// Undoes [`to_rows`].
#[inline]
#[target_feature(enable = "avx2")]
fn to_elements<const S: usize, const BITS: bool>(rows: &[u8], elements: &mut [u8]) {
    let count = elements.len() / S;
    for (g, group) in elements.chunks_exact_mut(GROUP * S).enumerate() {
        let mut v = [_mm256_setzero_si256(); S];
        for (b, v) in v.iter_mut().enumerate() {
            let at = b * count + g * GROUP;
            if let Some(row) = rows[at..].first_chunk() {
                *v = _mm256_loadu_si256(row);
            }
        }
        if BITS {
            v = transpose_32(v);
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
    for i in count - count % GROUP..count {
        let mut element = [0; S];
        for (b, byte) in element.iter_mut().enumerate() {
            *byte = rows[b * count + i];
        }
        elements[i * S..][..S].copy_from_slice(&bits::<S, BITS>(element));
    }
}

/// One element, transposed as a matrix of bits if that is asked for and it has eight bytes.
fn bits<const S: usize, const BITS: bool>(mut element: [u8; S]) -> [u8; S] {
    if BITS && let Some(matrix) = element.first_chunk_mut() {
        *matrix = transpose(*matrix);
    }
    element
}

/// As [`transpose`] on 32 matrices, byte `j` of each in vector `j`; there are eight vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_32<const S: usize>(v: [__m256i; S]) -> [__m256i; S] {
    let v = swap::<S, 1>(v, _mm256_set1_epi8(0x55));
    let v = swap::<S, 2>(v, _mm256_set1_epi8(0x33));
    swap::<S, 4>(v, _mm256_set1_epi8(0x0f))
}

/// Swaps the off-diagonal quarters of all squares of `2 D` bits: the high bits of one vector with the low ones of the
/// vector `D` behind. What a shift brings in from the byte beside falls under the mask.
#[inline]
#[target_feature(enable = "avx2")]
fn swap<const S: usize, const D: i32>(mut v: [__m256i; S], mask: __m256i) -> [__m256i; S] {
    let distance = D.unsigned_abs() as usize;
    for j in (0..S).filter(|j| j & distance == 0) {
        let (low, high) = (v[j], v[j + distance]);
        let swapped = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<D>(low), high), mask);
        v[j] = _mm256_xor_si256(low, _mm256_slli_epi64::<D>(swapped));
        v[j + distance] = _mm256_xor_si256(high, swapped);
    }
    v
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
