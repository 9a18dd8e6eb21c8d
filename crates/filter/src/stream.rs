//! Compressed streams whose library works step by step, as zlib and bzip2 do.
//!
//! The loops end: a step that neither reads nor writes a byte is the last.

use talavera_codec::{DecodeError, DecodeErrorKind};
use talavera_types::FilterType;

use crate::FilterError;

/// Where a stream stands after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read since the start.
    pub read: u64,
    /// Bytes written since the start.
    pub written: u64,
    /// Whether the stream has come to its end.
    pub ended: bool,
}

/// Appends one stream to `out`. Each step is given the bytes not yet read and `out`, with as much room behind its end as
/// `room` says for so many bytes; it returns the library's message as its error.
///
/// # Errors
/// [`FilterError::InvalidInput`] when a step fails, or the steps lead nowhere.
pub fn compress(
    filter: FilterType,
    bytes: &[u8],
    out: &mut Vec<u8>,
    room: impl Fn(usize) -> usize,
    mut step: impl FnMut(&[u8], &mut Vec<u8>) -> Result<Progress, String>,
) -> Result<(), FilterError> {
    let refused = |reason: String| FilterError::invalid_input(filter, reason);
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = bytes.get(position(read)..).unwrap_or_default();
        out.reserve(room(rest.len()));
        let after = step(rest, out).map_err(refused)?;
        if after.ended {
            return Ok(());
        }
        if (after.read, after.written) == (read, written) {
            return Err(refused("the stream does not end".into()));
        }
        (read, written) = (after.read, after.written);
    }
}

/// Fills `out` from one stream, which errors name `field`. Each step is given the bytes not yet read and the bytes not yet
/// written; it returns the library's message as its error.
///
/// # Errors
/// [`DecodeErrorKind::Refused`] for a damaged stream and one that does not end within both lengths,
/// [`DecodeErrorKind::Mismatch`] for one that ends before `out` is full, [`DecodeErrorKind::Trailing`] for bytes behind it.
pub fn decompress(
    field: &'static str,
    bytes: &[u8],
    out: &mut [u8],
    mut step: impl FnMut(&[u8], &mut [u8]) -> Result<Progress, String>,
) -> Result<(), DecodeError> {
    let refused = |reason: String, read: u64| DecodeErrorKind::Refused { reason }.at(field, read);
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = bytes.get(position(read)..).unwrap_or_default();
        let target = out.get_mut(position(written)..).unwrap_or_default();
        let after = step(rest, target).map_err(|reason| refused(reason, read))?;
        let stands = (after.read, after.written) == (read, written);
        if stands && !after.ended {
            return Err(refused("does not end within the declared lengths".into(), read));
        }
        (read, written) = (after.read, after.written);
        if after.ended {
            break;
        }
    }
    if written != out.len() as u64 {
        return Err(DecodeErrorKind::Mismatch { found: written, expected: out.len() as u64 }.at("decompressed length", 0));
    }
    match (bytes.len() as u64).saturating_sub(read) {
        0 => Ok(()),
        left => Err(DecodeErrorKind::Trailing { left }.at(field, read)),
    }
}

/// A count of bytes within a slice, as a length.
fn position(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_lead_nowhere_are_the_last() {
        let mut steps = 0;
        let stands = |_: &[u8], _: &mut [u8]| {
            steps += 1;
            Ok(Progress { read: 1, written: 2, ended: false })
        };
        let error = decompress("stream", &[7; 3], &mut [0; 4], stands).unwrap_err();
        assert_eq!(error.to_string(), "stream: does not end within the declared lengths (at byte 1)");
        assert_eq!(steps, 2);
        let stands = |_: &[u8], _: &mut Vec<u8>| Ok(Progress { read: 0, written: 0, ended: false });
        let error = compress(FilterType::Gzip, &[7; 3], &mut Vec::new(), |bytes| bytes, stands).unwrap_err();
        assert_eq!(error.to_string(), "GZIP cannot encode: the stream does not end");
    }

    #[test]
    fn a_stream_must_read_and_write_all() {
        let check = |read, written| {
            decompress("stream", &[7; 3], &mut [0; 4], |_, _| Ok(Progress { read, written, ended: true }))
                .map_err(|e| e.to_string())
        };
        assert_eq!(check(3, 4), Ok(()));
        assert_eq!(check(3, 2), Err("decompressed length: is 2, expected 4 (at byte 0)".into()));
        assert_eq!(check(1, 4), Err("stream: 2 bytes left over (at byte 1)".into()));
    }
}
