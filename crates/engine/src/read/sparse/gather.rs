//! Puts the cells of a field together in the order of the result.

use std::sync::Arc;

use rayon::prelude::*;
use talavera_fragment::FieldId;

use super::SparseRead;
use super::tiles::{CellRef, SparseTile};
use crate::read::field::{ReadField, ResultShape, attribute_in_fragment};
use crate::read::tile::FieldReader;
use crate::{CellBytes, Error, FieldBuffer};

/// The cells of a result.
#[derive(Debug)]
pub(crate) enum Picks {
    /// The kept cells of all tiles, one tile behind the other.
    Tiles,
    /// These.
    Cells(Vec<CellRef>),
}

/// A field of one tile, in memory or still to be decoded.
enum Column<'t> {
    Ready(&'t FieldBuffer),
    Decoded(FieldBuffer),
    /// The fragment does not have the field: every cell is the fill value.
    Missing,
}

/// Cells where the fragment does not have the field.
#[derive(Clone, Copy)]
pub(crate) struct Fill<'s> {
    pub(crate) value: &'s [u8],
    pub(crate) validity: u8,
}

impl Column<'_> {
    fn buffer(&self) -> Option<&FieldBuffer> {
        match self {
            Self::Ready(buffer) => Some(buffer),
            Self::Decoded(buffer) => Some(buffer),
            Self::Missing => None,
        }
    }

    fn cell<'c>(&'c self, cell: usize, fill: Fill<'c>) -> &'c [u8] {
        self.buffer().map_or(fill.value, |buffer| buffer.cell(cell).unwrap_or_default())
    }

    fn validity(&self, cell: usize, fill: Fill<'_>) -> u8 {
        match self.buffer() {
            Some(buffer) => buffer.validity().map_or(1, |validity| validity.get(cell).copied().unwrap_or(0)),
            None => fill.validity,
        }
    }
}

impl<'r> SparseRead<'r> {
    /// The cells of one field in the order of the result.
    pub(crate) fn gather(&self, tiles: &[SparseTile<'_>], picks: &Picks, field: ReadField) -> Result<FieldBuffer, Error> {
        self.job.check_cancelled()?;
        let Picks::Cells(cells) = picks else { return self.concat(tiles, field) };
        let (shape, fill) = (field.shape(self.array.schema())?, self.fill(field));
        let readers = self.readers(field)?;
        let times: Vec<_>;
        let columns = match field {
            ReadField::Timestamps => {
                times = tiles.iter().map(|tile| tile.times.to_field(tile.cells)).collect::<Result<Vec<_>, _>>()?;
                times.iter().map(Column::Ready).collect()
            }
            ReadField::Dimension(index) => {
                tiles.iter().map(|tile| tile.column(index).map_or(Column::Missing, Column::Ready)).collect()
            }
            ReadField::Attribute(_) => tiles
                .par_iter()
                .zip(used_tiles(tiles, cells))
                .map(|(tile, used)| self.column(tile, used, &readers))
                .collect::<Result<Vec<_>, Error>>()?,
        };
        match shape.cell_val_num.fixed().map(|values| values as usize * shape.datatype.size()) {
            Some(cell_bytes) => self.gather_fixed(cells, &columns, shape, cell_bytes, fill),
            None => self.gather_var(cells, &columns, shape, fill),
        }
    }

    /// What stands for the cells of fragments that do not have a field.
    pub(crate) fn fill(&self, field: ReadField) -> Fill<'r> {
        let attribute = match field {
            ReadField::Attribute(index) => self.array.schema().attributes.get(index),
            _ => None,
        };
        attribute.map_or(Fill { value: &[], validity: 1 }, |attribute| Fill {
            value: &attribute.fill_value,
            validity: attribute.fill_validity.into(),
        })
    }

    /// What reads a field in each fragment; nothing where the fragment does not have it as a field of its own.
    pub(crate) fn readers(&self, field: ReadField) -> Result<Vec<Option<Arc<FieldReader<'r>>>>, Error> {
        let id = |scan: &super::FragmentScan<'r>| match field {
            ReadField::Timestamps => None,
            ReadField::Dimension(index) => {
                scan.fragment().footer().version.has_dimension_fields().then_some(FieldId::Dimension(index))
            }
            ReadField::Attribute(index) => {
                let attribute = self.array.schema().attributes.get(index)?;
                attribute_in_fragment(scan.fragment().schema(), attribute, self.array.options()).map(FieldId::Attribute)
            }
        };
        self.scans.iter().map(|scan| id(scan).map(|id| scan.reader(id)).transpose()).collect()
    }

    fn column<'t>(
        &self,
        tile: &SparseTile<'_>,
        used: bool,
        readers: &[Option<Arc<FieldReader<'_>>>],
    ) -> Result<Column<'t>, Error> {
        match readers.get(tile.fragment).and_then(Option::as_ref) {
            Some(reader) if used => {
                self.job.check_cancelled()?;
                Ok(Column::Decoded(reader.read(tile.tile, tile.cells.into(), self.job)?))
            }
            _ => Ok(Column::Missing),
        }
    }

    fn gather_fixed(
        &self,
        cells: &[CellRef],
        columns: &[Column<'_>],
        shape: ResultShape,
        cell_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<FieldBuffer, Error> {
        let bytes = cells.len().saturating_mul(cell_bytes);
        let mut data = CellBytes::zeroed(bytes);
        let bytes: Vec<&[u8]> = columns.iter().map(|column| column.buffer().map_or(&[][..], FieldBuffer::data)).collect();
        let gather = |(target, cells): (&mut [u8], &[CellRef])| match cell_bytes {
            1 => gather_cells::<1>(target, cells, &bytes, fill),
            2 => gather_cells::<2>(target, cells, &bytes, fill),
            4 => gather_cells::<4>(target, cells, &bytes, fill),
            8 => gather_cells::<8>(target, cells, &bytes, fill),
            _ => {
                for (target, cell) in target.chunks_exact_mut(cell_bytes).zip(cells) {
                    if let Some(column) = columns.get(cell.tile()) {
                        target.copy_from_slice(column.cell(cell.cell(), fill));
                    }
                }
            }
        };
        data.par_chunks_mut(GATHER_CELLS * cell_bytes).zip(cells.par_chunks(GATHER_CELLS)).for_each(gather);
        let validity = gather_validity(cells, columns, shape, fill);
        FieldBuffer::new(shape.datatype, shape.cell_val_num, data, None, validity)
    }

    fn gather_var(
        &self,
        cells: &[CellRef],
        columns: &[Column<'_>],
        shape: ResultShape,
        fill: Fill<'_>,
    ) -> Result<FieldBuffer, Error> {
        let cell_of = |cell: &CellRef| columns.get(cell.tile()).map_or(&[][..], |column| column.cell(cell.cell(), fill));
        let mut offsets = Vec::with_capacity(cells.len() + 1);
        let mut end = 0_u64;
        offsets.push(end);
        for cell in cells {
            end = end.saturating_add(cell_of(cell).len() as u64);
            offsets.push(end);
        }
        let mut data =
            CellBytes::zeroed(usize::try_from(end).map_err(|_| Error::invalid("the result does not fit into memory"))?);
        let mut rest = &mut *data;
        let mut parts = Vec::with_capacity(cells.len() / GATHER_CELLS + 1);
        for cells in cells.chunks(GATHER_CELLS) {
            let bytes = cells.iter().map(|cell| cell_of(cell).len()).sum();
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(bytes);
            parts.push((part, cells));
            rest = behind;
        }
        parts.into_par_iter().for_each(|(mut part, cells)| {
            for cell in cells {
                let bytes = cell_of(cell);
                let (target, behind) = std::mem::take(&mut part).split_at_mut(bytes.len());
                target.copy_from_slice(bytes);
                part = behind;
            }
        });
        let validity = gather_validity(cells, columns, shape, fill);
        FieldBuffer::new(shape.datatype, shape.cell_val_num, data, Some(offsets), validity)
    }
}

/// Cells that one task puts together.
const GATHER_CELLS: usize = 1 << 14;

fn gather_cells<const N: usize>(target: &mut [u8], cells: &[CellRef], columns: &[&[u8]], fill: Fill<'_>) {
    let fill = fill.value.first_chunk::<N>().copied().unwrap_or([0; N]);
    for (target, cell) in target.as_chunks_mut::<N>().0.iter_mut().zip(cells) {
        let source = columns.get(cell.tile()).and_then(|column| column.as_chunks::<N>().0.get(cell.cell()));
        *target = *source.unwrap_or(&fill);
    }
}

fn gather_validity(cells: &[CellRef], columns: &[Column<'_>], shape: ResultShape, fill: Fill<'_>) -> Option<Vec<u8>> {
    let validity = |cell: &CellRef| columns.get(cell.tile()).map_or(0, |column| column.validity(cell.cell(), fill));
    shape.nullable.then(|| cells.par_iter().map(validity).collect())
}

fn used_tiles(tiles: &[SparseTile<'_>], cells: &[CellRef]) -> Vec<bool> {
    let mut used = vec![false; tiles.len()];
    for cell in cells {
        if let Some(used) = used.get_mut(cell.tile()) {
            *used = true;
        }
    }
    used
}
