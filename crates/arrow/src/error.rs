//! The one error of this crate.

use arrow_schema::ArrowError;
use talavera::Datatype;

/// Why cells could not become Arrow arrays, or Arrow arrays cells.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The array could not be read or written.
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
    /// A column of a type that a field does not take.
    #[error("column '{field}': {found} cannot become {wanted}")]
    ColumnType {
        /// The name of the field.
        field: String,
        /// The Arrow type of the column.
        found: String,
        /// The datatype of the field, and how many values its cells have.
        wanted: String,
    },
    /// A null for a field that has none.
    #[error("column '{field}', cell {cell}: a null, and the field is not nullable")]
    NullCell {
        /// The name of the field.
        field: String,
        /// The index of the cell in its batch.
        cell: usize,
    },
    /// A cell of another length than those of its field.
    #[error("column '{field}', cell {cell}: {found} bytes, and the cells of the field have {expected}")]
    CellLength {
        /// The name of the field.
        field: String,
        /// The index of the cell in its batch.
        cell: usize,
        /// Bytes of the cell.
        found: usize,
        /// Bytes of the cells of the field.
        expected: usize,
    },
    /// A value that the enumeration of an attribute does not have.
    #[error("column '{field}', cell {cell}: the value is not in enumeration '{enumeration}', which has to be extended before")]
    UnknownValue {
        /// The name of the field.
        field: String,
        /// The index of the cell in its batch.
        cell: usize,
        /// The name of the enumeration.
        enumeration: String,
    },
    /// A column for a dimension of a dense array, whose cells are written by ranges.
    #[error("column '{field}': the cells of a dense array are written by ranges, without coordinates")]
    Coordinates {
        /// The name of the dimension.
        field: String,
    },
    /// An Arrow type that no field can have.
    #[error("column '{field}': {data_type} has no counterpart in an array")]
    UnsupportedType {
        /// The name of the column.
        field: String,
        /// The type.
        data_type: String,
    },
    /// A column that cannot be the dimension that it is to be.
    #[error("dimension '{dimension}' {reason}")]
    Dimension {
        /// The name of the dimension.
        dimension: String,
        /// What is wrong, in words that follow the dimension.
        reason: &'static str,
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
