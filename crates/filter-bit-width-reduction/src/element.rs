//! The integers that can be reduced: one plain loop for each pair of element and stored width.
//!
//! All loops run over arrays of known size without an early exit, so the compiler takes many elements at once.

use std::fmt::Debug;

/// What the elements of a window are stored by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduced<T> {
    /// The smallest element, from which all are counted. Zero where the window is stored as it is for its range.
    pub offset: T,
    /// Bits of a stored element: 8, 16, 32 or 64. From the element's own on, the window is stored as it is.
    pub bits: u8,
}

/// An integer that can be reduced: `i16` to `u64`.
pub trait Element: Copy + Debug + Default + PartialEq + private::Sealed {
    /// Bytes of an element.
    const BYTES: usize;

    /// Whether this is a width that elements can be reduced to, or one that leaves them as they are.
    fn is_width(bits: u8) -> bool;

    /// An element from its bytes, at the front of some.
    #[doc(hidden)]
    fn read(bytes: &[u8]) -> Option<Self>;

    /// The element's bytes, to as many.
    #[doc(hidden)]
    fn write(self, bytes: &mut [u8]);

    /// Whether elements may be below zero.
    #[doc(hidden)]
    const IS_SIGNED: bool;

    /// The smallest and the largest element of a window; of none, the largest and the smallest of the type.
    #[doc(hidden)]
    fn bounds(window: &[u8]) -> (Self, Self);

    /// The width that all distances from the smallest element to the largest fit into.
    #[doc(hidden)]
    fn fit(bounds: (Self, Self)) -> Reduced<Self>;

    /// Elements to distances.
    #[doc(hidden)]
    fn narrow(window: &[u8], reduced: Reduced<Self>, stored: &mut [u8]);

    /// Distances to elements.
    #[doc(hidden)]
    fn widen(stored: &[u8], reduced: Reduced<Self>, window: &mut [u8]);
}

impl<T: Element> Reduced<T> {
    /// Whether a window of so many bytes is stored as it is.
    #[must_use]
    pub fn is_raw(&self, window_bytes: usize) -> bool {
        usize::from(self.bits) >= 8 * T::BYTES || !window_bytes.is_multiple_of(T::BYTES)
    }

    /// The bytes that a window of so many bytes is stored in.
    #[must_use]
    pub fn stored_bytes(&self, window_bytes: usize) -> usize {
        if self.is_raw(window_bytes) { window_bytes } else { window_bytes / T::BYTES * usize::from(self.bits / 8) }
    }
}

/// The widths that distances may have and the integers that hold them. The reference stores those of signed elements as
/// signed numbers, so they must stay below half the range of that type.
macro_rules! element {
    ($element:ty, [$($bits:literal => $stored:ty),*]) => {
        impl private::Sealed for $element {}

        impl Element for $element {
            const BYTES: usize = size_of::<Self>();
            const IS_SIGNED: bool = Self::MIN != 0;

            #[inline(always)]
            fn is_width(bits: u8) -> bool {
                usize::from(bits) >= 8 * Self::BYTES || [$($bits),*].contains(&bits)
            }

            #[inline(always)]
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk().copied().map(Self::from_le_bytes)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline(always)]
            fn bounds(window: &[u8]) -> (Self, Self) {
                let (mut min, mut max) = (Self::MAX, Self::MIN);
                for bytes in window.as_chunks().0 {
                    let x = Self::from_le_bytes(*bytes);
                    min = min.min(x);
                    max = max.max(x);
                }
                (min, max)
            }

            #[inline(always)]
            fn fit((min, max): (Self, Self)) -> Reduced<Self> {
                // One more than the range, as the reference counts, must be a number of the type.
                let Some(values) = max.checked_sub(min).and_then(|range| range.checked_add(1)) else {
                    return Reduced { offset: 0, bits: 8 * size_of::<Self>() as u8 };
                };
                $(
                    if <$stored>::try_from(values).is_ok() {
                        return Reduced { offset: min, bits: $bits };
                    }
                )*
                Reduced { offset: min, bits: 8 * size_of::<Self>() as u8 }
            }

            #[inline(always)]
            fn narrow(window: &[u8], reduced: Reduced<Self>, stored: &mut [u8]) {
                match reduced.bits {
                    $(
                        $bits => {
                            for (out, bytes) in stored.as_chunks_mut::<{ size_of::<$stored>() }>().0.iter_mut().zip(window.as_chunks().0) {
                                let distance = Self::from_le_bytes(*bytes).wrapping_sub(reduced.offset);
                                *out = (distance as $stored).to_le_bytes();
                            }
                        }
                    )*
                    _ => stored.fill(0),
                }
            }

            #[inline(always)]
            fn widen(stored: &[u8], reduced: Reduced<Self>, window: &mut [u8]) {
                match reduced.bits {
                    $(
                        $bits => {
                            for (out, bytes) in window.as_chunks_mut().0.iter_mut().zip(stored.as_chunks().0) {
                                let distance = Self::from(<$stored>::from_le_bytes(*bytes));
                                *out = reduced.offset.wrapping_add(distance).to_le_bytes();
                            }
                        }
                    )*
                    _ => window.fill(0),
                }
            }
        }
    };
}

/// The loops; a distance fits into the stored type by `fit`, and any other offset and width only come from outside.
#[expect(clippy::cast_possible_truncation, reason = "the width of an integer is below 256; distances fit their stored type")]
mod elements {
    use super::{Element, Reduced, private};

    element!(i16, [8 => i8]);
    element!(u16, [8 => u8]);
    element!(i32, [8 => i8, 16 => i16]);
    element!(u32, [8 => u8, 16 => u16]);
    element!(i64, [8 => i8, 16 => i16, 32 => i32]);
    element!(u64, [8 => u8, 16 => u16, 32 => u32]);
}

mod private {
    /// Only this crate says which integers can be reduced.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit<const N: usize, T: Element>(elements: [[u8; N]; 2]) -> (T, u8) {
        let reduced = T::fit(T::bounds(&elements.concat()));
        (reduced.offset, reduced.bits)
    }

    #[test]
    fn signed_distances_stay_below_half_the_stored_range_as_in_the_reference() {
        assert_eq!(fit([0i32.to_le_bytes(), 126i32.to_le_bytes()]), (0i32, 8));
        assert_eq!(fit([0i32.to_le_bytes(), 127i32.to_le_bytes()]), (0i32, 16));
        assert_eq!(fit([(-5i16).to_le_bytes(), 121i16.to_le_bytes()]), (-5i16, 8));
        assert_eq!(fit([(-5i16).to_le_bytes(), 122i16.to_le_bytes()]), (-5i16, 16));
        assert_eq!(fit([0u32.to_le_bytes(), 254u32.to_le_bytes()]), (0u32, 8));
        assert_eq!(fit([0u32.to_le_bytes(), 255u32.to_le_bytes()]), (0u32, 16));
    }

    #[test]
    fn a_range_that_overflows_has_no_offset() {
        assert_eq!(fit([i32::MIN.to_le_bytes(), i32::MAX.to_le_bytes()]), (0i32, 32));
        assert_eq!(fit([(-2i64).to_le_bytes(), i64::MAX.to_le_bytes()]), (0i64, 64));
        assert_eq!(fit([0u64.to_le_bytes(), u64::MAX.to_le_bytes()]), (0u64, 64));
        assert_eq!(i32::fit(i32::bounds(&[])), Reduced { offset: 0, bits: 32 });
    }
}
