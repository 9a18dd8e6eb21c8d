//! Writing cells: checked against the schema, ordered, cut into tiles, encoded in parallel, committed last.
//!
//! Every write makes one fragment. Its data files come first, then its metadata, then its commit file, each durable before
//! the next; until the commit file is there, no reader sees any of it, and dropping a write before that removes what it
//! left (21-semantics §8.5).

mod check;
mod data_file;
mod dense;
mod encode;
mod fragment;
mod in_order;
mod query;
mod sparse;
mod statistics;
mod stream;
mod tile;

pub use query::{ArrayWriter, Duplicates, WriteOptions};
pub use stream::{DenseStream, SparseStream};
