//! The filter registry: one `match` from a filter's description to the filter.
//!
//! The format closes the set of filters, so this is all there is to it.

use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, FilterSpec};
use talavera_types::FilterType;

use crate::{EncryptionKey, PipelineError};

/// The filter that a description stands for.
#[cfg_attr(not(feature = "encryption"), expect(unused_variables, reason = "only encryption takes the key"))]
pub(crate) fn filter(spec: &FilterSpec, key: Option<&EncryptionKey>) -> Result<Box<dyn Filter>, PipelineError> {
    Ok(match *spec {
        FilterSpec::None => Box::new(Noop),
        #[cfg(feature = "gzip")]
        FilterSpec::Gzip { level } => Box::new(talavera_filter_gzip::Gzip { level }),
        #[cfg(feature = "zstd")]
        FilterSpec::Zstd { level } => Box::new(talavera_filter_zstd::Zstd { level }),
        #[cfg(feature = "lz4")]
        FilterSpec::Lz4 { .. } => Box::new(talavera_filter_lz4::Lz4),
        FilterSpec::Rle { .. } => Box::new(talavera_filter_rle::Rle),
        #[cfg(feature = "bzip2")]
        FilterSpec::Bzip2 { level } => Box::new(talavera_filter_bzip2::Bzip2 { level }),
        FilterSpec::DoubleDelta { reinterpret, .. } => Box::new(talavera_filter_double_delta::DoubleDelta { reinterpret }),
        FilterSpec::BitWidthReduction { max_window_bytes } => {
            Box::new(talavera_filter_bit_width_reduction::BitWidthReduction { max_window_bytes })
        }
        FilterSpec::Bitshuffle => Box::new(talavera_filter_bitshuffle::Bitshuffle),
        FilterSpec::Byteshuffle => Box::new(talavera_filter_byteshuffle::Byteshuffle),
        FilterSpec::PositiveDelta { max_window_bytes } => {
            Box::new(talavera_filter_positive_delta::PositiveDelta { max_window_bytes })
        }
        #[cfg(feature = "encryption")]
        FilterSpec::Aes256Gcm => {
            let key = key.ok_or(PipelineError::MissingKey)?;
            Box::new(talavera_filter_aes_256_gcm::Aes256Gcm::new(key.as_bytes()))
        }
        FilterSpec::ChecksumMd5 => Box::new(talavera_filter_md5::ChecksumMd5),
        FilterSpec::ChecksumSha256 => Box::new(talavera_filter_sha256::ChecksumSha256),
        FilterSpec::Dictionary { .. } => Box::new(talavera_filter_dictionary::Dictionary),
        FilterSpec::FloatScale { scale, offset, byte_width } => {
            Box::new(talavera_filter_float_scale::FloatScale { scale, offset, byte_width })
        }
        FilterSpec::Xor => Box::new(talavera_filter_xor::Xor),
        FilterSpec::Bitsort => return Err(refused(spec, "it was retired after two releases")),
        #[cfg(feature = "webp")]
        FilterSpec::Webp { quality, format, lossless, y_extent, x_extent } => {
            Box::new(talavera_filter_webp::Webp { quality, format, lossless, y_extent, x_extent })
        }
        FilterSpec::Delta { reinterpret, .. } => Box::new(talavera_filter_delta::Delta { reinterpret }),
        #[cfg(not(all(
            feature = "gzip",
            feature = "zstd",
            feature = "lz4",
            feature = "bzip2",
            feature = "webp",
            feature = "encryption"
        )))]
        _ => return Err(refused(spec, "it was switched off when this library was built")),
    })
}

#[cold]
fn refused(spec: &FilterSpec, reason: &str) -> PipelineError {
    PipelineError::Unsupported(FilterError::unsupported(spec.filter_type(), reason))
}

/// The filter NONE, which does nothing but to lose the part of an empty chunk (10-tile-chunks §6).
#[derive(Debug)]
struct Noop;

impl Filter for Noop {
    fn filter_type(&self) -> FilterType {
        FilterType::None
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, _: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        Ok(Chunk { metadata: chunk.metadata.passed_on(), data: chunk.data.passed_on() })
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, _: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        Ok(chunk)
    }
}
