//! What goes wrong between a store and its caller, always with the path.

use std::io;

use crate::ObjectPath;

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no object of this name.
    #[error("{path}: not found")]
    NotFound {
        /// What was asked for.
        path: ObjectPath,
    },
    /// There is an object of this name already.
    #[error("{path}: exists already")]
    AlreadyExists {
        /// What was to be created.
        path: ObjectPath,
    },
    /// Bytes that the object does not have.
    #[error("{path}: bytes {start} to {end} are not in an object of {size} bytes")]
    Range {
        /// The object.
        path: ObjectPath,
        /// The first byte wanted.
        start: u64,
        /// The byte after the last one wanted.
        end: u64,
        /// How many bytes the object has.
        size: u64,
    },
    /// An object larger than the caller allows.
    #[error("{path}: {size} bytes exceed the limit of {limit}")]
    TooLarge {
        /// The object.
        path: ObjectPath,
        /// How many bytes the object has.
        size: u64,
        /// How many bytes the caller allows.
        limit: u64,
    },
    /// Text that is not the path of an object in this store.
    #[error("{path:?} {reason}")]
    InvalidPath {
        /// The text.
        path: String,
        /// What is wrong with it, in words that follow the path.
        reason: &'static str,
    },
    /// The store itself failed.
    #[error("{path}: {source}")]
    Io {
        /// The object.
        path: ObjectPath,
        /// What the store said.
        source: io::Error,
    },
}

impl StorageError {
    /// The error for what the system said about `path`; "not found" and "exists" become variants of their own.
    #[must_use]
    pub fn io(path: &ObjectPath, source: io::Error) -> Self {
        let path = path.clone();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound { path },
            io::ErrorKind::AlreadyExists => Self::AlreadyExists { path },
            _ => Self::Io { path, source },
        }
    }

    /// Whether the object is just not there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}
