//! The GZIP filter: the format's filter-pipeline page and 11-filters, "Codecs".

use talavera_codec::DecodeError;
use talavera_filter::compressor::PartCodec;
use talavera_filter::{FilterContext, FilterError};
use talavera_types::FilterType;

/// Filter 1: each part as one zlib stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gzip {
    /// Compression level, 0 to 9; negative for 6. It matters to writing only.
    pub level: i32,
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
