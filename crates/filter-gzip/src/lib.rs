#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use std::cell::RefCell;

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
    let level = compression(level)?;
    // A stored block adds five bytes to 64 KiB, a fixed code an eighth; the stream adds header and checksum.
    let room = |bytes: usize| bytes + bytes / 8 + 64;
    COMPRESSOR.with_borrow_mut(|slot| {
        let stream = match slot {
            Some((known, stream)) if *known == level => {
                stream.reset();
                stream
            }
            _ => &mut slot.insert((level, Compress::new(level, true))).1,
        };
        stream::compress(FilterType::Gzip, bytes, out, room, |bytes, out| {
            let status = stream.compress_vec(bytes, out, FlushCompress::Finish).map_err(|error| error.to_string())?;
            Ok(Progress { read: stream.total_in(), written: stream.total_out(), ended: status == Status::StreamEnd })
        })
    })
}

/// Fills `out` from one zlib stream.
///
/// # Errors
/// A [`DecodeError`] for a damaged stream, for one that does not end within both lengths or ends before `out` is full, and
/// for bytes behind it.
pub fn decompress(bytes: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let stream = slot.get_or_insert_with(|| Decompress::new(true));
        stream.reset(true);
        stream::decompress("zlib stream", bytes, out, |bytes, out| {
            let status = stream.decompress(bytes, out, FlushDecompress::Finish).map_err(|error| error.to_string())?;
            Ok(Progress { read: stream.total_in(), written: stream.total_out(), ended: status == Status::StreamEnd })
        })
    })
}

thread_local! {
    /// Used again, for to make one takes as long as to compress some kilobytes: each call starts a stream of its own.
    static COMPRESSOR: RefCell<Option<(Compression, Compress)>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompress>> = const { RefCell::new(None) };
}

fn compression(level: i32) -> Result<Compression, FilterError> {
    match u32::try_from(level) {
        Ok(level @ 0..=9) => Ok(Compression::new(level)),
        Ok(level) => Err(FilterError::unsupported(FilterType::Gzip, format!("level {level}; the highest is 9"))),
        Err(_) => Ok(Compression::new(6)),
    }
}
