#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;
mod scalar;

use talavera_filter::running::xors;

pub use filter::Xor;

/// Writes the first element as it is and every other xor the one before.
///
/// Byte by byte, so bytes behind the last whole element are treated like the front of one more. `element_bytes` of 0
/// copies. Source: the format's XOR page and 11-filters, "XOR".
///
/// # Panics
/// When `differences` is not as long as `elements`.
pub fn xor(element_bytes: usize, elements: &[u8], differences: &mut [u8]) {
    assert_eq!(elements.len(), differences.len(), "as many bytes come out as go in");
    scalar::xor(element_bytes, elements, differences);
}

/// Undoes [`xor`].
///
/// # Panics
/// When `elements` is not as long as `differences`.
pub fn unxor(element_bytes: usize, differences: &[u8], elements: &mut [u8]) {
    assert_eq!(elements.len(), differences.len(), "as many bytes come out as go in");
    match element_bytes {
        0 => elements.copy_from_slice(differences),
        1 => xors::<1>(0, differences, elements),
        2 => xors::<2>(0, differences, elements),
        4 => xors::<4>(0, differences, elements),
        8 => xors::<8>(0, differences, elements),
        _ => scalar::unxor(element_bytes, differences, elements),
    }
}
