//! Test helpers of talavera.
#![forbid(unsafe_code)]
