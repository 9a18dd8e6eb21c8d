#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod bind;
mod bitmap;
mod bound;
mod commit;
mod condition;
mod datetime;
mod error;
mod evaluate;
mod field;
mod literal;
mod members;
mod prune;
mod text;

pub use bind::FieldType;
pub use bitmap::{Bitmap, Ones};
pub use bound::BoundCondition;
pub use commit::{UpdateCommit, UpdateValue};
pub use condition::{Combination, Comparison, QueryCondition};
pub use error::ConditionError;
pub use evaluate::FieldView;
pub use field::{Field, field};
pub use literal::Literal;
pub use prune::{TileBounds, Tri, Trust};
pub use text::TextError;
