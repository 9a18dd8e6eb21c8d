#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod chunking;
pub mod coordinates;
mod encryption_key;
mod error;
mod generic_tile;
mod pipeline;
mod registry;
mod source;
mod tile;

pub use encryption_key::EncryptionKey;
pub use error::{GenericTileError, PipelineError};
pub use generic_tile::{GenericTile, GenericTileHeader};
pub use pipeline::{EncodedPart, Pipeline, TileFormat, TypeFlow};
pub use source::TileSource;
pub use tile::{ChunkEntry, ChunkTable, is_empty_tile};
