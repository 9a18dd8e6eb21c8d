//! JSON: of cells, field by field, and of descriptions.

use std::io::{self, Write};

use serde_json::Value;

use crate::error::Error;
use crate::selection::{FieldCells, FieldView};

/// What stands before the cells of a read.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// Keys and values, in order.
    pub(crate) entries: Vec<(&'static str, Value)>,
    /// Whether there are to be `dims` even if there are none.
    pub(crate) has_dims: bool,
}

/// Writes a read as one object: the head, the count, then dimensions and attributes, each a list of its cells. `rows`
/// are the cells to write, in order.
///
/// # Errors
/// When the output cannot be written.
pub(crate) fn write_cells(
    out: &mut dyn Write,
    head: &Head,
    cells: &talavera::Cells,
    fields: &[FieldView],
    rows: &[usize],
) -> Result<(), Error> {
    out.write_all(b"{\n")?;
    for (key, value) in &head.entries {
        writeln!(out, " {}: {value},", Value::from(*key))?;
    }
    write!(out, " \"count\": {}", rows.len())?;
    for (key, dimensions) in [("dims", true), ("attrs", false)] {
        let of_kind: Vec<_> = fields.iter().filter(|field| field.is_dimension == dimensions).collect();
        if dimensions && of_kind.is_empty() && !head.has_dims {
            continue;
        }
        write!(out, ",\n \"{key}\": {{")?;
        for (index, field) in of_kind.iter().enumerate() {
            write!(out, "{}\n  {}: [", if index == 0 { "" } else { "," }, Value::from(field.name.as_str()))?;
            if let Some(cells) = field.cells(cells) {
                write_list(out, cells, rows)?;
            }
            out.write_all(b"]")?;
        }
        out.write_all(if of_kind.is_empty() { b"}" } else { b"\n }" })?;
    }
    out.write_all(b"\n}\n")?;
    Ok(())
}

fn write_list(out: &mut dyn Write, cells: FieldCells<'_>, rows: &[usize]) -> Result<(), Error> {
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, &cells.json(*row))?;
    }
    Ok(())
}

/// Writes a value with a line for every entry of an object, and lists of plain values on one.
///
/// # Errors
/// When the output cannot be written.
pub(crate) fn write_value(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    write_indented(out, value, 0)?;
    out.write_all(b"\n")
}

fn write_indented(out: &mut dyn Write, value: &Value, indent: usize) -> io::Result<()> {
    let pad = " ".repeat(indent + 1);
    match value {
        Value::Object(entries) if !is_short(value) => {
            for (index, (key, value)) in entries.iter().enumerate() {
                write!(out, "{}\n{pad}{}: ", if index == 0 { "{" } else { "," }, Value::from(key.as_str()))?;
                write_indented(out, value, indent + 1)?;
            }
            write!(out, "\n{}}}", " ".repeat(indent))
        }
        Value::Array(items) if !is_short(value) => {
            for (index, value) in items.iter().enumerate() {
                write!(out, "{}\n{pad}", if index == 0 { "[" } else { "," })?;
                write_indented(out, value, indent + 1)?;
            }
            write!(out, "\n{}]", " ".repeat(indent))
        }
        plain => write!(out, "{plain}"),
    }
}

/// What fits on a line: plain values, lists of them, filter lists, small objects.
fn is_short(value: &Value) -> bool {
    match value {
        Value::Object(entries) => {
            let filters = entries.len() == 2 && entries.contains_key("max_chunk_size") && entries.contains_key("filters");
            filters || entries.len() <= 4 && entries.values().all(|value| !value.is_array() && !value.is_object())
        }
        Value::Array(items) => items.iter().all(|item| !item.is_object() && is_short(item)),
        _ => true,
    }
}
