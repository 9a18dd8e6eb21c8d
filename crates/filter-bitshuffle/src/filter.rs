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

use talavera_filter::part_table::{self, PartTransform};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_types::FilterType;

use crate::{shuffle, unshuffle};

/// The BITSHUFFLE filter. It has no options: the element is a value of the datatype that the filter sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bitshuffle;

impl Filter for Bitshuffle {
    fn filter_type(&self) -> FilterType {
        Self::FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        part_table::encode(self, chunk, cx)
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        part_table::decode(self, chunk, cx)
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        part_table::decode_into(self, chunk, cx, cells)
    }
}

impl PartTransform for Bitshuffle {
    const FILTER: FilterType = FilterType::Bitshuffle;

    /// A part as it is if its length is a multiple of eight; otherwise what is, which may be nothing, and the rest.
    fn cut<'p>(&self, part: &'p [u8]) -> impl Iterator<Item = &'p [u8]> {
        let (eights, rest) = part.split_at(part.len() - part.len() % 8);
        std::iter::once(eights).chain(Some(rest).filter(|rest| !rest.is_empty()))
    }

    fn apply(&self, part: &[u8], cx: &FilterContext<'_>, stored: &mut [u8]) {
        shuffle(cx.datatype.size(), part, stored);
    }

    fn undo(&self, stored: &[u8], cx: &FilterContext<'_>, part: &mut [u8]) {
        unshuffle(cx.datatype.size(), stored, part);
    }
}
