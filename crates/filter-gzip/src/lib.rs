#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use talavera_codec::DecodeError;
use talavera_filter::FilterError;
use talavera_filter::stream::{self, Progress};
use talavera_types::FilterType;

pub use filter::Gzip;

/// Appends `bytes` to `out` as one zlib stream.
///
/// `level` is 0 (stored) to 9; any negative level means 6, as in the reference (11-filters, "Codecs").
///
/// # Errors
/// [`FilterError::Unsupported`] for a level above 9.
pub fn compress(bytes: &[u8], level: i32, out: &mut Vec<u8>) -> Result<(), FilterError> {
    let mut stream = Compress::new(compression(level)?, true);
    // A stored block adds five bytes to 64 KiB, a fixed code an eighth; the stream adds header and checksum.
    let room = |bytes: usize| bytes + bytes / 8 + 64;
    stream::compress(FilterType::Gzip, bytes, out, room, |bytes, out| {
        let status = stream.compress_vec(bytes, out, FlushCompress::Finish).map_err(|error| error.to_string())?;
        Ok(Progress { read: stream.total_in(), written: stream.total_out(), ended: status == Status::StreamEnd })
    })
}

/// Fills `out` from one zlib stream.
///
/// # Errors
/// A [`DecodeError`] for a damaged stream, for one that does not end within both lengths or ends before `out` is full, and
/// for bytes behind it.
pub fn decompress(bytes: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    let mut stream = Decompress::new(true);
    stream::decompress("zlib stream", bytes, out, |bytes, out| {
        let status = stream.decompress(bytes, out, FlushDecompress::Finish).map_err(|error| error.to_string())?;
        Ok(Progress { read: stream.total_in(), written: stream.total_out(), ended: status == Status::StreamEnd })
    })
}

fn compression(level: i32) -> Result<Compression, FilterError> {
    match u32::try_from(level) {
        Ok(level @ 0..=9) => Ok(Compression::new(level)),
        Ok(level) => Err(FilterError::unsupported(FilterType::Gzip, format!("level {level}; the highest is 9"))),
        Err(_) => Ok(Compression::new(6)),
    }
}
