#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod cells;
mod conversion;
mod dictionary;
mod error;
mod ipc;
pub mod metadata;
mod read;
mod shape;
mod text;

pub use conversion::{ArrowOptions, Conversion, record_batch, schema};
pub use error::Error;
pub use ipc::write_ipc_stream;
pub use read::{ReadExt, RecordBatches};
