#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod decode;
mod element;
mod encode;
mod filter;

pub use decode::decode;
pub use encode::encode;
pub use filter::DoubleDelta;
