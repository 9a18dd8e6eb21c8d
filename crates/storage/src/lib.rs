#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod coalesce;
#[doc(hidden)]
pub mod conformance;
mod counting;
mod error;
mod local;
mod memory;
mod path;
mod storage;

pub use coalesce::{COALESCE_GAP_BYTES, coalesce_ranges};
pub use counting::{CountingStorage, Requests};
pub use error::StorageError;
pub use local::LocalStorage;
pub use memory::MemoryStorage;
pub use path::ObjectPath;
pub use storage::{Entry, EntryKind, ObjectWriter, Storage, StorageExt, StoreAhead};
