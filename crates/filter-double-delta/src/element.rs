//! The integers that a datatype's bytes are taken for: 11-filters, "DOUBLE_DELTA".

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
