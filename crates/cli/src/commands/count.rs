//! `count`: how many cells there are.

use std::io::Write;

use talavera::Order;

use crate::args::{CountArgs, SelectionArgs};
use crate::error::Error;
use crate::progress::Meter;
use crate::selection::Selection;

pub(crate) fn run(args: &CountArgs, out: &mut dyn Write) -> Result<(), Error> {
    let array = args.target.open_array()?;
    let schema = array.schema();
    let selection_args = SelectionArgs {
        ranges: args.ranges.clone(),
        condition: args.condition.clone(),
        fields: schema.domain.dimensions.iter().take(1).map(|dimension| dimension.name.clone()).collect(),
        order: None,
        no_coords: false,
        memory_limit: None,
    };
    let selection = Selection::new(&selection_args, &array, true)?;
    if schema.is_dense() {
        if args.condition.is_some() {
            return Err(Error::usage("--condition: a dense array keeps all its cells; the others are read as fill values"));
        }
        let cells = selection.dense_cells(schema).ok_or_else(|| Error::usage("the cells are more than 64 bits can count"))?;
        writeln!(out, "{cells}")?;
        return Ok(());
    }
    let meter = Meter::new(true);
    let mut cells = 0_u64;
    for batch in meter.follow(selection.read(&array, Order::Unordered)).batches()? {
        cells += batch?.len() as u64;
    }
    meter.finish();
    writeln!(out, "{cells}")?;
    Ok(())
}
