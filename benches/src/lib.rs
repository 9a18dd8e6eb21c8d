//! Benchmarks of talavera: `cargo bench -p talavera-benches`, a file per layer under `benches/`.
//!
//! Throughput is in bytes of cells, sizes and values are fixed, and names read like `bitshuffle/u32/1MiB/decode`. To
//! run some of them, give a part of the name: `cargo bench -p talavera-benches -- bitshuffle`.
