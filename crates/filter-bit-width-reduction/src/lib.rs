#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod element;
mod filter;
mod windows;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the same loops compiled for wider vectors; every block says why it is sound")]
mod x86_64;

pub use element::{Element, Reduced};
pub use filter::BitWidthReduction;

/// Bytes of a window by default, a length for which compilers need no loops.
const USUAL_BYTES: usize = 256;

/// Stores a window in as few bytes as its elements need; the result says what they are to be understood by, and
/// [`Reduced::stored_bytes`] how many bytes of `stored` they take.
///
/// Bytes behind the last whole element count for nothing, but with them the whole window is stored as it is. Source: the
/// format's tile page and 11-filters, "BIT_WIDTH_REDUCTION".
///
/// # Panics
/// When `stored` is shorter than `window`.
pub fn reduce<T: Element>(window: &[u8], stored: &mut [u8]) -> Reduced<T> {
    #[cfg(target_arch = "x86_64")]
    return x86_64::reduce(window, stored);
    #[cfg(not(target_arch = "x86_64"))]
    reduce_plain(window, T::bounds(window), stored)
}

/// Undoes [`reduce`]: fills `window`.
///
/// Bits that are no width of an integer give zeros; the filter refuses them before.
///
/// # Panics
/// When `stored` is not as long as [`Reduced::stored_bytes`] says.
pub fn restore<T: Element>(stored: &[u8], reduced: Reduced<T>, window: &mut [u8]) {
    assert_eq!(stored.len(), reduced.stored_bytes(window.len()), "a window takes the bytes that its width says");
    #[cfg(target_arch = "x86_64")]
    x86_64::restore(stored, reduced, window);
    #[cfg(not(target_arch = "x86_64"))]
    restore_plain(stored, reduced, window);
}

#[inline(always)]
fn reduce_plain<T: Element>(window: &[u8], bounds: (T, T), stored: &mut [u8]) -> Reduced<T> {
    let reduced = T::fit(bounds);
    let stored_bytes = reduced.stored_bytes(window.len());
    let (stored, _) = stored.split_at_mut(stored_bytes);
    if reduced.is_raw(window.len()) {
        stored.copy_from_slice(window);
    } else {
        T::narrow(window, reduced, stored);
    }
    reduced
}

#[inline(always)]
fn restore_plain<T: Element>(stored: &[u8], reduced: Reduced<T>, window: &mut [u8]) {
    if reduced.is_raw(window.len()) {
        window.copy_from_slice(stored);
    } else {
        T::widen(stored, reduced, window);
    }
}
