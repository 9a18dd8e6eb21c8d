#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use std::cell::RefCell;
use std::io::{self, Cursor};

use talavera_codec::{DecodeError, DecodeErrorKind};
use talavera_filter::FilterError;
use talavera_types::FilterType;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::compress_bound;

pub use filter::Zstd;

/// Appends `bytes` to `out` as one frame.
///
/// `level` is -7 to 22, where 0 is Zstandard's default of 3; as in the reference, levels below mean 3 and levels above
/// 22 (11-filters, "Codecs").
///
/// # Errors
/// [`FilterError::InvalidInput`] when Zstandard fails, which leaves `out` as it was.
pub fn compress(bytes: &[u8], level: i32, out: &mut Vec<u8>) -> Result<(), FilterError> {
    let run = |compressor: &mut Compressor<'static>| {
        compressor.set_compression_level(known_level(level))?;
        out.reserve(compress_bound(bytes.len()));
        let mut end = Cursor::new(&mut *out);
        end.set_position(end.get_ref().len() as u64);
        compressor.compress_to_buffer(bytes, &mut end)
    };
    with_context(&COMPRESSOR, || Compressor::new(known_level(level)), run)
        .map(|_| ())
        .map_err(|error| FilterError::invalid_input(FilterType::Zstd, error.to_string()))
}

/// Fills `out` from whole frames.
///
/// # Errors
/// [`DecodeErrorKind::Refused`] for damaged frames, frames that hold more than `out` and bytes behind them,
/// [`DecodeErrorKind::Mismatch`] for frames that hold less.
pub fn decompress(bytes: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    let written = with_context(&DECOMPRESSOR, Decompressor::new, |decompressor| decompressor.decompress_to_buffer(bytes, out))
        .map_err(|error| DecodeErrorKind::Refused { reason: error.to_string() }.at("zstd frame", 0))?;
    if written == out.len() {
        return Ok(());
    }
    Err(DecodeErrorKind::Mismatch { found: written as u64, expected: out.len() as u64 }.at("decompressed length", 0))
}

fn known_level(level: i32) -> i32 {
    if level < -7 { 3 } else { level.min(22) }
}

/// Runs `act` with this thread's context, which is made when it is first needed.
fn with_context<C, T>(
    context: &'static std::thread::LocalKey<RefCell<Option<C>>>,
    make: impl FnOnce() -> io::Result<C>,
    act: impl FnOnce(&mut C) -> io::Result<T>,
) -> io::Result<T> {
    context.with_borrow_mut(|slot| match slot {
        Some(context) => act(context),
        None => act(slot.insert(make()?)),
    })
}

thread_local! {
    /// Holds no state between two calls but its memory: each call starts a frame of its own.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}
