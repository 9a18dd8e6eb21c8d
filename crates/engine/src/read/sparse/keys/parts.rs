//! The numbers of cells by parts of the order: those of all never lie in memory at once.

use std::ops::{Bound, RangeBounds};

use rayon::prelude::*;

use super::{Keys, RunOf};

impl Keys<'_> {
    /// The beginnings of places that cut the cells into so many parts, about equal ones; fewer where many places begin alike.
    pub(crate) fn cuts(&self, parts: usize) -> Vec<u64> {
        /// Cells that stand for all, for each part.
        const SAMPLES: usize = 1 << 10;
        let cells: usize = self.tiles.iter().map(|tile| tile.kept.count(tile.cells)).sum();
        let step = (cells / (parts * SAMPLES)).max(1);
        let samples = self.runs().into_par_iter().flat_map_iter(|run| self.words_of(&run).into_iter().step_by(step));
        let mut samples: Vec<u64> = samples.map(|word| word >> self.index_bits).collect();
        samples.sort_unstable();
        let mut cuts: Vec<u64> = (1..parts).filter_map(|part| samples.get(part * samples.len() / parts).copied()).collect();
        cuts.dedup();
        cuts
    }

    /// For each run, how many of its places begin in each of the parts between `cuts`.
    pub(crate) fn count(&self, cuts: &[u64]) -> Vec<Vec<usize>> {
        let count = |run: RunOf<'_>| {
            let mut counts = vec![0; cuts.len() + 1];
            for word in self.words_of(&run) {
                let part = cuts.iter().filter(|&&cut| cut <= word >> self.index_bits).count();
                counts.iter_mut().skip(part).take(1).for_each(|count| *count += 1);
            }
            counts
        };
        self.runs().into_par_iter().map(count).collect()
    }

    /// The numbers of the cells whose places begin in a range, of which each run has so many.
    pub(crate) fn between(&self, places: (Bound<u64>, Bound<u64>), counts: &[usize]) -> Vec<u64> {
        let mut words = vec![0; counts.iter().sum()];
        let mut rest = &mut *words;
        let mut runs = Vec::with_capacity(counts.len());
        for (run, &count) in self.runs().into_iter().zip(counts) {
            let (words, behind) = std::mem::take(&mut rest).split_at_mut(count);
            runs.push((run, words));
            rest = behind;
        }
        runs.into_par_iter().for_each(|(run, targets)| {
            let inside = self.words_of(&run).into_iter().filter(|word| places.contains(&(word >> self.index_bits)));
            targets.iter_mut().zip(inside).for_each(|(target, word)| *target = word);
        });
        words
    }

    fn words_of(&self, (number, tile, run): &RunOf<'_>) -> Vec<u64> {
        let mut words = vec![0; run.len()];
        self.fill(*number, tile, run, &mut words);
        words
    }
}
