//! `explain`: what a read would do.

use std::io::Write;

use talavera::{Cost, Explanation, Order};

use super::fragments::time_text;
use crate::args::OutlineArgs;
use crate::error::Error;
use crate::format::json::write_value;
use crate::format::table::write_table;
use crate::selection::Selection;

pub(crate) fn run(args: &OutlineArgs, out: &mut dyn Write) -> Result<(), Error> {
    let array = args.target.open_array()?;
    let with_coords = !array.schema().is_dense();
    let selection = Selection::new(&args.selection, &array, with_coords)?;
    let plan = selection.read(&array, Order::Unordered).explain()?;
    if args.json {
        return Ok(write_value(out, &serde_json::to_value(&plan)?)?);
    }
    write_fragments(&plan, out)?;
    writeln!(out)?;
    write_fields(&plan, out)?;
    if !plan.exact {
        writeln!(out, "\nat most: which tiles have cells of the result shows only when coordinates and conditions are read")?;
    }
    Ok(())
}

fn write_fragments(plan: &Explanation, out: &mut dyn Write) -> Result<(), Error> {
    let lines = plan.fragments.iter().map(|fragment| {
        vec![
            fragment.name.clone(),
            time_text(fragment.timestamps.0),
            fragment.tiles.map_or_else(|| "?".to_owned(), |tiles| tiles.to_string()),
            fragment.read.to_string(),
            fragment.ruled_out.to_string(),
            fragment.skipped.map_or("", talavera::SkipReason::words).to_owned(),
        ]
    });
    let header = ["fragment", "written", "tiles", "read", "ruled out", "skipped, as"].map(str::to_owned).to_vec();
    write_table(out, header, lines.collect(), &[false, false, true, true, true, false])
}

fn write_fields(plan: &Explanation, out: &mut dyn Write) -> Result<(), Error> {
    let line = |name: &str, cost: &Cost| {
        let numbers = [cost.tiles, cost.read_bytes, cost.decoded_bytes, cost.requests];
        std::iter::once(name.to_owned()).chain(numbers.iter().map(u64::to_string)).collect()
    };
    let lines = plan.fields.iter().map(|field| line(&field.name, &field.cost)).chain([line("all", &plan.total)]);
    let header = ["field", "tiles", "bytes on disk", "bytes in memory", "requests"].map(str::to_owned).to_vec();
    write_table(out, header, lines.collect(), &[false, true, true, true, true])
}
