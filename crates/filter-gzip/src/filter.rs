//! The GZIP filter: the format's filter-pipeline page and 11-filters, "Codecs".

use talavera_codec::DecodeError;
use talavera_filter::compressor::{self, PartCodec};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_types::FilterType;

/// Filter 1: each part as one zlib stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gzip {
    /// Compression level, 0 to 9; negative for 6. It matters to writing only.
    pub level: i32,
}

impl Filter for Gzip {
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

impl PartCodec for Gzip {
    const FILTER: FilterType = FilterType::Gzip;

    fn compress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::compress(part, self.level, out)
    }

    fn decompress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decompress(part, out)
    }
}
