//! Dense cells of variable length: first how long each cell of the result is, then the bytes.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::DenseRead;
use super::fixed::group_by_tile;
use super::layout::{CellBox, Piece, ResultShape, for_each_run};
use super::overlay::{Share, layers};
use crate::read::tile::FieldReader;
use crate::{CellBytes, Error, FieldBuffer};

/// Where a cell of a piece comes from: the layer's number, and the cell's in it.
#[derive(Debug, Clone, Copy)]
enum Source {
    Fill,
    Cell { layer: u32, cell: u32 },
}

/// A piece, the decoded tiles that show in it, and where each of its cells comes from, in the piece's order.
struct VarPiece {
    layers: Vec<Arc<FieldBuffer>>,
    sources: Vec<Source>,
}

impl DenseRead<'_> {
    /// The bytes and offsets of one field of variable length.
    pub(crate) fn read_var(
        &self,
        shape: &ResultShape,
        readers: &[Option<FieldReader<'_>>],
        fill: &[u8],
    ) -> Result<(CellBytes, Vec<u64>), Error> {
        let numbered: Vec<(usize, Piece)> = shape.pieces().into_iter().enumerate().collect();
        let groups = group_by_tile(numbered, |(_, piece)| &piece.tile);
        let decoded =
            groups.into_par_iter().map(|group| self.decode_group(shape, readers, group)).collect::<Result<Vec<_>, _>>()?;
        let mut pieces: Vec<(usize, VarPiece)> = decoded.into_iter().flatten().collect();
        pieces.sort_by_key(|(number, _)| *number);

        let mut offsets = vec![0_u64; shape.cells + 1];
        let lengths = bytemuck::cast_slice_mut(offsets.split_first_mut().map_or(&mut [][..], |(_, lengths)| lengths));
        let runs = shape.cut(lengths, |_, cells| cells * 8);
        pieces.par_iter().zip(runs).for_each(|((_, piece), runs)| write_lengths(piece, runs, fill));
        let mut end = 0_u64;
        for offset in &mut offsets {
            end = end.saturating_add(*offset);
            *offset = end;
        }
        let _reserved = self.job.reserve("cells of variable length", end)?;
        let total = usize::try_from(end).map_err(|_| Error::invalid("the result does not fit into memory"))?;
        let mut data = CellBytes::zeroed(total);
        let start_of = |cell: usize| offsets.get(cell).copied().and_then(|offset| usize::try_from(offset).ok()).unwrap_or(total);
        let runs = shape.cut(&mut data, |first, cells| start_of(first + cells) - start_of(first));
        pieces.par_iter().zip(runs).for_each(|((_, piece), runs)| write_cells(piece, runs, fill));
        Ok((data, offsets))
    }

    fn decode_group(
        &self,
        shape: &ResultShape,
        readers: &[Option<FieldReader<'_>>],
        group: Vec<(usize, Piece)>,
    ) -> Result<Vec<(usize, VarPiece)>, Error> {
        self.job.check_cancelled()?;
        // All pieces of the group lie in one tile, which each fragment has once.
        let mut tiles = HashMap::new();
        let decode = |(number, piece)| Ok((number, self.decode_piece(shape, readers, piece, &mut tiles)?));
        group.into_iter().map(decode).collect()
    }

    fn decode_piece(
        &self,
        shape: &ResultShape,
        readers: &[Option<FieldReader<'_>>],
        piece: Piece,
        tiles: &mut HashMap<usize, Arc<FieldBuffer>>,
    ) -> Result<VarPiece, Error> {
        let cells = piece.source.len.iter().try_fold(1_usize, |cells, &len| cells.checked_mul(usize::try_from(len).ok()?));
        let cells = cells.ok_or_else(|| Error::invalid("a piece of the result does not fit into memory"))?;
        let mut decoded = Vec::new();
        let mut sources = vec![Source::Fill; cells];
        let has_field = |number: usize| readers.get(number).is_some_and(Option::is_some);
        for number in layers(&piece, &self.fragments, has_field, &self.grid).fragments {
            let share = self.fragments.get(number).and_then(|fragment| fragment.share(&piece, &self.grid));
            let (Some(share), Some(reader)) = (share, readers.get(number).and_then(Option::as_ref)) else { continue };
            match share {
                Share::Tile { number: tile, part } => {
                    decoded.push(match tiles.get(&number) {
                        Some(known) => Arc::clone(known),
                        None => {
                            let new = Arc::new(reader.read(tile, self.grid.tile_cells, self.job)?);
                            tiles.insert(number, Arc::clone(&new));
                            new
                        }
                    });
                    let layer = layer_number(&decoded);
                    self.mark(shape, &piece, &part, &mut sources, |cell| Source::Cell { layer, cell });
                }
                Share::Cells(cells) => {
                    for cell in cells {
                        decoded.push(Arc::new(self.read_sparse_tile(reader, cell.tile)?));
                        let (layer, index) = (layer_number(&decoded), u32::try_from(cell.index).unwrap_or(u32::MAX));
                        self.mark(shape, &piece, &cell.as_box(), &mut sources, |_| Source::Cell { layer, cell: index });
                    }
                }
            }
        }
        Ok(VarPiece { layers: decoded, sources })
    }

    /// Notes for the cells of `part` where in the tile they come from.
    fn mark(&self, shape: &ResultShape, piece: &Piece, part: &CellBox, sources: &mut [Source], source: impl Fn(u32) -> Source) {
        let layout = shape.single_run_layout(piece);
        let tile = self.grid.tile_layout(&piece.tile);
        for_each_run(part, piece, &layout, &tile, |run| {
            let cells = sources.get_mut(run.target..run.target + run.len).unwrap_or_default();
            for (step, cell) in cells.iter_mut().enumerate() {
                *cell = source(u32::try_from(run.source + step * run.source_stride).unwrap_or(u32::MAX));
            }
        });
    }
}

fn layer_number(layers: &[Arc<FieldBuffer>]) -> u32 {
    u32::try_from(layers.len() - 1).unwrap_or(u32::MAX)
}

impl VarPiece {
    fn cell<'p>(&'p self, source: Source, fill: &'p [u8]) -> &'p [u8] {
        match source {
            Source::Fill => fill,
            Source::Cell { layer, cell } => {
                self.layers.get(layer as usize).and_then(|layer| layer.cell(cell as usize)).unwrap_or_default()
            }
        }
    }
}

/// Every run of a piece holds the same number of cells.
fn cells_of_runs<'p, 'm>(
    piece: &'p VarPiece,
    runs: Vec<&'m mut [u8]>,
) -> impl Iterator<Item = (&'m mut [u8], &'p [Source])> + use<'p, 'm> {
    let per_run = piece.sources.len().checked_div(runs.len()).unwrap_or(0).max(1);
    runs.into_iter().zip(piece.sources.chunks(per_run))
}

fn write_lengths(piece: &VarPiece, runs: Vec<&mut [u8]>, fill: &[u8]) {
    for (run, sources) in cells_of_runs(piece, runs) {
        for (length, &source) in run.as_chunks_mut::<8>().0.iter_mut().zip(sources) {
            *length = (piece.cell(source, fill).len() as u64).to_ne_bytes();
        }
    }
}

fn write_cells(piece: &VarPiece, runs: Vec<&mut [u8]>, fill: &[u8]) {
    for (mut run, sources) in cells_of_runs(piece, runs) {
        for &source in sources {
            let cell = piece.cell(source, fill);
            let Some((target, rest)) = std::mem::take(&mut run).split_at_mut_checked(cell.len()) else { break };
            target.copy_from_slice(cell);
            run = rest;
        }
    }
}
