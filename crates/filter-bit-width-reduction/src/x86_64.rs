//! The plain loops compiled for AVX2 and AVX-512, which have the minima, maxima and changes of width that the baseline
//! lacks; and a kernel for what compilers do badly, the bounds of a window.

use std::arch::x86_64::{
    __m512i, _mm512_max_epu32, _mm512_max_epu64, _mm512_min_epu32, _mm512_min_epu64, _mm512_reduce_max_epu32,
    _mm512_reduce_max_epu64, _mm512_reduce_min_epu32, _mm512_reduce_min_epu64, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_xor_si512,
};

use safe_unaligned_simd::x86_64::_mm512_loadu_si512;

use talavera_codec::DecodeError;
use talavera_filter::{Parts, Windows};

use crate::{Element, Reduced, USUAL_BYTES, reduce_plain, restore_plain, windows};

/// Functions that do as the plain one does, by the widest vectors that there are.
macro_rules! by_vectors {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $avx512:expr, $avx2:expr, $plain:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<T: Element>($($argument: $type),*) -> $result {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            fn by_avx512<T: Element>($($argument: $type),*) -> $result {
                $avx512
            }

            #[target_feature(enable = "avx2")]
            fn by_avx2<T: Element>($($argument: $type),*) -> $result {
                $avx2
            }

            if has_avx512() {
                // SAFETY: the features were detected on the line above.
                return unsafe { by_avx512::<T>($($argument),*) };
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: AVX2 was detected on the line above.
                return unsafe { by_avx2::<T>($($argument),*) };
            }
            $plain
        }
    )*};
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $plain:expr;)*) => {
        by_vectors! { $($(#[$doc])* fn $name($($argument: $type),*) -> $result = $plain, $plain, $plain;)* }
    };
}

by_vectors! {
    /// One window from disk.
    fn restore(stored: &[u8], reduced: Reduced<T>, window: &mut [u8]) -> () = restore_plain(stored, reduced, window);
    /// All windows from disk.
    fn decode(table: &[u8], table_offset: u64, data: &[u8], out: &mut [u8]) -> Result<(), DecodeError>
        = windows::decode::<T>(table, table_offset, data, out);
}

by_vectors! {
    /// One window to disk.
    fn reduce(window: &[u8], stored: &mut [u8]) -> Reduced<T>
        = reduce_plain(window, bounds(window), stored),
        reduce_plain(window, T::bounds(window), stored),
        reduce_plain(window, T::bounds(window), stored);
    /// All windows to disk.
    fn encode(parts: &Parts<'_>, cut: Windows, table: &mut [u8], stored: &mut [u8]) -> usize
        = windows::encode::<T>(|window| bounds(window), parts, cut, table, stored),
        windows::encode::<T>(T::bounds, parts, cut, table, stored),
        windows::encode::<T>(T::bounds, parts, cut, table, stored);
}

fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// As [`Element::bounds`].
#[inline]
#[target_feature(enable = "avx512f")]
fn bounds<T: Element>(window: &[u8]) -> (T, T) {
    let Ok(usual) = <&[u8; USUAL_BYTES]>::try_from(window) else { return T::bounds(window) };
    let (min, max) = match T::BYTES {
        4 => bounds_32(usual, T::IS_SIGNED),
        8 => bounds_64(usual, T::IS_SIGNED),
        _ => return T::bounds(window),
    };
    // The low bytes come first.
    (T::read(&min.to_le_bytes()).unwrap_or_default(), T::read(&max.to_le_bytes()).unwrap_or_default())
}

/// Bounds of elements of four bytes. Numbers with a sign are in order without it once it is inverted.
#[inline]
#[target_feature(enable = "avx512f")]
fn bounds_32(window: &[u8; USUAL_BYTES], is_signed: bool) -> (u64, u64) {
    let sign = if is_signed { 1 << 31 } else { 0 };
    let [a, b, c, d] = load(window, _mm512_set1_epi32(u32::cast_signed(sign)));
    let min = _mm512_min_epu32(_mm512_min_epu32(a, b), _mm512_min_epu32(c, d));
    let max = _mm512_max_epu32(_mm512_max_epu32(a, b), _mm512_max_epu32(c, d));
    (u64::from(_mm512_reduce_min_epu32(min) ^ sign), u64::from(_mm512_reduce_max_epu32(max) ^ sign))
}

/// As [`bounds_32`] for elements of eight bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn bounds_64(window: &[u8; USUAL_BYTES], is_signed: bool) -> (u64, u64) {
    let sign = if is_signed { 1 << 63 } else { 0 };
    let [a, b, c, d] = load(window, _mm512_set1_epi64(u64::cast_signed(sign)));
    let min = _mm512_min_epu64(_mm512_min_epu64(a, b), _mm512_min_epu64(c, d));
    let max = _mm512_max_epu64(_mm512_max_epu64(a, b), _mm512_max_epu64(c, d));
    (_mm512_reduce_min_epu64(min) ^ sign, _mm512_reduce_max_epu64(max) ^ sign)
}

/// A window in four vectors, some of its bits inverted.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(window: &[u8; USUAL_BYTES], inverted: __m512i) -> [__m512i; 4] {
    let mut vectors = [_mm512_setzero_si512(); 4];
    for (v, bytes) in vectors.iter_mut().zip(window.as_chunks::<64>().0) {
        *v = _mm512_xor_si512(_mm512_loadu_si512(bytes), inverted);
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element>() {
        for shift in [0, 8, 20, 40, 60] {
            for len in 0..300 {
                let numbers = (0..len as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift);
                let window: Vec<u8> = numbers.flat_map(u64::to_le_bytes).take(len).collect();
                let (mut expected, mut found) = (vec![0; len], vec![0; len]);
                let plain = reduce_plain::<T>(&window, T::bounds(&window), &mut expected);
                let reduced = reduce::<T>(&window, &mut found);
                assert_eq!((reduced, &found), (plain, &expected), "{len} bytes");
                restore(expected.get(..plain.stored_bytes(len)).unwrap_or_default(), plain, &mut found);
                assert_eq!(found, window, "{len} bytes");
            }
        }
    }

    #[test]
    fn the_kernel_equals_the_plain_version_on_odd_lengths() {
        check::<i16>();
        check::<u16>();
        check::<i32>();
        check::<u32>();
        check::<i64>();
        check::<u64>();
    }

    #[test]
    fn bounds_of_a_usual_window_know_signs() {
        let mut window = [0; USUAL_BYTES];
        window[..8].copy_from_slice(&(-5i64).to_le_bytes());
        window[16..24].copy_from_slice(&7i64.to_le_bytes());
        let mut stored = [0; USUAL_BYTES];
        assert_eq!(reduce::<i64>(&window, &mut stored), Reduced { offset: -5, bits: 8 });
        assert_eq!(reduce::<i32>(&window, &mut stored), Reduced { offset: -5, bits: 8 });
        assert_eq!(reduce::<u64>(&window, &mut stored).bits, 64);
    }
}
