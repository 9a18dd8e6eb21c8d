//! What can go wrong with the reference implementation.

use std::path::PathBuf;

/// Why a call of the reference implementation did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// The shared library could not be loaded.
    #[error("{}: {reason}", path.display())]
    Load {
        /// The library's path.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// Another release is loaded already; releases cannot share a process.
    #[error("this process runs {}; another release needs a process of its own", loaded.display())]
    OtherLibrary {
        /// The path of the library that is loaded.
        loaded: PathBuf,
    },
    /// This release has no such function.
    #[error("libtiledb {}.{}.{} has no {function}", version.0, version.1, version.2)]
    Missing {
        /// The function of the C API.
        function: &'static str,
        /// The release: major, minor, patch.
        version: (i32, i32, i32),
    },
    /// The library refused; the message is its own.
    #[error("{function}: {message}")]
    Refused {
        /// The function of the C API.
        function: &'static str,
        /// The library's message.
        message: String,
    },
    /// An argument or an answer that this crate does not take.
    #[error("{0}")]
    Invalid(String),
}

impl PeerError {
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid(what.into())
    }
}
