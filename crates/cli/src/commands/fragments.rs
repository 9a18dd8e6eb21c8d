//! `fragments`: what writes and consolidations have left.

use std::io::Write;

use serde_json::{Map, Value, json};
use talavera::{Array, Datatype, FragmentInfo, NdRange};

use crate::args::Described;
use crate::error::Error;
use crate::format::json::write_value;
use crate::format::table::write_table;
use crate::value::{datetime, range_json, range_text};

pub(crate) fn run(args: &Described, out: &mut dyn Write) -> Result<(), Error> {
    let array = args.target.open_array()?;
    if args.json {
        let mut object = Map::new();
        let fragments = array.fragments().map(|fragment| json(&fragment, &array)).collect();
        object.insert("fragments".to_owned(), fragments);
        let mut to_vacuum: Vec<_> = array.fragments_to_vacuum().collect();
        to_vacuum.sort_unstable();
        if !to_vacuum.is_empty() {
            object.insert("to_vacuum".to_owned(), to_vacuum.into());
        }
        return Ok(write_value(out, &object.into())?);
    }
    let lines = array.fragments().map(|fragment| line(&fragment, &array)).collect();
    let header = ["fragment", "version", "written", "kind", "cells", "bytes", "non-empty domain"];
    let numeric = [false, true, false, false, true, true, false];
    write_table(out, header.map(str::to_owned).to_vec(), lines, &numeric)?;
    for name in array.fragments_to_vacuum() {
        writeln!(out, "to vacuum: {name}")?;
    }
    Ok(())
}

/// The ranges of all dimensions as JSON.
pub(super) fn domain_json(domain: &NdRange, array: &Array) -> Value {
    let dimensions = &array.schema().domain.dimensions;
    domain.0.iter().zip(dimensions).map(|(range, dimension)| range_json(dimension.datatype, range)).collect()
}

/// The ranges of all dimensions as `--range` takes them.
pub(super) fn domain_text(domain: &NdRange, array: &Array) -> String {
    let dimensions = &array.schema().domain.dimensions;
    let ranges = domain.0.iter().zip(dimensions);
    let ranges = ranges.map(|(range, dimension)| format!("{}={}", dimension.name, range_text(dimension.datatype, range)));
    ranges.collect::<Vec<_>>().join(" ")
}

/// When something was written, as a date.
pub(super) fn time_text(timestamp_ms: u64) -> String {
    i64::try_from(timestamp_ms).map_or_else(|_| timestamp_ms.to_string(), |ms| datetime::text(Datatype::DateTimeMs, ms))
}

fn json(fragment: &FragmentInfo, array: &Array) -> Value {
    json!({
        "name": fragment.name,
        "format_version": fragment.version.number(),
        "timestamps": [fragment.timestamps.0, fragment.timestamps.1],
        "dense": fragment.dense,
        "cell_num": fragment.cell_count,
        "non_empty_domain": domain_json(&fragment.non_empty_domain, array),
    })
}

fn line(fragment: &FragmentInfo, array: &Array) -> Vec<String> {
    let (first, last) = fragment.timestamps;
    let written = if first == last { time_text(first) } else { format!("{}..{}", time_text(first), time_text(last)) };
    vec![
        fragment.name.clone(),
        fragment.version.number().to_string(),
        written,
        if fragment.dense { "dense" } else { "sparse" }.to_owned(),
        fragment.cell_count.map_or_else(|| "?".to_owned(), |count| count.to_string()),
        fragment.data_bytes.to_string(),
        domain_text(&fragment.non_empty_domain, array),
    ]
}
