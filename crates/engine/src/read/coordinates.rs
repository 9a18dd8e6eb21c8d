//! Reads the coordinates of sparse cells, dimension by dimension, however the fragment stores them.

use talavera_fragment::FieldId;
use talavera_storage::Storage;

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

    /// Bytes that the coordinates of a tile take in memory.
    pub(crate) fn memory_bytes(&self, tile: u64, cells: u64) -> u64 {
        match self {
            Self::Dimensions(readers) => readers.iter().map(|reader| reader.memory_bytes(tile, cells)).sum(),
            Self::Zipped(reader) => reader.memory_bytes(tile, cells),
        }
    }
}
