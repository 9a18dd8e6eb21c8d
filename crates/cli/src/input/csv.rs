//! Comma-separated values.

use std::fs::File;
use std::path::Path;

use csv::{Reader, StringRecord};
use talavera::FieldBuffer;

use crate::column::Column;
use crate::error::Error;
use crate::progress::Rows;

/// The names of the columns.
///
/// # Errors
/// When the file cannot be read, and when a name stands twice.
pub(crate) fn header(path: &Path) -> Result<Vec<String>, Error> {
    let mut lines = open(path)?;
    let names: Vec<_> = lines.headers().map_err(|error| failed(path, &error))?.iter().map(str::to_owned).collect();
    match names.iter().enumerate().find(|(index, name)| names.iter().take(*index).any(|other| other == *name)) {
        Some((_, name)) => Err(Error::Input { path: path.to_owned(), reason: format!("two columns have the name '{name}'") }),
        None => Ok(names),
    }
}

/// Calls `take` with each line behind the header.
///
/// # Errors
/// When the file cannot be read, and those of `take`, with the line.
pub(crate) fn each_line(
    path: &Path,
    rows: &Rows,
    mut take: impl FnMut(&StringRecord) -> Result<(), String>,
) -> Result<(), Error> {
    let mut lines = open(path)?;
    let mut record = StringRecord::new();
    while lines.read_record(&mut record).map_err(|error| failed(path, &error))? {
        take(&record).map_err(|reason| {
            let line = record.position().map_or(0, csv::Position::line);
            Error::Input { path: path.to_owned(), reason: format!("line {line}: {reason}") }
        })?;
        rows.add(1);
    }
    Ok(())
}

/// Reads the file into these columns, which are in its order.
///
/// # Errors
/// When the file cannot be read, and for texts that are no cells of their column, with line and column.
pub(crate) fn read(path: &Path, null: &str, mut columns: Vec<Column>, rows: &Rows) -> Result<Vec<(String, FieldBuffer)>, Error> {
    each_line(path, rows, |record| {
        for (column, text) in columns.iter_mut().zip(record) {
            let pushed = if column.is_nullable() && text == null { column.push_null() } else { column.push_text(text) };
            pushed.map_err(|reason| format!("column '{}': {reason}", column.name()))?;
        }
        Ok(())
    })?;
    columns.into_iter().map(Column::finish).collect()
}

fn open(path: &Path) -> Result<Reader<File>, Error> {
    let file = File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    Ok(Reader::from_reader(file))
}

fn failed(path: &Path, error: &csv::Error) -> Error {
    Error::Input { path: path.to_owned(), reason: error.to_string() }
}
