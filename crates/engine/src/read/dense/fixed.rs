//! Dense cells of fixed length, and validity: decoded tile by tile, copied run by run into the result.

use rayon::prelude::*;

use super::DenseRead;
use super::layout::{CellBox, Piece, ResultShape, Run, for_each_run};
use super::overlay::{DenseFragment, Share, layers};
use crate::read::tile::FieldReader;
use crate::{CellBytes, Error};

/// What of a field goes into the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The cells.
    Cells,
    /// The validity of the cells.
    Validity,
    /// One where a fragment has the field, whatever it holds.
    Presence,
}

/// One field of fixed length.
pub(crate) struct FixedField<'r, 'f> {
    /// For each fragment of the read; none where the fragment does not have the field.
    pub(crate) readers: &'r [Option<FieldReader<'f>>],
    pub(crate) stream: Stream,
    /// Bytes of a cell in the result.
    pub(crate) cell_bytes: usize,
    /// The cell where nobody wrote.
    pub(crate) fill: &'r [u8],
}

/// A piece and its part of the result.
struct Target<'m> {
    piece: Piece,
    runs: Vec<&'m mut [u8]>,
}

impl DenseRead<'_> {
    /// Fills `result` with the cells, or the validity, of one field.
    pub(crate) fn read_fixed(&self, shape: &ResultShape, field: &FixedField<'_, '_>, result: &mut [u8]) -> Result<(), Error> {
        let runs = shape.cut(result, |_, cells| cells * field.cell_bytes);
        let targets = shape.pieces().into_iter().zip(runs).map(|(piece, runs)| Target { piece, runs }).collect();
        group_by_tile(targets, |target: &Target<'_>| &target.piece.tile)
            .into_par_iter()
            .try_for_each_init(CellBytes::default, |scratch, mut group| self.fill_tile(shape, field, &mut group, scratch))
    }

    /// Lays the fragments over each other in all pieces of one tile.
    fn fill_tile(
        &self,
        shape: &ResultShape,
        field: &FixedField<'_, '_>,
        group: &mut [Target<'_>],
        scratch: &mut CellBytes,
    ) -> Result<(), Error> {
        self.job.check_cancelled()?;
        let has_field = |number: usize| field.readers.get(number).is_some_and(Option::is_some);
        let mut shown = vec![Vec::new(); self.fragments.len()];
        for (number, target) in group.iter_mut().enumerate() {
            let layers = layers(&target.piece, &self.fragments, has_field, &self.grid);
            if !layers.complete {
                target.runs.iter_mut().for_each(|run| fill(run, field.fill));
            }
            for fragment in layers.fragments {
                if let Some(targets) = shown.get_mut(fragment) {
                    targets.push(number);
                }
            }
        }
        for ((fragment, reader), targets) in self.fragments.iter().zip(field.readers).zip(shown) {
            if let (Some(reader), false) = (reader, targets.is_empty()) {
                self.lay(shape, field, (fragment, reader), &targets, group, scratch)?;
            }
        }
        Ok(())
    }

    /// Lays one fragment over the targets in which it shows.
    fn lay(
        &self,
        shape: &ResultShape,
        field: &FixedField<'_, '_>,
        (fragment, reader): (&DenseFragment<'_>, &FieldReader<'_>),
        targets: &[usize],
        group: &mut [Target<'_>],
        scratch: &mut CellBytes,
    ) -> Result<(), Error> {
        let mut decoded = None;
        for &number in targets {
            let Some(target) = group.get_mut(number) else { continue };
            match fragment.share(&target.piece, &self.grid) {
                Some(Share::Tile { number, part }) => {
                    let whole = targets.len() == 1 && self.is_whole_tile(shape, target, &part);
                    if let ([run], true) = (target.runs.as_mut_slice(), whole) {
                        return self.decode(field, reader, number, run);
                    }
                    if decoded != Some(number) {
                        scratch.resize(self.tile_bytes(field.cell_bytes)?);
                        self.decode(field, reader, number, scratch)?;
                        decoded = Some(number);
                    }
                    self.copy_part(shape, field.cell_bytes, &part, scratch, target);
                }
                Some(Share::Cells(cells)) => {
                    for cell in cells {
                        let value = self.sparse_cell(field, reader, cell)?;
                        self.copy_cell(shape, &value, &cell.as_box(), target);
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    fn decode(&self, field: &FixedField<'_, '_>, reader: &FieldReader<'_>, tile: u64, cells: &mut [u8]) -> Result<(), Error> {
        match field.stream {
            Stream::Cells => reader.read_fixed_into(tile, cells, self.job),
            Stream::Validity => reader.read_validity_into(tile, cells, self.job),
            Stream::Presence => {
                cells.fill(1);
                Ok(())
            }
        }
    }

    /// Whether the piece is a whole tile whose cells stand in the result as they do in the tile.
    fn is_whole_tile(&self, shape: &ResultShape, target: &Target<'_>, part: &CellBox) -> bool {
        *part == target.piece.source
            && part.len == self.grid.extents
            && target.runs.len() == 1
            && (shape.row_major() == self.grid.cells_row_major() || part.len.iter().filter(|&&len| len > 1).count() <= 1)
    }

    fn tile_bytes(&self, cell_bytes: usize) -> Result<usize, Error> {
        let bytes = usize::try_from(self.grid.tile_cells).ok().and_then(|cells| cells.checked_mul(cell_bytes));
        let limit = self.options.tile_limit_bytes;
        bytes.filter(|&bytes| bytes as u64 <= limit).ok_or(Error::Budget {
            what: "a tile",
            needed: self.grid.tile_cells.saturating_mul(cell_bytes as u64),
            left: limit,
            limit,
        })
    }

    /// Copies the cells of `part` from a decoded tile.
    fn copy_part(&self, shape: &ResultShape, cell_bytes: usize, part: &CellBox, source: &[u8], target: &mut Target<'_>) {
        let layout = shape.piece_layout(&target.piece);
        let tile = self.grid.tile_layout(&target.piece.tile);
        for_each_run(part, &target.piece, &layout, &tile, |run| {
            let cells = target.runs.get_mut(run.run);
            let cells = cells.and_then(|memory| memory.get_mut(run.target * cell_bytes..(run.target + run.len) * cell_bytes));
            if let Some(cells) = cells {
                copy_run(source, run, cell_bytes, cells);
            }
        });
    }

    fn copy_cell(&self, shape: &ResultShape, value: &[u8], cell: &CellBox, target: &mut Target<'_>) {
        let layout = shape.piece_layout(&target.piece);
        let tile = self.grid.tile_layout(&target.piece.tile);
        for_each_run(cell, &target.piece, &layout, &tile, |run| {
            let memory = target.runs.get_mut(run.run);
            let cell = memory.and_then(|memory| memory.get_mut(run.target * value.len()..(run.target + 1) * value.len()));
            if let Some(cell) = cell {
                cell.copy_from_slice(value);
            }
        });
    }
}

/// Groups what lies in the same tile, keeping the order otherwise.
pub(super) fn group_by_tile<T>(mut targets: Vec<T>, tile: impl Fn(&T) -> &Vec<u64>) -> Vec<Vec<T>> {
    targets.sort_by(|a, b| tile(a).cmp(tile(b)));
    let mut groups: Vec<Vec<T>> = Vec::new();
    for target in targets {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| tile(last) == tile(&target)) => group.push(target),
            _ => groups.push(vec![target]),
        }
    }
    groups
}

/// Repeats the fill value over memory.
pub(super) fn fill(memory: &mut [u8], value: &[u8]) {
    match value {
        [] => {}
        [byte] => memory.fill(*byte),
        _ => memory.chunks_exact_mut(value.len()).for_each(|cell| cell.copy_from_slice(value)),
    }
}

/// Copies one run of cells from a tile.
fn copy_run(source: &[u8], run: Run, cell_bytes: usize, cells: &mut [u8]) {
    let Some(source) = source.get(run.source * cell_bytes..) else { return };
    if run.source_stride == 1 || run.len == 1 {
        if let Some(source) = source.get(..cells.len()) {
            cells.copy_from_slice(source);
        }
        return;
    }
    let stride = run.source_stride * cell_bytes;
    match cell_bytes {
        1 => gather::<1>(source, stride, cells),
        2 => gather::<2>(source, stride, cells),
        4 => gather::<4>(source, stride, cells),
        8 => gather::<8>(source, stride, cells),
        _ => {
            for (cell, source) in cells.chunks_exact_mut(cell_bytes).zip(source.chunks(stride)) {
                if let Some(source) = source.get(..cell_bytes) {
                    cell.copy_from_slice(source);
                }
            }
        }
    }
}

/// Copies cells of `N` bytes that lie `stride` bytes apart.
fn gather<const N: usize>(source: &[u8], stride: usize, cells: &mut [u8]) {
    for (cell, source) in cells.as_chunks_mut::<N>().0.iter_mut().zip(source.chunks(stride)) {
        if let Some(source) = source.first_chunk::<N>() {
            *cell = *source;
        }
    }
}
