//! The one error of the engine: what failed, in which file, tile and field.

use talavera_codec::DecodeError;
use talavera_pipeline::{GenericTileError, PipelineError};
use talavera_storage::{ObjectPath, StorageError};

/// Why an array or group could not be opened, read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing that can be opened lies at the path.
    #[error("{path}: there is no {wanted} here")]
    NotFound {
        /// Where it was looked for.
        path: ObjectPath,
        /// What was looked for: "array" or "group".
        wanted: &'static str,
    },
    /// Something lies where a new array or group was to be.
    #[error("{path}: {found} already exists here")]
    AlreadyExists {
        /// Where it was to be.
        path: ObjectPath,
        /// What was found: "an array", "a group" or "something".
        found: &'static str,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A name or small record in the folder is damaged.
    #[error(transparent)]
    Directory(#[from] talavera_directory::DirectoryError),
    /// A file holds bytes that cannot be what it should hold.
    #[error("{path}: {source}")]
    Corrupt {
        /// The file.
        path: ObjectPath,
        /// The field, and what was wrong with it.
        source: DecodeError,
    },
    /// A metadata file cannot be unwrapped: damaged, or encrypted with another key.
    #[error("{path}: {source}")]
    GenericTile {
        /// The file.
        path: ObjectPath,
        /// What was wrong.
        source: GenericTileError,
    },
    /// The cells of a tile cannot be decoded.
    #[error("{path}, tile {tile}: {source}")]
    Tile {
        /// The data file.
        path: ObjectPath,
        /// The tile's number in its fragment.
        tile: u64,
        /// What was wrong.
        source: PipelineError,
    },
    /// The cells of a tile were decoded and cannot be what they should be.
    #[error("{path}, tile {tile}: {source}")]
    TileContent {
        /// The data file.
        path: ObjectPath,
        /// The tile's number in its fragment.
        tile: u64,
        /// What was wrong.
        source: DecodeError,
    },
    /// A filter list of the schema cannot be run.
    #[error("{path}, field '{field}': {source}")]
    Filters {
        /// The fragment or schema.
        path: ObjectPath,
        /// The field whose filters they are.
        field: String,
        /// What was wrong.
        source: PipelineError,
    },
    /// A delete condition of the array cannot be applied.
    #[error("{path}: {source}")]
    DeleteCondition {
        /// The commit file.
        path: ObjectPath,
        /// What was wrong.
        source: talavera_condition::ConditionError,
    },
    /// A new or changed schema breaks a rule.
    #[error("the schema is refused: {0}")]
    Schema(#[from] talavera_schema::SchemaError),
    /// A condition cannot be used with this array.
    #[error("the condition is refused: {0}")]
    Condition(#[from] talavera_condition::ConditionError),
    /// The system lacks something that new names are made of.
    #[error("the system has no {what}: {source}")]
    System {
        /// What it lacks: a clock after 1970, or random numbers.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A fragment names a schema that the array does not have.
    #[error("{fragment}: its schema '{schema}' is not in the array")]
    MissingSchema {
        /// The fragment.
        fragment: ObjectPath,
        /// The schema that its footer names.
        schema: String,
    },
    /// The cells of a field cannot be encoded with its filters.
    #[error("field '{field}': {source}")]
    Encode {
        /// The field.
        field: String,
        /// What was wrong.
        source: PipelineError,
    },
    /// The question asked does not fit the array.
    #[error("{0}")]
    Invalid(String),
    /// The answer needs more memory than allowed.
    #[error(
        "{what} needs {needed} bytes, {left} of the budget of {limit} are left; read in batches, ask for less, or raise the budget"
    )]
    Budget {
        /// What the memory was for.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes that were left.
        left: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The machine has no memory for the answer.
    #[error("the machine has no memory for {what} of {needed} bytes; read in batches, or ask for less")]
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
    },
    /// The caller cancelled the job.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// A decode error with the file it was found in; made for `map_err(Error::corrupt(path))`.
    pub(crate) fn corrupt(path: &ObjectPath) -> impl Fn(DecodeError) -> Self + '_ {
        move |source| Self::Corrupt { path: path.clone(), source }
    }

    /// A question that does not fit the array.
    #[cold]
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid(reason.into())
    }
}
