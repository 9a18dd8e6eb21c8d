//! The DELTA filter: the format's filter-pipeline page and 11-filters, "DELTA".

use talavera_codec::DecodeError;
use talavera_filter::compressor::{self, PartCodec};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_types::{Datatype, FilterType};

/// Filter 19: each element as its difference from the one before. The level that a schema stores with it has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    /// The datatype to take the elements for; `Any` takes them for what they are.
    pub reinterpret: Datatype,
}

impl Delta {
    fn datatype(&self, cx: &FilterContext<'_>) -> Datatype {
        if self.reinterpret == Datatype::Any { cx.datatype } else { self.reinterpret }
    }

    /// Refuses datatypes without differences before any byte is looked at.
    fn check(&self, cx: &FilterContext<'_>) -> Result<(), FilterError> {
        let datatype = self.datatype(cx);
        crate::element_bytes(datatype).map(|_| ()).ok_or_else(|| crate::not_integers(datatype))
    }
}

impl Filter for Delta {
    fn filter_type(&self) -> FilterType {
        Self::FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        self.check(cx)?;
        compressor::encode(self, &chunk, cx)
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        self.check(cx)?;
        compressor::decode(self, &chunk, cx)
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        self.check(cx)?;
        compressor::decode_into(self, &chunk, cx, cells)
    }
}

impl PartCodec for Delta {
    const FILTER: FilterType = FilterType::Delta;

    fn compress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::encode(part, self.datatype(cx), out)
    }

    fn decompress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decode(part, self.datatype(cx), out)
    }
}
