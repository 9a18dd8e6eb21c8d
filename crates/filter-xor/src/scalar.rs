//! The loops. All take as many bytes out as in.

/// Each byte xor the one an element before; no step waits for another, so the compiler takes many at once.
pub(crate) fn xor(element_bytes: usize, elements: &[u8], differences: &mut [u8]) {
    let first = element_bytes.min(elements.len());
    let (head, rest) = differences.split_at_mut(first);
    for (out, byte) in head.iter_mut().zip(elements) {
        *out = *byte;
    }
    let later = elements.get(first..).unwrap_or_default();
    if element_bytes == 0 {
        return rest.copy_from_slice(later);
    }
    for ((out, byte), before) in rest.iter_mut().zip(later).zip(elements) {
        *out = byte ^ before;
    }
}

/// Undoes [`xor`] for elements of any size.
pub(crate) fn unxor(element_bytes: usize, differences: &[u8], elements: &mut [u8]) {
    let mut previous = vec![0; element_bytes.min(differences.len())];
    for (out, difference) in elements.chunks_mut(element_bytes).zip(differences.chunks(element_bytes)) {
        for ((out, byte), running) in out.iter_mut().zip(difference).zip(&mut previous) {
            *running ^= byte;
            *out = *running;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_totals_equal_the_plain_version_on_odd_lengths() {
        for len in 0..200 {
            let differences: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(151) ^ 0x5a).collect();
            for size in [1, 2, 3, 4, 8, 16] {
                let (mut expected, mut found) = (vec![0; differences.len()], vec![0; differences.len()]);
                unxor(size, &differences, &mut expected);
                crate::unxor(size, &differences, &mut found);
                assert_eq!(found, expected, "{len} bytes in elements of {size}");
                let mut again = vec![0; differences.len()];
                xor(size, &found, &mut again);
                assert_eq!(again, differences);
            }
        }
    }
}
