//! Where the cells of a dense result come from: the geometry of a read, without any bytes.
//!
//! Coordinates are counted from the low corner of the domain, so that every dimension starts at 0.

use crate::Error;

/// A box of cells: per dimension the first cell and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellBox {
    pub(crate) start: Vec<u64>,
    pub(crate) len: Vec<u64>,
}

impl CellBox {
    /// The cells that both boxes hold.
    pub(crate) fn intersection(&self, other: &Self) -> Option<Self> {
        let mut both = Self { start: Vec::with_capacity(self.start.len()), len: Vec::with_capacity(self.len.len()) };
        for (((&a, &a_len), &b), &b_len) in self.start.iter().zip(&self.len).zip(&other.start).zip(&other.len) {
            let start = a.max(b);
            // The last cells, because a box may end at the last cell that a number can say.
            let last = (a + (a_len - 1)).min(b + (b_len - 1));
            if start > last {
                return None;
            }
            both.start.push(start);
            both.len.push(last - start + 1);
        }
        Some(both)
    }

    /// Whether every cell of `other` is in this box.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.intersection(other).is_some_and(|both| both == *other)
    }

    /// Whether this cell is in the box.
    pub(crate) fn contains_cell(&self, cell: &[u64]) -> bool {
        cell.iter().zip(&self.start).zip(&self.len).all(|((&at, &start), &len)| at >= start && at - start < len)
    }
}

/// The part of one range that falls into one tile, along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The tile's index along the dimension.
    pub(crate) tile: u64,
    /// The first cell in the domain.
    pub(crate) source: u64,
    /// The first cell in the result.
    pub(crate) target: usize,
    /// How many cells.
    pub(crate) len: usize,
}

/// The slots of one dimension in the order of the result, and the length of the result along it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) slots: Vec<Slot>,
    pub(crate) len: usize,
    /// Cells of a tile.
    pub(crate) extent: u64,
}

impl Axis {
    /// Cuts ranges (first and last cell) at the borders of tiles.
    pub(crate) fn new(ranges: &[(u64, u64)], extent: u64) -> Result<Self, Error> {
        let too_large = || Error::invalid("the ranges of a dense read hold more cells than memory can");
        let mut slots: Vec<Slot> = Vec::new();
        let mut target = 0_usize;
        for &(first, last) in ranges {
            let mut at = first;
            loop {
                let tile = at / extent;
                let tile_last = (tile * extent).saturating_add(extent - 1);
                let len = usize::try_from(tile_last.min(last) - at + 1).map_err(|_| too_large())?;
                match slots.last_mut() {
                    // Single cells side by side are as good as a range.
                    Some(Slot { tile: before, source, len: cells, .. }) if *before == tile && *source + *cells as u64 == at => {
                        *cells += len;
                    }
                    _ => slots.push(Slot { tile, source: at, target, len }),
                }
                target = target.checked_add(len).ok_or_else(too_large)?;
                if tile_last >= last {
                    break;
                }
                at = tile_last + 1;
            }
        }
        Ok(Self { slots, len: target, extent })
    }
}

/// A dense result: its axes in the order of the dimensions, and the order of its cells.
#[derive(Debug, Clone)]
pub(crate) struct ResultShape {
    pub(crate) axes: Vec<Axis>,
    /// The dimensions from the slowest to the fastest in the result.
    pub(crate) order: Vec<usize>,
    /// Cells of the result.
    pub(crate) cells: usize,
    /// How many of the slowest dimensions are walked one index at a time; along the others together, cells of one piece
    /// lie side by side.
    outer: usize,
}

/// The cells of the result that one slot of each dimension gives: a box in one tile, and a box of the result.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The tile's index along each dimension.
    pub(crate) tile: Vec<u64>,
    /// The cells in the domain.
    pub(crate) source: CellBox,
}

impl ResultShape {
    pub(crate) fn new(axes: Vec<Axis>, row_major: bool) -> Result<Self, Error> {
        let cells = axes.iter().try_fold(1_usize, |cells, axis| cells.checked_mul(axis.len));
        let cells = cells.ok_or_else(|| Error::invalid("the result of a dense read has more cells than memory can hold"))?;
        let mut order: Vec<usize> = (0..axes.len()).collect();
        if !row_major {
            order.reverse();
        }
        let whole = order.iter().rev().take_while(|&&dimension| axes.get(dimension).is_some_and(|axis| axis.slots.len() == 1));
        let outer = axes.len().saturating_sub(whole.count() + 1);
        Ok(Self { axes, order, cells, outer })
    }

    /// All pieces, in the order in which [`ResultShape::cut`] numbers them.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let counts: Vec<usize> = self.axes.iter().map(|axis| axis.slots.len()).collect();
        let total = counts.iter().product();
        let mut pieces = Vec::with_capacity(total);
        let mut index = vec![0; counts.len()];
        for _ in 0..total {
            let slots = || self.axes.iter().zip(&index).filter_map(|(axis, &slot)| axis.slots.get(slot));
            pieces.push(Piece {
                tile: slots().map(|slot| slot.tile).collect(),
                source: CellBox {
                    start: slots().map(|slot| slot.source).collect(),
                    len: slots().map(|slot| slot.len as u64).collect(),
                },
            });
            advance(&mut index, &counts);
        }
        pieces
    }

    /// Cuts the memory of a result into the runs of each piece, in the order in which the piece's own cells stand.
    ///
    /// `bytes` says how many bytes the cells `first..first + len` of the result take.
    pub(crate) fn cut<'m>(&self, memory: &'m mut [u8], bytes: impl Fn(usize, usize) -> usize) -> Vec<Vec<&'m mut [u8]>> {
        let piece_count = self.axes.iter().map(|axis| axis.slots.len()).product();
        let mut runs: Vec<Vec<&mut [u8]>> = (0..piece_count).map(|_| Vec::new()).collect();
        if self.cells == 0 {
            return runs;
        }
        let strides = self.piece_strides();
        let (outer, inner) = self.order.split_at(self.outer);
        // Of the inner dimensions only the slowest may have more than one slot.
        let Some((&run_dimension, whole)) = inner.split_first() else { return runs };
        let whole_cells: usize = whole.iter().map(|&dimension| self.axis_len(dimension)).product();
        let run_slots = self.axes.get(run_dimension).map_or(&[][..], |axis| &axis.slots);
        let run_stride = strides.get(run_dimension).copied().unwrap_or(0);
        let mut rest = memory;
        let mut first_cell = 0;
        self.for_each_outer(outer, &strides, |piece_base| {
            for (number, slot) in run_slots.iter().enumerate() {
                let cells = slot.len * whole_cells;
                let (run, behind) = std::mem::take(&mut rest).split_at_mut(bytes(first_cell, cells));
                if let Some(piece) = runs.get_mut(piece_base + number * run_stride) {
                    piece.push(run);
                }
                rest = behind;
                first_cell += cells;
            }
        });
        runs
    }

    /// Calls `each` with the number of the first piece on every row of the result.
    fn for_each_outer(&self, outer: &[usize], strides: &[usize], mut each: impl FnMut(usize)) {
        let lens: Vec<usize> = outer.iter().map(|&dimension| self.axis_len(dimension)).collect();
        let rows: usize = lens.iter().product();
        let mut at = vec![0; outer.len()];
        let mut slot = vec![0_usize; outer.len()];
        for _ in 0..rows {
            let mut base = 0;
            for ((&dimension, &at), slot) in outer.iter().zip(&at).zip(&mut slot) {
                let slots = self.axes.get(dimension).map_or(&[][..], |axis| &axis.slots);
                if at == 0 {
                    *slot = 0;
                }
                while slots.get(*slot).is_some_and(|slot| at >= slot.target + slot.len) {
                    *slot += 1;
                }
                base += *slot * strides.get(dimension).copied().unwrap_or(0);
            }
            each(base);
            advance(&mut at, &lens);
        }
    }

    /// Calls `each` with the coordinate along one dimension of every cell, in the order of the result.
    pub(crate) fn for_each_coordinate(&self, dimension: usize, mut each: impl FnMut(u64)) {
        let place = self.order.iter().position(|&other| other == dimension).unwrap_or(0);
        let (slower, faster) = self.order.split_at(place);
        let cells = |dimensions: &[usize]| dimensions.iter().map(|&dimension| self.axis_len(dimension)).product::<usize>();
        let repeat = cells(faster.get(1..).unwrap_or_default());
        let slots = self.axes.get(dimension).map_or(&[][..], |axis| &axis.slots);
        for _ in 0..cells(slower) {
            for slot in slots {
                for step in 0..slot.len as u64 {
                    (0..repeat).for_each(|_| each(slot.source + step));
                }
            }
        }
    }

    fn axis_len(&self, dimension: usize) -> usize {
        self.axes.get(dimension).map_or(0, |axis| axis.len)
    }

    /// By how much the number of a piece grows from one slot of a dimension to the next.
    fn piece_strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.axes.len()];
        let mut stride = 1;
        for (target, axis) in strides.iter_mut().zip(&self.axes).rev() {
            *target = stride;
            stride *= axis.slots.len();
        }
        strides
    }

    /// How the cells of a piece lie in its runs.
    pub(crate) fn piece_layout(&self, piece: &Piece) -> PieceLayout {
        self.layout_with(piece, self.outer)
    }

    /// How the cells of a piece lie when they all stand in one run.
    pub(crate) fn single_run_layout(&self, piece: &Piece) -> PieceLayout {
        self.layout_with(piece, 0)
    }

    fn layout_with(&self, piece: &Piece, outer: usize) -> PieceLayout {
        let mut run_stride = vec![0; self.order.len()];
        let mut cell_stride = vec![0; self.order.len()];
        let (outer, inner) = self.order.split_at(outer);
        let fill = |dimensions: &[usize], strides: &mut Vec<usize>| {
            let mut stride = 1_usize;
            for &dimension in dimensions.iter().rev() {
                let len = piece.source.len.get(dimension).copied().unwrap_or(0);
                if let Some(target) = strides.get_mut(dimension) {
                    *target = stride;
                }
                // A piece is part of the result, whose cells were counted.
                stride = stride.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX));
            }
        };
        fill(outer, &mut run_stride);
        fill(inner, &mut cell_stride);
        PieceLayout { run_stride, cell_stride, fastest: self.order.last().copied().unwrap_or(0) }
    }
}

/// Where a cell of a piece stands: in which of its runs, and as which cell of the run.
#[derive(Debug, Clone)]
pub(crate) struct PieceLayout {
    run_stride: Vec<usize>,
    cell_stride: Vec<usize>,
    /// The dimension along which neighbouring cells stand side by side.
    fastest: usize,
}

/// Cells side by side in a piece, at even distances in a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The run of the piece.
    pub(crate) run: usize,
    /// The first cell in the run.
    pub(crate) target: usize,
    /// The first cell in the tile.
    pub(crate) source: usize,
    /// The distance of two cells in the tile.
    pub(crate) source_stride: usize,
    /// How many cells.
    pub(crate) len: usize,
}

/// How the cells of a tile lie: its low corner and the distance of neighbours along each dimension.
#[derive(Debug, Clone)]
pub(crate) struct TileLayout {
    pub(crate) start: Vec<u64>,
    pub(crate) stride: Vec<usize>,
}

impl TileLayout {
    pub(crate) fn new(tile: &[u64], extents: &[u64], row_major: bool) -> Self {
        let start = tile.iter().zip(extents).map(|(&tile, &extent)| tile * extent).collect();
        let mut stride = vec![0; extents.len()];
        let mut next = 1_usize;
        let mut set = |(target, &extent): (&mut usize, &u64)| {
            *target = next;
            next = next.saturating_mul(usize::try_from(extent).unwrap_or(usize::MAX));
        };
        if row_major {
            stride.iter_mut().zip(extents).rev().for_each(&mut set);
        } else {
            stride.iter_mut().zip(extents).for_each(&mut set);
        }
        Self { start, stride }
    }
}

/// Calls `each` for the runs that bring the cells of `part` from a tile to a piece, all of the same length and stride.
pub(crate) fn for_each_run(part: &CellBox, piece: &Piece, layout: &PieceLayout, tile: &TileLayout, mut each: impl FnMut(Run)) {
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let dimensions = part.start.len();
    let mut base = Run { run: 0, target: 0, source: 0, source_stride: 1, len: 1 };
    let mut steps = Vec::with_capacity(dimensions);
    let mut lens = Vec::with_capacity(dimensions);
    for dimension in 0..dimensions {
        let get = |numbers: &[u64]| numbers.get(dimension).copied().unwrap_or(0);
        let stride = |strides: &[usize]| strides.get(dimension).copied().unwrap_or(0);
        let in_piece = small(get(&part.start) - get(&piece.source.start));
        let in_tile = small(get(&part.start) - get(&tile.start));
        base.run += in_piece * stride(&layout.run_stride);
        base.target += in_piece * stride(&layout.cell_stride);
        base.source += in_tile * stride(&tile.stride);
        if dimension == layout.fastest {
            base.source_stride = stride(&tile.stride);
            base.len = small(get(&part.len));
        } else {
            steps.push((stride(&layout.run_stride), stride(&layout.cell_stride), stride(&tile.stride)));
            lens.push(small(get(&part.len)));
        }
    }
    // Cells that follow each other along several dimensions, in the tile and in the result, are one run.
    let continues = |run: &Run, step: (usize, usize, usize)| run.source_stride == 1 && step == (0, run.len, run.len);
    while let Some(dimension) = steps.iter().position(|&step| continues(&base, step)) {
        steps.swap_remove(dimension);
        base.len *= lens.swap_remove(dimension);
    }
    let mut at = vec![0; lens.len()];
    for _ in 0..lens.iter().product::<usize>() {
        let mut run = base;
        for (&(runs, cells, source), &at) in steps.iter().zip(&at) {
            run.run += at * runs;
            run.target += at * cells;
            run.source += at * source;
        }
        each(run);
        advance(&mut at, &lens);
    }
}

/// The next index in a box, the last dimension fastest; wraps around at the end.
pub(crate) fn advance(index: &mut [usize], lens: &[usize]) {
    for (at, &len) in index.iter_mut().zip(lens).rev() {
        *at += 1;
        if *at < len {
            return;
        }
        *at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(ranges: &[&[(u64, u64)]], extents: &[u64], row_major: bool) -> ResultShape {
        let axes = ranges.iter().zip(extents).map(|(ranges, &extent)| Axis::new(ranges, extent).unwrap()).collect();
        ResultShape::new(axes, row_major).unwrap()
    }

    /// The result of reading an array whose cell (y, x) holds 10 y + x, by way of pieces and runs.
    #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
    fn read(ranges: &[&[(u64, u64)]], extents: &[u64; 2], row_major: bool, tiles_row_major: bool) -> Vec<u8> {
        let shape = shape(ranges, extents, row_major);
        let mut memory = vec![0; shape.cells];
        let pieces = shape.pieces();
        for (piece, mut runs) in pieces.iter().zip(shape.cut(&mut memory, |_, cells| cells)) {
            let tile = TileLayout::new(&piece.tile, extents, tiles_row_major);
            let layout = shape.piece_layout(piece);
            for_each_run(&piece.source, piece, &layout, &tile, |run| {
                for cell in 0..run.len {
                    let source = run.source + cell * run.source_stride;
                    let (y, x) = (source / tile.stride[0] % extents[0] as usize, source / tile.stride[1] % extents[1] as usize);
                    runs[run.run][run.target + cell] = (10 * (tile.start[0] as usize + y) + tile.start[1] as usize + x) as u8;
                }
            });
        }
        memory
    }

    #[test]
    fn ranges_are_a_cross_product_in_the_order_added() {
        let ranges: [&[(u64, u64)]; 2] = [&[(2, 3), (0, 0)], &[(3, 3), (1, 1)]];
        for tiles_row_major in [true, false] {
            assert_eq!(read(&ranges, &[2, 2], true, tiles_row_major), [23, 21, 33, 31, 3, 1]);
            assert_eq!(read(&ranges, &[2, 2], false, tiles_row_major), [23, 33, 3, 21, 31, 1]);
            assert_eq!(read(&ranges, &[4, 4], false, tiles_row_major), [23, 33, 3, 21, 31, 1]);
        }
    }

    #[test]
    fn a_dimension_in_one_slot_makes_longer_runs() {
        let whole = shape(&[&[(0, 9)], &[(0, 2)]], &[5, 3], true);
        let mut memory = vec![0; 30];
        let runs = whole.cut(&mut memory, |_, cells| cells);
        assert_eq!(
            runs.iter().map(|runs| runs.iter().map(|run| run.len()).collect::<Vec<_>>()).collect::<Vec<_>>(),
            [[15], [15]]
        );
    }

    proptest::proptest! {
        #[test]
        #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
        fn any_window_of_any_tiling_is_read_right(
            y in (0_u64..9, 0_u64..9), x in (0_u64..9, 0_u64..9), ey in 1_u64..12, ex in 1_u64..12, row_major: bool, tiles: bool,
        ) {
            let (y, x) = ((y.0.min(y.1), y.0.max(y.1)), (x.0.min(x.1), x.0.max(x.1)));
            let mut expected: Vec<u8> = Vec::new();
            if row_major {
                (y.0..=y.1).for_each(|y| (x.0..=x.1).for_each(|x| expected.push((10 * y + x) as u8)));
            } else {
                (x.0..=x.1).for_each(|x| (y.0..=y.1).for_each(|y| expected.push((10 * y + x) as u8)));
            }
            proptest::prop_assert_eq!(read(&[&[y], &[x]], &[ey, ex], row_major, tiles), expected);
        }
    }
}
