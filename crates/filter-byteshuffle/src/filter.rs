//! The filter: a table of part lengths beside the shuffled parts.
//!
//! ```text
//! own metadata := u32 parts; u32 bytes[parts], then the previous metadata
//! data         := the parts, shuffled one by one
//! ```
//!
//! Source: the format's tile page and 11-filters, "BYTESHUFFLE".

use talavera_filter::part_table::{self, PartTransform};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_types::FilterType;

use crate::{shuffle, unshuffle};

/// The BYTESHUFFLE filter. It has no options: the element is a value of the datatype that the filter sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Byteshuffle;

impl Filter for Byteshuffle {
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

impl PartTransform for Byteshuffle {
    const FILTER: FilterType = FilterType::Byteshuffle;

    fn apply(&self, part: &[u8], cx: &FilterContext<'_>, stored: &mut [u8]) {
        shuffle(cx.datatype.size(), part, stored);
    }

    fn undo(&self, stored: &[u8], cx: &FilterContext<'_>, part: &mut [u8]) {
        unshuffle(cx.datatype.size(), stored, part);
    }
}
