//! The framing of filters that change parts one by one: a table of lengths beside the changed parts.
//!
//! ```text
//! own metadata := u32 parts; u32 stored bytes[parts], then the previous metadata
//! data         := the parts as they are stored
//! ```
//!
//! Source: the format's tile page and 11-filters, "BYTESHUFFLE", "BITSHUFFLE", "XOR", "SCALE_FLOAT" and "WEBP".

use std::borrow::Cow;
use std::iter;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::FilterType;

use crate::{Chunk, EncodedChunk, FilterContext, FilterError, Parts};

/// What errors call the fields of the framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    /// All lengths of the table.
    pub lengths: &'static str,
    /// One length of the table.
    pub length: &'static str,
    /// One stored part.
    pub part: &'static str,
    /// All stored parts.
    pub parts: &'static str,
}

impl Fields {
    /// The names where nothing but a part can be meant.
    pub const PARTS: Self = Self { lengths: "part lengths", length: "part length", part: "part", parts: "parts" };
}

/// What a filter with this framing does to one part, where the length of a part tells how long it is stored, and back.
pub trait PartTransform {
    /// Which filter this is, for errors.
    const FILTER: FilterType;
    /// What errors call the fields.
    const FIELDS: Fields = Fields::PARTS;

    /// The parts that stand in the table for one part; by default, itself.
    fn cut<'p>(&self, part: &'p [u8]) -> impl Iterator<Item = &'p [u8]> {
        iter::once(part)
    }

    /// Bytes in which a part is stored; by default, as many as it has.
    ///
    /// # Errors
    /// [`FilterError::InvalidInput`] for a part that cannot be stored.
    fn stored_bytes(&self, part: &[u8], _cx: &FilterContext<'_>) -> Result<u32, FilterError> {
        part_length(Self::FILTER, part.len())
    }

    /// Bytes of the part that is stored in so many; by default, as many.
    fn restored_bytes(&self, stored_bytes: u64, _cx: &FilterContext<'_>) -> u64 {
        stored_bytes
    }

    /// Checks the length of a stored part; by default, any is right.
    ///
    /// # Errors
    /// What the length should be, for the message.
    fn check_stored_bytes(&self, _stored_bytes: usize, _cx: &FilterContext<'_>) -> Result<(), &'static str> {
        Ok(())
    }

    /// Exactly fills `stored`, which is as long as [`PartTransform::stored_bytes`] says.
    fn apply(&self, part: &[u8], cx: &FilterContext<'_>, stored: &mut [u8]);

    /// Exactly fills `part`, which is as long as [`PartTransform::restored_bytes`] says.
    fn undo(&self, stored: &[u8], cx: &FilterContext<'_>, part: &mut [u8]);
}

/// Changes every part of a chunk's data; its metadata stays.
///
/// # Errors
/// Those of [`PartTransform::stored_bytes`].
pub fn encode<'a, T: PartTransform>(transform: &T, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
    let mut parts = Vec::with_capacity(chunk.data.count());
    for part in chunk.data.iter().flat_map(|part| transform.cut(part)) {
        let stored_bytes = transform.stored_bytes(part, cx)?;
        parts.push((part, usize::try_from(stored_bytes).unwrap_or(usize::MAX)));
    }
    let table = encode_table(parts.iter().map(|(_, stored_bytes)| *stored_bytes));
    let mut data = cx.buffers.take(parts.iter().map(|(_, stored_bytes)| stored_bytes).sum());
    let mut rest = data.as_mut_slice();
    for (part, stored_bytes) in parts {
        let (stored, behind) = rest.split_at_mut(stored_bytes);
        transform.apply(part, cx, stored);
        rest = behind;
    }
    chunk.data.give_back(cx.buffers);
    Ok(Chunk { metadata: chunk.metadata.passed_on().behind(table), data: Parts::one(data) })
}

/// Brings every part of a chunk back.
///
/// # Errors
/// [`FilterError::Corrupt`] when the table and the data disagree, or a length cannot be.
pub fn decode<'a, T: PartTransform>(
    transform: &T,
    chunk: EncodedChunk<'a>,
    cx: &FilterContext<'_>,
) -> Result<EncodedChunk<'a>, FilterError> {
    let corrupt = FilterError::corrupt(T::FILTER);
    let bytes = transform.restored_bytes(chunk.data.len() as u64, cx);
    let mut data = cx.buffers.take(cx.limits.charge("chunk data", bytes).map_err(corrupt)?);
    let mut r = Reader::new(&chunk.metadata);
    undo_parts(transform, &mut r, &chunk.data, cx, &mut data).map_err(corrupt)?;
    let own_metadata = chunk.metadata.len() - r.remaining();
    let EncodedChunk { metadata, data: stored } = chunk.consume_metadata(own_metadata);
    cx.buffers.give_back(stored);
    Ok(EncodedChunk { metadata, data: Cow::Owned(data) })
}

/// Brings every part of a chunk back that no other filter touched before, straight into its cells.
///
/// # Errors
/// As [`decode`], and when the parts do not add up to the cells.
pub fn decode_into<T: PartTransform>(
    transform: &T,
    chunk: EncodedChunk<'_>,
    cx: &FilterContext<'_>,
    cells: &mut [u8],
) -> Result<(), FilterError> {
    let mut r = Reader::new(&chunk.metadata);
    undo_parts(transform, &mut r, &chunk.data, cx, cells)
        .and_then(|()| r.finish("chunk metadata"))
        .map_err(FilterError::corrupt(T::FILTER))?;
    cx.buffers.give_back(chunk.data);
    Ok(())
}

/// The table for parts that are stored in so many bytes each; each fits into 32 bits.
#[must_use]
pub fn encode_table(stored_bytes: impl ExactSizeIterator<Item = usize>) -> Vec<u8> {
    let mut table = Writer::with_capacity(4 + 4 * stored_bytes.len());
    table.len_u32(stored_bytes.len());
    for bytes in stored_bytes {
        table.len_u32(bytes);
    }
    table.into_vec()
}

/// Reads the table from the metadata and hands on every stored part, with a reader that stands before its length; all of
/// `data` must be parts.
///
/// # Errors
/// A [`DecodeError`] when the table and the data disagree, and those of `decode`.
pub fn decode_parts(
    r: &mut Reader<'_>,
    data: &[u8],
    fields: &Fields,
    mut decode: impl FnMut(&[u8], &Reader<'_>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let parts = u64::from(r.u32("part count")?);
    let mut lengths = r.split(parts * 4, fields.lengths)?;
    let mut data = Reader::new(data);
    while !lengths.is_empty() {
        let before = lengths.clone();
        let stored_bytes = lengths.u32(fields.length)?;
        decode(data.bytes(stored_bytes.into(), fields.part)?, &before)?;
    }
    data.finish(fields.parts)
}

/// The length of a part as the table stores it.
///
/// # Errors
/// [`FilterError::InvalidInput`] from 4 GiB on.
pub fn part_length(filter: FilterType, bytes: usize) -> Result<u32, FilterError> {
    u32::try_from(bytes).map_err(|_| FilterError::invalid_input(filter, format!("a part of {bytes} bytes; 4 GiB is the limit")))
}

/// Reads the table from the metadata and brings every part back; exactly fills `out`.
fn undo_parts<T: PartTransform>(
    transform: &T,
    r: &mut Reader<'_>,
    data: &[u8],
    cx: &FilterContext<'_>,
    out: &mut [u8],
) -> Result<(), DecodeError> {
    let bytes = transform.restored_bytes(data.len() as u64, cx);
    if bytes != out.len() as u64 {
        return Err(DecodeErrorKind::Mismatch { found: bytes, expected: out.len() as u64 }.at("chunk data length", 0));
    }
    let mut rest = out;
    decode_parts(r, data, &T::FIELDS, |stored, length| {
        let invalid = |expected| length.invalid(T::FIELDS.length, stored.len() as u64, expected);
        transform.check_stored_bytes(stored.len(), cx).map_err(invalid)?;
        let bytes = usize::try_from(transform.restored_bytes(stored.len() as u64, cx)).unwrap_or(usize::MAX);
        let Some((part, behind)) = std::mem::take(&mut rest).split_at_mut_checked(bytes) else {
            return Err(invalid("within the chunk"));
        };
        transform.undo(stored, cx, part);
        rest = behind;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use talavera_codec::Limits;
    use talavera_types::{Datatype, FormatVersion};

    use super::*;
    use crate::Buffers;

    /// Stores every second byte of parts, which it cuts after four.
    struct Halves;

    impl PartTransform for Halves {
        const FILTER: FilterType = FilterType::Xor;

        fn cut<'p>(&self, part: &'p [u8]) -> impl Iterator<Item = &'p [u8]> {
            part.chunks(4)
        }

        fn stored_bytes(&self, part: &[u8], _cx: &FilterContext<'_>) -> Result<u32, FilterError> {
            part_length(Self::FILTER, part.len() / 2)
        }

        fn restored_bytes(&self, stored_bytes: u64, _cx: &FilterContext<'_>) -> u64 {
            2 * stored_bytes
        }

        fn check_stored_bytes(&self, stored_bytes: usize, _cx: &FilterContext<'_>) -> Result<(), &'static str> {
            if stored_bytes < 3 { Ok(()) } else { Err("at most 2") }
        }

        fn apply(&self, part: &[u8], _cx: &FilterContext<'_>, stored: &mut [u8]) {
            stored.iter_mut().zip(part.iter().step_by(2)).for_each(|(stored, byte)| *stored = *byte);
        }

        fn undo(&self, stored: &[u8], _cx: &FilterContext<'_>, part: &mut [u8]) {
            part.chunks_mut(2).zip(stored).for_each(|(pair, byte)| pair.fill(*byte));
        }
    }

    fn with_context<R>(act: impl FnOnce(&FilterContext<'_>) -> R) -> R {
        let (limits, buffers) = (Limits::new(1 << 10), Buffers::new());
        let version = FormatVersion::DEFAULT;
        act(&FilterContext { datatype: Datatype::UInt8, cell_bytes: 1, version, limits: &limits, buffers: &buffers })
    }

    #[test]
    fn the_table_holds_the_stored_lengths_of_the_parts_that_were_cut() {
        with_context(|cx| {
            let encoded = encode(&Halves, Chunk::new(&[1, 1, 2, 2, 3, 3]), cx).unwrap();
            let table = [2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0];
            assert_eq!((&*encoded.metadata.concat(), &*encoded.data.concat()), (&table[..], &[1, 2, 3][..]));
            // Two bytes of the filter before stand behind the table.
            let metadata = [&table[..], &[7, 8]].concat();
            let decoded = decode(&Halves, EncodedChunk::new(&metadata, &[1, 2, 3]), cx).unwrap();
            assert_eq!(decoded, EncodedChunk::new(&[7, 8], &[1, 1, 2, 2, 3, 3]));
        });
    }

    #[test]
    fn tables_that_do_not_fit_the_data_are_refused_by_field() {
        let check = |metadata: &[u8], data: &[u8], cells: usize, expected: &str| {
            let chunk = EncodedChunk::new(metadata, data);
            let error = with_context(|cx| decode_into(&Halves, chunk.clone(), cx, &mut vec![0; cells])).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        check(&[1, 0, 0, 0, 2, 0, 0, 0], &[1, 2], 5, "XOR: chunk data length: is 4, expected 5 (at byte 0)");
        check(&[1, 0, 0], &[], 0, "XOR: part count: needs 4 bytes, 3 left (at byte 0)");
        check(&[2, 0, 0, 0, 2, 0, 0, 0], &[1, 2], 4, "XOR: part lengths: needs 8 bytes, 4 left (at byte 4)");
        check(&[1, 0, 0, 0, 3, 0, 0, 0], &[1, 2], 4, "XOR: part: needs 3 bytes, 2 left (at byte 0)");
        check(&[1, 0, 0, 0, 3, 0, 0, 0], &[1, 2, 3], 6, "XOR: part length: 3 is not at most 2 (at byte 4)");
        check(&[1, 0, 0, 0, 1, 0, 0, 0], &[1, 2], 4, "XOR: parts: 1 bytes left over (at byte 1)");
        check(&[1, 0, 0, 0, 2, 0, 0, 0, 9], &[1, 2], 4, "XOR: chunk metadata: 1 bytes left over (at byte 8)");
    }
}
