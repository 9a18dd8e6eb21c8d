#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;
mod scalar;

pub use filter::FloatScale;
pub use scalar::{Float, Integer};

/// Writes each float `F` as an integer `I`: `(x - offset) / scale` in the arithmetic of the float, rounded half away from
/// zero.
///
/// Floats and integers are little-endian. Source: the format's float-scale page and 11-filters, "SCALE_FLOAT".
///
/// # Panics
/// When there are not as many whole integers as whole floats, or bytes are left over.
pub fn scale<F: Float, I: Integer>(floats: &[u8], scale: f64, offset: f64, integers: &mut [u8]) {
    assert_eq!(elements(floats.len(), F::BYTES), elements(integers.len(), I::BYTES), "as many integers as floats");
    F::scale::<I>(floats, F::narrow(scale), F::narrow(offset), integers);
}

/// Undoes [`scale`], up to what it lost: `scale · integer + offset` in double precision, each step rounded alone.
///
/// # Panics
/// As [`scale`].
pub fn unscale<F: Float, I: Integer>(integers: &[u8], scale: f64, offset: f64, floats: &mut [u8]) {
    assert_eq!(elements(floats.len(), F::BYTES), elements(integers.len(), I::BYTES), "as many floats as integers");
    F::unscale::<I>(integers, scale, offset, floats);
}

/// How many elements there are.
fn elements(bytes: usize, element_bytes: usize) -> usize {
    assert!(bytes.is_multiple_of(element_bytes), "whole elements");
    bytes / element_bytes
}
