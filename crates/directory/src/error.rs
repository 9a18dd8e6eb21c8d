//! What goes wrong when names and small records are read or made.

use talavera_codec::DecodeError;
use talavera_storage::{ObjectPath, StorageError};
use talavera_types::UnsupportedVersion;

/// Why a folder could not be understood, or a record not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// The store failed; its error names the path.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A file does not hold what its name says.
    #[error("{path}: {source}")]
    Corrupt {
        /// The file.
        path: ObjectPath,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// Something committed in a format version that is not known.
    #[error("{path}: {source}")]
    UnsupportedVersion {
        /// The fragment or vacuum file.
        path: ObjectPath,
        /// The version.
        source: UnsupportedVersion,
    },
    /// Text that is not a timestamped name.
    #[error("{name:?} is not a timestamped name: {reason}")]
    InvalidName {
        /// The text.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A metadata value or key that the format cannot hold.
    #[error("metadata {what}: {reason}")]
    InvalidMetadata {
        /// The part: "key" or "value".
        what: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The address of a group member that does not lie in the store.
    #[error("group member {uri:?} is not in this store")]
    ForeignMember {
        /// The address.
        uri: String,
    },
}

/// Adds the file to the error of what it holds.
pub(crate) fn in_file(path: &ObjectPath) -> impl FnOnce(DecodeError) -> DirectoryError + '_ {
    |source| DirectoryError::Corrupt { path: path.clone(), source }
}
