//! Puts the cells of a field together in the order of the result.

use rayon::prelude::*;
use talavera_fragment::FieldId;

use super::SparseRead;
use super::tiles::{CellRef, Kept, SparseTile};
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
struct Fill<'s> {
    value: &'s [u8],
    validity: u8,
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
    pub(crate) fn gather(&self, tiles: &[SparseTile], picks: &Picks, field: ReadField) -> Result<FieldBuffer, Error> {
        self.job.check_cancelled()?;
        let schema = self.array.schema();
        let shape = field.shape(schema)?;
        let attribute = match field {
            ReadField::Attribute(index) => schema.attributes.get(index),
            _ => None,
        };
        let fill = attribute.map_or(Fill { value: &[], validity: 1 }, |attribute| Fill {
            value: &attribute.fill_value,
            validity: attribute.fill_validity.into(),
        });
        let readers = self.readers(field)?;
        let fixed_bytes = shape.cell_val_num.fixed().map(|values| values as usize * shape.datatype.size());
        if let (Picks::Tiles, Some(cell_bytes), ReadField::Attribute(_)) = (picks, fixed_bytes, field) {
            return self.gather_fixed_tiles(tiles, &readers, shape, cell_bytes, fill);
        }
        let used = used_tiles(tiles, picks);
        let times: Vec<_>;
        let columns = match field {
            ReadField::Timestamps => {
                times = tiles.iter().map(|tile| tile.times.to_field(tile.cells)).collect::<Result<Vec<_>, _>>()?;
                times.iter().map(Column::Ready).collect()
            }
            ReadField::Dimension(index) => {
                tiles.iter().map(|tile| tile.coordinates.get(index).map_or(Column::Missing, Column::Ready)).collect()
            }
            ReadField::Attribute(_) => tiles
                .par_iter()
                .zip(used)
                .map(|(tile, used)| self.column(tile, used, &readers))
                .collect::<Result<Vec<_>, Error>>()?,
        };
        let cells = picks.resolve(tiles);
        match fixed_bytes {
            Some(cell_bytes) => self.gather_fixed(&cells, &columns, shape, cell_bytes, fill),
            None => self.gather_var(&cells, &columns, shape, fill),
        }
    }

    fn readers(&self, field: ReadField) -> Result<Vec<Option<FieldReader<'r>>>, Error> {
        let ReadField::Attribute(index) = field else { return Ok(Vec::new()) };
        let Some(attribute) = self.array.schema().attributes.get(index) else { return Ok(Vec::new()) };
        let reader = |scan: &super::FragmentScan<'r>| {
            let fragment = scan.fragment();
            let index = attribute_in_fragment(fragment.schema(), attribute, self.array.options());
            let open = |index| FieldReader::new(fragment, FieldId::Attribute(index), self.array.storage(), self.array.options());
            index.map(open).transpose()
        };
        self.scans.iter().map(reader).collect()
    }

    fn column<'t>(&self, tile: &SparseTile, used: bool, readers: &[Option<FieldReader<'_>>]) -> Result<Column<'t>, Error> {
        match readers.get(tile.fragment).and_then(Option::as_ref) {
            Some(reader) if used => {
                self.job.check_cancelled()?;
                Ok(Column::Decoded(reader.read(tile.tile, tile.cells.into(), self.job)?))
            }
            _ => Ok(Column::Missing),
        }
    }

    /// Tile by tile, each straight into its part of the result where all its cells are kept.
    fn gather_fixed_tiles(
        &self,
        tiles: &[SparseTile],
        readers: &[Option<FieldReader<'_>>],
        shape: ResultShape,
        cell_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<FieldBuffer, Error> {
        let counts: Vec<usize> = tiles.iter().map(|tile| tile.kept.count(tile.cells)).collect();
        let cells: usize = counts.iter().sum();
        let mut data = CellBytes::zeroed(cells.saturating_mul(cell_bytes));
        let mut validity = shape.nullable.then(|| vec![0; cells]);
        let mut parts = Vec::with_capacity(tiles.len());
        let mut data_rest = &mut *data;
        let mut validity_rest = validity.as_deref_mut().unwrap_or_default();
        for (tile, &count) in tiles.iter().zip(&counts) {
            let (part, rest) = data_rest.split_at_mut(count * cell_bytes);
            data_rest = rest;
            let (valid, rest) = validity_rest.split_at_mut(if shape.nullable { count } else { 0 });
            validity_rest = rest;
            parts.push((tile, part, valid));
        }
        parts.into_par_iter().filter(|(_, part, _)| !part.is_empty()).try_for_each(|(tile, part, valid)| {
            self.job.check_cancelled()?;
            match (readers.get(tile.fragment).and_then(Option::as_ref), &tile.kept) {
                (None, _) => {
                    part.chunks_exact_mut(cell_bytes).for_each(|cell| cell.copy_from_slice(fill.value));
                    valid.fill(fill.validity);
                }
                (Some(reader), Kept::All) => {
                    reader.read_fixed_into(tile.tile, part, self.job)?;
                    if shape.nullable {
                        reader.read_validity_into(tile.tile, valid, self.job)?;
                    }
                }
                (Some(reader), Kept::Some(kept)) => {
                    let column = Column::Decoded(reader.read(tile.tile, tile.cells.into(), self.job)?);
                    for (target, &cell) in part.chunks_exact_mut(cell_bytes).zip(kept) {
                        target.copy_from_slice(column.cell(cell as usize, fill));
                    }
                    for (target, &cell) in valid.iter_mut().zip(kept) {
                        *target = column.validity(cell as usize, fill);
                    }
                }
            }
            Ok::<(), Error>(())
        })?;
        FieldBuffer::new(shape.datatype, shape.cell_val_num, data, None, validity)
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
        let gather = |(target, cells): (&mut [u8], &[CellRef])| match cell_bytes {
            1 => gather_cells::<1>(target, cells, columns, fill),
            2 => gather_cells::<2>(target, cells, columns, fill),
            4 => gather_cells::<4>(target, cells, columns, fill),
            8 => gather_cells::<8>(target, cells, columns, fill),
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

fn gather_cells<const N: usize>(target: &mut [u8], cells: &[CellRef], columns: &[Column<'_>], fill: Fill<'_>) {
    for (target, cell) in target.as_chunks_mut::<N>().0.iter_mut().zip(cells) {
        let source = match columns.get(cell.tile()).and_then(Column::buffer) {
            Some(buffer) => buffer.data().as_chunks::<N>().0.get(cell.cell()),
            None => fill.value.first_chunk::<N>(),
        };
        if let Some(source) = source {
            *target = *source;
        }
    }
}

fn gather_validity(cells: &[CellRef], columns: &[Column<'_>], shape: ResultShape, fill: Fill<'_>) -> Option<Vec<u8>> {
    let validity = |cell: &CellRef| columns.get(cell.tile()).map_or(0, |column| column.validity(cell.cell(), fill));
    shape.nullable.then(|| cells.par_iter().map(validity).collect())
}

fn used_tiles(tiles: &[SparseTile], picks: &Picks) -> Vec<bool> {
    match picks {
        Picks::Tiles => tiles.iter().map(|tile| tile.kept.count(tile.cells) > 0).collect(),
        Picks::Cells(cells) => {
            let mut used = vec![false; tiles.len()];
            for cell in cells {
                if let Some(used) = used.get_mut(cell.tile()) {
                    *used = true;
                }
            }
            used
        }
    }
}

impl Picks {
    /// The cells one by one.
    fn resolve(&self, tiles: &[SparseTile]) -> std::borrow::Cow<'_, [CellRef]> {
        match self {
            Self::Cells(cells) => cells.into(),
            Self::Tiles => super::sort::kept_in_order(tiles).into(),
        }
    }
}
