#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod array;
mod cells;
mod error;
mod fragment_info;
mod group;
#[cfg(feature = "ndarray")]
mod ndarray;
mod object;
mod open_options;
mod range;
mod read;
mod value;

pub use array::Array;
pub use cells::Cells;
pub use error::Error;
pub use fragment_info::FragmentInfo;
pub use group::Group;
pub use object::{Object, list, object_type};
pub use open_options::OpenOptions;
pub use range::{AskedRange, DimensionKey, IntoRange, RangeEnd, RangeValue};
pub use read::{Order, Read};
pub use value::Value;

#[doc(no_inline)]
pub use talavera_engine::{
    ArrayMetadata, CancelToken, CellBytes, EncryptionKey, Error as EngineError, FieldBuffer, GroupMember, MetadataValue,
    OpenArray, OpenGroup, Progress, TIMESTAMPS_FIELD, ThreadPool, TimeWindow,
};
#[doc(no_inline)]
pub use talavera_schema::{
    ArraySchema, Attribute, Coordinate, Dimension, DimensionLabel, Domain, Enumeration, EnumerationReference, Field, FilterList,
    FilterSpec, NdRange, Range, TileExtent,
};
#[doc(no_inline)]
pub use talavera_storage::{LocalStorage, MemoryStorage, ObjectPath, Storage, StorageError, StorageExt};
#[doc(no_inline)]
pub use talavera_types::{ArrayType, CellValNum, DataOrder, Datatype, FilterType, FormatVersion, Layout, Native, ObjectType};

/// Compiles the example of the workspace's README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
