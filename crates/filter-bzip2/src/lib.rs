#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use bzip2::{Action, Compress, Compression, Decompress, Status};
use talavera_codec::{DecodeError, DecodeErrorKind};
use talavera_filter::FilterError;
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
    loop {
        let rest = bytes.get(position(stream.total_in())..).unwrap_or_default();
        // The bound that bzip2 itself gives: one hundredth more, and 600 bytes.
        out.reserve(rest.len() + rest.len() / 100 + 600);
        let before = (stream.total_in(), stream.total_out());
        let status = stream.compress_vec(rest, out, Action::Finish).map_err(|error| refused_input(error.to_string()))?;
        match status {
            Status::StreamEnd => return Ok(()),
            _ if before == (stream.total_in(), stream.total_out()) => {
                return Err(refused_input("the stream does not end".into()));
            }
            _ => {}
        }
    }
}

/// Fills `out` from one bzip2 stream.
///
/// # Errors
/// [`DecodeErrorKind::Refused`] for a damaged stream and one that does not end within both lengths,
/// [`DecodeErrorKind::Mismatch`] for one that ends before `out` is full, [`DecodeErrorKind::Trailing`] for bytes behind it.
pub fn decompress(bytes: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    let mut stream = Decompress::new(false);
    loop {
        let before = (stream.total_in(), stream.total_out());
        let rest = bytes.get(position(before.0)..).unwrap_or_default();
        let target = out.get_mut(position(before.1)..).unwrap_or_default();
        let status = stream.decompress(rest, target).map_err(|error| refused(error.to_string(), before.0))?;
        match status {
            Status::StreamEnd => break,
            _ if before == (stream.total_in(), stream.total_out()) => {
                return Err(refused("does not end within the declared lengths".into(), before.0));
            }
            _ => {}
        }
    }
    let (read, written) = (stream.total_in(), stream.total_out());
    if written != out.len() as u64 {
        return Err(DecodeErrorKind::Mismatch { found: written, expected: out.len() as u64 }.at("decompressed length", 0));
    }
    match bytes.len() as u64 - read {
        0 => Ok(()),
        left => Err(DecodeErrorKind::Trailing { left }.at("bzip2 stream", read)),
    }
}

fn compression(level: i32) -> Result<Compression, FilterError> {
    match u32::try_from(level) {
        Ok(level @ 1..=9) => Ok(Compression::new(level)),
        Ok(level @ 10..) => Err(FilterError::unsupported(FilterType::Bzip2, format!("level {level}; the highest is 9"))),
        Ok(0) | Err(_) => Ok(Compression::new(1)),
    }
}

/// A count of bytes within a slice, as a length.
fn position(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cold]
fn refused(reason: String, offset: u64) -> DecodeError {
    DecodeErrorKind::Refused { reason }.at("bzip2 stream", offset)
}

#[cold]
fn refused_input(reason: String) -> FilterError {
    FilterError::invalid_input(FilterType::Bzip2, reason)
}
