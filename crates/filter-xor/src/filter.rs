//! The filter: a table of part lengths beside the parts.
//!
//! ```text
//! own metadata := u32 parts; u32 bytes[parts], then the previous metadata
//! data         := the parts, each element xor the one before
//! ```
//!
//! Source: the format's tile page and 11-filters, "XOR".

use talavera_filter::part_table::{self, PartTransform};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_types::FilterType;

use crate::{unxor, xor};

/// The XOR filter. It has no options: the element is a value of the datatype that the filter sees, and the next filter
/// sees the signed integer of the same size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Xor;

impl Filter for Xor {
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

impl PartTransform for Xor {
    const FILTER: FilterType = FilterType::Xor;

    /// The length of a part that the filter takes: the reference loses bytes behind the last whole element.
    fn stored_bytes(&self, part: &[u8], cx: &FilterContext<'_>) -> Result<u32, FilterError> {
        let element_bytes = cx.datatype.size();
        if !part.len().is_multiple_of(element_bytes) {
            let reason =
                format!("a part of {} bytes, which is no multiple of the {element_bytes} bytes of an element", part.len());
            return Err(FilterError::invalid_input(Self::FILTER, reason));
        }
        part_table::part_length(Self::FILTER, part.len())
    }

    fn check_stored_bytes(&self, stored_bytes: usize, cx: &FilterContext<'_>) -> Result<(), &'static str> {
        if stored_bytes.is_multiple_of(cx.datatype.size()) { Ok(()) } else { Err("a whole number of elements") }
    }

    fn apply(&self, part: &[u8], cx: &FilterContext<'_>, stored: &mut [u8]) {
        xor(cx.datatype.size(), part, stored);
    }

    fn undo(&self, stored: &[u8], cx: &FilterContext<'_>, part: &mut [u8]) {
        unxor(cx.datatype.size(), stored, part);
    }
}
