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

/// Undoes [`xor`] for elements of any size; the specification of the rest.
pub(crate) fn unxor(element_bytes: usize, differences: &[u8], elements: &mut [u8]) {
    let mut previous = vec![0; element_bytes.min(differences.len())];
    for (out, difference) in elements.chunks_mut(element_bytes).zip(differences.chunks(element_bytes)) {
        for ((out, byte), running) in out.iter_mut().zip(difference).zip(&mut previous) {
            *running ^= byte;
            *out = *running;
        }
    }
}

/// Undoes [`xor`] for elements of 1, 2, 4 or 8 bytes, eight bytes at a time.
///
/// The running xor within a word needs nothing from the word before; only the last element is carried on, spread over
/// all elements of a word, so a word waits for the one before by a single xor. `carry` is the element before the first,
/// spread likewise.
pub(crate) fn unxor_words<const S: usize>(differences: &[u8], elements: &mut [u8], mut carry: u64) {
    let (words, tail) = differences.as_chunks::<8>();
    let (out_words, out_tail) = elements.as_chunks_mut::<8>();
    for (out, word) in out_words.iter_mut().zip(words) {
        let running = running_xor::<S>(u64::from_le_bytes(*word));
        *out = (running ^ carry).to_le_bytes();
        carry ^= spread_last::<S>(running);
    }
    let mut last = [0; 8];
    for (slot, byte) in last.iter_mut().zip(tail) {
        *slot = *byte;
    }
    let running = (running_xor::<S>(u64::from_le_bytes(last)) ^ carry).to_le_bytes();
    for (out, byte) in out_tail.iter_mut().zip(running) {
        *out = byte;
    }
}

/// Each element of a word xor all those before it in the word.
#[inline]
fn running_xor<const S: usize>(mut word: u64) -> u64 {
    if S <= 4 {
        word ^= word << (8 * S);
    }
    if S <= 2 {
        word ^= word << (16 * S);
    }
    if S <= 1 {
        word ^= word << 32;
    }
    word
}

/// The last element of a word in the place of every one.
#[inline]
fn spread_last<const S: usize>(word: u64) -> u64 {
    let last = word >> (64 - 8 * S);
    match S {
        1 => last * 0x0101_0101_0101_0101,
        2 => last * 0x0001_0001_0001_0001,
        4 => last * 0x0000_0001_0000_0001,
        _ => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_equal_the_plain_version_on_odd_lengths() {
        for len in 0..70 {
            let differences: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(151) ^ 0x5a).collect();
            let check = |size: usize, words: fn(&[u8], &mut [u8])| {
                let (mut expected, mut found) = (vec![0; differences.len()], vec![0; differences.len()]);
                unxor(size, &differences, &mut expected);
                words(&differences, &mut found);
                assert_eq!(found, expected, "{len} bytes in elements of {size}");
                let mut again = vec![0; differences.len()];
                xor(size, &found, &mut again);
                assert_eq!(again, differences);
            };
            check(1, |from, to| unxor_words::<1>(from, to, 0));
            check(2, |from, to| unxor_words::<2>(from, to, 0));
            check(4, |from, to| unxor_words::<4>(from, to, 0));
            check(8, |from, to| unxor_words::<8>(from, to, 0));
        }
    }
}
