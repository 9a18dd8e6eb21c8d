//! Arrow IPC and Parquet: record batches.

use std::fs::File;
use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use talavera::{Array, Attribute, FieldBuffer};
use talavera_arrow::{Attributes, Dictionaries, Import};

use super::InputFormat;
use crate::commands::import::Table;
use crate::error::Error;
use crate::progress::Rows;

/// Reads the file as fields of an array; the columns of a dense array may be coordinates, too.
///
/// # Errors
/// When the file cannot be read, and for columns that do not fit the array.
pub(crate) fn read(path: &Path, format: InputFormat, array: &Array, rows: &Rows) -> Result<Vec<(String, FieldBuffer)>, Error> {
    let failed = failed(path);
    let import = if array.schema().is_dense() { dense_import(array)? } else { Import::new(array).map_err(&failed)? };
    import.fields_of_all(batches(path, format, rows)?).map_err(failed)
}

/// Reads the file with the attributes and enumerations that its columns would be.
///
/// # Errors
/// When the file cannot be read, and for columns that no attribute can hold.
pub(crate) fn table(path: &Path, format: InputFormat, rows: &Rows) -> Result<Table, Error> {
    let failed = failed(path);
    // Dictionaries have to be known before the first of their indices is stored.
    let batches = batches(path, format, rows)?.collect::<Result<Vec<_>, _>>().map_err(&failed)?;
    let mut dictionaries = Dictionaries::new();
    batches.iter().try_for_each(|batch| dictionaries.add(batch)).map_err(&failed)?;
    let columns = batches.first().map(RecordBatch::schema);
    let columns = columns.iter().flat_map(|schema| schema.fields()).map(|field| &**field);
    let Attributes { attributes, enumerations } = Attributes::new(columns, &dictionaries).map_err(&failed)?;
    let import = Import::of_attributes(&attributes, &enumerations);
    let fields = import.fields_of_all(batches.into_iter().map(Ok::<_, talavera_arrow::Error>)).map_err(&failed)?;
    Ok(Table { attributes, fields, enumerations })
}

/// The import of attributes, and of coordinates as if they were.
fn dense_import(array: &Array) -> Result<Import, Error> {
    let schema = array.schema();
    let coordinates = schema.domain.dimensions.iter().map(|dimension| Attribute::new(&*dimension.name, dimension.datatype));
    let attributes: Vec<_> = schema.attributes.iter().cloned().chain(coordinates).collect();
    let names = schema.enumerations.iter().map(|enumeration| &enumeration.name);
    let enumerations = names.map(|name| Ok((*array.enumeration(name)?).clone())).collect::<Result<Vec<_>, Error>>()?;
    Ok(Import::of_attributes(&attributes, &enumerations))
}

type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, talavera_arrow::Error>> + 'a>;

/// The record batches of a file, at least one.
fn batches<'a>(path: &Path, format: InputFormat, rows: &'a Rows) -> Result<Batches<'a>, Error> {
    let failed = failed(path);
    let file = File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let reader: Box<dyn RecordBatchReader> = if format == InputFormat::Parquet {
        let refused = |error: parquet::errors::ParquetError| Error::Input { path: path.to_owned(), reason: error.to_string() };
        Box::new(ParquetRecordBatchReaderBuilder::try_new(file).map_err(refused)?.build().map_err(refused)?)
    } else {
        talavera_arrow::read_ipc(file).map_err(&failed)?
    };
    // A file without batches still has columns.
    let nothing = RecordBatch::new_empty(reader.schema());
    let batches = std::iter::once(Ok(nothing)).chain(reader).map(|batch| {
        let batch = batch?;
        rows.add(batch.num_rows() as u64);
        Ok(batch)
    });
    Ok(Box::new(batches))
}

/// What is wrong with a file, with its name.
fn failed(path: &Path) -> impl Fn(talavera_arrow::Error) -> Error + '_ {
    move |error| match error {
        talavera_arrow::Error::Array(error) => Error::Talavera(error),
        error => Error::Input { path: path.to_owned(), reason: error.to_string() },
    }
}
