//! The one error of the facade: the engine's, and what is wrong with a question before the engine sees it.

use talavera_storage::StorageError;
use talavera_types::Datatype;

/// Why an array or group could not be opened, read, made or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing that can be opened lies at the path.
    #[error("{path}: there is no {wanted} here")]
    NotFound {
        /// Where it was looked for, as the storage spells it.
        path: String,
        /// What was looked for: "array" or "group".
        wanted: &'static str,
    },
    /// Storage failed, a file is damaged or encrypted, a budget is too small, a job was cancelled, or a question does not
    /// fit the array.
    ///
    /// Of writes: a schema or condition breaks a rule, something exists already, cells or ranges do not fit the array.
    #[error(transparent)]
    Engine(#[from] talavera_engine::Error),
    /// The bytes given as an encryption key are not 32.
    #[error("an encryption key has 32 bytes, not {found}")]
    KeyLength {
        /// How many there were.
        found: usize,
    },
    /// The array has no dimension of this name or index.
    #[error("the array has no dimension {dimension}")]
    UnknownDimension {
        /// The name in quotes, or the index.
        dimension: String,
    },
    /// A point has another number of coordinates than the array has dimensions.
    #[error("a point has {found} coordinates, the array {expected} dimensions")]
    PointLength {
        /// Coordinates of the point.
        found: usize,
        /// Dimensions of the array.
        expected: usize,
    },
    /// The array, or the result, has no field of this name.
    #[error("there is no field '{field}'")]
    UnknownField {
        /// The name.
        field: String,
    },
    /// A range of values that a dimension cannot have: text where it has numbers, floats where it has integers.
    #[error("dimension '{dimension}' is {datatype}; {found} cannot be a range of it")]
    RangeType {
        /// The name of the dimension.
        dimension: String,
        /// The datatype of the dimension.
        datatype: Datatype,
        /// What the range is made of: "integers", "floats", "strings".
        found: &'static str,
    },
    /// An end of a range that the datatype of the dimension cannot hold.
    #[error("dimension '{dimension}': {datatype} cannot hold {value}")]
    RangeValue {
        /// The name of the dimension.
        dimension: String,
        /// The datatype of the dimension.
        datatype: Datatype,
        /// The end of the range.
        value: String,
    },
    /// A range with no values in it.
    #[error("dimension '{dimension}': the range {range} is empty")]
    EmptyRange {
        /// The name of the dimension.
        dimension: String,
        /// The range.
        range: String,
    },
    /// A range of strings without an end, or without the string that it ends with: only closed ones can be asked for.
    #[error("dimension '{dimension}': a range of strings must name and include its last string")]
    OpenStringRange {
        /// The name of the dimension.
        dimension: String,
    },
    /// Values asked for as a type that they do not have.
    #[error("field '{field}' holds {datatype}, which cannot be read as {wanted}")]
    ValueType {
        /// The name of the field.
        field: String,
        /// The datatype of its values.
        datatype: Datatype,
        /// The Rust type asked for, or "text".
        wanted: &'static str,
    },
    /// Values given for a field that does not take their type.
    #[error("field '{field}' takes {datatype}, not {found}")]
    GivenType {
        /// The name of the field.
        field: String,
        /// The datatype of its values.
        datatype: Datatype,
        /// What was given: a Rust type, or "text".
        found: &'static str,
    },
    /// A cell given that has not as many bytes as the cells of its field.
    #[error("field '{field}', cell {cell}: {found} bytes given, cells have {expected}")]
    CellSize {
        /// The name of the field.
        field: String,
        /// The index of the cell among those given.
        cell: usize,
        /// Bytes given.
        found: usize,
        /// Bytes of a cell; of a value where cells are of variable length.
        expected: usize,
    },
    /// A null given for a field that has none.
    #[error("field '{field}', cell {cell}: a null, and the field is not nullable")]
    Null {
        /// The name of the field.
        field: String,
        /// The index of the cell among those given.
        cell: usize,
    },
    /// Ranges that no write can have: along a dimension twice, or of a sparse array, whose cells bring their coordinates.
    #[error("a write takes {reason}")]
    WriteRanges {
        /// What it takes instead, in words that follow "a write takes".
        reason: &'static str,
    },
    /// Cells asked for, or given, in a form that cannot hold them.
    #[error("field '{field}' {reason}")]
    CellShape {
        /// The name of the field.
        field: String,
        /// What stands in the way, in words that follow the field.
        reason: &'static str,
    },
    /// A cell of text that is not UTF-8.
    #[error("field '{field}', cell {cell}: not UTF-8")]
    NotUtf8 {
        /// The name of the field.
        field: String,
        /// The index of the cell in the result.
        cell: usize,
    },
    /// An n-dimensional array asked for that the result cannot fill.
    #[error("a result {reason} is not an n-dimensional array")]
    NotRectangular {
        /// Why not, in words that follow "a result".
        reason: &'static str,
    },
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<talavera_schema::SchemaError> for Error {
    fn from(error: talavera_schema::SchemaError) -> Self {
        Self::Engine(error.into())
    }
}

impl Error {
    /// Whether an array or group was looked for where there is none.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::Engine(talavera_engine::Error::NotFound { .. }))
    }

    /// Whether there is something already where an array or group was to be made.
    #[must_use]
    pub fn is_already_there(&self) -> bool {
        matches!(self, Self::Engine(talavera_engine::Error::AlreadyExists { .. }))
    }

    /// Whether the caller cancelled the job.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Engine(talavera_engine::Error::Cancelled))
    }

    /// Whether the result needs more memory than the limit; reading in batches helps, see
    /// [`Read::batches`](crate::Read::batches).
    #[must_use]
    pub fn is_over_budget(&self) -> bool {
        matches!(self, Self::Engine(talavera_engine::Error::Budget { .. }))
    }
}
