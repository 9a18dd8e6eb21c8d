//! The schema as JSON, in the form of the format's test data.

use serde_json::{Map, Value, json};
use talavera::{
    Array, ArraySchema, Attribute, CellValNum, Datatype, Dimension, DimensionLabel, FilterList, FilterSpec, ObjectType,
    TileExtent,
};

use crate::args::Target;
use crate::error::Error;
use crate::value::{Num, Shape, is_signed, range_json};

/// The schema of an array, with its enumerations and the schemas of its labels.
pub(super) fn schema(array: &Array, target: &Target) -> Result<Value, Error> {
    let schema = array.schema();
    let mut object = plain_schema(schema);
    let names = enumerations_of(schema);
    if !names.is_empty() {
        let values = names.into_iter().map(|name| Ok((name.to_owned(), enumeration(array, name)?)));
        object.insert("enumerations".to_owned(), Value::Object(values.collect::<Result<_, Error>>()?));
    }
    if let Some(current) = &schema.current_domain {
        let ranges = current.0.iter().zip(&schema.domain.dimensions);
        let ranges = ranges.map(|(range, dimension)| range_json(dimension.datatype, range)).collect();
        object.insert("current_domain".to_owned(), Value::Array(ranges));
    }
    if !schema.labels.is_empty() {
        let labels = schema.labels.iter().map(|label| dimension_label(label, target)).collect::<Result<_, _>>()?;
        object.insert("dimension_labels".to_owned(), Value::Array(labels));
    }
    Ok(Value::Object(object))
}

/// The enumerations that attributes refer to, in the order of the attributes.
pub(super) fn enumerations_of(schema: &ArraySchema) -> Vec<&str> {
    let mut names = Vec::new();
    for name in schema.attributes.iter().filter_map(|attribute| attribute.enumeration.as_deref()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The options of a filter, by name.
pub(super) fn filter_options(filter: &FilterSpec) -> Vec<(&'static str, Value)> {
    match *filter {
        FilterSpec::Gzip { level }
        | FilterSpec::Zstd { level }
        | FilterSpec::Lz4 { level }
        | FilterSpec::Rle { level }
        | FilterSpec::Bzip2 { level }
        | FilterSpec::Dictionary { level } => vec![("level", level.into())],
        FilterSpec::DoubleDelta { level, reinterpret } | FilterSpec::Delta { level, reinterpret } => {
            vec![("level", level.into()), ("reinterpret", reinterpret.code().into())]
        }
        FilterSpec::BitWidthReduction { max_window_bytes } | FilterSpec::PositiveDelta { max_window_bytes } => {
            vec![("window", max_window_bytes.into())]
        }
        FilterSpec::FloatScale { scale, offset, byte_width } => vec![
            ("bytewidth", byte_width.into()),
            ("factor", Num::Float64(scale).json()),
            ("offset", Num::Float64(offset).json()),
        ],
        FilterSpec::Webp { quality, format, lossless, .. } => vec![
            ("quality", Num::Float32(quality).json()),
            ("format", (format as u8).into()),
            ("lossless", u8::from(lossless).into()),
        ],
        _ => Vec::new(),
    }
}

fn plain_schema(schema: &ArraySchema) -> Map<String, Value> {
    let dimensions = schema.domain.dimensions.iter().enumerate();
    let dimensions: Vec<_> = dimensions.map(|(index, d)| dimension(d, schema.dimension_filters(index))).collect();
    let attributes: Vec<_> = schema.attributes.iter().map(attribute).collect();
    let entries = [
        ("array_type", schema.array_type.name().into()),
        ("format_version", schema.version.number().into()),
        ("cell_order", schema.cell_order.name().into()),
        ("tile_order", schema.tile_order.name().into()),
        ("capacity", schema.capacity.into()),
        ("allows_dups", schema.allows_dups.into()),
        ("coords_filters", filter_list(&schema.coords_filters)),
        ("offsets_filters", filter_list(&schema.offsets_filters)),
        ("validity_filters", filter_list(&schema.validity_filters)),
        ("dims", Value::Array(dimensions)),
        ("attrs", Value::Array(attributes)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn dimension(dimension: &Dimension, filters: Option<&FilterList>) -> Value {
    json!({
        "name": dimension.name,
        "type": dimension.datatype.name(),
        "cell_val_num": cell_val_num(dimension.cell_val_num()),
        "domain": dimension.domain.as_ref().map(|domain| range_json(dimension.datatype, domain)),
        "tile": dimension.tile_extent.map(|extent| tile_extent(dimension.datatype, extent)),
        "filters": filters.map(filter_list),
    })
}

/// An extent as the reference shows it: a number of the dimension's own type.
fn tile_extent(datatype: Datatype, extent: TileExtent) -> Value {
    match extent {
        TileExtent::Integer(extent) if is_signed(datatype) => {
            let bytes = extent.to_le_bytes();
            bytes.get(..datatype.size()).and_then(|bytes| Num::from_le_bytes(datatype, bytes)).map_or(Value::Null, Num::json)
        }
        TileExtent::Integer(extent) => extent.into(),
        TileExtent::Float32(extent) => Num::Float32(extent).json(),
        TileExtent::Float64(extent) => Num::Float64(extent).json(),
    }
}

fn attribute(attribute: &Attribute) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("name", attribute.name.as_str().into());
    put("type", attribute.datatype.name().into());
    put("cell_val_num", cell_val_num(attribute.cell_val_num));
    put("nullable", attribute.nullable.into());
    put("fill", Shape::of_cells(attribute.datatype, attribute.cell_val_num).json(&attribute.fill_value));
    if attribute.nullable {
        put("fill_valid", attribute.fill_validity.into());
    }
    put("filters", filter_list(&attribute.filters));
    if let Some(enumeration) = &attribute.enumeration {
        put("enumeration", enumeration.as_str().into());
    }
    Value::Object(object)
}

fn filter_list(filters: &FilterList) -> Value {
    let filters_json = filters.filters.iter().map(|filter| {
        let mut object = Map::new();
        object.insert("type".to_owned(), filter.filter_type().name().into());
        object.extend(filter_options(filter).into_iter().map(|(key, value)| (key.to_owned(), value)));
        Value::Object(object)
    });
    json!({ "max_chunk_size": filters.max_chunk_bytes, "filters": filters_json.collect::<Vec<_>>() })
}

fn enumeration(array: &Array, name: &str) -> Result<Value, Error> {
    let enumeration = array.enumeration(name)?;
    let shape = Shape::of_cells(enumeration.datatype(), enumeration.cell_val_num());
    Ok(json!({
        "type": enumeration.datatype().name(),
        "cell_val_num": cell_val_num(enumeration.cell_val_num()),
        "ordered": enumeration.ordered(),
        "values": enumeration.values().map(|value| shape.json(value)).collect::<Vec<_>>(),
    }))
}

fn dimension_label(label: &DimensionLabel, target: &Target) -> Result<Value, Error> {
    let entries = [
        ("name", label.name.as_str().into()),
        ("dim", label.dimension.into()),
        ("attr", label.attribute.as_str().into()),
        ("order", label.order.name().into()),
        ("type", label.datatype.name().into()),
        ("cell_val_num", cell_val_num(label.cell_val_num)),
        ("uri", label.uri.as_str().into()),
    ];
    let mut object: Map<_, _> = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let uri = if label.relative { format!("{}/{}", target.uri.trim_end_matches('/'), label.uri) } else { label.uri.clone() };
    if talavera::object_type(&uri)? == Some(ObjectType::Array) {
        let array = target.options()?.open(&uri)?;
        object.insert("array".to_owned(), json!({ "kind": "array", "schema": plain_schema(array.schema()) }));
    }
    Ok(Value::Object(object))
}

fn cell_val_num(cell_val_num: CellValNum) -> Value {
    cell_val_num.fixed().map_or_else(|| "var".into(), Into::into)
}
