//! `write`: the cells of a file, into an array.

mod region;

use std::io::Write;

use talavera::{ArraySchema, Duplicates, FieldBuffer, Order};

use self::region::Region;
use crate::args::{DuplicatesArg, WriteArgs, WriteOrder};
use crate::column::Column;
use crate::error::Error;
use crate::input::{self, InputFormat};
use crate::progress::Rows;

pub(crate) fn run(args: &WriteArgs, out: &mut dyn Write) -> Result<(), Error> {
    let target = args.place.target();
    target.check_scheme()?;
    let writer = target.options()?.open_writer(&args.place.uri)?;
    let schema = writer.schema();
    let mut region = Region::from_texts(&args.ranges, schema)?;
    let rows = Rows::new("reading");
    let mut fields = read(args, schema, &rows)?;
    rows.say("writing");
    let count = fields.first().map_or(0, |(_, cells)| cells.len());
    let mut write = writer.write();
    if schema.is_dense() {
        region.take_coordinates(schema, &mut fields, args.order)?;
        write = write.within(&region.ranges(schema)?).order(match args.order {
            WriteOrder::RowMajor => Order::RowMajor,
            WriteOrder::ColMajor => Order::ColMajor,
        });
    } else {
        write = with_duplicates(write, args.duplicates, schema);
    }
    if let Some(timestamp) = args.when.timestamp {
        write = write.at(timestamp);
    }
    let fragment = write.fields(fields).commit()?;
    rows.finish();
    tell(out, count, fragment.as_deref())
}

/// Says what was written.
///
/// # Errors
/// When the output cannot be written.
pub(crate) fn tell(out: &mut dyn Write, count: usize, fragment: Option<&str>) -> Result<(), Error> {
    let cells = if count == 1 { "cell" } else { "cells" };
    match fragment {
        Some(fragment) => writeln!(out, "wrote {count} {cells} as {fragment}")?,
        None => writeln!(out, "wrote nothing: the input has no cells")?,
    }
    Ok(())
}

fn with_duplicates(write: talavera::Write, duplicates: DuplicatesArg, schema: &ArraySchema) -> talavera::Write {
    match duplicates {
        DuplicatesArg::KeepLast => write.duplicates(Duplicates::KeepLast),
        DuplicatesArg::Refuse if schema.allows_dups => write,
        DuplicatesArg::Refuse => write.duplicates(Duplicates::Refuse),
    }
}

fn read(args: &WriteArgs, schema: &ArraySchema, rows: &Rows) -> Result<Vec<(String, FieldBuffer)>, Error> {
    let path = &args.input.input;
    let format = InputFormat::of(path)?;
    let array = || args.place.target().open_array();
    if format != InputFormat::Csv {
        return input::arrow::read(path, format, &array()?, rows);
    }
    let columns = input::csv::header(path)?.into_iter().map(|name| {
        let column = Column::of_field(schema, &name)?;
        let attribute = schema.attribute(&name).map(|(_, attribute)| attribute);
        match attribute.and_then(|attribute| attribute.enumeration.as_deref()).filter(|_| args.enum_values) {
            Some(enumeration) => Ok(column.with_enumeration(array()?.enumeration(enumeration)?)),
            None => Ok(column),
        }
    });
    let columns = columns.collect::<Result<Vec<_>, Error>>()?;
    missing_fields(schema, &columns, path)?;
    input::csv::read(path, &args.input.null, columns, rows)
}

/// Every attribute has to be there, and of sparse arrays every dimension.
fn missing_fields(schema: &ArraySchema, columns: &[Column], path: &std::path::Path) -> Result<(), Error> {
    let attributes = schema.attributes.iter().map(|attribute| &attribute.name);
    let dimensions = schema.domain.dimensions.iter().map(|dimension| &dimension.name).filter(|_| !schema.is_dense());
    let missing = dimensions.chain(attributes).find(|name| columns.iter().all(|column| column.name() != name.as_str()));
    match missing {
        Some(name) => Err(Error::Input { path: path.to_owned(), reason: format!("there is no column '{name}'") }),
        None => Ok(()),
    }
}
