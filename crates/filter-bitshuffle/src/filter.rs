//! The filter: a table of part lengths beside the shuffled parts.
//!
//! ```text
//! own metadata := u32 parts; u32 bytes[parts], then the previous metadata
//! data         := the parts, shuffled one by one
//! ```
//!
//! A part whose length is no multiple of eight counts as two: the bytes up to the last multiple, and the rest.
//!
//! Source: the format's tile page and 11-filters, "BITSHUFFLE".

use std::borrow::Cow;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts};
use talavera_types::FilterType;

use crate::{shuffle, unshuffle};

/// The BITSHUFFLE filter. It has no options: the element is a value of the datatype that the filter sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bitshuffle;

const FILTER: FilterType = FilterType::Bitshuffle;

impl Filter for Bitshuffle {
    fn filter_type(&self) -> FilterType {
        FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        let element_bytes = cx.datatype.size();
        let parts = || chunk.data.iter().flat_map(cut_at_eights);
        let mut table = Writer::with_capacity(4 + 8 * chunk.data.count());
        table.len_u32(parts().count());
        let mut data = vec![0; chunk.data.total_bytes()];
        let mut rest = data.as_mut_slice();
        for part in parts() {
            table.u32(part_length(part)?);
            let (out, behind) = rest.split_at_mut(part.len());
            shuffle(element_bytes, part, out);
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

/// Reads the table from the metadata and unshuffles every part; exactly fills `out`.
fn decode_parts(r: &mut Reader<'_>, data: &[u8], out: &mut [u8], element_bytes: usize) -> Result<(), DecodeError> {
    if data.len() != out.len() {
        let kind = DecodeErrorKind::Mismatch { found: data.len() as u64, expected: out.len() as u64 };
        return Err(kind.at("chunk data length", 0));
    }
    let parts = u64::from(r.u32("part count")?);
    let mut lengths = r.split(parts * 4, "part lengths")?;
    let (mut data, mut rest) = (Reader::new(data), out);
    while !lengths.is_empty() {
        let part = data.bytes(lengths.u32("part length")?.into(), "part")?;
        // The two are equally long, so what the reader had, `rest` has.
        let (out, behind) = rest.split_at_mut(part.len());
        unshuffle(element_bytes, part, out);
        rest = behind;
    }
    data.finish("parts")
}

/// A part as it is if its length is a multiple of eight; otherwise what is, which may be nothing, and the rest.
fn cut_at_eights(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (eights, rest) = part.split_at(part.len() - part.len() % 8);
    std::iter::once(eights).chain(Some(rest).filter(|rest| !rest.is_empty()))
}

fn part_length(part: &[u8]) -> Result<u32, FilterError> {
    u32::try_from(part.len())
        .map_err(|_| FilterError::invalid_input(FILTER, format!("a part of {} bytes; 4 GiB is the limit", part.len())))
}
