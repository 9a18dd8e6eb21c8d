//! Dense cells: a subarray cut into whole tiles, the rest of a tile filled with zeros.
//!
//! Which cells of a tile count is told by the fragment's non-empty domain, never by the zeros (20-semantics §1.2).

use std::ops::Range;

use talavera_schema::{ArraySchema, NdRange};
use talavera_types::Layout;

use super::check::{Cells, check_in_current_domain};
use super::fragment::FragmentWriter;
use super::tile::Tile;
use crate::read::dense::layout::{Axis, CellBox, ResultShape, TileLayout, advance};
use crate::read::dense::overlay::Grid;
use crate::{CellBytes, Error, FieldBuffer};

/// A subarray of a dense array, in cells from the low corner of its domain.
pub(crate) struct DenseWrite {
    grid: Grid,
    cells: CellBox,
    /// The tiles it touches, in the order of tiles, and the cells of it in each.
    tiles: Vec<(Vec<u64>, CellBox)>,
    /// The distance of neighbouring cells in the caller's buffers along each dimension.
    strides: Vec<usize>,
    pub(crate) count: usize,
}

impl DenseWrite {
    pub(crate) fn new(schema: &ArraySchema, subarray: &NdRange, layout: Layout) -> Result<Self, Error> {
        let (grid, cells) = check_subarray(schema, subarray)?;
        let row_major = match layout {
            Layout::RowMajor => true,
            Layout::ColMajor => false,
            _ => return Err(Error::invalid("the cells of a dense subarray come row-major or column-major")),
        };
        let ends = cells.start.iter().zip(&cells.len).map(|(&start, &len)| (start, start + (len - 1)));
        let axes = ends.zip(&grid.extents).map(|(range, &extent)| Axis::new(&[range], extent)).collect::<Result<Vec<_>, _>>()?;
        let shape = ResultShape::new(axes, true)?;
        let mut tiles: Vec<_> = shape.pieces().into_iter().map(|piece| (piece.tile, piece.source)).collect();
        if !grid.tiles_row_major() {
            tiles.sort_by(|(a, _), (b, _)| a.iter().rev().cmp(b.iter().rev()));
        }
        // The caller's buffer is like one tile that holds just the subarray.
        let strides = TileLayout::new(&vec![0; cells.len.len()], &cells.len, row_major).stride;
        Ok(Self { grid, cells, tiles, strides, count: shape.cells })
    }

    /// Makes all tiles and appends them.
    pub(crate) fn append(&self, writer: &mut FragmentWriter, cells: &Cells<'_>) -> Result<(), Error> {
        writer.append(&self.tiles, |(tile, part)| self.tile(tile, part, cells))
    }

    fn tile<'c>(&self, tile: &[u64], part: &CellBox, cells: &'c Cells<'_>) -> Result<Tile<'c>, Error> {
        let count = usize::try_from(self.grid.tile_cells).map_err(|_| Error::invalid("a tile does not fit into memory"))?;
        let layout = self.grid.tile_layout(tile);
        let runs = self.runs(part, &layout);
        let buffers = cells.buffers.iter().map(AsRef::as_ref);
        if let Some(runs) = in_place(&runs, count) {
            return Ok(Tile::in_place(buffers, runs));
        }
        let fields = buffers.map(|buffer| fill_tile(buffer, &runs, count)).collect::<Result<_, _>>()?;
        Ok(Tile::gathered(fields, count, written(&runs), None))
    }

    /// Which cells of the caller's buffers go where in a tile.
    fn runs(&self, part: &CellBox, layout: &TileLayout) -> Vec<CopyRun> {
        let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let fastest = layout.stride.iter().position(|&stride| stride == 1).unwrap_or(0);
        let mut run = CopyRun { source: 0, source_stride: 1, target: 0, len: 1 };
        let (mut steps, mut lens) = (Vec::new(), Vec::new());
        let axes =
            part.start.iter().zip(&part.len).zip(&self.cells.start).zip(&layout.start).zip(&self.strides).zip(&layout.stride);
        for (dimension, (((((&start, &len), &first), &low), &source), &target)) in axes.enumerate() {
            run.source += small(start - first) * source;
            run.target += small(start - low) * target;
            if dimension == fastest {
                run.source_stride = source;
                run.len = small(len);
            } else {
                steps.push((source, target));
                lens.push(small(len));
            }
        }
        // Cells that follow each other along several dimensions, on both sides, are one run.
        let continues = |run: &CopyRun, step| run.source_stride == 1 && step == (run.len, run.len);
        while let Some(dimension) = steps.iter().position(|&step| continues(&run, step)) {
            steps.swap_remove(dimension);
            run.len *= lens.swap_remove(dimension);
        }
        let mut at = vec![0; lens.len()];
        let mut runs = Vec::new();
        for _ in 0..lens.iter().product::<usize>() {
            let mut next = run;
            for (&(source, target), &at) in steps.iter().zip(&at) {
                next.source += at * source;
                next.target += at * target;
            }
            runs.push(next);
            advance(&mut at, &lens);
        }
        runs.sort_by_key(|run| run.target);
        runs
    }
}

/// The grid of an array and the cells of a subarray, if it can be written.
fn check_subarray(schema: &ArraySchema, subarray: &NdRange) -> Result<(Grid, CellBox), Error> {
    let grid = Grid::new(schema)?;
    for (dimension, range) in schema.domain.dimensions.iter().zip(&subarray.0) {
        let in_domain = dimension.domain.as_ref().is_some_and(|domain| domain.contains(range));
        if !range.is_valid() || !range.is_of(dimension.datatype) || !in_domain {
            return Err(Error::invalid(format!("the subarray {range} of dimension '{}' is not in its domain", dimension.name)));
        }
    }
    check_in_current_domain(schema, subarray)?;
    let cells = grid.box_of(subarray).filter(|cells| cells.len.len() == grid.extents.len());
    let cells = cells.ok_or_else(|| Error::invalid("a dense write takes one range of integers for each dimension"))?;
    Ok((grid, cells))
}

/// The number of cells of a subarray of whole tiles, and that of a tile.
pub(crate) fn check_whole_tiles(schema: &ArraySchema, subarray: &NdRange) -> Result<(u64, u64), Error> {
    let (grid, cells) = check_subarray(schema, subarray)?;
    let sides = cells.start.iter().zip(&cells.len).zip(&grid.extents);
    for (((&start, &len), &extent), dimension) in sides.zip(&schema.domain.dimensions) {
        if !start.is_multiple_of(extent) || !len.is_multiple_of(extent) {
            let reason = format!("the subarray cuts tiles of dimension '{}', which hold {extent} cells each", dimension.name);
            return Err(Error::invalid(reason));
        }
    }
    let count = cells.len.iter().try_fold(1_u64, |cells, &len| cells.checked_mul(len));
    let count = count.ok_or_else(|| Error::invalid("the subarray has more cells than a number can say"))?;
    Ok((count, grid.tile_cells))
}

/// Cells side by side in a tile, at even distances in the caller's buffer.
#[derive(Debug, Clone, Copy)]
struct CopyRun {
    source: usize,
    source_stride: usize,
    target: usize,
    len: usize,
}

/// The runs of the caller's cells that are all of a tile, one behind the other, if there are such.
fn in_place(runs: &[CopyRun], count: usize) -> Option<Vec<Range<usize>>> {
    let whole = runs.iter().map(|run| run.len).sum::<usize>() == count;
    let side_by_side = runs.iter().all(|run| run.source_stride == 1 || run.len == 1);
    (whole && side_by_side).then(|| runs.iter().map(|run| run.source..run.source + run.len).collect())
}

/// The cells of a tile that are written, as few runs as there can be.
fn written(runs: &[CopyRun]) -> Vec<Range<usize>> {
    let mut written: Vec<Range<usize>> = Vec::new();
    for run in runs {
        match written.last_mut() {
            Some(last) if last.end == run.target => last.end += run.len,
            _ => written.push(run.target..run.target + run.len),
        }
    }
    written
}

/// A tile of one field, zeros where nothing is written: zero bytes, null, and for cells of variable length one zero value.
fn fill_tile(buffer: &FieldBuffer, runs: &[CopyRun], count: usize) -> Result<FieldBuffer, Error> {
    let pairs =
        || runs.iter().flat_map(|run| (0..run.len).map(|step| (run.source + step * run.source_stride, run.target + step)));
    let validity = buffer.validity().map(|source| {
        let mut validity = vec![0; count];
        for (from, to) in pairs() {
            if let (Some(source), Some(target)) = (source.get(from), validity.get_mut(to)) {
                *target = *source;
            }
        }
        validity
    });
    let (data, offsets) = match buffer.cell_bytes() {
        Some(bytes) => (fill_fixed(buffer, runs, count, bytes), None),
        None => {
            let mut sources = vec![None; count];
            for (from, to) in pairs() {
                if let Some(target) = sources.get_mut(to) {
                    *target = Some(from);
                }
            }
            let zero = vec![0; buffer.datatype().size()];
            let (mut data, mut offsets) = (Vec::new(), vec![0]);
            for source in sources {
                data.extend_from_slice(source.map_or(&zero, |source| buffer.cell(source).unwrap_or_default()));
                offsets.push(data.len() as u64);
            }
            (CellBytes::copied(&data), Some(offsets))
        }
    };
    FieldBuffer::new(buffer.datatype(), buffer.cell_val_num(), data, offsets, validity)
}

fn fill_fixed(buffer: &FieldBuffer, runs: &[CopyRun], count: usize, bytes: usize) -> CellBytes {
    let whole = runs.iter().map(|run| run.len).sum::<usize>() == count;
    let mut data = if whole { CellBytes::meaningless(count * bytes) } else { CellBytes::zeroed(count * bytes) };
    for run in runs {
        let Some(target) = data.get_mut(run.target * bytes..(run.target + run.len) * bytes) else { continue };
        let Some(source) = buffer.data().get(run.source * bytes..) else { continue };
        if run.source_stride == 1 {
            if let Some(source) = source.get(..target.len()) {
                target.copy_from_slice(source);
            }
            continue;
        }
        for (target, source) in target.chunks_exact_mut(bytes).zip(source.chunks(run.source_stride * bytes)) {
            if let Some(source) = source.get(..bytes) {
                target.copy_from_slice(source);
            }
        }
    }
    data
}
