#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod array_directory;
mod commits;
mod error;
mod group;
mod group_directory;
mod lines;
mod metadata;
mod metadata_folder;
mod name_source;
mod object_type;
mod paths;
mod time_window;
mod timestamped_name;
mod vacuum;

pub use array_directory::{ArrayDirectory, DeleteContent, DeleteFile, DeleteKind, FragmentFolder, SchemaFile, VisibleFragments};
pub use commits::{CommitRecord, CommitsFile, ConsolidatedCommits, IgnoreFile, IgnoreList};
pub use error::DirectoryError;
pub use group::{Group, GroupDetails, GroupMember, GroupRecord, GroupVersion};
pub use group_directory::GroupDirectory;
pub use metadata::{ArrayMetadata, MetadataFile, MetadataValue};
pub use metadata_folder::NamedFile;
pub use name_source::NameSource;
pub use object_type::object_type;
pub use paths::{ArrayPaths, GroupPaths};
pub use time_window::TimeWindow;
pub use timestamped_name::{NameForm, TimestampedName, split_extension};
pub use vacuum::{VacuumFile, VacuumList};
