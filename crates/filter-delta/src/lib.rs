#![forbid(unsafe_code)]
//! Skeleton.
