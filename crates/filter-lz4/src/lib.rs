#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use talavera_codec::{DecodeError, DecodeErrorKind};
use talavera_filter::FilterError;
use talavera_types::FilterType;

pub use filter::Lz4;

/// Appends `bytes` to `out` as one block (11-filters, "Codecs").
///
/// # Errors
/// [`FilterError::InvalidInput`] for more than 2,113,929,216 bytes, which other implementations of LZ4 refuse.
pub fn compress(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    if bytes.len() > MAX_INPUT_BYTES {
        return Err(FilterError::invalid_input(
            FilterType::Lz4,
            format!("{} bytes; {MAX_INPUT_BYTES} is the limit", bytes.len()),
        ));
    }
    let start = out.len();
    out.resize(start + get_maximum_output_size(bytes.len()), 0);
    let written = compress_into(bytes, out.get_mut(start..).unwrap_or_default());
    out.truncate(start + written.as_ref().copied().unwrap_or(0));
    written.map(|_| ()).map_err(|error| FilterError::invalid_input(FilterType::Lz4, error.to_string()))
}

/// Fills `out` from one block.
///
/// # Errors
/// [`DecodeErrorKind::Refused`] for a damaged block and one that holds more than `out`, [`DecodeErrorKind::Mismatch`] for
/// one that holds less.
pub fn decompress(bytes: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    let written =
        decompress_into(bytes, out).map_err(|error| DecodeErrorKind::Refused { reason: error.to_string() }.at("lz4 block", 0))?;
    if written == out.len() {
        return Ok(());
    }
    Err(DecodeErrorKind::Mismatch { found: written as u64, expected: out.len() as u64 }.at("decompressed length", 0))
}

/// What the original implementation of LZ4 takes at once.
const MAX_INPUT_BYTES: usize = 0x7e00_0000;
