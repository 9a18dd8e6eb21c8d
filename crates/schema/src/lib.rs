#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod array;
mod attribute;
mod builder;
mod coordinate;
mod current_domain;
mod dimension;
mod domain;
mod enumeration;
mod error;
mod evolution;
mod grid;
pub mod hilbert;
mod label;
mod nd_range;
mod range;
mod validate;

pub use array::{ArraySchema, EnumerationReference, Field};
pub use attribute::Attribute;
pub use builder::ArraySchemaBuilder;
pub use coordinate::Coordinate;
pub use dimension::{Dimension, TileExtent};
pub use domain::Domain;
pub use enumeration::Enumeration;
pub use error::{Rule, SchemaError};
pub use evolution::SchemaEvolution;
pub use grid::{TileAxis, TileGrid};
pub use label::DimensionLabel;
pub use nd_range::NdRange;
pub use range::Range;

// What schemas hold, so that the facade need not depend on the crate below.
pub use talavera_filter::{FilterList, FilterSpec, WebpFormat};
