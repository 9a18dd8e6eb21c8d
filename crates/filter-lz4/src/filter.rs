//! The LZ4 filter: the format's filter-pipeline page and 11-filters, "Codecs".

use talavera_codec::DecodeError;
use talavera_filter::compressor::PartCodec;
use talavera_filter::{FilterContext, FilterError};
use talavera_types::FilterType;

/// Filter 3: each part as one LZ4 block. The level that a schema stores with it has no effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lz4;

impl PartCodec for Lz4 {
    const FILTER: FilterType = FilterType::Lz4;

    fn compress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::compress(part, out)
    }

    fn decompress(&self, part: &[u8], _cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decompress(part, out)
    }
}
