//! The ZSTD filter: the format's filter-pipeline page and 11-filters, "Codecs".

use talavera_codec::DecodeError;
use talavera_filter::compressor::{self, PartCodec};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_types::FilterType;

/// Filter 2: each part as one Zstandard frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zstd {
    /// Compression level, -7 to 22; lower for 3, higher for 22. It matters to writing only.
    pub level: i32,
}

impl Filter for Zstd {
    fn filter_type(&self) -> FilterType {
        Self::FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        compressor::encode(self, &chunk, cx)
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        compressor::decode(self, &chunk, cx)
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        compressor::decode_into(self, &chunk, cx, cells)
    }
}

impl PartCodec for Zstd {
    const FILTER: FilterType = FilterType::Zstd;

    fn compress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::compress(part, self.level, out)
    }

    fn decompress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decompress(part, out)
    }
}
