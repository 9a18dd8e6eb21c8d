//! The filter: a table of part lengths beside the parts.
//!
//! ```text
//! own metadata := u32 parts; u32 bytes[parts], then the previous metadata
//! data         := the parts, each element xor the one before
//! ```
//!
//! Source: the format's tile page and 11-filters, "XOR".

use std::borrow::Cow;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts};
use talavera_types::FilterType;

use crate::{unxor, xor};

/// The XOR filter. It has no options: the element is a value of the datatype that the filter sees, and the next filter
/// sees the signed integer of the same size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Xor;

const FILTER: FilterType = FilterType::Xor;

impl Filter for Xor {
    fn filter_type(&self) -> FilterType {
        FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        let element_bytes = cx.datatype.size();
        let mut table = Writer::with_capacity(4 + 4 * chunk.data.count());
        table.len_u32(chunk.data.count());
        let mut data = vec![0; chunk.data.total_bytes()];
        let mut rest = data.as_mut_slice();
        for part in chunk.data.iter() {
            table.u32(part_length(part, element_bytes)?);
            let (out, behind) = rest.split_at_mut(part.len());
            xor(element_bytes, part, out);
            rest = behind;
        }
        Ok(Chunk { metadata: chunk.metadata.passed_on().behind(table.into_vec()), data: Parts::one(data) })
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        let corrupt = FilterError::corrupt(FILTER);
        let mut data = vec![0; cx.limits.charge("chunk data", chunk.data.len() as u64).map_err(corrupt)?];
        let mut r = Reader::new(&chunk.metadata);
        decode_parts(&mut r, &chunk.data, &mut data, cx.datatype.size()).map_err(corrupt)?;
        let own_metadata = chunk.metadata.len() - r.remaining();
        Ok(EncodedChunk { data: Cow::Owned(data), ..chunk.consume_metadata(own_metadata) })
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        let mut r = Reader::new(&chunk.metadata);
        decode_parts(&mut r, &chunk.data, cells, cx.datatype.size())
            .and_then(|()| r.finish("chunk metadata"))
            .map_err(FilterError::corrupt(FILTER))
    }
}

/// Reads the table from the metadata and undoes every part; exactly fills `out`.
fn decode_parts(r: &mut Reader<'_>, data: &[u8], out: &mut [u8], element_bytes: usize) -> Result<(), DecodeError> {
    if data.len() != out.len() {
        let kind = DecodeErrorKind::Mismatch { found: data.len() as u64, expected: out.len() as u64 };
        return Err(kind.at("chunk data length", 0));
    }
    let parts = u64::from(r.u32("part count")?);
    let mut lengths = r.split(parts * 4, "part lengths")?;
    let (mut data, mut rest) = (Reader::new(data), out);
    while !lengths.is_empty() {
        let before = lengths.clone();
        let length = lengths.u32("part length")?;
        let part = data.bytes(length.into(), "part")?;
        if !part.len().is_multiple_of(element_bytes) {
            return Err(before.invalid("part length", length.into(), "a whole number of elements"));
        }
        // The two are equally long, so what the reader had, `rest` has.
        let (out, behind) = rest.split_at_mut(part.len());
        unxor(element_bytes, part, out);
        rest = behind;
    }
    data.finish("parts")
}

/// The length of a part that the filter takes: the reference loses bytes behind the last whole element.
fn part_length(part: &[u8], element_bytes: usize) -> Result<u32, FilterError> {
    if !part.len().is_multiple_of(element_bytes) {
        let reason = format!("a part of {} bytes, which is no multiple of the {element_bytes} bytes of an element", part.len());
        return Err(FilterError::invalid_input(FILTER, reason));
    }
    u32::try_from(part.len())
        .map_err(|_| FilterError::invalid_input(FILTER, format!("a part of {} bytes; 4 GiB is the limit", part.len())))
}
