//! `delete`: takes cells of a sparse array away.

use std::io::Write;

use crate::args::DeleteArgs;
use crate::condition;
use crate::error::Error;

pub(crate) fn run(args: &DeleteArgs, out: &mut dyn Write) -> Result<(), Error> {
    let condition = condition::from_text(&args.condition)?;
    let array = args.place.target().open_array()?;
    let mut delete = array.delete(condition);
    if args.strict {
        delete = delete.strict();
    }
    if let Some(timestamp) = args.when.timestamp {
        delete = delete.at(timestamp);
    }
    delete.commit()?;
    writeln!(out, "deleted the cells of {} for which {} holds", args.place.uri, args.condition)?;
    Ok(())
}
