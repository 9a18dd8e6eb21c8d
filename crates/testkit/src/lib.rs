#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod filters;
pub mod fixtures;
pub mod laws;
