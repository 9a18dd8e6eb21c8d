//! The DELTA filter: the format's filter-pipeline page and 11-filters, "DELTA".

use talavera_codec::DecodeError;
use talavera_filter::compressor::PartCodec;
use talavera_filter::{FilterContext, FilterError, differences};
use talavera_types::{Datatype, FilterType};

/// Filter 19: each element as its difference from the one before. The level that a schema stores with it has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    /// The datatype to take the elements for; `Any` takes them for what they are.
    pub reinterpret: Datatype,
}

impl Delta {
    fn datatype(&self, cx: &FilterContext<'_>) -> Datatype {
        differences::reinterpreted(self.reinterpret, cx)
    }
}

impl PartCodec for Delta {
    const FILTER: FilterType = FilterType::Delta;

    fn check(&self, cx: &FilterContext<'_>) -> Result<(), FilterError> {
        differences::require_element_bytes(Self::FILTER, self.datatype(cx)).map(|_| ())
    }

    fn compress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::encode(part, self.datatype(cx), out)
    }

    fn decompress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decode(part, self.datatype(cx), out)
    }
}
