//! Where the cells of a tile go: straight to their places in a result, chunk by chunk, so that a decoded chunk is copied
//! while it is in the cache, and chunks without wanted cells are not decoded.

/// The places of some cells of a tile, in memory that belongs to a result.
///
/// It is cut at cells of the tile, so that chunks can be decoded by several threads at once.
#[derive(Debug)]
pub(crate) struct Scatter<'m> {
    /// By their first cell.
    runs: Vec<ScatterRun<'m>>,
    /// The distance in the tile of two cells that stand side by side in the result.
    stride: usize,
    cell_bytes: usize,
}

/// Cells side by side in the result, at even distances in the tile.
#[derive(Debug)]
pub(crate) struct ScatterRun<'m> {
    /// The first cell, as the tile counts.
    pub(crate) first: usize,
    pub(crate) memory: &'m mut [u8],
}

/// How many runs are filled at a time where their cells are neighbours in the tile: of 8 bytes each, a cache line.
const BLOCK: usize = 8;

impl<'m> Scatter<'m> {
    /// The places of these runs, all of which take cells that are `stride` apart.
    pub(crate) fn new(mut runs: Vec<ScatterRun<'m>>, stride: usize, cell_bytes: usize) -> Self {
        runs.retain(|run| !run.memory.is_empty());
        runs.sort_by_key(|run| run.first);
        // The distance of single cells says nothing.
        let single = runs.iter().all(|run| run.memory.len() <= cell_bytes);
        Self { runs, stride: if single { 1 } else { stride.max(1) }, cell_bytes: cell_bytes.max(1) }
    }

    /// Whether no cell is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Bytes of a cell.
    pub(crate) fn cell_bytes(&self) -> usize {
        self.cell_bytes
    }

    /// The places of the cells before this one, and those of the others.
    pub(crate) fn split_at(self, cell: usize) -> (Self, Self) {
        let Self { runs, stride, cell_bytes } = self;
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for ScatterRun { first, memory } in runs {
            let len = memory.len() / cell_bytes;
            let cells = cell.saturating_sub(first).div_ceil(stride).min(len);
            if cells == 0 {
                behind.push(ScatterRun { first, memory });
            } else if cells == len {
                before.push(ScatterRun { first, memory });
            } else {
                let (head, tail) = memory.split_at_mut(cells * cell_bytes);
                before.push(ScatterRun { first, memory: head });
                behind.push(ScatterRun { first: first + cells * stride, memory: tail });
            }
        }
        (Self { runs: before, stride, cell_bytes }, Self { runs: behind, stride, cell_bytes })
    }

    /// The memory itself, where it is one run of all `bytes` of a chunk that begins with the run's first cell.
    pub(crate) fn as_whole(&mut self, bytes: usize) -> Option<&mut [u8]> {
        match self.runs.as_mut_slice() {
            [run] if self.stride == 1 && run.memory.len() == bytes => Some(&mut *run.memory),
            _ => None,
        }
    }

    /// Copies all cells from `cells`, the first of which is cell `first` of the tile.
    pub(crate) fn copy_from(&mut self, first: usize, cells: &[u8]) {
        let (stride, bytes) = (self.stride, self.cell_bytes);
        let source = |run: &ScatterRun<'_>| cells.get((run.first.saturating_sub(first)) * bytes..).unwrap_or_default();
        if stride == 1 {
            for run in &mut self.runs {
                if let Some(source) = source(run).get(..run.memory.len()) {
                    run.memory.copy_from_slice(source);
                }
            }
            return;
        }
        for runs in self.runs.chunks_mut(BLOCK) {
            let whole = runs.first().is_some_and(|first| {
                let mut neighbours = runs.iter().zip(first.first..);
                neighbours.all(|(run, at)| run.first == at && run.memory.len() == first.memory.len())
            });
            let first = runs.first().map_or(&[][..], source);
            match (runs.len() == BLOCK && whole, bytes) {
                (true, 1) => transpose::<1>(first, stride, runs),
                (true, 2) => transpose::<2>(first, stride, runs),
                (true, 4) => transpose::<4>(first, stride, runs),
                (true, 8) => transpose::<8>(first, stride, runs),
                _ => runs.iter_mut().for_each(|run| gather(source(run), stride * bytes, bytes, run.memory)),
            }
        }
    }

    /// Writes the same byte to all places.
    pub(crate) fn fill(&mut self, byte: u8) {
        self.runs.iter_mut().for_each(|run| run.memory.fill(byte));
    }
}

/// Fills runs of the same length whose first cells are neighbours: reads the tile row by row, and writes to all runs.
fn transpose<const N: usize>(source: &[u8], stride: usize, runs: &mut [ScatterRun<'_>]) {
    let mut runs = runs.iter_mut().map(|run| run.memory.as_chunks_mut::<N>().0);
    let mut targets: [&mut [[u8; N]]; BLOCK] = std::array::from_fn(|_| runs.next().unwrap_or_default());
    for (cell, row) in source.chunks(stride * N).enumerate() {
        let Some(row) = row.as_chunks::<N>().0.first_chunk::<BLOCK>() else { continue };
        for (target, value) in targets.iter_mut().zip(row) {
            if let Some(target) = target.get_mut(cell) {
                *target = *value;
            }
        }
    }
}

/// Copies cells of `bytes` bytes that lie `stride` bytes apart.
fn gather(source: &[u8], stride: usize, bytes: usize, cells: &mut [u8]) {
    for (cell, source) in cells.chunks_exact_mut(bytes).zip(source.chunks(stride)) {
        if let Some(source) = source.get(..bytes) {
            cell.copy_from_slice(source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// A tile of `width` columns; the result takes a box of it, row by row or column by column, cut anywhere.
        #[test]
        fn cells_arrive_wherever_a_scatter_is_cut(
            rows in 1_usize..30, width in 1_usize..30, from in (0_usize..30, 0_usize..30), bytes in 1_usize..10,
            by_column: bool, cuts in proptest::collection::vec(0_usize..900, 0..6),
        ) {
            let tile: Vec<u8> = (0..rows * width * bytes).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
            let (low, left) = (from.0 % rows, from.1 % width);
            let cell = |row: usize, column: usize| &tile[(row * width + column) * bytes..(row * width + column + 1) * bytes];
            let mut expected = Vec::new();
            let mut firsts = Vec::new();
            if by_column {
                (left..width).for_each(|column| (low..rows).for_each(|row| expected.extend_from_slice(cell(row, column))));
                (left..width).for_each(|column| firsts.push(low * width + column));
            } else {
                (low..rows).for_each(|row| (left..width).for_each(|column| expected.extend_from_slice(cell(row, column))));
                (low..rows).for_each(|row| firsts.push(row * width + left));
            }
            let mut result = vec![0; expected.len()];
            let run_bytes = expected.len() / firsts.len();
            let memory = result.chunks_exact_mut(run_bytes);
            let runs = firsts.iter().zip(memory).map(|(&first, memory)| ScatterRun { first, memory }).collect();
            let mut scatter = Scatter::new(runs, if by_column { width } else { 1 }, bytes);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (rows * width)).collect();
            cuts.sort_unstable();
            let mut start = 0;
            for end in cuts.into_iter().chain([rows * width]) {
                let (mut before, behind) = scatter.split_at(end);
                before.copy_from(start, &tile[start * bytes..end * bytes]);
                (scatter, start) = (behind, end);
            }
            proptest::prop_assert!(scatter.is_empty());
            proptest::prop_assert_eq!(result, expected);
        }
    }
}
