//! `count`: how many cells there are.

use std::io::Write;

use talavera::Order;

use crate::args::{CountArgs, SelectionArgs};
use crate::error::Error;
use crate::progress::Meter;
use crate::selection::Selection;

pub(crate) fn run(args: &CountArgs, out: &mut dyn Write) -> Result<(), Error> {
    let array = args.target.open_array()?;
    let selection_args = SelectionArgs { cells: args.cells.clone(), ..SelectionArgs::default() };
    let selection = Selection::new(&selection_args, &array, true)?;
    let meter = Meter::new(true);
    let cells = meter.follow(selection.read(&array, Order::Unordered)).count()?;
    meter.finish();
    writeln!(out, "{cells}")?;
    Ok(())
}
