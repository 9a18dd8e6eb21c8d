#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod cells;
mod filter;
pub mod strings;

pub use cells::{decode, encode};
pub use filter::Rle;
