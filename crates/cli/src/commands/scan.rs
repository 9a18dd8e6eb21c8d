//! `scan`: reads cells in batches and throws them away.

use std::io::Write;

use serde_json::json;
use talavera::Order;

use crate::args::OutlineArgs;
use crate::error::Error;
use crate::format::json::write_value;
use crate::progress::Meter;
use crate::selection::Selection;

pub(crate) fn run(args: &OutlineArgs, out: &mut dyn Write) -> Result<(), Error> {
    let meter = Meter::new(true);
    let array = args.target.open_array()?;
    let with_coords = !array.schema().is_dense();
    let selection = Selection::new(&args.selection, &array, with_coords)?;
    let (mut cells, mut memory_bytes) = (0_u64, 0_u64);
    // Cells that are thrown away need no order.
    for batch in meter.follow(selection.read(&array, Order::Unordered)).batches()? {
        let batch = batch?;
        cells += batch.len() as u64;
        memory_bytes += batch.memory_bytes();
    }
    let (seconds, read_bytes) = (meter.elapsed().as_secs_f64(), meter.latest().read_bytes);
    meter.finish();
    if args.json {
        let totals = json!({ "cells": cells, "bytes_on_disk": read_bytes, "bytes_in_memory": memory_bytes, "seconds": seconds });
        return Ok(write_value(out, &totals)?);
    }
    writeln!(out, "cells:            {cells}")?;
    writeln!(out, "bytes on disk:    {read_bytes}")?;
    writeln!(out, "bytes in memory:  {memory_bytes}")?;
    writeln!(out, "seconds:          {seconds:.3}")?;
    Ok(())
}
