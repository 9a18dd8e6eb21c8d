//! The one error of this crate.

use arrow_schema::ArrowError;
use talavera::Datatype;

/// Why cells could not become Arrow arrays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The array could not be read.
    #[error(transparent)]
    Array(#[from] talavera::Error),
    /// Arrow refused something, or writing failed.
    #[error("{0}")]
    Arrow(#[source] ArrowError),
    /// The array, or the conversion, has no field of this name.
    #[error("there is no field '{field}'")]
    UnknownField {
        /// The name.
        field: String,
    },
    /// A cell of text that is not text in its encoding.
    #[error("field '{field}', cell {cell}: not valid {datatype}; the option `strings_as_binary` gives the bytes as they are")]
    NotText {
        /// The name of the field, or of the enumeration.
        field: String,
        /// The index of the cell in its batch, or of the value in the enumeration.
        cell: usize,
        /// The encoding.
        datatype: Datatype,
    },
    /// A date that 32 bits cannot hold.
    #[error("field '{field}', cell {cell}: day {days} does not fit Date32; the option `days_as_integers` gives 64-bit integers")]
    DayRange {
        /// The name of the field, or of the enumeration.
        field: String,
        /// The index of the cell in its batch, or of the value in the enumeration.
        cell: usize,
        /// Days since 1970-01-01.
        days: i64,
    },
    /// Cells that Arrow has no type for, or that are not what the conversion was made for.
    #[error("field '{field}': {reason}")]
    Cells {
        /// The name of the field, or of the enumeration.
        field: String,
        /// What is wrong, in words that follow the field.
        reason: &'static str,
    },
}

impl Error {
    pub(crate) fn cells(field: &str, reason: &'static str) -> Self {
        Self::Cells { field: field.to_owned(), reason }
    }
}

/// An error of this crate that went through Arrow comes back as what it was.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(source) => match source.downcast::<Self>() {
                Ok(own) => *own,
                Err(source) => Self::Arrow(ArrowError::ExternalError(source)),
            },
            error => Self::Arrow(error),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        match error {
            Error::Arrow(error) => error,
            error => Self::ExternalError(Box::new(error)),
        }
    }
}
