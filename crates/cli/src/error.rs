//! Why a command failed, what to do about it, and the exit status that says so.

use std::io;
use std::path::PathBuf;

use talavera::EngineError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The array or group cannot be opened, read or changed.
    #[error(transparent)]
    Talavera(#[from] talavera::Error),
    /// The cells cannot be written as Arrow data.
    #[error(transparent)]
    Arrow(talavera_arrow::Error),
    /// The arguments do not fit the array.
    #[error("{0}")]
    Usage(String),
    /// A file named by an argument cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file with cells holds what cannot be read, or what the array does not take.
    #[error("{}: {reason}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// Where in it, and what is wrong.
        reason: String,
    },
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// The exit status of success, and of output that nobody wants to read any more.
pub(crate) const SUCCESS: u8 = 0;
/// The exit status of a command that failed.
pub(crate) const FAILURE: u8 = 1;
/// The exit status of arguments that make no sense, alone or for this array.
pub(crate) const USAGE: u8 = 2;

impl Error {
    /// Arguments that do not fit the array.
    pub(crate) fn usage(reason: impl Into<String>) -> Self {
        Self::Usage(reason.into())
    }

    /// The exit status for this error.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            // What does not fit the array: a range out of its domain, an order that it does not have, a field.
            Self::Talavera(talavera::Error::Engine(
                EngineError::Invalid(_) | EngineError::Condition(_) | EngineError::Schema(_) | EngineError::AlreadyExists { .. },
            )) => USAGE,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => SUCCESS,
            _ => FAILURE,
        }
    }

    /// What may help, where something is known to.
    pub(crate) fn advice(&self) -> Option<String> {
        let error = match self {
            Self::Talavera(error) => error,
            Self::Arrow(_) => return Some("--format csv and --format json hold any cells".to_owned()),
            _ => return None,
        };
        if error.is_not_found() {
            return Some("`talavera ls` shows the arrays and groups in a folder".to_owned());
        }
        if error.is_already_there() {
            return Some("choose another place, or take away what is there with `talavera rm`".to_owned());
        }
        if error.is_over_budget() {
            return Some(
                "raise --memory, or read less: narrow --range, name fewer --fields; `talavera explain` says what a read takes"
                    .to_owned(),
            );
        }
        let message = error.to_string();
        if message.contains("key") || message.contains("encrypted") {
            return Some("give the array's own key of 32 bytes with --key-file".to_owned());
        }
        None
    }
}

impl From<talavera_arrow::Error> for Error {
    fn from(error: talavera_arrow::Error) -> Self {
        let writing = match error {
            talavera_arrow::Error::Array(error) => return Self::Talavera(error),
            talavera_arrow::Error::Arrow(_) => &error as &dyn std::error::Error,
            _ => return Self::Arrow(error),
        };
        // Arrow wraps what the output says.
        let mut causes = std::iter::successors(Some(writing), |error| error.source());
        match causes.find_map(|error| error.downcast_ref::<io::Error>()) {
            Some(cause) => Self::Output(io::Error::new(cause.kind(), cause.to_string())),
            None => Self::Arrow(error),
        }
    }
}

impl From<csv::Error> for Error {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::Output(error),
            kind => Self::Output(io::Error::other(format!("{kind:?}"))),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Output(error.into())
    }
}
