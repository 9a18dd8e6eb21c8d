//! Text files from outside, one path a line.

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_storage::{ObjectPath, Storage};

use crate::DirectoryError;

/// The next line, without the line feed that must end it.
pub(crate) fn line<'a>(r: &mut Reader<'a>, field: &'static str) -> Result<&'a str, DecodeError> {
    let (offset, left) = (r.offset(), r.remaining() as u64);
    let Some(length) = line_length(r) else {
        let kind = if left > MAX_LINE_BYTES {
            DecodeErrorKind::Limit { needed: left, limit: MAX_LINE_BYTES }
        } else {
            DecodeErrorKind::Truncated { needed: left + 1, left }
        };
        return Err(kind.at(field, offset));
    };
    let line = r.bytes(length, field)?;
    r.u8(field)?;
    text(line, field, offset)
}

/// All lines but empty ones; the last need not end in a line feed.
pub(crate) fn decode_lines(bytes: &[u8], field: &'static str) -> Result<Vec<String>, DecodeError> {
    let mut r = Reader::new(bytes);
    let mut lines = Vec::new();
    while !r.is_empty() {
        let (offset, left) = (r.offset(), r.remaining() as u64);
        let line = match line_length(&r) {
            None if left <= MAX_LINE_BYTES => text(r.bytes(left, field)?, field, offset)?,
            _ => line(&mut r, field)?,
        };
        if !line.is_empty() {
            lines.push(line.to_owned());
        }
    }
    Ok(lines)
}

pub(crate) fn encode_lines(lines: &[String], w: &mut Writer) {
    for line in lines {
        w.bytes(line.as_bytes());
        w.u8(b'\n');
    }
}

/// Reads a small file whole.
pub(crate) fn read_file(storage: &dyn Storage, path: &ObjectPath) -> Result<bytes::Bytes, DirectoryError> {
    Ok(storage.read(path, MAX_FILE_BYTES)?)
}

/// Bytes up to the next line feed, if it comes within the longest line.
fn line_length(r: &Reader<'_>) -> Option<u64> {
    let mut bytes = r.rest().iter().zip(0..=MAX_LINE_BYTES);
    bytes.find_map(|(&byte, at)| (byte == b'\n').then_some(at))
}

fn text<'a>(line: &'a [u8], field: &'static str, offset: u64) -> Result<&'a str, DecodeError> {
    std::str::from_utf8(line).map_err(|_| DecodeErrorKind::NotUtf8.at(field, offset))
}

/// A path is shorter on every system; an address may be somewhat longer.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Three million commits, or as many bytes of deletes.
const MAX_FILE_BYTES: u64 = 256 << 20;
