#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use bzip2::{Action, Compress, Compression, Decompress, Status};
use talavera_codec::DecodeError;
use talavera_filter::FilterError;
use talavera_filter::stream::{self, Progress};
use talavera_types::FilterType;

pub use filter::Bzip2;

/// Appends `bytes` to `out` as one bzip2 stream.
///
/// `level` is 1 to 9, the size of a block in 100 kB; anything below 1 means 1, as in the reference (11-filters,
/// "Codecs").
///
/// # Errors
/// [`FilterError::Unsupported`] for a level above 9.
pub fn compress(bytes: &[u8], level: i32, out: &mut Vec<u8>) -> Result<(), FilterError> {
    let mut stream = Compress::new(compression(level)?, 0);
    // The bound that bzip2 itself gives: one hundredth more, and 600 bytes.
    let room = |bytes: usize| bytes + bytes / 100 + 600;
    stream::compress(FilterType::Bzip2, bytes, out, room, |bytes, out| {
        let status = stream.compress_vec(bytes, out, Action::Finish).map_err(|error| error.to_string())?;
        Ok(Progress { read: stream.total_in(), written: stream.total_out(), ended: status == Status::StreamEnd })
    })
}

/// Fills `out` from one bzip2 stream.
///
/// # Errors
/// A [`DecodeError`] for a damaged stream, for one that does not end within both lengths or ends before `out` is full, and
/// for bytes behind it.
pub fn decompress(bytes: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    let mut stream = Decompress::new(false);
    stream::decompress("bzip2 stream", bytes, out, |bytes, out| {
        let status = stream.decompress(bytes, out).map_err(|error| error.to_string())?;
        Ok(Progress { read: stream.total_in(), written: stream.total_out(), ended: status == Status::StreamEnd })
    })
}

fn compression(level: i32) -> Result<Compression, FilterError> {
    match u32::try_from(level) {
        Ok(level @ 1..=9) => Ok(Compression::new(level)),
        Ok(level @ 10..) => Err(FilterError::unsupported(FilterType::Bzip2, format!("level {level}; the highest is 9"))),
        Ok(0) | Err(_) => Ok(Compression::new(1)),
    }
}
