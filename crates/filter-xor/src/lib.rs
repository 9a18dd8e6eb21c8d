#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "a vector kernel; the one block says why it is sound")]
mod x86_64;

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
        1 => unxor_sized::<1>(differences, elements),
        2 => unxor_sized::<2>(differences, elements),
        4 => unxor_sized::<4>(differences, elements),
        8 => unxor_sized::<8>(differences, elements),
        _ => scalar::unxor(element_bytes, differences, elements),
    }
}

fn unxor_sized<const S: usize>(differences: &[u8], elements: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    x86_64::unxor::<S>(differences, elements);
    #[cfg(not(target_arch = "x86_64"))]
    scalar::unxor_words::<S>(differences, elements, 0);
}
