#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod dictionary;
mod filter;

pub use dictionary::{Encoded, decode, encode};
pub use filter::Dictionary;
