//! Reading: what is asked, which tiles answer it, and the cells in the order of the result.

mod coordinates;
pub(crate) mod dense;
pub(crate) mod explain;
pub(crate) mod field;
mod part;
pub(crate) mod query;
mod scatter;
pub(crate) mod sparse;
mod summary;
mod tile;

pub use explain::{Cost, Explanation, FieldPlan, FragmentPlan, SkipReason};
pub use field::TIMESTAMPS_FIELD;
pub use part::{CellCount, FieldStatistics, ReadPart, SplitBy};
pub use query::{Batch, Batches, ReadQuery};
