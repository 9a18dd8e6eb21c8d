//! Arrow's streaming and file formats.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use arrow_array::RecordBatchReader;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

use crate::Error;

/// Record batches that are read as they are asked for, from a file in either format.
pub type IpcBatches = Box<dyn RecordBatchReader + Send>;

/// What a file in the file format begins with; a stream has a length there.
const FILE_MAGIC: &[u8] = b"ARROW1";

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
    stream.get_mut().flush().map_err(ArrowError::from)?;
    Ok(cells)
}

/// The record batches of a local file in Arrow's streaming or file format; the file says which.
///
/// # Errors
/// When the file cannot be read or is in neither format.
pub fn open_ipc(path: impl AsRef<Path>) -> Result<IpcBatches, Error> {
    read_ipc(File::open(path).map_err(ArrowError::from)?)
}

/// The record batches of what can be read from its beginning in any order, as [`open_ipc`].
///
/// # Errors
/// As [`open_ipc`].
pub fn read_ipc(mut source: impl Read + Seek + Send + 'static) -> Result<IpcBatches, Error> {
    let mut head = Vec::new();
    let start = source.stream_position().map_err(ArrowError::from)?;
    source.by_ref().take(FILE_MAGIC.len() as u64).read_to_end(&mut head).map_err(ArrowError::from)?;
    source.seek(SeekFrom::Start(start)).map_err(ArrowError::from)?;
    if head == FILE_MAGIC {
        return Ok(Box::new(FileReader::try_new_buffered(source, None)?));
    }
    read_ipc_stream(source)
}

/// The record batches of a stream, which need not be a file.
///
/// # Errors
/// When the stream does not begin with a schema.
pub fn read_ipc_stream(source: impl Read + Send + 'static) -> Result<IpcBatches, Error> {
    Ok(Box::new(StreamReader::try_new(BufReader::new(source), None)?))
}
