//! Puts the kept cells of a field together one tile behind the other. Tiles that are wanted whole are decoded straight into
//! their place.

use rayon::prelude::*;

use super::SparseRead;
use super::gather::Fill;
use super::tiles::{Kept, SparseTile};
use crate::field_buffer::copy_cells;
use crate::read::field::{ReadField, ResultShape};
use crate::read::tile::FieldReader;
use crate::{CellBytes, Error, FieldBuffer};

/// Where the cells of a tile come from.
enum Source<'s> {
    /// From memory.
    Ready(&'s FieldBuffer),
    /// From memory, decoded for this.
    Decoded(FieldBuffer),
    /// From storage.
    Stored(&'s FieldReader<'s>),
    /// The fragment does not have the field: every cell is the fill value.
    Missing,
}

/// A tile and its part of the result.
struct Part<'s, 'd> {
    tile: &'s SparseTile<'s>,
    source: Source<'s>,
    data: &'d mut [u8],
    /// The starts of the cells, where those differ in length.
    offsets: &'d mut [u64],
    /// Bytes of the result before the part.
    base: u64,
    validity: &'d mut [u8],
}

impl SparseRead<'_> {
    /// The cells of one field, tile by tile.
    pub(crate) fn concat(&self, tiles: &[SparseTile<'_>], field: ReadField) -> Result<FieldBuffer, Error> {
        let (shape, fill) = (field.shape(self.array.schema())?, self.fill(field));
        let readers = self.readers(field)?;
        let times: Vec<FieldBuffer> = match field {
            ReadField::Timestamps => tiles.iter().map(|tile| tile.times.to_field(tile.cells)).collect::<Result<_, _>>()?,
            _ => Vec::new(),
        };
        let cell_bytes = shape.cell_val_num.fixed().map(|values| values as usize * shape.datatype.size());
        let source = |(number, tile): (usize, &'_ SparseTile<'_>)| -> Result<Source<'_>, Error> {
            let ready = match field {
                ReadField::Dimension(dimension) => tiles.get(number).and_then(|tile| tile.column(dimension)),
                _ => times.get(number),
            };
            if let Some(column) = ready.filter(|column| column.len() == tile.cells as usize) {
                return Ok(Source::Ready(column));
            }
            match readers.get(tile.fragment).and_then(Option::as_ref) {
                // How long some of the strings of a tile are is known once they are there.
                Some(reader) if cell_bytes.is_none() && matches!(&tile.kept, Kept::Some(kept) if !kept.is_empty()) => {
                    self.job.check_cancelled()?;
                    Ok(Source::Decoded(reader.read(tile.tile, tile.cells.into(), self.job)?))
                }
                Some(reader) => Ok(Source::Stored(reader)),
                None => Ok(Source::Missing),
            }
        };
        let sources = tiles.par_iter().enumerate().map(source).collect::<Result<Vec<_>, Error>>()?;
        self.join(tiles, sources, shape, cell_bytes, fill)
    }

    fn join(
        &self,
        tiles: &[SparseTile<'_>],
        sources: Vec<Source<'_>>,
        shape: ResultShape,
        cell_bytes: Option<usize>,
        fill: Fill<'_>,
    ) -> Result<FieldBuffer, Error> {
        let counts: Vec<usize> = tiles.iter().map(|tile| tile.kept.count(tile.cells)).collect();
        let lengths = tiles.iter().zip(&sources).zip(&counts).map(|((tile, source), &count)| match cell_bytes {
            Some(bytes) => Ok(count.saturating_mul(bytes)),
            None => source.var_bytes(tile, count, fill),
        });
        let lengths = lengths.collect::<Result<Vec<usize>, Error>>()?;
        let cells: usize = counts.iter().sum();
        let bytes = lengths.iter().fold(0_usize, |sum, &bytes| sum.saturating_add(bytes));
        let mut data = CellBytes::try_zeroed("the cells of a field", bytes)?;
        let mut validity = shape.nullable.then(|| vec![0; cells]);
        let mut offsets = cell_bytes.is_none().then(|| vec![0; cells + 1]);
        let mut parts = Vec::with_capacity(tiles.len());
        let (mut data_rest, mut base) = (&mut *data, 0);
        let mut validity_rest = validity.as_deref_mut().unwrap_or_default();
        let mut offsets_rest = offsets.as_deref_mut().unwrap_or_default();
        for (((tile, source), &count), &bytes) in tiles.iter().zip(sources).zip(&counts).zip(&lengths) {
            let (data, rest) = data_rest.split_at_mut(bytes);
            data_rest = rest;
            let (validity, rest) = validity_rest.split_at_mut(if shape.nullable { count } else { 0 });
            validity_rest = rest;
            let (offsets, rest) = offsets_rest.split_at_mut(if cell_bytes.is_none() { count } else { 0 });
            offsets_rest = rest;
            if count > 0 {
                parts.push(Part { tile, source, data, offsets, base, validity });
            }
            base += bytes as u64;
        }
        if let Some(end) = offsets_rest.first_mut() {
            *end = base;
        }
        parts.into_par_iter().try_for_each(|part| {
            self.job.check_cancelled()?;
            part.fill(self, cell_bytes, fill)
        })?;
        FieldBuffer::new(shape.datatype, shape.cell_val_num, data, offsets, validity)
    }
}

impl Source<'_> {
    /// Bytes of the kept cells of a tile.
    fn var_bytes(&self, tile: &SparseTile<'_>, count: usize, fill: Fill<'_>) -> Result<usize, Error> {
        let of_column = |column: &FieldBuffer| match &tile.kept {
            Kept::All => column.data().len(),
            Kept::Some(kept) => kept.iter().map(|&cell| column.cell(cell as usize).map_or(0, <[u8]>::len)).sum(),
        };
        match self {
            _ if count == 0 => Ok(0),
            Self::Ready(column) => Ok(of_column(column)),
            Self::Decoded(column) => Ok(of_column(column)),
            Self::Stored(reader) => reader.var_bytes(tile.tile),
            Self::Missing => Ok(count.saturating_mul(fill.value.len())),
        }
    }
}

impl Part<'_, '_> {
    fn fill(self, read: &SparseRead<'_>, cell_bytes: Option<usize>, fill: Fill<'_>) -> Result<(), Error> {
        let Self { tile, source, data, offsets, base, validity } = self;
        let decoded;
        let column = match (&source, &tile.kept) {
            (Source::Ready(column), _) => *column,
            (Source::Decoded(column), _) => column,
            (Source::Missing, _) => {
                if !fill.value.is_empty() {
                    data.chunks_exact_mut(fill.value.len()).for_each(|cell| cell.copy_from_slice(fill.value));
                }
                let starts = (0..).map(|cell: u64| base + cell * fill.value.len() as u64);
                offsets.iter_mut().zip(starts).for_each(|(offset, start)| *offset = start);
                validity.fill(fill.validity);
                return Ok(());
            }
            (Source::Stored(reader), Kept::All) => {
                match cell_bytes {
                    Some(_) => reader.read_fixed_into(tile.tile, data, read.job)?,
                    None => reader.read_var_into(tile.tile, data, offsets, read.job)?,
                }
                offsets.iter_mut().for_each(|offset| *offset += base);
                return if validity.is_empty() { Ok(()) } else { reader.read_validity_into(tile.tile, validity, read.job) };
            }
            (Source::Stored(reader), Kept::Some(kept)) if cell_bytes.is_some() && validity.is_empty() => {
                return reader.read_fixed_cells(tile.tile, kept, tile.cells.into(), data, read.job);
            }
            (Source::Stored(reader), Kept::Some(_)) => {
                decoded = reader.read(tile.tile, tile.cells.into(), read.job)?;
                &decoded
            }
        };
        match &tile.kept {
            Kept::All => copy_all(column, data, offsets, base, validity),
            Kept::Some(kept) => copy_some(column, kept, data, offsets, base, validity),
        }
        Ok(())
    }
}

fn copy_all(column: &FieldBuffer, data: &mut [u8], offsets: &mut [u64], base: u64, validity: &mut [u8]) {
    data.iter_mut().zip(column.data()).for_each(|(target, &byte)| *target = byte);
    let starts = column.offsets().unwrap_or_default();
    offsets.iter_mut().zip(starts).for_each(|(offset, start)| *offset = base + start);
    let valid = column.validity().unwrap_or_default();
    validity.iter_mut().zip(valid).for_each(|(target, &valid)| *target = valid);
}

fn copy_some(column: &FieldBuffer, kept: &[u32], mut data: &mut [u8], offsets: &mut [u64], base: u64, validity: &mut [u8]) {
    match column.cell_bytes() {
        Some(bytes) => copy_cells(data, column.data(), bytes, kept.iter().map(|&cell| cell as usize)),
        None => {
            let mut start = base;
            for (offset, &cell) in offsets.iter_mut().zip(kept) {
                let text = column.cell(cell as usize).unwrap_or_default();
                let (target, rest) = std::mem::take(&mut data).split_at_mut(text.len());
                target.copy_from_slice(text);
                *offset = start;
                (data, start) = (rest, start + text.len() as u64);
            }
        }
    }
    let valid = column.validity().unwrap_or_default();
    copy_cells(validity, valid, 1, kept.iter().map(|&cell| cell as usize));
}
