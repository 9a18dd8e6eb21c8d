#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod buffers;
pub mod checksum;
mod chunk;
pub mod compressor;
mod contract;
pub mod differences;
mod error;
pub mod part_table;
pub mod running;
mod spec;
pub mod stream;
pub mod strings;
mod windows;

pub use buffers::Buffers;
pub use chunk::{Chunk, EncodedChunk, Parts};
pub use contract::{Filter, FilterContext, StringFilter};
pub use error::FilterError;
pub use spec::{FilterList, FilterSpec, WebpFormat};
pub use windows::Windows;
