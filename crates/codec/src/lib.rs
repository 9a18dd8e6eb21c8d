#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod bits;
mod error;
mod limits;
mod reader;
mod writer;

pub use bits::{BitReader, BitWriter};
pub use error::{DecodeError, DecodeErrorKind};
pub use limits::Limits;
pub use reader::Reader;
pub use writer::Writer;
