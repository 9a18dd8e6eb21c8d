//! Benchmarks of talavera.
