//! Arrow IPC streams.

use std::io::Write;

use talavera::{Array, Read};
use talavera_arrow::{ArrowOptions, Conversion, ReadExt, write_ipc_stream};

use crate::error::Error;
use crate::selection::FieldView;

/// Writes the first `limit` cells of a read, batch by batch.
///
/// # Errors
/// When the cells cannot be read, when Arrow cannot hold them, and when the output cannot be written.
pub(crate) fn write_stream(
    out: &mut dyn Write,
    array: &Array,
    read: Read<'_>,
    fields: &[FieldView],
    limit: usize,
) -> Result<(), Error> {
    let conversion = Conversion::new(array, fields.iter().map(|field| &field.name), &ArrowOptions::default())?;
    write_ipc_stream(read.record_batches(&conversion)?.limit(limit), out)?;
    Ok(())
}
