//! Arrow's streaming format.

use std::io::{BufWriter, Write};

use arrow_array::RecordBatchReader;
use arrow_ipc::writer::StreamWriter;

use crate::Error;

/// Writes record batches as an Arrow IPC stream, batch by batch as they come; returns the number of cells. A result
/// without cells is a stream of the schema alone.
///
/// # Errors
/// When the batches or `out` fail; the stream then lacks its end mark.
pub fn write_ipc_stream(batches: impl RecordBatchReader, out: impl Write) -> Result<u64, Error> {
    let mut stream = StreamWriter::try_new(BufWriter::new(out), &batches.schema())?;
    let mut cells = 0;
    for batch in batches {
        let batch = batch?;
        stream.write(&batch)?;
        cells += batch.num_rows() as u64;
    }
    stream.finish()?;
    stream.get_mut().flush().map_err(arrow_schema::ArrowError::from)?;
    Ok(cells)
}
