//! The BZIP2 filter: the format's filter-pipeline page and 11-filters, "Codecs".

use talavera_codec::DecodeError;
use talavera_filter::compressor::PartCodec;
use talavera_filter::{FilterContext, FilterError};
use talavera_types::FilterType;

/// Filter 5: each part as one bzip2 stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bzip2 {
    /// Compression level, 1 to 9; lower for 1. It matters to writing only.
    pub level: i32,
}

impl PartCodec for Bzip2 {
    const FILTER: FilterType = FilterType::Bzip2;

    fn compress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::compress(part, self.level, out)
    }

    fn decompress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decompress(part, out)
    }
}
