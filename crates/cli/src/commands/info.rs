//! `info`: what an array or group holds, in short.

use std::io::Write;

use serde_json::{Value, json};
use talavera::{Array, Group};

use super::fragments::{domain_json, domain_text, time_text};
use crate::args::Described;
use crate::error::Error;
use crate::format::json::write_value;
use crate::target::Object;

pub(crate) fn run(args: &Described, out: &mut dyn Write) -> Result<(), Error> {
    match (args.target.open()?, args.json) {
        (Object::Array(array), true) => write_value(out, &array_json(&array)?)?,
        (Object::Array(array), false) => write_array(&array, out)?,
        (Object::Group(group), true) => write_value(out, &group_json(&group))?,
        (Object::Group(group), false) => {
            writeln!(out, "group")?;
            writeln!(out, "members:   {}", group.members().len())?;
            writeln!(out, "metadata:  {} keys", group.metadata().len())?;
        }
    }
    Ok(())
}

/// Cells and bytes in the fragments of an array, and when the first and last of them were written.
struct Totals {
    cells: u64,
    data_bytes: u64,
    written: Option<(u64, u64)>,
}

impl Totals {
    fn of(array: &Array) -> Self {
        let mut totals = Self { cells: 0, data_bytes: 0, written: None };
        for fragment in array.fragments() {
            totals.cells = totals.cells.saturating_add(fragment.cell_count.unwrap_or(u64::MAX));
            totals.data_bytes = totals.data_bytes.saturating_add(fragment.data_bytes);
            let (first, last) = totals.written.unwrap_or(fragment.timestamps);
            totals.written = Some((first.min(fragment.timestamps.0), last.max(fragment.timestamps.1)));
        }
        totals
    }
}

fn array_json(array: &Array) -> Result<Value, Error> {
    let (schema, totals) = (array.schema(), Totals::of(array));
    let dimensions = schema.domain.dimensions.iter().map(|dimension| &dimension.name).collect::<Vec<_>>();
    let attributes = schema.attributes.iter().map(|attribute| &attribute.name).collect::<Vec<_>>();
    Ok(json!({
        "kind": "array",
        "array_type": schema.array_type.name(),
        "format_version": schema.version.number(),
        "dims": dimensions,
        "attrs": attributes,
        "non_empty_domain": array.non_empty_domain().map(|domain| domain_json(&domain, array)),
        "fragments": array.fragments().len(),
        "to_vacuum": array.fragments_to_vacuum().len(),
        "cells_stored": totals.cells,
        "data_bytes": totals.data_bytes,
        "timestamps": totals.written.map(|(first, last)| [first, last]),
        "metadata": array.metadata()?.len(),
    }))
}

fn group_json(group: &Group) -> Value {
    json!({ "kind": "group", "members": group.members().len(), "metadata": group.metadata().len() })
}

fn write_array(array: &Array, out: &mut dyn Write) -> Result<(), Error> {
    let (schema, totals) = (array.schema(), Totals::of(array));
    let names = |names: Vec<&str>| names.join(", ");
    writeln!(out, "{} array, format version {}", schema.array_type.name(), schema.version.number())?;
    writeln!(out, "dimensions:        {}", names(schema.domain.dimensions.iter().map(|d| d.name.as_str()).collect()))?;
    writeln!(out, "attributes:        {}", names(schema.attributes.iter().map(|a| a.name.as_str()).collect()))?;
    let domain = array.non_empty_domain().map_or_else(|| "none, the array is empty".to_owned(), |d| domain_text(&d, array));
    writeln!(out, "non-empty domain:  {domain}")?;
    write!(out, "fragments:         {}", array.fragments().len())?;
    match array.fragments_to_vacuum().len() {
        0 => writeln!(out)?,
        replaced => writeln!(out, ", and {replaced} to vacuum")?,
    }
    writeln!(out, "cells stored:      {}", totals.cells)?;
    writeln!(out, "bytes of data:     {}", totals.data_bytes)?;
    if let Some((first, last)) = totals.written {
        writeln!(out, "written:           {}..{}", time_text(first), time_text(last))?;
    }
    writeln!(out, "metadata:          {} keys", array.metadata()?.len())?;
    Ok(())
}
