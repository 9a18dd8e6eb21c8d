//! `schema`: what an array's cells look like.

pub(crate) mod filter;
pub(crate) mod from_json;
mod json;

use std::io::Write;

use talavera::{Array, ArraySchema, CellValNum, Datatype, FilterList, FilterSpec, TileExtent};

use crate::args::Described;
use crate::error::Error;
use crate::format::json::write_value;
use crate::format::table::{shortened, write_table};
use crate::value::{Shape, range_text};

pub(crate) fn run(args: &Described, out: &mut dyn Write) -> Result<(), Error> {
    let array = args.target.open_array()?;
    if args.json {
        return Ok(write_value(out, &json::schema(&array, &args.target)?)?);
    }
    let schema = array.schema();
    let version = schema.version.number();
    writeln!(out, "{} array, format version {version}", schema.array_type.name())?;
    write!(out, "cells {}, tiles {}", schema.cell_order.name(), schema.tile_order.name())?;
    if !schema.is_dense() {
        let duplicates = if schema.allows_dups { "allowed" } else { "refused" };
        write!(out, ", {} cells a tile, duplicates {duplicates}", schema.capacity)?;
    }
    writeln!(out, "\n")?;
    write_dimensions(schema, out)?;
    write_attributes(schema, out)?;
    write_labels(schema, out)?;
    write_enumerations(&array, out)
}

fn write_dimensions(schema: &ArraySchema, out: &mut dyn Write) -> Result<(), Error> {
    let lines = schema.domain.dimensions.iter().enumerate().map(|(index, dimension)| {
        let current = schema.current_domain.as_ref().and_then(|current| current.0.get(index));
        let domain = dimension.domain.as_ref().map_or_else(String::new, |domain| range_text(dimension.datatype, domain));
        let current = current.map_or_else(String::new, |current| range_text(dimension.datatype, current));
        let tile = match dimension.tile_extent {
            None => String::new(),
            Some(TileExtent::Integer(extent)) => extent.to_string(),
            Some(TileExtent::Float32(extent)) => format!("{extent:?}"),
            Some(TileExtent::Float64(extent)) => format!("{extent:?}"),
        };
        let filters = schema.dimension_filters(index).map_or_else(String::new, filters_text);
        vec![shortened(&dimension.name), dimension.datatype.name().to_owned(), domain, current, tile, filters]
    });
    write_filled(out, &["dimension", "type", "domain", "current domain", "tile", "filters"], lines.collect())
}

fn write_attributes(schema: &ArraySchema, out: &mut dyn Write) -> Result<(), Error> {
    let lines = schema.attributes.iter().map(|attribute| {
        let mut fill = String::new();
        if attribute.nullable && !attribute.fill_validity {
            fill.push_str("null");
        } else {
            Shape::of_cells(attribute.datatype, attribute.cell_val_num).write_text(&mut fill, &attribute.fill_value);
        }
        let values = match attribute.cell_val_num {
            CellValNum::ONE => String::new(),
            CellValNum::Fixed(values) => values.to_string(),
            CellValNum::Var => "var".to_owned(),
        };
        let nullable = if attribute.nullable { "yes" } else { "" };
        vec![
            shortened(&attribute.name),
            attribute.datatype.name().to_owned(),
            values,
            nullable.to_owned(),
            shortened(&fill),
            attribute.enumeration.clone().unwrap_or_default(),
            filters_text(&attribute.filters),
        ]
    });
    let header = ["attribute", "type", "values", "nullable", "fill", "enumeration", "filters"];
    write_filled(out, &header, lines.collect())
}

fn write_labels(schema: &ArraySchema, out: &mut dyn Write) -> Result<(), Error> {
    let lines = schema.labels.iter().map(|label| {
        let index = usize::try_from(label.dimension).unwrap_or(usize::MAX);
        let dimension = schema.domain.dimensions.get(index).map_or("", |dimension| &dimension.name);
        let texts = [&label.name, dimension, label.datatype.name(), label.order.name(), &label.uri];
        texts.map(shortened).to_vec()
    });
    write_filled(out, &["label", "dimension", "type", "order", "array"], lines.collect())
}

fn write_enumerations(array: &Array, out: &mut dyn Write) -> Result<(), Error> {
    let mut lines = Vec::new();
    for name in json::enumerations_of(array.schema()) {
        let enumeration = array.enumeration(name)?;
        let shape = Shape::of_cells(enumeration.datatype(), enumeration.cell_val_num());
        let mut values = String::new();
        for (index, value) in enumeration.values().enumerate().take(MAX_VALUES) {
            values.push_str(if index == 0 { "" } else { ", " });
            shape.write_text(&mut values, value);
        }
        let ordered = if enumeration.ordered() { "yes" } else { "" };
        let kind = enumeration.datatype().name().to_owned();
        lines.push(vec![shortened(name), kind, ordered.to_owned(), enumeration.len().to_string(), shortened(&values)]);
    }
    write_filled(out, &["enumeration", "type", "ordered", "count", "values"], lines)
}

/// Values of an enumeration that are looked at, of which as many are shown as fit.
const MAX_VALUES: usize = 32;

/// Writes a table, if it has lines, without the fields that no line fills.
fn write_filled(out: &mut dyn Write, header: &[&str], lines: Vec<Vec<String>>) -> Result<(), Error> {
    if lines.is_empty() {
        return Ok(());
    }
    let filled = |index: usize| index == 0 || lines.iter().any(|line| line.get(index).is_some_and(|text| !text.is_empty()));
    let kept: Vec<_> = (0..header.len()).map(filled).collect();
    let only_kept = |line: Vec<String>| line.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(text, _)| text).collect();
    let names = only_kept(header.iter().map(|name| (*name).to_owned()).collect());
    let lines = lines.into_iter().map(only_kept).collect();
    write_table(out, names, lines, &[])?;
    writeln!(out)?;
    Ok(())
}

fn filters_text(filters: &FilterList) -> String {
    filters.filters.iter().map(filter_text).collect::<Vec<_>>().join(" > ")
}

/// A filter with the options that it was given; a level of -1 and the datatype ANY are the defaults.
fn filter_text(filter: &FilterSpec) -> String {
    let options = json::filter_options(filter);
    let is_default = |key: &str, value: &serde_json::Value| match key {
        "level" => *value == -1,
        "reinterpret" => *value == Datatype::Any.code(),
        _ => false,
    };
    let given = options.iter().filter(|(key, value)| !is_default(key, value));
    let given: Vec<_> = given.map(|(key, value)| format!("{key} {value}")).collect();
    let name = filter.filter_type().name();
    if given.is_empty() { name.to_owned() } else { format!("{name} ({})", given.join(", ")) }
}
