//! Benchmarks of talavera: `cargo bench -p talavera-benches`, a file per layer under `benches/`.
//!
//! Throughput is in bytes of cells, sizes and values are fixed, and names read like `bitshuffle/u32/1MiB/decode`. To
//! run some of them, give a part of the name: `cargo bench -p talavera-benches -- bitshuffle`. What they run on is here,
//! for `cargo xtask compare` has rows of the same.

#![forbid(unsafe_code)]

mod cells;
mod codecs;
pub mod subjects;

pub use cells::Cells;
pub use codecs::Codec;
