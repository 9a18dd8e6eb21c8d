//! The integers that a datatype's bytes are taken for: 11-filters, "DOUBLE_DELTA".

use talavera_filter::FilterError;
use talavera_types::{Datatype, FilterType};

/// An integer of `N` bytes.
pub(crate) trait Element<const N: usize>: Copy {
    fn from_bytes(bytes: [u8; N]) -> Self;

    /// The difference from `other`, where it fits into 64 bits with a sign.
    fn minus(self, other: Self) -> Option<i64>;
}

macro_rules! elements {
    ($($type:ty = $bytes:literal: $minus:expr;)*) => {$(
        impl Element<$bytes> for $type {
            #[inline]
            fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self::from_le_bytes(bytes)
            }

            #[inline]
            fn minus(self, other: Self) -> Option<i64> {
                $minus(self, other)
            }
        }
    )*};
}

elements! {
    i8 = 1: |a, b| Some(i64::from(a) - i64::from(b));
    u8 = 1: |a, b| Some(i64::from(a) - i64::from(b));
    i16 = 2: |a, b| Some(i64::from(a) - i64::from(b));
    u16 = 2: |a, b| Some(i64::from(a) - i64::from(b));
    i32 = 4: |a, b| Some(i64::from(a) - i64::from(b));
    u32 = 4: |a, b| Some(i64::from(a) - i64::from(b));
    i64 = 8: i64::checked_sub;
    u64 = 8: |a, b| i64::try_from(i128::from(a) - i128::from(b)).ok();
}

/// Bytes of an element: those of a value, but 1 for text in any encoding. Floats have no differences.
pub(crate) fn element_bytes(datatype: Datatype) -> Option<usize> {
    match datatype {
        _ if datatype.is_float() => None,
        _ if datatype.is_string() => Some(1),
        _ => Some(datatype.size()),
    }
}

#[cold]
pub(crate) fn not_integers(datatype: Datatype) -> FilterError {
    FilterError::unsupported(FilterType::DoubleDelta, format!("it does not take {datatype}"))
}
