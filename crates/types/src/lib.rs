#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod cell_val_num;
mod codes;
mod datatype;
mod on_disk;
mod version;

pub use cell_val_num::CellValNum;
pub use codes::{ArrayType, Compressor, DataOrder, EncryptionType, FilterType, Layout, ObjectType};
pub use datatype::{Datatype, DatatypeClass, Native};
pub use version::{FormatVersion, UnsupportedVersion};
