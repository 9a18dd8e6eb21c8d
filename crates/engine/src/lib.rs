#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod aggregate;
mod budget;
mod error;
mod field_buffer;
mod fragment;
mod group;
mod label;
mod maintain;
mod metadata_file;
mod names;
mod open;
mod options;
mod order;
mod radix;
mod read;
mod reuse;
mod write;

pub use aggregate::{Aggregate, AggregateValue};
pub use budget::{CancelToken, OnProgress, Progress};
pub use error::Error;
pub use field_buffer::{CellBytes, FieldBuffer};
pub use fragment::Fragment;
pub use group::OpenGroup;
pub use label::{Labels, write_labels};
pub use maintain::{
    CreateOptions, DeleteOptions, EvolveOptions, GroupWriter, MetadataWriter, ObjectEntry, WalkOrder, copy_object, create_array,
    create_group, delete_cells, evolve_array, list_objects, move_object, remove_array, remove_group, remove_object,
    upgrade_array, walk_objects,
};
pub use names::enumeration_file_name;
pub use open::OpenArray;
pub use options::{EngineOptions, ThreadPool};
pub use read::{
    Batch, Batches, CellCount, Cost, Explanation, FieldPlan, FieldStatistics, FragmentPlan, ReadPart, ReadQuery, SkipReason,
    SplitBy, TIMESTAMPS_FIELD,
};

// What the types above hold or take, so that the facade need not depend on the crates below.
pub use talavera_directory::{ArrayMetadata, DirectoryError, GroupMember, MetadataValue, TimeWindow, object_type};
pub use talavera_pipeline::EncryptionKey;
pub use write::{ArrayWriter, DenseStream, Duplicates, SparseStream, WriteOptions};
