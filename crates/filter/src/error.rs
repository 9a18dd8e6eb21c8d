//! The one error of every filter.

use talavera_codec::DecodeError;
use talavera_types::FilterType;

/// Why a filter could not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The bytes to decode are damaged, or ask for more memory than allowed.
    #[error("{filter}: {source}")]
    Corrupt {
        /// The filter that met them.
        filter: FilterType,
        /// What was wrong, with offsets from the start of the chunk's metadata or data.
        source: DecodeError,
    },
    /// The cells to encode are such that the filter cannot store them.
    #[error("{filter} cannot encode: {reason}")]
    InvalidInput {
        /// The filter that refused.
        filter: FilterType,
        /// What it refused.
        reason: String,
    },
    /// The filter, or this use of it, is not supported.
    #[error("{filter} is not supported: {reason}")]
    Unsupported {
        /// The filter.
        filter: FilterType,
        /// What is not supported.
        reason: String,
    },
}

impl FilterError {
    /// A decode error with the filter that met it; made for `map_err(FilterError::corrupt(FilterType::Xor))`.
    pub fn corrupt(filter: FilterType) -> impl Fn(DecodeError) -> Self + Copy {
        move |source| Self::Corrupt { filter, source }
    }

    /// A refusal of cells to encode.
    #[cold]
    pub fn invalid_input(filter: FilterType, reason: impl Into<String>) -> Self {
        Self::InvalidInput { filter, reason: reason.into() }
    }

    /// A refusal of a filter or of its options.
    #[cold]
    pub fn unsupported(filter: FilterType, reason: impl Into<String>) -> Self {
        Self::Unsupported { filter, reason: reason.into() }
    }
}
