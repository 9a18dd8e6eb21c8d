//! Between our types and those of the peer, both of which have the format's numbers.

use talavera_codec::Writer;
use talavera_engine::{CellBytes, FieldBuffer};
use talavera_filter::{FilterList, FilterSpec};
use talavera_peer as peer;
use talavera_schema::{ArraySchema, Attribute, Coordinate, Dimension, Enumeration, Range, TileExtent};
use talavera_types::{CellValNum, Datatype, Layout};

use crate::Failure;

pub(super) fn datatype(datatype: Datatype) -> Result<peer::Datatype, Failure> {
    peer::Datatype::from_code(datatype.code()).ok_or_else(|| format!("the peer has no {datatype}").into())
}

pub(crate) fn layout(layout: Layout) -> Result<peer::Layout, Failure> {
    peer::Layout::from_code(layout.code().into()).ok_or_else(|| format!("the peer has no {layout:?}").into())
}

fn coordinate(coordinate: Coordinate<'_>, datatype: Datatype) -> Vec<u8> {
    let mut w = Writer::new();
    coordinate.encode(&mut w, datatype);
    w.into_vec()
}

pub(crate) fn range(range: &Range, datatype: Datatype) -> peer::Range {
    peer::Range { low: coordinate(range.low(), datatype), high: coordinate(range.high(), datatype) }
}

fn cell_val_num(cell_val_num: CellValNum) -> u32 {
    cell_val_num.fixed().unwrap_or(peer::VAR)
}

fn filter(spec: &FilterSpec) -> peer::Filter {
    use peer::FilterOption as O;
    use peer::FilterType as T;
    let (filter_type, options) = match *spec {
        FilterSpec::Gzip { level } => (T::Gzip, vec![O::Level(level)]),
        FilterSpec::Zstd { level } => (T::Zstd, vec![O::Level(level)]),
        FilterSpec::Lz4 { level } => (T::Lz4, vec![O::Level(level)]),
        FilterSpec::Rle { level } => (T::Rle, vec![O::Level(level)]),
        FilterSpec::Bzip2 { level } => (T::Bzip2, vec![O::Level(level)]),
        FilterSpec::Dictionary { level } => (T::Dictionary, vec![O::Level(level)]),
        FilterSpec::DoubleDelta { level, reinterpret } => {
            (T::DoubleDelta, vec![O::Level(level), O::Reinterpret(reinterpret.code())])
        }
        FilterSpec::Delta { level, reinterpret } => (T::Delta, vec![O::Level(level), O::Reinterpret(reinterpret.code())]),
        FilterSpec::BitWidthReduction { max_window_bytes } => (T::BitWidthReduction, vec![O::BitWidthWindow(max_window_bytes)]),
        FilterSpec::PositiveDelta { max_window_bytes } => (T::PositiveDelta, vec![O::PositiveDeltaWindow(max_window_bytes)]),
        FilterSpec::Bitshuffle => (T::Bitshuffle, vec![]),
        FilterSpec::Byteshuffle => (T::Byteshuffle, vec![]),
        FilterSpec::ChecksumMd5 => (T::ChecksumMd5, vec![]),
        FilterSpec::ChecksumSha256 => (T::ChecksumSha256, vec![]),
        FilterSpec::Xor => (T::Xor, vec![]),
        FilterSpec::FloatScale { scale, offset, byte_width } => {
            (T::FloatScale, vec![O::FloatScaleByteWidth(byte_width), O::FloatScaleFactor(scale), O::FloatScaleOffset(offset)])
        }
        FilterSpec::Webp { quality, format, lossless, .. } => {
            (T::Webp, vec![O::WebpQuality(quality), O::WebpFormat(format as u8), O::WebpLossless(lossless.into())])
        }
        FilterSpec::None | FilterSpec::Aes256Gcm | FilterSpec::Bitsort => (T::None, vec![]),
    };
    peer::Filter { filter_type, options }
}

fn filters(list: &FilterList) -> peer::FilterList {
    peer::FilterList { filters: list.filters.iter().map(filter).collect(), max_chunk_bytes: Some(list.max_chunk_bytes) }
}

fn dimension(dimension: &Dimension) -> Result<peer::Dimension, Failure> {
    let extent = dimension.tile_extent.map(|extent| {
        let mut w = Writer::new();
        match extent {
            TileExtent::Integer(extent) => Coordinate::Unsigned(extent).encode(&mut w, dimension.datatype),
            TileExtent::Float32(extent) => w.f32(extent),
            TileExtent::Float64(extent) => w.f64(extent),
        }
        w.into_vec()
    });
    Ok(peer::Dimension {
        name: dimension.name.clone(),
        datatype: datatype(dimension.datatype)?,
        domain: dimension.domain.as_ref().map(|domain| range(domain, dimension.datatype)),
        extent,
        filters: (!dimension.filters.is_empty()).then(|| filters(&dimension.filters)),
    })
}

pub(super) fn attribute(attribute: &Attribute) -> Result<peer::Attribute, Failure> {
    Ok(peer::Attribute {
        name: attribute.name.clone(),
        datatype: datatype(attribute.datatype)?,
        cell_val_num: cell_val_num(attribute.cell_val_num),
        nullable: attribute.nullable,
        fill: Some(peer::FillValue { value: attribute.fill_value.clone(), valid: attribute.fill_validity }),
        filters: Some(filters(&attribute.filters)),
        enumeration: attribute.enumeration.clone(),
    })
}

pub(super) fn enumeration(enumeration: &Enumeration) -> Result<peer::Enumeration, Failure> {
    let values = (0..enumeration.len()).filter_map(|index| enumeration.value(index).map(<[u8]>::to_vec)).collect();
    Ok(peer::Enumeration {
        name: enumeration.name().to_owned(),
        datatype: datatype(enumeration.datatype())?,
        cell_val_num: cell_val_num(enumeration.cell_val_num()),
        ordered: enumeration.ordered(),
        values,
    })
}

pub(super) fn schema(schema: &ArraySchema, enumerations: &[Enumeration]) -> Result<peer::Schema, Failure> {
    let array_type = peer::ArrayType::from_code(schema.array_type.code().into()).ok_or("an array type")?;
    let datatypes = schema.domain.dimensions.iter().map(|dimension| dimension.datatype);
    let current = schema.current_domain.as_ref();
    Ok(peer::Schema {
        array_type,
        cell_order: layout(schema.cell_order)?,
        tile_order: layout(schema.tile_order)?,
        capacity: Some(schema.capacity),
        allows_dups: schema.allows_dups,
        coords_filters: Some(filters(&schema.coords_filters)),
        offsets_filters: Some(filters(&schema.offsets_filters)),
        validity_filters: Some(filters(&schema.validity_filters)),
        dimensions: schema.domain.dimensions.iter().map(dimension).collect::<Result<_, _>>()?,
        attributes: schema.attributes.iter().map(attribute).collect::<Result<_, _>>()?,
        enumerations: enumerations.iter().map(enumeration).collect::<Result<_, _>>()?,
        labels: Vec::new(),
        current_domain: current
            .map(|current| current.0.iter().zip(datatypes).map(|(it, datatype)| range(it, datatype)).collect()),
        format_version: None,
    })
}

/// The cells of a field as the peer has them.
pub(crate) fn column(field: &FieldBuffer) -> peer::Column {
    let offsets = field.offsets().map(|offsets| offsets.split_last().map_or(Vec::new(), |(_, starts)| starts.to_vec()));
    peer::Column { data: field.data().to_vec(), offsets, validity: field.validity().map(<[u8]>::to_vec) }
}

pub(super) fn columns(fields: &[(String, FieldBuffer)]) -> Vec<(String, peer::Column)> {
    fields.iter().map(|(name, field)| (name.clone(), column(field))).collect()
}

/// Some cells of a field.
pub(super) fn slice(field: &FieldBuffer, cells: std::ops::Range<usize>) -> Result<FieldBuffer, Failure> {
    let bytes: Vec<Vec<u8>> = cells.clone().filter_map(|cell| field.cell(cell)).map(<[u8]>::to_vec).collect();
    let validity = field.validity().and_then(|validity| validity.get(cells)).map(<[u8]>::to_vec);
    if let Some(offsets) = field.offsets() {
        let _ = offsets;
        return super::cells::field(field.datatype(), field.cell_val_num(), &bytes, validity);
    }
    let data = CellBytes::copied(&bytes.concat());
    Ok(FieldBuffer::new(field.datatype(), field.cell_val_num(), data, None, validity)?)
}
