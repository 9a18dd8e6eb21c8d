//! Tiles become the bytes of data files.

use std::ops::Range;

use rayon::prelude::*;
use talavera_filter::FilterList;
use talavera_fragment::{FieldId, FieldShape, StatisticSet, stored_statistics};
use talavera_pipeline::{EncryptionKey, Pipeline, PipelineError, TileFormat, TileSource};
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
#[derive(Debug, PartialEq)]
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

    /// Encodes the cells of a tile; its chunks are shared among all threads if asked for.
    pub(crate) fn encode(&self, tile: FieldTile<'_>, shared: bool) -> Result<EncodedTile, Error> {
        if shared {
            let (statistics, parts) = rayon::join(|| self.statistics(tile), || self.encode_parts(tile, true, |_| ()));
            return Ok(EncodedTile { statistics, ..parts? });
        }
        let mut floats = RunningFloats::of(self.shape, self.stored, tile);
        let parts = self.encode_parts(tile, false, |bytes| floats.iter_mut().for_each(|floats| floats.add(bytes)))?;
        let statistics = floats.map_or_else(|| TileStatistics::of(self.shape, self.stored, tile), RunningFloats::finish);
        Ok(EncodedTile { statistics, ..parts })
    }

    fn statistics(&self, tile: FieldTile<'_>) -> TileStatistics {
        let Some(mut floats) = RunningFloats::of(self.shape, self.stored, tile) else {
            return TileStatistics::of(self.shape, self.stored, tile);
        };
        tile.pieces(tile.buffer.data(), self.shape.datatype.size()).for_each(|bytes| floats.add(bytes));
        floats.finish()
    }

    /// All but the statistics. `look` sees the bytes of fixed-length cells, unless chunks are shared.
    fn encode_parts(&self, tile: FieldTile<'_>, shared: bool, look: impl FnMut(&[u8])) -> Result<EncodedTile, Error> {
        let cells = tile.buffer;
        let encode = || -> Result<EncodedTile, PipelineError> {
            let (fixed, var) = match (&self.offsets, cells.offsets()) {
                (Some(_), Some(offsets)) if self.values.writes_strings() => {
                    (Pipeline::encode_empty_tile(), Some(self.values.encode_strings(cells.data(), offsets)?))
                }
                (Some(pipeline), Some(offsets)) => {
                    let starts = offsets.split_last().map_or(&[][..], |(_, starts)| starts);
                    let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
                    let chunks = self.values.var_chunks(cells.data(), offsets)?;
                    let values = encode_chunks(&self.values, cells.data(), &chunks, shared)?;
                    (encode_chunks(pipeline, &bytes, &pipeline.chunks(bytes.len())?, shared)?, Some(values))
                }
                _ => (encode_fixed(&self.values, tile, cells.data(), cells.cell_bytes().unwrap_or(1), shared, look)?, None),
            };
            let validity = match (&self.validity, cells.validity()) {
                (Some(pipeline), Some(validity)) => Some(encode_fixed(pipeline, tile, validity, 1, shared, |_| ())?),
                _ => None,
            };
            let var_bytes = if var.is_some() { cells.data().len() as u64 } else { 0 };
            Ok(EncodedTile { fixed, var, var_bytes, validity, statistics: TileStatistics::default() })
        };
        encode().map_err(|source| Error::Encode { field: self.name.clone(), source })
    }
}

/// Encodes the cells of a tile that are of fixed length in `data`.
fn encode_fixed(
    pipeline: &Pipeline,
    tile: FieldTile<'_>,
    data: &[u8],
    cell_bytes: usize,
    shared: bool,
    look: impl FnMut(&[u8]),
) -> Result<Vec<u8>, PipelineError> {
    if !shared {
        return pipeline.encode_tile_from(&mut tile.source(data, cell_bytes, look));
    }
    let source = |start| tile.source(data, cell_bytes, |_: &[u8]| ()).skip(start);
    encode_shared(pipeline, &pipeline.chunks(tile.len() * cell_bytes)?, source)
}

/// Encodes the chunks of a tile that lies side by side.
fn encode_chunks(pipeline: &Pipeline, tile: &[u8], chunks: &[Range<usize>], shared: bool) -> Result<Vec<u8>, PipelineError> {
    match shared {
        true => encode_shared(pipeline, chunks, |start| tile.get(start..).unwrap_or_default()),
        false => pipeline.encode_chunks(tile, chunks),
    }
}

/// Encodes the chunks of a tile by all threads; `source` gives its bytes from a place on.
fn encode_shared<S: TileSource>(
    pipeline: &Pipeline,
    chunks: &[Range<usize>],
    source: impl Fn(usize) -> S + Sync,
) -> Result<Vec<u8>, PipelineError> {
    /// Parts for each thread, so that none waits long for the last.
    const PARTS_A_THREAD: usize = 4;
    let len = chunks.len().div_ceil(rayon::current_num_threads() * PARTS_A_THREAD).max(1);
    let part = |first: usize| {
        let start = chunks.get(first).map_or(0, |chunk| chunk.start);
        pipeline.encode_part(&mut source(start), chunks, first..chunks.len().min(first + len))
    };
    let parts = (0..chunks.len()).into_par_iter().step_by(len).map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(Pipeline::join(&parts))
}

#[cfg(test)]
mod tests {
    use talavera_filter::FilterSpec;
    use talavera_schema::{Attribute, Dimension, Range as SchemaRange, TileExtent};
    use talavera_types::{ArrayType, CellValNum};

    use super::super::tile::Tile;
    use super::*;
    use crate::{CellBytes, FieldBuffer};

    const CELLS: usize = 50_000;

    fn attribute(name: &str, datatype: Datatype, filters: Vec<FilterSpec>) -> Attribute {
        let mut attribute = Attribute::new(name, datatype);
        attribute.filters = FilterList::new(filters);
        attribute
    }

    fn schema() -> ArraySchema {
        let mut nullable =
            attribute("nullable", Datatype::Int64, vec![FilterSpec::DoubleDelta { level: -1, reinterpret: Datatype::Any }]);
        nullable.nullable = true;
        let mut text = attribute("text", Datatype::StringUtf8, vec![FilterSpec::Zstd { level: 1 }]);
        text.cell_val_num = CellValNum::Var;
        let mut runs = attribute("runs", Datatype::StringAscii, vec![FilterSpec::Rle { level: -1 }]);
        runs.cell_val_num = CellValNum::Var;
        let dimension = Dimension::new("x", Datatype::Int64, SchemaRange::Signed(0, 99), Some(TileExtent::Integer(10)));
        let floats = attribute("floats", Datatype::Float64, vec![FilterSpec::Byteshuffle, FilterSpec::Zstd { level: 1 }]);
        let builder = ArraySchema::builder(ArrayType::Sparse).dimension(dimension).attribute(floats);
        builder.attribute(nullable).attribute(text).attribute(runs).build().unwrap()
    }

    /// Cells whose values follow each other, of every kind of field.
    fn fields() -> Vec<FieldBuffer> {
        let numbers = |to_bytes: fn(usize) -> [u8; 8]| CellBytes::copied(&(0..CELLS).flat_map(to_bytes).collect::<Vec<_>>());
        let validity = (0..CELLS).map(|cell| u8::from(cell % 3 != 0)).collect();
        let text = |datatype| {
            let cells = (0..CELLS).map(|cell| (cell / 5).to_string());
            let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
            for cell in cells {
                bytes.extend_from_slice(cell.as_bytes());
                offsets.push(bytes.len() as u64);
            }
            FieldBuffer::new(datatype, CellValNum::Var, CellBytes::copied(&bytes), Some(offsets), None)
        };
        let fixed = |datatype, data, validity| FieldBuffer::new(datatype, CellValNum::ONE, data, None, validity);
        let floats = numbers(|cell| f64::from(u32::try_from(cell * 7 % 1000).unwrap()).to_le_bytes());
        let whole = numbers(|cell| (cell as u64 * 3).to_le_bytes());
        let all = [
            fixed(Datatype::Float64, floats, None),
            fixed(Datatype::Int64, whole, Some(validity)),
            text(Datatype::StringUtf8),
            text(Datatype::StringAscii),
        ];
        all.into_iter().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn chunks_shared_among_threads_make_the_same_tile() {
        let (schema, fields) = (schema(), fields());
        let in_place = Tile::in_place(fields.iter(), vec![40_000..CELLS, 100..30_000]);
        let gathered = Tile::gathered(fields.clone(), CELLS, vec![0..10, 500..CELLS], None);
        for tile in [in_place, gathered] {
            for (index, field) in tile.fields().into_iter().enumerate() {
                let version = FormatVersion::new(22).unwrap();
                let encoder = FieldEncoder::new(&schema, FieldId::Attribute(index), version, None).unwrap();
                let alone = encoder.encode(field, false).unwrap();
                assert!(encoder.encode(field, true).unwrap() == alone, "field {index}");
            }
        }
    }
}
