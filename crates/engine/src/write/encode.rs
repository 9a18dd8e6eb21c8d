//! Tiles become the bytes of data files.

use talavera_filter::FilterList;
use talavera_fragment::{FieldId, FieldShape, StatisticSet, stored_statistics};
use talavera_pipeline::{EncryptionKey, Pipeline, PipelineError, TileFormat};
use talavera_schema::ArraySchema;
use talavera_types::{Datatype, FormatVersion};

use super::statistics::{RunningFloats, TileStatistics};
use super::tile::FieldTile;
use crate::Error;

/// How the tiles of one field are encoded.
#[derive(Debug)]
pub(crate) struct FieldEncoder {
    pub(crate) field: FieldId,
    pub(crate) shape: FieldShape,
    pub(crate) stored: StatisticSet,
    name: String,
    values: Pipeline,
    offsets: Option<Pipeline>,
    validity: Option<Pipeline>,
}

/// A tile of one field, as it goes into the data files.
#[derive(Debug)]
pub(crate) struct EncodedTile {
    /// The cells, or where they differ in length their offsets.
    pub(crate) fixed: Vec<u8>,
    /// The bytes of cells of variable length.
    pub(crate) var: Option<Vec<u8>>,
    /// How many bytes those are before they are filtered.
    pub(crate) var_bytes: u64,
    pub(crate) validity: Option<Vec<u8>>,
    pub(crate) statistics: TileStatistics,
}

impl FieldEncoder {
    pub(crate) fn new(
        schema: &ArraySchema,
        field: FieldId,
        version: FormatVersion,
        key: Option<&EncryptionKey>,
    ) -> Result<Self, Error> {
        let unknown = || Error::invalid(format!("the array has no field {field:?}"));
        let shape = field.shape(schema).ok_or_else(unknown)?;
        let (name, filters) = match field {
            FieldId::Attribute(index) => {
                schema.attributes.get(index).map(|attribute| (attribute.name.clone(), &attribute.filters))
            }
            FieldId::Dimension(index) => {
                schema.domain.dimensions.get(index).map(|dimension| dimension.name.clone()).zip(schema.dimension_filters(index))
            }
            _ => Some((format!("{field:?}"), &schema.coords_filters)),
        }
        .ok_or_else(unknown)?;
        let pipeline = |filters: &FilterList, datatype: Datatype, cell_bytes: usize| {
            let format = TileFormat { datatype, cell_bytes, version };
            Pipeline::new(filters, format, key).map_err(|source| Error::Encode { field: name.clone(), source })
        };
        let size = shape.datatype.size();
        let value_bytes = shape.cell_bytes().map_or(Ok(size), |bytes| usize::try_from(bytes).map_err(|_| unknown()))?;
        let values = pipeline(filters, shape.datatype, value_bytes)?;
        let var = shape.cell_val_num.is_var();
        let offsets = if var { Some(pipeline(&schema.offsets_filters, Datatype::UInt64, 8)?) } else { None };
        let validity = if shape.nullable { Some(pipeline(&schema.validity_filters, Datatype::UInt8, 1)?) } else { None };
        let stored = stored_statistics(schema, field, schema.is_dense());
        Ok(Self { field, shape, stored, name, values, offsets, validity })
    }

    /// Encodes the cells of a tile.
    pub(crate) fn encode(&self, tile: FieldTile<'_>) -> Result<EncodedTile, Error> {
        let cells = tile.buffer;
        let mut floats = RunningFloats::of(self.shape, self.stored, tile);
        let look = |bytes: &[u8]| floats.iter_mut().for_each(|floats| floats.add(bytes));
        let failed = |source: PipelineError| Error::Encode { field: self.name.clone(), source };
        let (fixed, var) = match (&self.offsets, cells.offsets()) {
            (Some(_), Some(offsets)) if self.values.writes_strings() => {
                (Pipeline::encode_empty_tile(), Some(self.values.encode_strings(cells.data(), offsets).map_err(failed)?))
            }
            (Some(pipeline), Some(offsets)) => {
                let starts = offsets.split_last().map_or(&[][..], |(_, starts)| starts);
                let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
                let values = self.values.encode_var_tile(cells.data(), offsets).map_err(failed)?;
                (pipeline.encode_tile(&bytes).map_err(failed)?, Some(values))
            }
            _ => {
                let mut source = tile.source(cells.data(), cells.cell_bytes().unwrap_or(1), look);
                (self.values.encode_tile_from(&mut source).map_err(failed)?, None)
            }
        };
        let validity = match (&self.validity, cells.validity()) {
            (Some(pipeline), Some(validity)) => {
                Some(pipeline.encode_tile_from(&mut tile.source(validity, 1, |_| ())).map_err(failed)?)
            }
            _ => None,
        };
        let statistics = floats.map_or_else(|| TileStatistics::of(self.shape, self.stored, tile), RunningFloats::finish);
        let var_bytes = if var.is_some() { cells.data().len() as u64 } else { 0 };
        Ok(EncodedTile { fixed, var, var_bytes, validity, statistics })
    }
}
