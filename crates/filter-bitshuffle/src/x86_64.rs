//! The kernels: one file for each set of instructions.

mod avx2;
mod avx512;

use crate::BLOCK_BYTES;

/// Shuffles the whole blocks at the front, of elements of four or eight bytes, and says how many bytes they are: none where
/// AVX-512 is missing.
pub(crate) fn shuffle_blocks<const S: usize>(elements: &[u8], rows: &mut [u8]) -> usize {
    if !has_avx512() {
        return 0;
    }
    // SAFETY: the features were detected on the line above.
    unsafe { avx512::shuffle::<S>(elements.as_chunks().0, rows.as_chunks_mut().0) }
    elements.len() - elements.len() % BLOCK_BYTES
}

/// As [`shuffle_blocks`], backwards.
pub(crate) fn unshuffle_blocks<const S: usize>(rows: &[u8], elements: &mut [u8]) -> usize {
    if !has_avx512() {
        return 0;
    }
    // SAFETY: the features were detected on the line above.
    unsafe { avx512::unshuffle::<S>(rows.as_chunks().0, elements.as_chunks_mut().0) }
    rows.len() - rows.len() % BLOCK_BYTES
}

/// Shuffles a block and says so, or leaves it to the plain version.
pub(crate) fn shuffle<const S: usize>(elements: &[u8], rows: &mut [u8]) -> bool {
    if !is_block::<S>(elements, rows) {
        return false;
    }
    if elements.len() < 8 * S * avx2::GROUP || !is_x86_feature_detected!("avx2") {
        return false;
    }
    // SAFETY: AVX2 was detected on the line above.
    unsafe { avx2::shuffle::<S>(elements, rows) };
    true
}

/// Unshuffles a block and says so, or leaves it to the plain version.
pub(crate) fn unshuffle<const S: usize>(rows: &[u8], elements: &mut [u8]) -> bool {
    if !is_block::<S>(rows, elements) {
        return false;
    }
    if rows.len() < 8 * S * avx2::GROUP || !is_x86_feature_detected!("avx2") {
        return false;
    }
    // SAFETY: AVX2 was detected on the line above.
    unsafe { avx2::unshuffle::<S>(rows, elements) };
    true
}

/// Whether this is what kernels take: whole eights of elements, and no more than a block of them.
fn is_block<const S: usize>(from: &[u8], to: &[u8]) -> bool {
    from.len() == to.len() && from.len().is_multiple_of(8 * S) && from.len() <= BLOCK_BYTES
}

fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("gfni")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar;

    /// Kernel and plain version, both ways, on every number of eights that a block can hold.
    fn check<const S: usize>() {
        for eights in 0..=BLOCK_BYTES / (8 * S) {
            let elements: Vec<u8> =
                (0..8 * eights * S).map(|i: usize| (i.wrapping_mul(0x9e37_79b1) >> 7).to_le_bytes()[0]).collect();
            let mut expected = vec![0; elements.len()];
            scalar::shuffle(S, &elements, &mut expected);
            let mut rows = vec![0; elements.len()];
            if !shuffle::<S>(&elements, &mut rows) {
                continue;
            }
            assert_eq!(rows, expected, "{eights} times eight elements of {S} bytes");
            let mut back = vec![0; elements.len()];
            assert!(unshuffle::<S>(&rows, &mut back));
            assert_eq!(back, elements, "{eights} times eight elements of {S} bytes");
        }
    }

    fn check_blocks<const S: usize>() {
        for bytes in [0, BLOCK_BYTES - 8 * S, BLOCK_BYTES, 3 * BLOCK_BYTES + 8 * S] {
            let elements: Vec<u8> = (0..bytes).map(|i: usize| (i.wrapping_mul(0x9e37_79b1) >> 7).to_le_bytes()[0]).collect();
            let (mut expected, mut rows, mut back) = (vec![0; bytes], vec![0; bytes], vec![0; bytes]);
            let done = shuffle_blocks::<S>(&elements, &mut rows);
            for (block, out) in elements[..done].chunks(BLOCK_BYTES).zip(expected.chunks_mut(BLOCK_BYTES)) {
                scalar::shuffle(S, block, out);
            }
            assert_eq!(rows, expected, "{bytes} bytes in elements of {S} bytes");
            assert_eq!(unshuffle_blocks::<S>(&rows, &mut back), done);
            assert_eq!(back[..done], elements[..done], "{bytes} bytes in elements of {S} bytes");
        }
    }

    #[test]
    fn the_kernels_of_whole_blocks_equal_the_plain_version() {
        check_blocks::<4>();
        check_blocks::<8>();
    }

    #[test]
    fn the_kernels_equal_the_plain_version_on_odd_lengths() {
        check::<1>();
        check::<2>();
        check::<4>();
        check::<8>();
    }
}
