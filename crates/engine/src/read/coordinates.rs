//! Reads the coordinates of sparse cells, dimension by dimension, however the fragment stores them.

use talavera_fragment::FieldId;
use talavera_storage::Storage;

use super::sparse::tiles::Kept;
use super::tile::FieldReader;
use crate::budget::Job;
use crate::{EngineOptions, Error, FieldBuffer, Fragment};

/// The coordinates of a fragment.
#[derive(Debug)]
pub(crate) enum CoordinateReader<'f> {
    /// A field for each dimension.
    Dimensions(Vec<FieldReader<'f>>),
    /// All dimensions in one field.
    Zipped(Box<FieldReader<'f>>),
}

impl<'f> CoordinateReader<'f> {
    pub(crate) fn new(fragment: &'f Fragment, storage: &'f dyn Storage, options: &EngineOptions) -> Result<Self, Error> {
        let reader = |field| FieldReader::new(fragment, field, storage, options);
        if !fragment.footer.version.has_dimension_fields() {
            return Ok(Self::Zipped(Box::new(reader(FieldId::Coordinates)?)));
        }
        let dimensions = 0..fragment.schema.domain.dimensions.len();
        Ok(Self::Dimensions(dimensions.map(|dimension| reader(FieldId::Dimension(dimension))).collect::<Result<_, _>>()?))
    }

    /// The coordinates of the cells of a tile.
    pub(crate) fn read(&self, tile: u64, job: &Job) -> Result<Vec<FieldBuffer>, Error> {
        match self {
            Self::Dimensions(readers) => {
                readers.iter().map(|reader| reader.read(tile, reader.fragment().tile_cells(tile), job)).collect()
            }
            Self::Zipped(reader) => reader.read_coordinates(tile, reader.fragment().tile_cells(tile), job),
        }
    }

    /// The coordinates of a tile along some of the dimensions; those along the others may have no cells.
    pub(crate) fn read_some(&self, tile: u64, wanted: impl Fn(usize) -> bool, job: &Job) -> Result<Vec<FieldBuffer>, Error> {
        let Self::Dimensions(readers) = self else { return self.read(tile, job) };
        let column = |(dimension, reader): (usize, &FieldReader<'f>)| match wanted(dimension) {
            true => reader.read(tile, reader.fragment().tile_cells(tile), job),
            false => Ok(FieldBuffer::empty(reader.shape.datatype, reader.shape.cell_val_num, false)),
        };
        readers.iter().enumerate().map(column).collect()
    }

    /// Adds the coordinates that [`CoordinateReader::read_some`] left out; only those of `kept` cells, which ascend, need be
    /// right.
    pub(crate) fn complete(&self, columns: &mut [FieldBuffer], tile: u64, kept: &Kept, job: &Job) -> Result<(), Error> {
        let Self::Dimensions(readers) = self else { return Ok(()) };
        for (reader, column) in readers.iter().zip(columns) {
            let cells = reader.fragment().tile_cells(tile);
            if column.len() as u64 != cells {
                *column = match kept {
                    Kept::All => reader.read(tile, cells, job)?,
                    Kept::Some(kept) => reader.read_around(tile, cells, kept, job)?,
                };
            }
        }
        Ok(())
    }

    /// Bytes that the coordinates of a tile take in memory.
    pub(crate) fn memory_bytes(&self, tile: u64, cells: u64) -> u64 {
        match self {
            Self::Dimensions(readers) => readers.iter().map(|reader| reader.memory_bytes(tile, cells)).sum(),
            Self::Zipped(reader) => reader.memory_bytes(tile, cells),
        }
    }
}
