//! The AVX-512 kernels, for whole blocks of elements of four and eight bytes.
//!
//! A round takes 512 elements, of which each row holds 64 bytes. Number the elements of a round by nine bits `e8` to `e0`,
//! the bytes of an element by `b`, and the bits of a byte by `k2` to `k0`. Every byte lies in a register, which has a
//! number, at one of 64 places, which six more bits number. In elements of four bytes a place is `e3 e2 e1 e0 b1 b0`; in a
//! row it is `e8 e7 e6 e5 e4 e3`, and the other three bits of `e` number the bits of the byte. One instruction transposes
//! eight by eight bits, which swaps `e2 e1 e0` with `k2 k1 k0`. All else are exchanges: one bit of the registers' numbers
//! against one of the places', for two registers at a time.
//!
//! The bytes of an element are exchanged for `e` first, and the bits then row by row; in between, a round lies in memory.

#![expect(clippy::indexing_slicing, reason = "registers are below their number, and offsets below the lengths checked at entry")]

use std::arch::x86_64::{
    __m512i, _mm512_gf2p8affine_epi64_epi8, _mm512_permutex2var_epi8, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_unpackhi_epi8, _mm512_unpackhi_epi16, _mm512_unpacklo_epi8, _mm512_unpacklo_epi16,
};

use safe_unaligned_simd::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512};

use crate::BLOCK_BYTES;

/// Elements that one round takes; a block is a few rounds.
const ROUND: usize = 512;

type Block = [u8; BLOCK_BYTES];

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn shuffle<const S: usize>(blocks: &[Block], shuffled: &mut [Block]) {
    let row_bytes = BLOCK_BYTES / (8 * S);
    let mut round = [[_mm512_setzero_si512(); 8]; S];
    for (elements, rows) in blocks.iter().zip(shuffled) {
        for (g, elements) in elements.chunks_exact(ROUND * S).enumerate() {
            for m in 0..8 {
                let mut v = [_mm512_setzero_si512(); S];
                for (i, v) in v.iter_mut().enumerate() {
                    if let Some(bytes) = elements[place::<S>(i, m)..].first_chunk() {
                        *v = _mm512_loadu_si512(bytes);
                    }
                }
                for (byte, v) in round.iter_mut().zip(split_bytes(v)) {
                    byte[m] = transpose(v);
                }
            }
            for (b, v) in round.iter().enumerate() {
                for (k, v) in zip_pairs(zip_pairs(split_bits(*v))).into_iter().enumerate() {
                    if let Some(row) = rows[(8 * b + k) * row_bytes + 64 * g..].first_chunk_mut() {
                        _mm512_storeu_si512(row, v);
                    }
                }
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn unshuffle<const S: usize>(shuffled: &[Block], blocks: &mut [Block]) {
    let row_bytes = BLOCK_BYTES / (8 * S);
    let mut round = [[_mm512_setzero_si512(); 8]; S];
    for (rows, elements) in shuffled.iter().zip(blocks) {
        for (g, elements) in elements.chunks_exact_mut(ROUND * S).enumerate() {
            for (b, out) in round.iter_mut().enumerate() {
                let mut v = [_mm512_setzero_si512(); 8];
                for (k, v) in v.iter_mut().rev().enumerate() {
                    if let Some(row) = rows[(8 * b + k) * row_bytes + 64 * g..].first_chunk() {
                        *v = _mm512_loadu_si512(row);
                    }
                }
                for (out, v) in out.iter_mut().zip(zip(zip(zip(v)))) {
                    *out = transpose(v);
                }
            }
            for m in 0..8 {
                let mut v = [_mm512_setzero_si512(); S];
                for (v, byte) in v.iter_mut().zip(&round) {
                    *v = byte[m];
                }
                for (i, v) in join_bytes(v).into_iter().enumerate() {
                    if let Some(bytes) = elements[place::<S>(i, m)..].first_chunk_mut() {
                        _mm512_storeu_si512(bytes, v);
                    }
                }
            }
        }
    }
}

/// Where the bytes of register `i` begin in a round: the bits of `m` are `e6 e5 e4`, those of `i` are `e8 e7`, and `e3` for
/// elements of eight bytes, of which a register holds but eight.
fn place<const S: usize>(i: usize, m: usize) -> usize {
    let element = match S {
        4 => 128 * i,
        _ => 128 * (i / 2) + 8 * (i % 2),
    };
    (element + 16 * m) * S
}

/// The lowest bit of the registers' numbers becomes the highest of the places', then the next lowest; the lowest of the
/// places', which is the byte within an element, takes its turn in the number. In the end, `e2 e1 e0` are inverted, for
/// [`transpose`] takes the last of eight bytes first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn split_bytes<const S: usize>(mut v: [__m512i; S]) -> [__m512i; S] {
    let mut distance = 1;
    while distance < S {
        let invert = if 2 * distance == S { 7 } else { 0 };
        let places = [0, 1].map(|bit| places(|place| (place ^ invert) >> 5 << 6 | ((place ^ invert) & 31) << 1 | bit));
        for i in (0..S).filter(|i| i & distance == 0) {
            [v[i], v[i + distance]] = exchange(v[i], v[i + distance], places);
        }
        distance *= 2;
    }
    v
}

/// Undoes the exchanges of [`split_bytes`]: the highest bit of the registers' numbers becomes the lowest of the places'.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn join_bytes<const S: usize>(mut v: [__m512i; S]) -> [__m512i; S] {
    let places = [0, 1].map(|bit| places(|place| (place & 1) << 6 | bit << 5 | place >> 1));
    let mut distance = S / 2;
    while distance > 0 {
        for i in (0..S).filter(|i| i & distance == 0) {
            [v[i], v[i + distance]] = exchange(v[i], v[i + distance], places);
        }
        distance /= 2;
    }
    v
}

/// From the places `e8 e7 e3 k2 k1 k0` to `e8 e7 k1 k0 e6 e3`, where `e6` was the highest bit of the registers' numbers and
/// `k2` becomes the lowest.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn split_bits(v: [__m512i; 8]) -> [__m512i; 8] {
    let place_of = |bit: u8| move |place: u8| (place & 2) << 5 | place & 0x30 | (place & 1) << 3 | bit << 2 | place >> 2 & 3;
    let places = [0, 1].map(|bit| places(place_of(bit)));
    let mut split = v;
    for i in 0..4 {
        [split[2 * i], split[2 * i + 1]] = exchange(v[i], v[i + 4], places);
    }
    split
}

/// Two vectors of bytes that each come from one of two, by the places of [`places`].
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn exchange(a: __m512i, b: __m512i, places: [[u8; 64]; 2]) -> [__m512i; 2] {
    let [first, second] = &places;
    [_mm512_permutex2var_epi8(a, _mm512_loadu_si512(first), b), _mm512_permutex2var_epi8(a, _mm512_loadu_si512(second), b)]
}

/// For each place of a vector, where its byte comes from: the places of one vector, and from 64 on those of another.
#[inline(always)]
fn places(from: impl Fn(u8) -> u8) -> [u8; 64] {
    let (mut places, mut place) = ([0; 64], 0);
    for out in &mut places {
        *out = from(place);
        place += 1;
    }
    places
}

/// Zips the bytes of the first half of the vectors with those of the second, in each lane of 16: the highest bit of the
/// registers' numbers becomes the lowest of the places', and the fourth of these the lowest of the numbers'.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn zip(v: [__m512i; 8]) -> [__m512i; 8] {
    let mut zipped = v;
    for i in 0..4 {
        zipped[2 * i] = _mm512_unpacklo_epi8(v[i], v[i + 4]);
        zipped[2 * i + 1] = _mm512_unpackhi_epi8(v[i], v[i + 4]);
    }
    zipped
}

/// As [`zip`] with pairs of bytes, so that the lowest bit of the places stays.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn zip_pairs(v: [__m512i; 8]) -> [__m512i; 8] {
    let mut zipped = v;
    for i in 0..4 {
        zipped[2 * i] = _mm512_unpacklo_epi16(v[i], v[i + 4]);
        zipped[2 * i + 1] = _mm512_unpackhi_epi16(v[i], v[i + 4]);
    }
    zipped
}

/// Transposes each eight bytes, the last of which is the first row of bits: as a product with the identity, whose other
/// factor the instruction takes transposed.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn transpose(v: __m512i) -> __m512i {
    let identity = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    _mm512_gf2p8affine_epi64_epi8::<0>(identity, v)
}
