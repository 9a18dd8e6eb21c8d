//! Reading: what is asked, which tiles answer it, and the cells in the order of the result.

mod coordinates;
pub(crate) mod dense;
pub(crate) mod field;
pub(crate) mod query;
mod scatter;
pub(crate) mod sparse;
mod tile;

pub use field::TIMESTAMPS_FIELD;
pub use query::{Batch, Batches, ReadQuery};
