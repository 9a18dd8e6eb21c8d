//! The filter, with the framing that checksums share.
//!
//! Source: the format's tile page and 11-filters, "CHECKSUM_MD5, CHECKSUM_SHA256".

use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, checksum};
use talavera_types::FilterType;

use crate::digest;

/// The CHECKSUM_SHA256 filter. It has no options.
///
/// Decoding hands the bytes on as they came, so [`Filter::decode_into`] copies them once, into the cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChecksumSha256;

impl Filter for ChecksumSha256 {
    fn filter_type(&self) -> FilterType {
        FilterType::ChecksumSha256
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, _: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        Ok(checksum::encode(chunk, digest))
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, _: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        checksum::decode(self.filter_type(), chunk, digest)
    }
}
