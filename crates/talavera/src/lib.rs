#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod array;
mod array_builder;
mod cells;
mod columns;
mod create;
mod delete;
mod error;
mod evolve;
mod fragment_info;
mod group;
mod group_edit;
mod metadata_edit;
#[cfg(feature = "ndarray")]
mod ndarray;
mod object;
mod open_options;
mod range;
mod read;
mod value;
mod write;

pub use array::Array;
pub use array_builder::ArrayBuilder;
pub use cells::Cells;
pub use columns::{BinaryCell, Columns, TextCell};
pub use create::{CreateOptions, enumeration};
pub use delete::Delete;
pub use error::Error;
pub use evolve::Evolve;
pub use fragment_info::FragmentInfo;
pub use group::Group;
pub use group_edit::GroupEdit;
pub use metadata_edit::{IntoMetadata, MetadataEdit};
pub use object::{Object, copy, list, object_type, remove, remove_group, rename, walk};
pub use open_options::OpenOptions;
pub use range::{AskedRange, DimensionKey, IntoPoint, IntoRange, RangeEnd, RangeValue};
pub use read::{Order, Read};
pub use value::Value;
pub use write::{DenseStream, Stream, Write, Writer};

#[doc(no_inline)]
pub use talavera_condition::{Comparison, ConditionError, Literal, QueryCondition, TextError, field};
#[doc(no_inline)]
pub use talavera_engine::{
    Aggregate, AggregateValue, ArrayMetadata, CancelToken, CellBytes, CellCount, Cost, Duplicates, EncryptionKey,
    Error as EngineError, Explanation, FieldBuffer, FieldPlan, FieldStatistics, FragmentPlan, GroupMember, Labels, MetadataValue,
    OpenArray, OpenGroup, Progress, ReadPart, SkipReason, SplitBy, TIMESTAMPS_FIELD, ThreadPool, TimeWindow, WalkOrder,
    enumeration_file_name,
};
#[doc(no_inline)]
pub use talavera_schema::{
    ArraySchema, ArraySchemaBuilder, Attribute, Coordinate, Dimension, DimensionLabel, Domain, Enumeration, EnumerationReference,
    Field, FilterList, FilterSpec, NdRange, Range, Rule, SchemaError, TileExtent, WebpFormat,
};
#[doc(no_inline)]
pub use talavera_storage::{LocalStorage, MemoryStorage, ObjectPath, Storage, StorageError, StorageExt};
#[doc(no_inline)]
pub use talavera_types::{ArrayType, CellValNum, DataOrder, Datatype, FilterType, FormatVersion, Layout, Native, ObjectType};

/// Compiles the example of the workspace's README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
