//! One bit per cell.

/// Which cells of a tile match: one bit per cell, 64 cells to a word.
///
/// Bits behind the last cell are always zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    cells: usize,
}

/// The matching cells of a [`Bitmap`], ascending.
#[derive(Debug, Clone)]
pub struct Ones<'a> {
    words: std::slice::Iter<'a, u64>,
    word: u64,
    base: usize,
}

impl Bitmap {
    /// `cells` cells that all match or all do not.
    #[must_use]
    pub fn new(cells: usize, matches: bool) -> Self {
        let mut bitmap = Self::default();
        bitmap.reset(cells, matches);
        bitmap
    }

    /// Makes this a bitmap of `cells` cells that all match or all do not, in the memory that it has.
    pub fn reset(&mut self, cells: usize, matches: bool) {
        self.words.clear();
        self.words.resize(cells.div_ceil(64), if matches { u64::MAX } else { 0 });
        self.cells = cells;
        self.clear_behind_the_end();
    }

    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells
    }

    /// Whether there are no cells at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// Whether cell `cell` matches; `false` behind the end.
    #[must_use]
    pub fn get(&self, cell: usize) -> bool {
        self.words.get(cell / 64).is_some_and(|word| word >> (cell % 64) & 1 == 1)
    }

    /// Says whether cell `cell` matches; without effect behind the end.
    pub fn set(&mut self, cell: usize, matches: bool) {
        if cell >= self.cells {
            return;
        }
        if let Some(word) = self.words.get_mut(cell / 64) {
            *word = *word & !(1 << (cell % 64)) | u64::from(matches) << (cell % 64);
        }
    }

    /// Keeps the cells that match in `other` too; cells that `other` does not have do not match.
    pub fn and(&mut self, other: &Self) {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter_mut().zip(others).for_each(|(word, other)| *word &= other);
    }

    /// Adds the cells that match in `other`, as far as this has them.
    pub fn or(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
        self.clear_behind_the_end();
    }

    /// Drops the cells that match in `other`.
    pub fn and_not(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// The number of cells that match.
    #[must_use]
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no cell matches.
    #[must_use]
    pub fn none(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether every cell matches; true of no cells.
    #[must_use]
    pub fn all(&self) -> bool {
        self.count_ones() == self.cells
    }

    /// The matching cells, ascending.
    #[must_use]
    pub fn iter_ones(&self) -> Ones<'_> {
        let mut words = self.words.iter();
        Ones { word: words.next().copied().unwrap_or(0), words, base: 0 }
    }

    /// The words: cell `i` is bit `i % 64` of word `i / 64`.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    pub(crate) fn clear_behind_the_end(&mut self) {
        let used = self.cells % 64;
        if used > 0
            && let Some(word) = self.words.last_mut()
        {
            *word &= (1 << used) - 1;
        }
    }
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.base += 64;
        }
        let cell = self.base + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(bits: &[bool]) -> Bitmap {
        let mut bitmap = Bitmap::new(bits.len(), false);
        bits.iter().enumerate().for_each(|(cell, &bit)| bitmap.set(cell, bit));
        bitmap
    }

    #[test]
    fn no_bit_is_set_behind_the_last_cell() {
        let mut bitmap = Bitmap::new(70, true);
        assert_eq!((bitmap.count_ones(), bitmap.all()), (70, true));
        bitmap.set(70, true);
        assert_eq!(bitmap.words(), [u64::MAX, 0b11_1111]);
        bitmap.or(&Bitmap::new(128, true));
        assert_eq!(bitmap.count_ones(), 70);
    }

    #[test]
    fn a_bitmap_of_nothing_is_all_and_none() {
        let bitmap = Bitmap::new(0, true);
        assert!(bitmap.all() && bitmap.none() && bitmap.is_empty());
        assert_eq!(bitmap.iter_ones().next(), None);
    }

    proptest::proptest! {
        #[test]
        fn words_say_what_single_bits_say(bits: Vec<(bool, bool)>) {
            let (left, right): (Vec<bool>, Vec<bool>) = bits.into_iter().unzip();
            let (a, b) = (bitmap(&left), bitmap(&right));
            let model = |both: fn(bool, bool) -> bool| -> Vec<usize> {
                left.iter().zip(&right).enumerate().filter(|(_, (a, b))| both(**a, **b)).map(|(cell, _)| cell).collect()
            };
            let (mut and, mut or, mut and_not) = (a.clone(), a.clone(), a.clone());
            and.and(&b);
            or.or(&b);
            and_not.and_not(&b);
            proptest::prop_assert_eq!(and.iter_ones().collect::<Vec<_>>(), model(|a, b| a && b));
            proptest::prop_assert_eq!(or.iter_ones().collect::<Vec<_>>(), model(|a, b| a || b));
            proptest::prop_assert_eq!(and_not.iter_ones().collect::<Vec<_>>(), model(|a, b| a && !b));
            proptest::prop_assert_eq!(a.count_ones(), left.iter().filter(|bit| **bit).count());
            proptest::prop_assert_eq!(a.all(), left.iter().all(|bit| *bit));
        }
    }
}
