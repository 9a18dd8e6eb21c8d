//! Dense cells of fixed length, and validity: decoded tile by tile, copied run by run into the result.

use rayon::prelude::*;

use super::DenseRead;
use super::layout::{CellBox, Piece, ResultShape, for_each_run};
use super::overlay::{DenseFragment, Share, layers};
use crate::Error;
use crate::read::scatter::{Scatter, ScatterRun};
use crate::read::tile::FieldReader;

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
            .try_for_each(|mut group| self.fill_tile(shape, field, &mut group))
    }

    /// Lays the fragments over each other in all pieces of one tile.
    fn fill_tile(&self, shape: &ResultShape, field: &FixedField<'_, '_>, group: &mut [Target<'_>]) -> Result<(), Error> {
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
                self.lay(shape, field, (fragment, reader), &targets, group)?;
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
    ) -> Result<(), Error> {
        let mut runs = Vec::new();
        // All targets lie in the same tile of the domain, and so in the same tile of the fragment.
        let (mut tile, mut stride) = (None, 1);
        for target in targets_of(group, targets) {
            match fragment.share(&target.piece, &self.grid) {
                Some(Share::Tile { number, part }) => {
                    tile = Some(number);
                    stride = self.collect_runs(shape, field.cell_bytes, &part, target, &mut runs);
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
        match tile {
            Some(tile) => self.decode(field, reader, tile, Scatter::new(runs, stride, field.cell_bytes)),
            None => Ok(()),
        }
    }

    fn decode(
        &self,
        field: &FixedField<'_, '_>,
        reader: &FieldReader<'_>,
        tile: u64,
        mut scatter: Scatter<'_>,
    ) -> Result<(), Error> {
        match field.stream {
            Stream::Cells => reader.scatter_fixed(tile, self.grid.tile_cells, scatter, self.job),
            Stream::Validity => reader.scatter_validity(tile, self.grid.tile_cells, scatter, self.job),
            Stream::Presence => {
                scatter.fill(1);
                Ok(())
            }
        }
    }

    /// Appends where the cells of `part` go in a target; gives the distance in the tile of cells side by side there.
    fn collect_runs<'m>(
        &self,
        shape: &ResultShape,
        cell_bytes: usize,
        part: &CellBox,
        target: &'m mut Target<'_>,
        runs: &mut Vec<ScatterRun<'m>>,
    ) -> usize {
        let layout = shape.piece_layout(&target.piece);
        let tile = self.grid.tile_layout(&target.piece.tile);
        let mut places = Vec::new();
        for_each_run(part, &target.piece, &layout, &tile, |run| places.push(run));
        places.sort_unstable_by_key(|place| (place.run, place.target));
        let stride = places.first().map_or(1, |place| place.source_stride);
        let mut places = places.into_iter().peekable();
        for (number, memory) in target.runs.iter_mut().enumerate() {
            let (mut rest, mut at) = (&mut **memory, 0);
            while let Some(place) = places.next_if(|place| place.run == number) {
                let (_, from) = std::mem::take(&mut rest).split_at_mut((place.target - at) * cell_bytes);
                let (memory, behind) = from.split_at_mut(place.len * cell_bytes);
                runs.push(ScatterRun { first: place.source, memory });
                (rest, at) = (behind, place.target + place.len);
            }
        }
        stride
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

/// Those with these numbers, which ascend.
fn targets_of<'g, 'm>(group: &'g mut [Target<'m>], numbers: &[usize]) -> impl Iterator<Item = &'g mut Target<'m>> {
    let mut numbers = numbers.iter().peekable();
    let wanted = move |(number, target)| numbers.next_if(|wanted| **wanted == number).map(|_| target);
    group.iter_mut().enumerate().filter_map(wanted)
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
