//! Filter lists, array schemas and enumerations.

use talavera_codec::Reader;
use talavera_filter::FilterList;
use talavera_pipeline::{Pipeline, TileFormat};
use talavera_schema::{ArraySchema, Attribute, Enumeration, NdRange, SchemaEvolution, TileGrid, hilbert};
use talavera_types::{Datatype, FormatVersion};

use crate::input::Input;
use crate::{encoded, stable};

/// Bytes of a variable-length value that are looked at.
const SOME: usize = 64;

/// A filter list; input: u8 version, which it is encoded as; the list.
pub fn filter_list(data: &[u8]) {
    let mut input = Input::new(data);
    let (version, bytes) = (input.version(), input.rest());
    let Ok(list) = FilterList::decode(&mut Reader::new(bytes)) else { return };
    let decode = |bytes: &[u8]| FilterList::decode(&mut Reader::new(bytes));
    let list = stable(&list, |list| encoded(|w| list.encode(w, version)), decode);
    let is_there = |filter: &talavera_filter::FilterSpec| list.contains(filter.filter_type());
    assert!(list.is_empty() == list.filters.is_empty() && list.filters.iter().all(is_there));
    run_filters(&list, version);
}

/// Builds pipelines and encodes a few cells with them.
fn run_filters(list: &FilterList, version: FormatVersion) {
    for datatype in [Datatype::UInt8, Datatype::Int32, Datatype::Float64, Datatype::StringAscii] {
        for filter in &list.filters {
            let _ = filter.output_datatype(datatype);
        }
        let format = TileFormat { datatype, cell_bytes: datatype.size(), version };
        let Ok(pipeline) = Pipeline::new(list, format, None) else { continue };
        let _ = pipeline.encode_tile(&[1; SOME]);
        if pipeline.takes_strings() {
            let _ = pipeline.encode_strings(&[1; 6], &[0, 1, 3, 6]);
        }
    }
}

/// An array schema; input: its payload.
pub fn schema(data: &[u8]) {
    let Ok(schema) = ArraySchema::decode(data) else { return };
    let schema = stable(&schema, |schema| encoded(|w| schema.encode(w)), ArraySchema::decode);
    for attribute in schema.attributes.iter().take(SOME) {
        assert!(schema.attribute(&attribute.name).is_some() && schema.field(&attribute.name).is_some());
        let _ = (attribute.is_var(), attribute.cell_bytes());
        run_filters(&attribute.filters, schema.version);
    }
    for (index, dimension) in schema.domain.dimensions.iter().enumerate() {
        assert!(schema.dimension(&dimension.name).is_some() && schema.dimension_filters(index).is_some());
        let _ = (dimension.is_var(), dimension.cell_bytes(), dimension.cell_val_num());
        if let Some(domain) = &dimension.domain {
            let _ = (dimension.tile_index(domain.low()), dimension.tile_index(domain.high()));
            let _ = (domain.to_string(), domain.cell_count(), domain.is_valid());
        }
    }
    let _ = schema.labels.iter().map(|label| schema.label(&label.name)).count();
    let _ = schema.enumerations.iter().map(|reference| schema.enumeration(&reference.name)).count();
    let _ = (schema.validate(), schema.is_dense(), schema.is_hilbert(), schema.domain.is_homogeneous());
    grid(&schema);
    curve(&schema);
    evolve(&schema);
}

/// The grid over the whole domain, with its first and last tiles and cells.
fn grid(schema: &ArraySchema) {
    let ranges: Option<NdRange> =
        schema.domain.dimensions.iter().map(|dimension| dimension.domain.clone()).collect::<Option<Vec<_>>>().map(NdRange);
    let Some(domain) = ranges else { return };
    let _ = (domain.is_of(&schema.domain), domain.cell_count(), domain.contains(&domain), domain.intersection(&domain));
    let Ok(grid) = TileGrid::new(schema, &domain) else { return };
    let last = grid.tile_count().saturating_sub(1);
    for number in [0, 1, last / 2, last, last.saturating_add(1), u64::MAX] {
        if let Some(cells) = grid.tile_cells(number) {
            let _: Vec<_> = cells.collect();
        }
        let Some(tile) = grid.tile_coordinates(number) else { continue };
        let tile: Vec<u64> = tile.collect();
        assert_eq!(grid.tile_number(&tile), Some(number), "a tile has another number than it had");
    }
    for axis in grid.axes() {
        for offset in [0, 1, axis.extent(), u64::MAX] {
            let _ = (axis.tile_of(offset), axis.tile_cells(offset), axis.tiles_of(0, offset));
            if let Some(coordinate) = axis.coordinate(offset) {
                let _ = axis.offset(coordinate);
            }
        }
    }
    let low: Vec<u64> = grid.axes().iter().map(|_| 0).collect();
    let _ = (grid.cell_position(&low), grid.cells_per_tile(), grid.tile_strides(), grid.cell_strides(), grid.expanded_domain());
}

/// The Hilbert index of both ends of the domain.
fn curve(schema: &ArraySchema) {
    let dimensions = &schema.domain.dimensions;
    let Some(curve) = hilbert::Curve::new(dimensions.len()) else { return };
    let bucket = |dimension: &talavera_schema::Dimension| {
        let text = talavera_schema::Coordinate::String(b"text");
        curve.bucket(dimension, dimension.domain.as_ref().map_or(text, talavera_schema::Range::high))
    };
    if let Some(mut buckets) = dimensions.iter().map(bucket).collect::<Option<Vec<_>>>() {
        let _ = curve.index(&mut buckets);
    }
}

fn evolve(schema: &ArraySchema) {
    let add = SchemaEvolution::new().add_attribute(Attribute::var("another attribute", Datatype::StringUtf8));
    // Without stored fill values, the default ones are limited together, and one more may be one too many.
    if let Some(evolved) = add.apply(schema).ok().filter(|evolved| evolved.version.has_fill_value()) {
        stable(&evolved, |schema| encoded(|w| schema.encode(w)), ArraySchema::decode);
    }
    if let Some(first) = schema.attributes.first() {
        let _ = SchemaEvolution::new().drop_attribute(&first.name).apply(schema);
    }
    if let Some(current) = &schema.current_domain {
        let _ = SchemaEvolution::new().expand_current_domain(current.clone()).apply(schema);
    }
}

/// An enumeration; input: its payload.
pub fn enumeration(data: &[u8]) {
    let Ok(enumeration) = Enumeration::decode(data) else { return };
    let enumeration = stable(&enumeration, |value| encoded(|w| value.encode(w)), Enumeration::decode);
    let _ = (enumeration.name(), enumeration.path_name(), enumeration.datatype(), enumeration.cell_val_num());
    let _ = (enumeration.ordered(), enumeration.data(), enumeration.offsets());
    assert_eq!(enumeration.values().count(), enumeration.len());
    assert!(!enumeration.extends(&enumeration), "an enumeration that extends another has more values");
    for (index, value) in enumeration.values().enumerate().take(SOME) {
        assert_eq!(enumeration.value(index), Some(value));
        assert_eq!(enumeration.index_of(value), Some(index), "a value has another index than it had");
    }
    assert!(enumeration.value(enumeration.len()).is_none());
    if let Ok(extended) = enumeration.extended("longer", [b"12345678".as_slice()]) {
        assert!(extended.extends(&enumeration), "a longer enumeration extends the shorter");
    }
}
