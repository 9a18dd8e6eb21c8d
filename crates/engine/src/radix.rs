//! Sorts numbers by their digits, in place and on all threads.
//!
//! Sorting is a matter of memory: numbers are moved once for each digit, and no second copy of them is made. The digits
//! are taken from the top, so that what is left to sort after the first fits into a cache.

use rayon::prelude::*;

/// Numbers that a comparison sort puts in order as fast.
const FEW: usize = 1 << 10;

/// Numbers that are worth a task of their own.
const MANY: usize = 1 << 15;

/// Bits of a digit.
const DIGIT_BITS: u32 = 8;

/// Sorts numbers, smaller ones first.
pub(crate) fn sort(words: &mut [u64]) {
    let differing = |words: &[u64]| {
        let first = words.first().copied().unwrap_or(0);
        words.iter().fold(0, |differing, word| differing | word ^ first)
    };
    let first = words.first().copied().unwrap_or(0);
    let bits = |words: &[u64]| differing(words) | words.first().map_or(0, |word| word ^ first);
    let differing = words.par_chunks(MANY).map(bits).reduce(|| 0, |a, b| a | b);
    sort_low(words, u64::BITS - differing.leading_zeros());
}

/// Sorts numbers that differ only in their lowest bits.
fn sort_low(words: &mut [u64], bits: u32) {
    if words.len() <= FEW {
        words.sort_unstable();
        return;
    }
    if bits == 0 {
        return;
    }
    let shift = bits.saturating_sub(DIGIT_BITS);
    let buckets = deal(words, shift);
    if shift == 0 {
        return;
    }
    if words.len() < MANY {
        buckets_of(words, &buckets).into_iter().for_each(|bucket| sort_low(bucket, shift));
    } else {
        buckets_of(words, &buckets).into_par_iter().for_each(|bucket| sort_low(bucket, shift));
    }
}

/// The digit of a number above its lowest `shift` bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a digit is what the mask leaves")]
fn digit(word: u64, shift: u32) -> usize {
    (word >> shift) as usize & ((1 << DIGIT_BITS) - 1)
}

/// Puts numbers into the bucket of their digit, one bucket behind the other; gives the end of each.
fn deal(words: &mut [u64], shift: u32) -> [usize; 1 << DIGIT_BITS] {
    let mut ends = [0_usize; 1 << DIGIT_BITS];
    for &word in &*words {
        if let Some(count) = ends.get_mut(digit(word, shift)) {
            *count += 1;
        }
    }
    let mut next = ends;
    let mut end = 0;
    for (next, bucket_end) in next.iter_mut().zip(&mut ends) {
        *next = end;
        end += *bucket_end;
        *bucket_end = end;
    }
    for (bucket, &bucket_end) in ends.iter().enumerate() {
        while let Some(at) = next.get(bucket).copied().filter(|&at| at < bucket_end) {
            let Some(&(mut word)) = words.get(at) else { break };
            // Each number goes where it belongs, and the one it finds there goes on, until one belongs here.
            loop {
                let wanted = digit(word, shift);
                let Some(place) = next.get_mut(wanted) else { break };
                let target = if wanted == bucket { at } else { *place };
                *place += 1;
                if let Some(found) = words.get_mut(target) {
                    std::mem::swap(found, &mut word);
                }
                if wanted == bucket {
                    break;
                }
            }
        }
    }
    ends
}

/// The buckets that have anything to sort.
fn buckets_of<'w>(mut words: &'w mut [u64], ends: &[usize]) -> Vec<&'w mut [u64]> {
    let mut start = 0;
    let mut buckets = Vec::with_capacity(ends.len());
    for &end in ends {
        let (bucket, rest) = std::mem::take(&mut words).split_at_mut(end - start);
        if bucket.len() > 1 {
            buckets.push(bucket);
        }
        (words, start) = (rest, end);
    }
    buckets
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers that look random (SplitMix64).
    fn random(count: u64) -> Vec<u64> {
        let mix = |number: u64| {
            let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
        };
        (1..=count).map(|number| mix(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    }

    fn is_sorted_like_the_standard_library_does(mut words: Vec<u64>) {
        let mut expected = words.clone();
        expected.sort_unstable();
        sort(&mut words);
        assert_eq!(words, expected);
    }

    #[test]
    fn many_numbers_are_sorted_whatever_their_digits_are() {
        let all = random(200_000);
        is_sorted_like_the_standard_library_does(all.clone());
        is_sorted_like_the_standard_library_does(all.iter().map(|word| word >> 40).collect());
        is_sorted_like_the_standard_library_does(all.iter().map(|word| word & 0xff00_0000_0000_0007).collect());
        is_sorted_like_the_standard_library_does(vec![7; 100_000]);
    }

    proptest! {
        #[test]
        fn a_few_thousand_numbers_are_sorted(words in proptest::collection::vec(0_u64..1 << 20, 0..4000), shift in 0..44) {
            is_sorted_like_the_standard_library_does(words.into_iter().map(|word| word << shift).collect());
        }
    }
}
