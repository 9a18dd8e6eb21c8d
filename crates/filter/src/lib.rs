#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod checksum;
mod chunk;
pub mod compressor;
mod contract;
pub mod differences;
mod error;
pub mod part_table;
mod spec;
pub mod stream;
pub mod strings;
mod windows;

pub use chunk::{Chunk, EncodedChunk, Parts};
pub use contract::{Filter, FilterContext, StringFilter};
pub use error::FilterError;
pub use spec::{FilterList, FilterSpec, WebpFormat};
pub use windows::Windows;
