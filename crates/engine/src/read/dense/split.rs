//! Cuts a dense read into windows that follow each other in the order of the result.

use talavera_types::Layout;

use super::{CellRanges, Grid};

/// The windows of a dense read, each of at most so many cells, in the order of the result; their cells one behind the
/// other are the whole result.
#[derive(Debug)]
pub(crate) enum Windows {
    /// Row by row, or column by column.
    Cells(Cuts),
    /// Tile by tile: windows of whole tiles, out of which `ranges` are cut.
    Tiles {
        /// The windows in units of tiles.
        tiles: Cuts,
        ranges: CellRanges,
        extents: Vec<u64>,
    },
}

impl Windows {
    pub(crate) fn new(ranges: CellRanges, layout: Layout, grid: &Grid, max_cells: u64) -> Self {
        if layout != Layout::GlobalOrder {
            return Self::Cells(Cuts::new(ranges, layout == Layout::ColMajor, &grid.extents, max_cells));
        }
        let extents = grid.extents.clone();
        let of_tiles = |(ranges, &extent): (&Vec<(u64, u64)>, &u64)| {
            ranges.iter().map(|&(first, last)| (first / extent, last / extent)).collect()
        };
        let tiles: CellRanges = ranges.iter().zip(&extents).map(of_tiles).collect();
        let units = vec![1; extents.len()];
        Self::Tiles {
            tiles: Cuts::new(tiles, !grid.tiles_row_major(), &units, max_cells / grid.tile_cells.max(1)),
            ranges,
            extents,
        }
    }
}

impl Iterator for Windows {
    type Item = CellRanges;

    fn next(&mut self) -> Option<CellRanges> {
        match self {
            Self::Cells(cuts) => cuts.next(),
            Self::Tiles { tiles, ranges, extents } => {
                let window = tiles.next()?;
                let mut cells = Vec::with_capacity(window.len());
                for ((tiles, extent), ranges) in window.into_iter().zip(&*extents).zip(&*ranges) {
                    // One range per dimension: a read of several in global order is refused.
                    let inside = tiles.into_iter().zip(ranges).map(|((first, last), &(low, high))| {
                        ((first * extent).max(low), (last * extent).saturating_add(extent - 1).min(high))
                    });
                    cells.push(inside.collect());
                }
                Some(cells)
            }
        }
    }
}

/// Windows of a box, each of at most so many cells.
#[derive(Debug)]
pub(crate) struct Cuts {
    ranges: CellRanges,
    /// The dimensions from the slowest to the fastest.
    order: Vec<usize>,
    lens: Vec<u64>,
    /// The place in `order` of the dimension along which windows are cut; of slower ones a window has one index.
    cut: usize,
    /// Cells along that dimension.
    step: u64,
    /// Where the next window starts, per place in `order` up to `cut`; none when there is none.
    next: Option<Vec<u64>>,
    extent: u64,
}

impl Cuts {
    fn new(ranges: CellRanges, col_major: bool, extents: &[u64], max_cells: u64) -> Self {
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        if col_major {
            order.reverse();
        }
        let len = |dimension: &usize| -> u64 {
            let ranges = ranges.get(*dimension).map_or(&[][..], Vec::as_slice);
            ranges.iter().fold(0, |len: u64, &(first, last)| len.saturating_add((last - first).saturating_add(1)))
        };
        let lens: Vec<u64> = order.iter().map(len).collect();
        let max_cells = max_cells.max(1);
        // Cells of one index along each dimension.
        let mut below = vec![1_u64; lens.len()];
        for place in (1..lens.len()).rev() {
            let inner = below.get(place).copied().unwrap_or(1).saturating_mul(lens.get(place).copied().unwrap_or(1));
            if let Some(target) = below.get_mut(place - 1) {
                *target = inner;
            }
        }
        let cut = below.iter().position(|&cells| cells <= max_cells).unwrap_or(0);
        let step = (max_cells / below.get(cut).copied().unwrap_or(1).max(1)).max(1);
        let extent = order.get(cut).and_then(|&dimension| extents.get(dimension)).copied().unwrap_or(1);
        let empty = lens.contains(&0);
        let next = (!empty).then(|| vec![0; cut + 1]);
        Self { ranges, order, lens, cut, step, next, extent }
    }

    /// Moves behind a window; whether there is another.
    fn advance(&self, at: &mut [u64], cells: u64) -> bool {
        let mut step = cells;
        for (at, &len) in at.iter_mut().zip(self.lens.get(..=self.cut).unwrap_or_default()).rev() {
            *at += step;
            if *at < len {
                return true;
            }
            *at = 0;
            step = 1;
        }
        false
    }

    /// How far to go along the cut dimension: where one range lets a window hold whole tiles, it ends with a tile.
    fn step_from(&self, at: u64) -> u64 {
        let single = self.order.get(self.cut).and_then(|&dimension| self.ranges.get(dimension)).map(Vec::as_slice);
        let Some([(first, _)]) = single else { return self.step };
        if self.step < self.extent {
            return self.step;
        }
        let start = first + at;
        let end = start.saturating_add(self.step);
        (end - end % self.extent).saturating_sub(start).max(1)
    }
}

impl Iterator for Cuts {
    type Item = CellRanges;

    fn next(&mut self) -> Option<CellRanges> {
        let mut at = self.next.take()?;
        let mut window = self.ranges.clone();
        let mut moved = 1;
        for (place, (&dimension, &start)) in self.order.iter().zip(&at).enumerate() {
            let len = if place == self.cut {
                let left = self.lens.get(place).copied().unwrap_or(0) - start;
                moved = self.step_from(start).min(left);
                moved
            } else {
                1
            };
            if let Some(ranges) = window.get_mut(dimension) {
                *ranges = slice_ranges(ranges, start, len);
            }
        }
        self.next = self.advance(&mut at, moved).then_some(at);
        Some(window)
    }
}

/// `len` indices from the `start`th on of ranges one behind the other.
fn slice_ranges(ranges: &[(u64, u64)], start: u64, len: u64) -> Vec<(u64, u64)> {
    let (mut skip, mut left) = (start, len);
    let mut slice = Vec::new();
    for &(first, last) in ranges {
        let cells = last - first + 1;
        if skip >= cells {
            skip -= cells;
            continue;
        }
        if left == 0 {
            break;
        }
        let taken = (cells - skip).min(left);
        slice.push((first + skip, first + skip + (taken - 1)));
        left -= taken;
        skip = 0;
    }
    slice
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(ranges: &[&[(u64, u64)]], extents: &[u64], layout: Layout, max_cells: u64) -> Vec<CellRanges> {
        let grid = Grid::of_extents(extents);
        Windows::new(ranges.iter().map(|ranges| ranges.to_vec()).collect(), layout, &grid, max_cells).collect()
    }

    #[test]
    fn windows_end_with_tiles_where_they_can() {
        let found = windows(&[&[(2, 13)], &[(0, 9)]], &[4, 4], Layout::RowMajor, 50);
        assert_eq!(found, [[[(2, 3)], [(0, 9)]], [[(4, 7)], [(0, 9)]], [[(8, 11)], [(0, 9)]], [[(12, 13)], [(0, 9)]]]);
    }

    #[test]
    fn a_row_that_is_too_long_is_cut_itself() {
        let found = windows(&[&[(5, 6)], &[(0, 1), (7, 7)]], &[4, 4], Layout::RowMajor, 2);
        let expected: [CellRanges; 4] = [
            vec![vec![(5, 5)], vec![(0, 1)]],
            vec![vec![(5, 5)], vec![(7, 7)]],
            vec![vec![(6, 6)], vec![(0, 1)]],
            vec![vec![(6, 6)], vec![(7, 7)]],
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn in_column_order_the_last_dimension_is_cut() {
        let found = windows(&[&[(0, 9)], &[(0, 1)]], &[4, 4], Layout::ColMajor, 10);
        assert_eq!(found, [[[(0, 9)], [(0, 0)]], [[(0, 9)], [(1, 1)]]]);
    }
}
