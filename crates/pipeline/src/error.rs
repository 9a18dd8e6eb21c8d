//! The errors of pipelines and generic tiles.

use talavera_codec::DecodeError;
use talavera_filter::FilterError;
use talavera_types::EncryptionType;

/// Why a tile could not be decoded or encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// The tile is damaged where it says how it is cut into chunks.
    #[error("chunk table: {0}")]
    Corrupt(#[from] DecodeError),
    /// A filter could not decode or encode one chunk.
    #[error("chunk {chunk}: {source}")]
    Chunk {
        /// The chunk, counted from 0 in its tile.
        chunk: usize,
        /// What the filter met.
        source: FilterError,
    },
    /// The chunks of a tile do not add up to the bytes that the caller knows it to have.
    #[error("the chunks hold {found} bytes, expected {expected}")]
    TileSize {
        /// Bytes of all chunks, decoded.
        found: u64,
        /// Bytes that there must be.
        expected: u64,
    },
    /// A filter of the list is not supported: retired, or switched off when this library was built.
    #[error(transparent)]
    Unsupported(FilterError),
    /// The pipeline encrypts, and no key was given.
    #[error("the pipeline is encrypted but no encryption key was given")]
    MissingKey,
    /// A key of the wrong length.
    #[error("an encryption key has 32 bytes, not {found}")]
    KeyLength {
        /// The length found, in bytes.
        found: usize,
    },
    /// An argument that does not fit the pipeline or the other arguments.
    #[error("{reason}")]
    InvalidInput {
        /// What does not fit.
        reason: String,
    },
}

impl PipelineError {
    /// A refusal of an argument.
    #[cold]
    pub(crate) fn invalid_input(reason: impl Into<String>) -> Self {
        Self::InvalidInput { reason: reason.into() }
    }

    /// A filter's error with its chunk; made for `map_err(PipelineError::in_chunk(7))`.
    pub(crate) fn in_chunk(chunk: usize) -> impl Fn(FilterError) -> Self + Copy {
        move |source| Self::Chunk { chunk, source }
    }
}

/// Why a generic tile could not be decoded or encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenericTileError {
    /// The header is damaged, or asks for more than the caller allows.
    #[error(transparent)]
    Corrupt(#[from] DecodeError),
    /// A key was given and the tile is not encrypted, or none was given and it is.
    #[error("tile is encrypted with {found} but given key is for {given}")]
    EncryptionMismatch {
        /// How the tile is encrypted.
        found: EncryptionType,
        /// What the given key is for; `None` without a key.
        given: EncryptionType,
    },
    /// The key does not open the tile: it is another array's, or the tile was altered.
    #[error("wrong encryption key or altered tile: {source}")]
    WrongKey {
        /// What the encryption filter met.
        source: PipelineError,
    },
    /// The header says that the tile is encrypted, and its pipeline holds no encryption.
    #[error("tile is encrypted with {found} but its pipeline holds no encryption filter")]
    MissingEncryptionFilter {
        /// How the tile claims to be encrypted.
        found: EncryptionType,
    },
    /// The pipeline could not run.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
}
