//! Fragments that take cells in global order, call by call. Nothing of them is seen before they are finished; dropped
//! before, nothing of them stays.

use std::borrow::Cow;
use std::ops::Range;

use talavera_schema::NdRange;
use talavera_types::Layout;

use super::check::{Cells, check_in_domain};
use super::dense::check_whole_tiles;
use super::fragment::FragmentWriter;
use super::query::{ArrayWriter, Duplicates, WriteOptions};
use super::sparse;
use super::tile::Tile;
use crate::order::CellOrder;
use crate::read::sparse::sort::first_out_of_order;
use crate::{Error, FieldBuffer};

/// What both kinds of streams share: a fragment, begun with the first whole tile, and the cells that do not fill one yet.
struct Stream<'w> {
    writer: &'w ArrayWriter,
    options: WriteOptions,
    fragment: Option<FragmentWriter>,
    pending: Option<Cells<'static>>,
    /// Cells of a tile.
    tile_cells: usize,
}

impl<'w> Stream<'w> {
    fn new(writer: &'w ArrayWriter, options: WriteOptions, tile_cells: u64) -> Self {
        let tile_cells = usize::try_from(tile_cells).unwrap_or(usize::MAX).max(1);
        Self { writer, options, fragment: None, pending: None, tile_cells }
    }

    /// Takes more cells; `append` writes those that fill tiles.
    fn take(
        &mut self,
        cells: Cells<'_>,
        append: impl FnOnce(&mut FragmentWriter, &Cells<'_>, Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let cells = match self.pending.take() {
            Some(pending) => Cells {
                buffers: pending
                    .buffers
                    .iter()
                    .zip(&cells.buffers)
                    .map(|(pending, more)| Cow::Owned(pending.joined(more)))
                    .collect(),
                count: pending.count + cells.count,
            },
            None => cells,
        };
        let whole = cells.count - cells.count % self.tile_cells;
        if whole > 0 {
            append(self.fragment()?, &cells, 0..whole)?;
        }
        if whole < cells.count {
            let pick = |buffer: &Cow<'_, FieldBuffer>| Cow::Owned(buffer.slice(whole..cells.count));
            self.pending = Some(Cells { buffers: cells.buffers.iter().map(pick).collect(), count: cells.count - whole });
        }
        Ok(())
    }

    fn fragment(&mut self) -> Result<&mut FragmentWriter, Error> {
        match &mut self.fragment {
            Some(fragment) => Ok(fragment),
            slot => Ok(slot.insert(self.writer.fragment(self.options)?)),
        }
    }
}

/// A fragment of a sparse array that takes cells in global order.
pub struct SparseStream<'w> {
    stream: Stream<'w>,
    duplicates: Duplicates,
    /// The coordinates of the last cell taken.
    last: Option<Vec<FieldBuffer>>,
}

impl<'w> SparseStream<'w> {
    pub(super) fn new(writer: &'w ArrayWriter, options: WriteOptions, duplicates: Duplicates) -> Self {
        Self { stream: Stream::new(writer, options, writer.schema().capacity), duplicates, last: None }
    }

    /// Takes more cells, which follow those before in the array's global order.
    ///
    /// # Errors
    /// As [`ArrayWriter::write_sparse`], and for cells that are not in order.
    pub fn append(&mut self, fields: &[(String, FieldBuffer)]) -> Result<(), Error> {
        let writer = self.stream.writer;
        let cells = Cells::new(writer.schema(), fields)?;
        if cells.count == 0 {
            return Ok(());
        }
        self.check_order(&cells)?;
        let last = cells.count - 1;
        let coordinates = cells.buffers.iter().skip(writer.schema().attributes.len());
        self.last = Some(coordinates.map(|column| column.pick(std::iter::once(last))).collect());
        self.stream.take(cells, |fragment, cells, range| append_sparse(writer, fragment, cells, range))
    }

    /// Makes the cells visible; gives the name of the new fragment, none when there were no cells.
    ///
    /// # Errors
    /// As [`ArrayWriter::write_sparse`].
    pub fn finish(mut self) -> Result<Option<String>, Error> {
        let writer = self.stream.writer;
        if let Some(pending) = self.stream.pending.take() {
            append_sparse(writer, self.stream.fragment()?, &pending, 0..pending.count)?;
        }
        match self.stream.fragment.take() {
            Some(fragment) => sparse::commit(fragment, writer.schema()).map(Some),
            None => Ok(None),
        }
    }

    /// Leaves nothing of the cells behind, as dropping does.
    pub fn abort(self) {}

    fn check_order(&self, cells: &Cells<'_>) -> Result<(), Error> {
        let schema = self.stream.writer.schema();
        let coordinates = cells.buffers.get(schema.attributes.len()..).unwrap_or_default();
        check_in_domain(schema, coordinates)?;
        let columns: Vec<Cow<'_, FieldBuffer>> = match &self.last {
            Some(last) => last.iter().zip(coordinates).map(|(last, column)| Cow::Owned(last.joined(column))).collect(),
            None => coordinates.iter().map(|column| Cow::Borrowed(&**column)).collect(),
        };
        let count = columns.first().map_or(0, |column| column.len());
        let count = u32::try_from(count).map_err(|_| too_many_cells())?;
        let order = CellOrder::new(schema, Layout::GlobalOrder)?;
        let tile = sparse::as_tile(columns, count);
        if let Some(cell) = first_out_of_order(&tile, &order, self.duplicates == Duplicates::Allow) {
            let text = |cell| sparse::coordinates_text(schema, &tile.coordinates, cell);
            let (cell, before) = (text(cell), text(cell.saturating_sub(1)));
            return Err(Error::invalid(format!("cells are not in global order: {cell} comes behind {before}")));
        }
        Ok(())
    }
}

fn append_sparse(
    writer: &ArrayWriter,
    fragment: &mut FragmentWriter,
    cells: &Cells<'_>,
    range: Range<usize>,
) -> Result<(), Error> {
    let places = range.map(|place| u32::try_from(place).map_err(|_| too_many_cells()));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    writer.options().run(|| sparse::append(fragment, writer.schema(), cells, &places))
}

fn too_many_cells() -> Error {
    Error::invalid("a call takes at most 2^32 cells")
}

/// A fragment of a dense array that takes cells in global order.
pub struct DenseStream<'w> {
    stream: Stream<'w>,
    subarray: NdRange,
    /// Cells that are still to come.
    missing: u64,
}

impl<'w> DenseStream<'w> {
    pub(super) fn new(writer: &'w ArrayWriter, subarray: NdRange, options: WriteOptions) -> Result<Self, Error> {
        let (cells, tile_cells) = check_whole_tiles(writer.schema(), &subarray)?;
        Ok(Self { stream: Stream::new(writer, options, tile_cells), subarray, missing: cells })
    }

    /// Takes more cells, which follow those before: tile by tile.
    ///
    /// # Errors
    /// As [`ArrayWriter::write_dense`], and for more cells than the subarray has.
    pub fn append(&mut self, fields: &[(String, FieldBuffer)]) -> Result<(), Error> {
        let writer = self.stream.writer;
        let cells = Cells::new(writer.schema(), fields)?;
        let count = cells.count as u64;
        let missing = self.missing.checked_sub(count);
        self.missing = missing.ok_or_else(|| {
            Error::invalid(format!("{count} cells are more than the {} that the subarray still takes", self.missing))
        })?;
        let tile_cells = self.stream.tile_cells;
        self.stream.take(cells, |fragment, cells, range| {
            let starts: Vec<usize> = range.step_by(tile_cells).collect();
            let tile = |&start: &usize| {
                let run = std::iter::once(start..start + tile_cells).collect();
                Ok(Tile::in_place(cells.buffers.iter().map(AsRef::as_ref), run))
            };
            writer.options().run(|| fragment.append(&starts, tile))
        })
    }

    /// Makes the cells visible; gives the name of the new fragment.
    ///
    /// # Errors
    /// [`Error::Invalid`] when cells of the subarray are missing; what storage says.
    pub fn finish(mut self) -> Result<String, Error> {
        match self.stream.fragment.take() {
            Some(fragment) if self.missing == 0 => fragment.commit(self.subarray.clone()),
            _ => Err(Error::invalid(format!("{} cells of the subarray are missing", self.missing))),
        }
    }

    /// Leaves nothing of the cells behind, as dropping does.
    pub fn abort(self) {}
}

macro_rules! debug {
    ($($stream:ident)*) => {$(
        impl std::fmt::Debug for $stream<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($stream)).field("array", self.stream.writer.root()).finish_non_exhaustive()
            }
        }
    )*};
}

debug! { SparseStream DenseStream }
