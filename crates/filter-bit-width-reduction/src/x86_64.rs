//! The plain loop compiled for AVX2, which has the minimum, maximum and narrowing that the baseline lacks.

use crate::{Element, Reduced, reduce_plain};

/// Reduces a window, or leaves it to the baseline.
pub(crate) fn reduce<T: Element>(window: &[u8], stored: &mut [u8]) -> Option<Reduced<T>> {
    if !is_x86_feature_detected!("avx2") {
        return None;
    }
    // SAFETY: AVX2 was detected on the line above.
    Some(unsafe { reduce_avx2(window, stored) })
}

#[target_feature(enable = "avx2")]
fn reduce_avx2<T: Element>(window: &[u8], stored: &mut [u8]) -> Reduced<T> {
    reduce_plain(window, stored)
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
                let plain = reduce_plain::<T>(&window, &mut expected);
                if let Some(reduced) = reduce::<T>(&window, &mut found) {
                    assert_eq!((reduced, &found), (plain, &expected), "{len} bytes");
                }
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
}
