//! Reads and decodes single tiles of a field of a fragment.

mod data;

use talavera_codec::{DecodeError, DecodeErrorKind};
use talavera_filter::FilterList;
use talavera_fragment::{DataPart, FieldId, FieldShape};
use talavera_pipeline::{ChunkTable, TileFormat, coordinates, is_empty_tile};
use talavera_storage::Storage;
use talavera_types::Datatype;

use self::data::DataReader;
use super::scatter::Scatter;
use crate::budget::Job;
use crate::fragment::FieldLists;
use crate::read::explain::Cost;
use crate::{CellBytes, EngineOptions, Error, FieldBuffer, Fragment};

/// A field of a fragment, ready to decode its tiles; shared by the threads of a read.
#[derive(Debug)]
pub(crate) struct FieldReader<'f> {
    fragment: &'f Fragment,
    storage: &'f dyn Storage,
    pub(crate) shape: FieldShape,
    lists: std::sync::Arc<FieldLists>,
    fixed: DataReader,
    var: Option<DataReader>,
    validity: Option<DataReader>,
    tile_limit_bytes: u64,
}

impl<'f> FieldReader<'f> {
    pub(crate) fn new(
        fragment: &'f Fragment,
        field: FieldId,
        storage: &'f dyn Storage,
        options: &EngineOptions,
    ) -> Result<Self, Error> {
        let schema = &fragment.schema;
        let unknown = || Error::invalid(format!("{}: the fragment has no field {field:?}", fragment.path));
        let shape = field.shape(schema).ok_or_else(unknown)?;
        let entry = fragment.footer.field(field).ok_or_else(unknown)?;
        let filters = match field {
            FieldId::Attribute(index) => schema.attributes.get(index).map(|attribute| &attribute.filters),
            FieldId::Dimension(index) => schema.dimension_filters(index),
            _ => Some(&schema.coords_filters),
        };
        let filters = filters.ok_or_else(unknown)?;
        let version = fragment.footer.version;
        let reader = |part: DataPart, file_bytes: u64, filters: &FilterList, datatype: Datatype, cell_bytes: usize| {
            let format = TileFormat { datatype, cell_bytes, version };
            DataReader::new(fragment.data_file(field, part)?, file_bytes, filters, format, options.key.as_ref(), field)
        };
        let (fixed, var) = match shape.cell_bytes() {
            Some(bytes) => {
                let cell_bytes = usize::try_from(bytes).map_err(|_| unknown())?;
                (reader(DataPart::Fixed, entry.file_bytes, filters, shape.datatype, cell_bytes)?, None)
            }
            None => {
                let offsets = reader(DataPart::Fixed, entry.file_bytes, &schema.offsets_filters, Datatype::UInt64, 8)?;
                (offsets, Some(reader(DataPart::Var, entry.var_file_bytes, filters, shape.datatype, shape.datatype.size())?))
            }
        };
        let validity = match shape.nullable {
            true => Some(reader(DataPart::Validity, entry.validity_file_bytes, &schema.validity_filters, Datatype::UInt8, 1)?),
            false => None,
        };
        let lists = fragment.lists(field, storage, options)?;
        Ok(Self { fragment, storage, shape, lists, fixed, var, validity, tile_limit_bytes: options.tile_limit_bytes })
    }

    /// Bytes of a cell, where all have the same length.
    pub(crate) fn cell_bytes(&self) -> Option<usize> {
        self.var.is_none().then(|| self.fixed.pipeline.format().cell_bytes)
    }

    /// Whether tiles have validity.
    pub(crate) fn is_nullable(&self) -> bool {
        self.validity.is_some()
    }

    /// Bytes that a tile of this many cells takes in memory.
    pub(crate) fn memory_bytes(&self, tile: u64, cells: u64) -> u64 {
        let data = match self.cell_bytes() {
            Some(bytes) => cells.saturating_mul(bytes as u64),
            None => {
                let values = usize::try_from(tile).ok().and_then(|tile| self.lists.var_sizes.get(tile)).unwrap_or(0);
                values.saturating_add(cells.saturating_mul(8))
            }
        };
        data.saturating_add(if self.is_nullable() { cells } else { 0 })
    }

    /// What reading and decoding a whole tile costs.
    pub(crate) fn cost(&self, tile: u64, cells: u64) -> Result<Cost, Error> {
        let mut cost = self.validity_cost(tile, cells)?;
        let length = |reader: &DataReader, offsets| reader.range(offsets, tile).map(|range| range.end - range.start);
        let mut read_bytes = length(&self.fixed, &self.lists.offsets)?;
        if let Some(var) = &self.var {
            read_bytes += length(var, &self.lists.var_offsets)?;
        }
        let decoded_bytes = self.memory_bytes(tile, cells) - if self.is_nullable() { cells } else { 0 };
        cost += Cost { tiles: 1, read_bytes, decoded_bytes, requests: 1 + u64::from(self.var.is_some()) };
        Ok(cost)
    }

    /// What reading and decoding the validity of a tile costs.
    pub(crate) fn validity_cost(&self, tile: u64, cells: u64) -> Result<Cost, Error> {
        let Some(validity) = &self.validity else { return Ok(Cost::default()) };
        let range = validity.range(&self.lists.validity_offsets, tile)?;
        Ok(Cost { tiles: 1, read_bytes: range.end - range.start, decoded_bytes: cells, requests: 1 })
    }

    /// Reads and decodes a whole tile.
    pub(crate) fn read(&self, tile: u64, cells: u64, job: &Job) -> Result<FieldBuffer, Error> {
        let (data, offsets) = match &self.var {
            None => {
                let bytes = cells.saturating_mul(self.fixed.pipeline.format().cell_bytes as u64);
                let data = self.fixed.read(self.storage, &self.lists.offsets, tile, self.check_size(tile, bytes)?, job)?;
                (data, None)
            }
            Some(var) => {
                let (data, offsets) = self.read_var(var, tile, cells, job)?;
                (data, Some(offsets))
            }
        };
        let validity = match &self.validity {
            None => None,
            Some(reader) => {
                let bytes = self.check_size(tile, cells)?;
                Some(reader.read(self.storage, &self.lists.validity_offsets, tile, bytes, job)?.to_vec())
            }
        };
        FieldBuffer::new(self.shape.datatype, self.shape.cell_val_num, data, offsets, validity)
    }

    /// Reads the cells of a tile of fixed-length cells straight into `cells`.
    pub(crate) fn read_fixed_into(&self, tile: u64, cells: &mut [u8], job: &Job) -> Result<(), Error> {
        self.fixed.read_into(self.storage, &self.lists.offsets, tile, cells, job)
    }

    /// Reads a tile of so many fixed-length cells and puts the wanted ones where they go. Chunks without such are not
    /// decoded.
    pub(crate) fn scatter_fixed(&self, tile: u64, cells: u64, scatter: Scatter<'_>, job: &Job) -> Result<(), Error> {
        let bytes = self.check_size(tile, cells.saturating_mul(scatter.cell_bytes() as u64))?;
        self.fixed.scatter(self.storage, &self.lists.offsets, (tile, bytes), scatter, job)
    }

    /// Reads the validity of a tile of so many cells and puts that of the wanted ones where it goes.
    pub(crate) fn scatter_validity(&self, tile: u64, cells: u64, scatter: Scatter<'_>, job: &Job) -> Result<(), Error> {
        let bytes = self.check_size(tile, cells)?;
        match &self.validity {
            Some(reader) => reader.scatter(self.storage, &self.lists.validity_offsets, (tile, bytes), scatter, job),
            None => Ok(()),
        }
    }

    /// Reads some cells of a tile of fixed-length cells, given by their numbers, which ascend. Chunks without any of them are
    /// not decoded.
    pub(crate) fn read_fixed_cells(
        &self,
        tile: u64,
        wanted: &[u32],
        cells: u64,
        target: &mut [u8],
        job: &Job,
    ) -> Result<(), Error> {
        let cell_bytes = self.fixed.pipeline.format().cell_bytes;
        let bytes = self.check_size(tile, cells.saturating_mul(cell_bytes as u64))?;
        let encoded = self.fixed.fetch(self.storage, &self.lists.offsets, tile)?;
        self.fixed.check_length(&encoded, tile, bytes)?;
        let decoded = self.fixed.decode_cells(&encoded, tile, wanted, bytes, target)?;
        job.tile_done(encoded.len() as u64, decoded as u64);
        Ok(())
    }

    /// Reads a tile, of which only the chunks with wanted cells need be right. The numbers of those cells ascend.
    pub(crate) fn read_around(&self, tile: u64, cells: u64, wanted: &[u32], job: &Job) -> Result<FieldBuffer, Error> {
        if self.var.is_some() || self.validity.is_some() || self.fixed.other_flow.is_some() {
            return self.read(tile, cells, job);
        }
        let cell_bytes = self.fixed.pipeline.format().cell_bytes.max(1);
        let bytes = self.check_size(tile, cells.saturating_mul(cell_bytes as u64))?;
        let encoded = self.fixed.fetch(self.storage, &self.lists.offsets, tile)?;
        self.fixed.check_length(&encoded, tile, bytes)?;
        // Memory that nobody writes to comes from the system as zeros when it is read, if ever.
        let (mut data, mut decoded) = (CellBytes::zeroed(bytes), 0);
        let table = ChunkTable::decode(&encoded).map_err(|error| self.fixed.in_tile(tile)(error.into()))?;
        for chunk in &table {
            let target = chunk.cells();
            let first = wanted.partition_point(|&cell| (cell as usize + 1) * cell_bytes <= target.start);
            if wanted.get(first).is_none_or(|&cell| cell as usize * cell_bytes >= target.end) {
                continue;
            }
            decoded += target.len();
            let target = data.get_mut(target).unwrap_or_default();
            self.fixed.pipeline.decode_chunk(chunk, &encoded, target).map_err(self.fixed.in_tile(tile))?;
        }
        job.tile_done(encoded.len() as u64, decoded as u64);
        FieldBuffer::new(self.shape.datatype, self.shape.cell_val_num, data, None, None)
    }

    /// Reads the validity of a tile straight into `validity`.
    pub(crate) fn read_validity_into(&self, tile: u64, validity: &mut [u8], job: &Job) -> Result<(), Error> {
        match &self.validity {
            Some(reader) => reader.read_into(self.storage, &self.lists.validity_offsets, tile, validity, job),
            None => Ok(()),
        }
    }

    /// Bytes of the cells of a tile whose cells differ in length.
    pub(crate) fn var_bytes(&self, tile: u64) -> Result<usize, Error> {
        let bytes = usize::try_from(tile).ok().and_then(|tile| self.lists.var_sizes.get(tile));
        let unlisted = DecodeErrorKind::Invalid { found: tile, expected: "a tile of the list" };
        self.check_size(tile, bytes.ok_or_else(|| self.content_error(tile, unlisted.at("tile var sizes", 0)))?)
    }

    /// Reads a tile whose cells differ in length straight into `values`, of as many bytes as it has, and where each cell
    /// starts in them into `offsets`.
    pub(crate) fn read_var_into(&self, tile: u64, values: &mut [u8], offsets: &mut [u64], job: &Job) -> Result<(), Error> {
        let Some(var) = &self.var else { return Ok(()) };
        let encoded = var.fetch(self.storage, &self.lists.var_offsets, tile)?;
        var.check_length(&encoded, tile, values.len())?;
        let starts = self.decode_var(var, tile, &encoded, values, offsets.len(), job)?;
        offsets.iter_mut().zip(starts).for_each(|(offset, start)| *offset = start);
        Ok(())
    }

    fn read_var(&self, var: &DataReader, tile: u64, cells: u64, job: &Job) -> Result<(CellBytes, Vec<u64>), Error> {
        let cell_count = self.check_size(tile, cells.saturating_mul(8))? / 8;
        let len = self.var_bytes(tile)?;
        let encoded = var.fetch(self.storage, &self.lists.var_offsets, tile)?;
        // Memory is allocated once the tile itself agrees to the length.
        var.check_length(&encoded, tile, len)?;
        let mut values = CellBytes::zeroed(len);
        let mut offsets = self.decode_var(var, tile, &encoded, &mut values, cell_count, job)?;
        offsets.push(len as u64);
        Ok((values, offsets))
    }

    /// Decodes the cells of a tile, and gives where each starts.
    fn decode_var(
        &self,
        var: &DataReader,
        tile: u64,
        encoded: &[u8],
        values: &mut [u8],
        cells: usize,
        job: &Job,
    ) -> Result<Vec<u64>, Error> {
        let offsets_tile = self.fixed.fetch(self.storage, &self.lists.offsets, tile)?;
        let mut offsets = Vec::new();
        if cells > 0 && is_empty_tile(&offsets_tile) {
            offsets.reserve_exact(cells + 1);
            var.pipeline.decode_strings(encoded, cells, values, &mut offsets).map_err(var.in_tile(tile))?;
        } else {
            self.fixed.check_length(&offsets_tile, tile, cells.saturating_mul(8))?;
            offsets.reserve_exact(cells + 1);
            offsets.resize(cells, 0);
            self.fixed.decode_into(&offsets_tile, tile, bytemuck::cast_slice_mut(&mut offsets))?;
            if cfg!(target_endian = "big") {
                offsets.iter_mut().for_each(|offset| *offset = offset.swap_bytes());
            }
            var.decode_into(encoded, tile, values)?;
        }
        self.check_offsets(tile, &offsets, values.len() as u64)?;
        job.tile_done((offsets_tile.len() + encoded.len()) as u64, values.len() as u64 + 8 * cells as u64);
        Ok(offsets)
    }

    /// Offsets start at 0, do not descend and stay inside the values.
    fn check_offsets(&self, tile: u64, offsets: &[u64], value_bytes: u64) -> Result<(), Error> {
        let wrong = |found: u64, expected: &'static str, at: usize| {
            self.content_error(tile, DecodeErrorKind::Invalid { found, expected }.at("cell offset", 8 * at as u64))
        };
        match (offsets.first(), offsets.last()) {
            (Some(&first), _) if first != 0 => return Err(wrong(first, "0, where the first cell starts", 0)),
            (_, Some(&last)) if last > value_bytes => {
                return Err(wrong(last, "within the values of the tile", offsets.len() - 1));
            }
            (None, _) if value_bytes > 0 => return Err(wrong(value_bytes, "0, as the tile has no cells", 0)),
            _ => {}
        }
        match offsets.windows(2).position(|pair| matches!(pair, [a, b] if a > b)) {
            Some(at) => Err(wrong(offsets.get(at + 1).copied().unwrap_or(0), "at or behind the offset before", at + 1)),
            None => Ok(()),
        }
    }

    /// A number of bytes that a tile may have in memory.
    fn check_size(&self, tile: u64, bytes: u64) -> Result<usize, Error> {
        let limit = self.tile_limit_bytes;
        usize::try_from(bytes)
            .ok()
            .filter(|_| bytes <= limit)
            .ok_or_else(|| self.content_error(tile, DecodeErrorKind::Limit { needed: bytes, limit }.at("tile size", 0)))
    }

    pub(crate) fn content_error(&self, tile: u64, source: DecodeError) -> Error {
        Error::TileContent { path: self.fixed.path.clone(), tile, source }
    }

    /// The fragment that the tiles belong to.
    pub(crate) fn fragment(&self) -> &'f Fragment {
        self.fragment
    }

    /// Reads a tile of coordinates of a version that zips all dimensions into one file, dimension by dimension.
    pub(crate) fn read_coordinates(&self, tile: u64, cells: u64, job: &Job) -> Result<Vec<FieldBuffer>, Error> {
        let schema = &self.fragment.schema;
        let bytes = self.check_size(tile, self.memory_bytes(tile, cells))?;
        let dimensions = &schema.domain.dimensions;
        let mut split = self.fixed.read(self.storage, &self.lists.offsets, tile, bytes, job)?;
        if !coordinates::are_split(self.fragment.footer.version, &schema.coords_filters) {
            let mut columns = CellBytes::zeroed(bytes);
            coordinates::unzip(&split, dimensions.len(), self.shape.datatype.size(), &mut columns)
                .map_err(self.fixed.in_tile(tile))?;
            split = columns;
        }
        let column_bytes = (bytes / dimensions.len().max(1)).max(1);
        let column = |(dimension, column): (&talavera_schema::Dimension, &[u8])| {
            FieldBuffer::new(dimension.datatype, dimension.cell_val_num(), CellBytes::copied(column), None, None)
        };
        if cells == 0 {
            return dimensions.iter().map(|dimension| column((dimension, &[]))).collect();
        }
        dimensions.iter().zip(split.chunks(column_bytes)).map(column).collect()
    }
}
