//! The integers that have deltas: one plain loop each way.

use std::fmt::Debug;

use talavera_filter::running::sums;

/// An integer that has deltas: `i8` to `u64`.
pub trait Element: Copy + Debug + Default + PartialEq + private::Sealed {
    /// Bytes of an element.
    const BYTES: usize;

    /// An element from its bytes, at the front of some.
    #[doc(hidden)]
    fn read(bytes: &[u8]) -> Option<Self>;

    /// The element's bytes, appended.
    #[doc(hidden)]
    fn append_to(self, bytes: &mut Vec<u8>);

    /// Elements to distances; none when they descend.
    #[doc(hidden)]
    fn deltas(window: &[u8], stored: &mut [u8]) -> Option<Self>;

    /// Distances to elements.
    #[doc(hidden)]
    fn restore(first: Self, stored: &[u8], window: &mut [u8]);
}

macro_rules! elements {
    ($($element:ty)*) => {$(
        impl private::Sealed for $element {}

        impl Element for $element {
            const BYTES: usize = size_of::<Self>();

            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk().copied().map(Self::from_le_bytes)
            }

            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn deltas(window: &[u8], stored: &mut [u8]) -> Option<Self> {
                let Some((first, later)) = window.as_chunks().0.split_first() else {
                    return Some(0);
                };
                let (stored, _) = stored.as_chunks_mut();
                let (mut slots, mut descends) = (stored.iter_mut(), false);
                if let Some(slot) = slots.next() {
                    *slot = [0; size_of::<Self>()];
                }
                // Every element stands in memory beside the one before, so no step waits for another.
                for ((out, bytes), before) in slots.zip(later).zip(window.as_chunks().0) {
                    let (x, before) = (Self::from_le_bytes(*bytes), Self::from_le_bytes(*before));
                    descends |= x < before;
                    *out = x.wrapping_sub(before).to_le_bytes();
                }
                (!descends).then_some(Self::from_le_bytes(*first))
            }

            fn restore(first: Self, stored: &[u8], window: &mut [u8]) {
                sums::<{ size_of::<Self>() }>(first as u64, stored, window);
            }
        }
    )*};
}

#[allow(clippy::cast_sign_loss, clippy::cast_lossless, trivial_numeric_casts, reason = "one macro for integers of both signs")]
mod elements {
    use super::{Element, private, sums};

    elements! { i8 u8 i16 u16 i32 u32 i64 u64 }
}

mod private {
    /// Only this crate says which integers have deltas.
    pub trait Sealed {}
}
