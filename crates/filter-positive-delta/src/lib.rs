#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod element;
mod filter;

pub use element::Element;
pub use filter::PositiveDelta;

/// Writes each element's distance from the one before, the first one's as zero, and gives the first element back; for an
/// empty window, zero.
///
/// A window with bytes behind its last whole element is copied. Source: the format's tile page and 11-filters,
/// "POSITIVE_DELTA".
///
/// Gives nothing back when an element is below the one before; what `stored` holds then has no meaning.
///
/// # Panics
/// When `stored` is not as long as `window`.
#[must_use]
pub fn deltas<T: Element>(window: &[u8], stored: &mut [u8]) -> Option<T> {
    assert_eq!(window.len(), stored.len(), "as many bytes come out as go in");
    if window.len().is_multiple_of(T::BYTES) {
        return T::deltas(window, stored);
    }
    stored.copy_from_slice(window);
    Some(T::read(window).unwrap_or_default())
}

/// Undoes [`deltas`]: adds up, wrapping around at the end of the type.
///
/// # Panics
/// When `window` is not as long as `stored`.
pub fn restore<T: Element>(first: T, stored: &[u8], window: &mut [u8]) {
    assert_eq!(window.len(), stored.len(), "as many bytes come out as go in");
    if window.len().is_multiple_of(T::BYTES) { T::restore(first, stored, window) } else { window.copy_from_slice(stored) }
}
