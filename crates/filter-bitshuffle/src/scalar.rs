//! The plain version, which is the specification of the kernels.
//!
//! Bits are gathered from eight bytes at a time: the bytes of equal place in eight elements are an eight by eight matrix
//! of bits, and its transpose holds one byte of each of eight rows. All functions take a multiple of eight elements, and
//! as many bytes out as in.

#![expect(clippy::indexing_slicing, reason = "numbers of elements, bytes and rows are bounded by the lengths they come from")]

/// Row `8 b + k` of the output holds bit `k` of byte `b` of every element, eight elements to a byte, the first lowest.
#[inline(always)]
pub(crate) fn shuffle(element_bytes: usize, elements: &[u8], rows: &mut [u8]) {
    let row_bytes = elements.len() / (8 * element_bytes);
    for (i, eight) in elements.chunks_exact(8 * element_bytes).enumerate() {
        for b in 0..element_bytes {
            let mut matrix = [0; 8];
            for (j, byte) in matrix.iter_mut().enumerate() {
                *byte = eight[j * element_bytes + b];
            }
            for (k, byte) in transpose(matrix).into_iter().enumerate() {
                rows[(8 * b + k) * row_bytes + i] = byte;
            }
        }
    }
}

/// Undoes [`shuffle`].
#[inline(always)]
pub(crate) fn unshuffle(element_bytes: usize, rows: &[u8], elements: &mut [u8]) {
    let row_bytes = elements.len() / (8 * element_bytes);
    for (i, eight) in elements.chunks_exact_mut(8 * element_bytes).enumerate() {
        for b in 0..element_bytes {
            let mut matrix = [0; 8];
            for (k, byte) in matrix.iter_mut().enumerate() {
                *byte = rows[(8 * b + k) * row_bytes + i];
            }
            for (j, byte) in transpose(matrix).into_iter().enumerate() {
                eight[j * element_bytes + b] = byte;
            }
        }
    }
}

/// Bit `k` of byte `j` becomes bit `j` of byte `k`: three rounds swap the off-diagonal quarters of ever larger squares.
#[inline]
pub(crate) fn transpose(matrix: [u8; 8]) -> [u8; 8] {
    let mut x = u64::from_le_bytes(matrix);
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swapped = (x ^ (x >> shift)) & mask;
        x ^= swapped ^ (swapped << shift);
    }
    x.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule of the format, bit by bit.
    fn bit_by_bit(element_bytes: usize, elements: &[u8]) -> Vec<u8> {
        let count = elements.len() / element_bytes;
        let mut rows = vec![0; elements.len()];
        for element in 0..count {
            for bit in 0..8 * element_bytes {
                let set = elements[element * element_bytes + bit / 8] >> (bit % 8) & 1;
                rows[bit * (count / 8) + element / 8] |= set << (element % 8);
            }
        }
        rows
    }

    #[test]
    fn rows_are_the_bits_of_equal_weight() {
        for element_bytes in [1, 2, 3, 4, 8, 16] {
            for eights in 0..5 {
                let elements: Vec<u8> =
                    (0..8 * eights * element_bytes).map(|i: usize| (i.wrapping_mul(0x9e37_79b1) >> 7).to_le_bytes()[0]).collect();
                let mut rows = vec![0; elements.len()];
                shuffle(element_bytes, &elements, &mut rows);
                assert_eq!(rows, bit_by_bit(element_bytes, &elements));
                let mut back = vec![0; elements.len()];
                unshuffle(element_bytes, &rows, &mut back);
                assert_eq!(back, elements);
            }
        }
    }
}
