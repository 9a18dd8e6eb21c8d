//! Schemas that the reference implementation wrote, against what it says about them itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use talavera_codec::Writer;
use talavera_filter::FilterList;
use talavera_schema::{ArraySchema, Coordinate, Enumeration, Range, TileExtent};
use talavera_types::{CellValNum, DatatypeClass};

#[test]
fn schemas_say_what_the_reference_says() {
    for (file, expected) in described("schemas.txt") {
        let schema = ArraySchema::decode(&payload(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(describe(&schema), expected, "{file}");
    }
}

#[test]
fn enumerations_say_what_the_reference_says() {
    for (file, expected) in described("enumerations.txt") {
        let enumeration = Enumeration::decode(&payload(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(describe_enumeration(&enumeration), expected, "{file}");
        for (index, value) in enumeration.values().enumerate() {
            assert_eq!(enumeration.index_of(value), Some(index), "{file}");
        }
    }
}

#[test]
fn everything_is_encoded_to_the_bytes_it_came_from() {
    for (file, _) in described("enumerations.txt") {
        let mut w = Writer::new();
        let bytes = payload(&file);
        Enumeration::decode(&bytes).unwrap().encode(&mut w);
        assert_eq!(w.as_slice(), bytes, "{file}");
    }
    for (file, _) in described("schemas.txt") {
        let bytes = payload(&file);
        assert_eq!(encode(&ArraySchema::decode(&bytes).unwrap()), bytes, "{file}");
    }
}

#[test]
fn every_shorter_prefix_is_an_error() {
    for (file, _) in described("schemas.txt") {
        let bytes = payload(&file);
        for len in 0..bytes.len() {
            assert!(ArraySchema::decode(&bytes[..len]).is_err(), "{file}: {len} bytes");
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_a_schema_that_stays_itself() {
    for (file, _) in described("schemas.txt") {
        let mut bytes = payload(&file);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(schema) = ArraySchema::decode(&bytes) {
                let _ = schema.validate();
                let encoded = encode(&schema);
                let again = ArraySchema::decode(&encoded).unwrap_or_else(|error| panic!("{file}, bit {bit}: {error}"));
                assert_eq!(encode(&again), encoded, "{file}, bit {bit}");
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn an_extended_enumeration_extends_the_one_before() {
    let decode = |file: &str| Enumeration::decode(&payload(file)).unwrap();
    let (old, new) = (decode("v22_enumeration_before.bin"), decode("v22_enumeration_extended.bin"));
    assert!(new.extends(&old) && !old.extends(&new));
}

fn encode(schema: &ArraySchema) -> Vec<u8> {
    let mut w = Writer::new();
    schema.encode(&mut w);
    w.into_vec()
}

fn payload(file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    std::fs::read(path).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files of an index and the lines that describe each.
fn described(index: &str) -> Vec<(String, String)> {
    let index = String::from_utf8(payload(index)).unwrap();
    let entries = index.split("== ").skip(1).map(|entry| {
        let (head, lines) = entry.split_once('\n').unwrap();
        (head.split(' ').next().unwrap().to_owned(), lines.to_owned())
    });
    let entries = entries.collect::<Vec<_>>();
    assert!(!entries.is_empty());
    entries
}

fn describe(schema: &ArraySchema) -> String {
    let mut out = String::new();
    let (version, capacity, dups) = (schema.version, schema.capacity, schema.allows_dups);
    let (kind, tiles, cells) = (schema.array_type, schema.tile_order, schema.cell_order);
    writeln!(out, "{kind} version={version} tiles={tiles} cells={cells} capacity={capacity} dups={dups}").unwrap();
    let lists = [&schema.coords_filters, &schema.offsets_filters, &schema.validity_filters].map(filters);
    writeln!(out, "filters coords={} offsets={} validity={}", lists[0], lists[1], lists[2]).unwrap();
    for (index, dimension) in schema.domain.dimensions.iter().enumerate() {
        let domain = dimension.domain.as_ref().map_or("-".to_owned(), range);
        let extent = match dimension.tile_extent {
            None => "-".to_owned(),
            Some(TileExtent::Integer(extent)) => format!("{extent}"),
            Some(TileExtent::Float32(extent)) => format!("{extent:?}"),
            Some(TileExtent::Float64(extent)) => format!("{extent:?}"),
        };
        let (name, datatype) = (&dimension.name, dimension.datatype);
        let filters = filters(schema.dimension_filters(index).unwrap());
        writeln!(out, "dimension {name:?} {datatype} domain={domain} extent={extent} filters={filters}").unwrap();
    }
    describe_attributes(schema, &mut out);
    for label in &schema.labels {
        let (name, dimension, order, datatype) = (&label.name, label.dimension, label.order, label.datatype);
        write!(out, "label {name:?} dimension={dimension} {order} {datatype} ").unwrap();
        writeln!(out, "cell_val_num={} uri={} attribute={}", values(label.cell_val_num), label.uri, label.attribute).unwrap();
    }
    let mut enumerations = schema.enumerations.iter().map(|enumeration| &enumeration.name).collect::<Vec<_>>();
    enumerations.sort();
    for name in enumerations {
        writeln!(out, "enumeration {name:?}").unwrap();
    }
    if let Some(current_domain) = &schema.current_domain {
        let ranges = current_domain.0.iter().map(range).collect::<Vec<_>>();
        writeln!(out, "current domain {}", ranges.join(" ")).unwrap();
    }
    out
}

fn describe_attributes(schema: &ArraySchema, out: &mut String) {
    for attribute in &schema.attributes {
        let (name, datatype, nullable) = (&attribute.name, attribute.datatype, attribute.nullable);
        let (fill, valid) = (hex(&attribute.fill_value), attribute.fill_validity);
        write!(out, "attribute {name:?} {datatype} cell_val_num={} nullable={nullable} ", values(attribute.cell_val_num))
            .unwrap();
        let enumeration = attribute.enumeration.as_deref().unwrap_or("-");
        writeln!(out, "fill={fill} valid={valid} enumeration={enumeration} filters={}", filters(&attribute.filters)).unwrap();
    }
}

fn describe_enumeration(enumeration: &Enumeration) -> String {
    let (name, datatype, ordered) = (enumeration.name(), enumeration.datatype(), enumeration.ordered());
    let list = enumeration.values().map(|value| match datatype.class() {
        DatatypeClass::Text => format!("{:?}", String::from_utf8_lossy(value)),
        _ => hex(value),
    });
    let list = list.collect::<Vec<_>>().join(" ");
    format!("{name:?} {datatype} cell_val_num={} ordered={ordered} values={list}\n", values(enumeration.cell_val_num()))
}

fn filters(list: &FilterList) -> String {
    let names = list.filters.iter().map(|filter| filter.filter_type().name()).collect::<Vec<_>>();
    format!("{}:{}", list.max_chunk_bytes, names.join(","))
}

fn values(cell_val_num: CellValNum) -> String {
    cell_val_num.fixed().map_or("var".to_owned(), |values| values.to_string())
}

fn range(range: &Range) -> String {
    let end = |coordinate| match coordinate {
        Coordinate::Signed(value) => format!("{value}"),
        Coordinate::Unsigned(value) => format!("{value}"),
        Coordinate::Float32(value) => format!("{value:?}"),
        Coordinate::Float64(value) => format!("{value:?}"),
        Coordinate::String(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
    };
    format!("{}..{}", end(range.low()), end(range.high()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap();
        out
    })
}
