#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod consolidated;
mod data_file;
mod field;
mod footer;
pub mod legacy;
mod offsets;
mod processed;
mod rtree;
mod statistics;
#[cfg(test)]
mod test_support;

pub use consolidated::{ConsolidatedFooter, ConsolidatedFooters};
pub use data_file::{DataFile, DataPart};
pub use field::{FieldId, FieldLayout, FieldShape};
pub use footer::{FieldEntry, FieldSection, Footer, FooterLocation, OptionalSection};
pub use legacy::LegacyMetadata;
pub use offsets::{TileOffsets, TileSizes};
pub use processed::ProcessedConditions;
pub use rtree::{Cover, RTree, TileCover};
pub use statistics::{
    FieldStatistics, FragmentStatistics, StatisticSet, Sum, TileMinMax, TileNullCounts, TileSums, ValueSize, exact_statistics,
    float_bounds_are_exact, statistics_are_exact, stored_statistics,
};
