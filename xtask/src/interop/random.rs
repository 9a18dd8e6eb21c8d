//! Draws for cases: the same ones for the same seed and case.

use crate::fixtures::random::Random;

/// The draws of one case of a run.
pub(super) fn of_case(seed: u64, case: u64) -> Random {
    let mut random = Random(seed);
    let mixed = random.next();
    Random(mixed.wrapping_add(case.wrapping_mul(0xd134_2543_de82_ef95)))
}

impl Random {
    /// True in so many of a hundred draws.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these, of which there is at least one.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// A number from `low` to `high`, both included, for all 64-bit integers.
    pub(super) fn wide(&mut self, low: i128, high: i128) -> i128 {
        low + i128::from(self.next()) % (high - low + 1)
    }

    /// Any bytes.
    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).take(count).collect()
    }

    /// Another order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
