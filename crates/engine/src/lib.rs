#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod budget;
mod error;
mod field_buffer;
mod fragment;
mod group;
mod metadata_file;
mod open;
mod options;
mod order;
mod read;

pub use budget::{CancelToken, OnProgress, Progress};
pub use error::Error;
pub use field_buffer::{CellBytes, FieldBuffer};
pub use fragment::Fragment;
pub use group::OpenGroup;
pub use open::OpenArray;
pub use options::{EngineOptions, ThreadPool};
pub use read::{Batch, Batches, ReadQuery, TIMESTAMPS_FIELD};

// What the types above hold or take, so that the facade need not depend on the crates below.
pub use talavera_directory::{ArrayMetadata, DirectoryError, GroupMember, MetadataValue, TimeWindow, object_type};
pub use talavera_pipeline::EncryptionKey;
