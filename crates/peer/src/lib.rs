#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod codes;
mod column;
mod datatype;
mod error;
#[expect(unsafe_code, reason = "the only place that calls C")]
mod ffi;
mod filter;
mod query;
mod schema;

pub use codes::{ArrayType, LabelOrder, Layout};
pub use column::{Column, Range, Scalar};
pub use datatype::Datatype;
pub use error::PeerError;
pub use ffi::{Array, Context, Group, Library, Written};
pub use filter::{Filter, FilterList, FilterOption, FilterType};
pub use query::{Aggregate, Condition, Fragment, Fragments, Member, Metadata, Mode, ObjectType, Operator, Read, Window, Write};
pub use schema::{Attribute, Dimension, Enumeration, Evolution, FillValue, Label, Schema, VAR};
