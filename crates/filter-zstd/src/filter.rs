//! The ZSTD filter: the format's filter-pipeline page and 11-filters, "Codecs".

use talavera_codec::DecodeError;
use talavera_filter::compressor::PartCodec;
use talavera_filter::{FilterContext, FilterError};
use talavera_types::FilterType;

/// Filter 2: each part as one Zstandard frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zstd {
    /// Compression level, -7 to 22; lower for 3, higher for 22. It matters to writing only.
    pub level: i32,
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
