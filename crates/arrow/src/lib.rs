#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod cells;
mod conversion;
mod dictionaries;
mod dictionary;
mod error;
mod import_schema;
mod input;
mod ipc;
pub mod metadata;
mod read;
mod shape;
mod text;

pub use conversion::{ArrowOptions, Conversion, record_batch, schema};
pub use dictionaries::Dictionaries;
pub use error::Error;
pub use import_schema::{Attributes, ImportDimension, ImportOptions, schema_from_arrow};
pub use input::{Import, WriteExt};
pub use ipc::{IpcBatches, open_ipc, read_ipc, read_ipc_stream, write_ipc_stream};
pub use read::{ReadExt, RecordBatches};
