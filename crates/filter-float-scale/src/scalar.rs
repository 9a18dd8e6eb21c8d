//! The arithmetic, one plain loop for each pair of float and integer.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the filter is lossy; every conversion is the reference's, out-of-range values included"
)]

/// A float that can be scaled: `f32` and `f64`.
pub trait Float: Copy + private::Sealed {
    /// Bytes of a float.
    const BYTES: usize;

    /// An option in the arithmetic of the float.
    #[doc(hidden)]
    fn narrow(option: f64) -> Self;

    /// Floats to integers.
    #[doc(hidden)]
    fn scale<I: Integer>(floats: &[u8], scale: Self, offset: Self, integers: &mut [u8]);

    /// Integers to floats.
    #[doc(hidden)]
    fn unscale<I: Integer>(integers: &[u8], scale: f64, offset: f64, floats: &mut [u8]);
}

/// An integer that floats are stored as: `i8` to `i64`.
pub trait Integer: Copy + private::Sealed {
    /// Bytes of an integer.
    const BYTES: usize;

    /// From each of the floats; `bytes` are as many.
    #[doc(hidden)]
    fn store(floats: impl Iterator<Item = f64>, bytes: &mut [u8]);

    /// As [`Integer::store`] in single precision.
    #[doc(hidden)]
    fn store_single(floats: impl Iterator<Item = f32>, bytes: &mut [u8]);

    /// The integers, converted to double precision.
    #[doc(hidden)]
    fn load(bytes: &[u8]) -> impl Iterator<Item = f64>;

    /// The integers, converted to single precision and then to double.
    #[doc(hidden)]
    fn load_single(bytes: &[u8]) -> impl Iterator<Item = f64>;
}

impl private::Sealed for f64 {}

impl Float for f64 {
    const BYTES: usize = 8;

    fn narrow(option: f64) -> Self {
        option
    }

    fn scale<I: Integer>(floats: &[u8], scale: Self, offset: Self, integers: &mut [u8]) {
        let scaled = floats.as_chunks().0.iter().map(|bytes| (Self::from_le_bytes(*bytes) - offset) / scale);
        I::store(scaled, integers);
    }

    fn unscale<I: Integer>(integers: &[u8], scale: f64, offset: f64, floats: &mut [u8]) {
        for (out, integer) in floats.as_chunks_mut().0.iter_mut().zip(I::load(integers)) {
            *out = (scale * integer + offset).to_le_bytes();
        }
    }
}

impl private::Sealed for f32 {}

impl Float for f32 {
    const BYTES: usize = 4;

    fn narrow(option: f64) -> Self {
        option as Self
    }

    fn scale<I: Integer>(floats: &[u8], scale: Self, offset: Self, integers: &mut [u8]) {
        let scaled = floats.as_chunks().0.iter().map(|bytes| (Self::from_le_bytes(*bytes) - offset) / scale);
        I::store_single(scaled, integers);
    }

    fn unscale<I: Integer>(integers: &[u8], scale: f64, offset: f64, floats: &mut [u8]) {
        for (out, integer) in floats.as_chunks_mut().0.iter_mut().zip(I::load_single(integers)) {
            *out = ((scale * integer + offset) as Self).to_le_bytes();
        }
    }
}

/// `via` is the integer that x86-64 converts to before the value is cut to its low bytes.
macro_rules! integers {
    ($($integer:ty, $double:ident, $single:ident;)*) => {$(
        impl private::Sealed for $integer {}

        impl Integer for $integer {
            const BYTES: usize = size_of::<Self>();

            fn store(floats: impl Iterator<Item = f64>, bytes: &mut [u8]) {
                for (out, x) in bytes.as_chunks_mut().0.iter_mut().zip(floats) {
                    *out = ($double(x) as Self).to_le_bytes();
                }
            }

            fn store_single(floats: impl Iterator<Item = f32>, bytes: &mut [u8]) {
                for (out, x) in bytes.as_chunks_mut().0.iter_mut().zip(floats) {
                    *out = ($single(x) as Self).to_le_bytes();
                }
            }

            fn load(bytes: &[u8]) -> impl Iterator<Item = f64> {
                bytes.as_chunks().0.iter().map(|bytes| Self::from_le_bytes(*bytes) as f64)
            }

            fn load_single(bytes: &[u8]) -> impl Iterator<Item = f64> {
                bytes.as_chunks().0.iter().map(|bytes| f64::from(Self::from_le_bytes(*bytes) as f32))
            }
        }
    )*};
}

/// Eight-bit and sixteen-bit integers are the low bytes of what the machine converts to, which has 32 bits.
#[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "one macro for integers that widen and narrow")]
mod integers {
    use super::{Integer, double_to_i32, double_to_i64, private, single_to_i32, single_to_i64};

    integers! {
        i8, double_to_i32, single_to_i32;
        i16, double_to_i32, single_to_i32;
        i32, double_to_i32, single_to_i32;
        i64, double_to_i64, single_to_i64;
    }
}

/// Rounds half away from zero and converts as x86-64 does: what is out of range, and what is no number, becomes the
/// smallest integer.
///
/// The largest number below one half, added away from zero, carries into the next integer exactly what is to be rounded
/// up; the conversion then cuts. Unlike the library's `round`, the compiler can do this for many numbers at once.
macro_rules! convert {
    ($($name:ident: $float:ty => $integer:ty, $least:literal, $end:literal;)*) => {$(
        #[inline]
        fn $name(x: $float) -> $integer {
            let below_half = 0.5 - <$float>::EPSILON / 4.0;
            let x = x + below_half.copysign(x);
            if x > $least && x < $end { x as $integer } else { <$integer>::MIN }
        }
    )*};
}

convert! {
    double_to_i32: f64 => i32, -2147483649.0, 2147483648.0;
    single_to_i32: f32 => i32, -2147483904.0, 2147483648.0;
    double_to_i64: f64 => i64, -9223372036854777856.0, 9223372036854775808.0;
    single_to_i64: f32 => i64, -9223373136366403584.0, 9223372036854775808.0;
}

mod private {
    /// Only this crate says what can be scaled and to what.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_away_from_zero() {
        let rounded = [-2.5, -1.5, -0.5, -0.49999999999999994, 0.49999999999999994, 0.5, 1.5, 2.5].map(double_to_i32);
        assert_eq!(rounded, [-3, -2, -1, 0, 0, 1, 2, 3]);
        assert_eq!([-2.5, -0.5, -0.49999997, 0.49999997, 0.5, 2.5].map(single_to_i32), [-3, -1, 0, 0, 1, 3]);
    }

    #[test]
    fn the_ends_of_the_range_are_exact() {
        assert_eq!(double_to_i32(2147483647.4), i32::MAX);
        assert_eq!(double_to_i32(2147483647.5), i32::MIN);
        assert_eq!(double_to_i32(-2147483648.4), i32::MIN);
        assert_eq!(single_to_i32(2147483520.0), 2147483520);
        assert_eq!(single_to_i32(2147483648.0), i32::MIN);
        assert_eq!(double_to_i64(9223372036854774784.0), 9223372036854774784);
        assert_eq!(double_to_i64(9223372036854775808.0), i64::MIN);
        assert_eq!(single_to_i64(9223371487098961920.0), 9223371487098961920);
        for strange in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            assert_eq!((double_to_i32(strange), double_to_i64(strange)), (i32::MIN, i64::MIN));
        }
    }

    proptest::proptest! {
        #[test]
        fn rounding_equals_that_of_the_standard_library(double: f64, single: f32, near in -1e6..1e6f64) {
            for x in [double, near, near / 1e3, near * 1e9] {
                if x.abs() < 9e18 {
                    proptest::prop_assert_eq!(double_to_i64(x), x.round() as i64);
                }
            }
            for x in [single, near as f32, (near / 1e3) as f32, (near * 1e9) as f32] {
                if x.abs() < 9e18 {
                    proptest::prop_assert_eq!(single_to_i64(x), x.round() as i64);
                }
            }
        }
    }
}
