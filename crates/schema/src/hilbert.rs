//! The Hilbert order of sparse cells (20-semantics §2.3).
//!
//! Each coordinate becomes a bucket, and the buckets of a cell its place on the Hilbert curve. Places are never stored;
//! every reader calculates them again, so they are reproduced to the last bit, quirks included.
//!
//! ```
//! use talavera_schema::hilbert::Curve;
//!
//! let curve = Curve::new(2).unwrap();
//! let mut buckets = [500.0, 500.0].map(|value| curve.bucket_of_number(value, 0.0, 1000.0));
//! assert_eq!(curve.index(&mut buckets), 768_614_336_404_564_650);
//! ```

use crate::{Coordinate, Dimension};

/// The most dimensions that an array in Hilbert order has.
pub const MAX_DIMENSIONS: usize = 16;

/// A Hilbert curve through a cube of as many buckets as 63 bits can number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curve {
    bits: u32,
}

impl Curve {
    /// The curve through `dimensions` dimensions; `None` unless they are 1 to 16.
    #[must_use]
    pub fn new(dimensions: usize) -> Option<Self> {
        if dimensions > MAX_DIMENSIONS {
            return None;
        }
        let dimensions = u32::try_from(dimensions).ok()?;
        63u32.checked_div(dimensions).map(|bits| Self { bits })
    }

    /// Bits of a bucket number.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The largest bucket number.
    #[must_use]
    pub fn max_bucket(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// The bucket of a coordinate; `None` where it is not of the dimension's kind.
    #[must_use]
    pub fn bucket(self, dimension: &Dimension, coordinate: Coordinate<'_>) -> Option<u64> {
        if let Coordinate::String(bytes) = coordinate {
            return dimension.is_var().then(|| self.bucket_of_string(bytes));
        }
        let domain = dimension.domain.as_ref()?;
        Some(self.bucket_of_number(coordinate.to_f64()?, domain.low().to_f64()?, domain.high().to_f64()?))
    }

    /// The bucket of a number in a domain from `low` to `high`, all in 64-bit floats.
    ///
    /// In one dimension the top of the domain gets 2⁶³, one more than [`Curve::max_bucket`]. A number that is not in the
    /// domain, or a domain of one value, gets the nearest `u64` of the quotient, NaN becoming 0.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the reference calculates in floats and takes the whole part"
    )]
    pub fn bucket_of_number(self, value: f64, low: f64, high: f64) -> u64 {
        ((value - low) / (high - low) * self.max_bucket() as f64).trunc() as u64
    }

    /// The bucket of a string: the highest bits of its first eight bytes.
    ///
    /// The reference adds bytes as signed characters, so that a byte from 0x80 on sets all bits above it.
    #[must_use]
    pub fn bucket_of_string(self, bytes: &[u8]) -> u64 {
        let padded = bytes.iter().copied().chain(std::iter::repeat(0)).take(8);
        let first_eight = padded.fold(0u64, |number, byte| number << 8 | i64::from(byte.cast_signed()).cast_unsigned());
        first_eight >> 64u32.saturating_sub(self.bits).min(63)
    }

    /// The place on the curve of a cell, given by one bucket for each dimension; the buckets are overwritten.
    ///
    /// The method is Skilling's: turn the buckets into the transposed place, then interleave its bits.
    #[must_use]
    pub fn index(self, buckets: &mut [u64]) -> u64 {
        // Most curves run through two or three dimensions, and loops of a known length have no branches.
        if let Ok(buckets) = <&mut [u64; 2]>::try_from(&mut *buckets) {
            self.transpose(buckets);
            let [first, second] = buckets.map(|bucket| spread_by_two(bucket & self.max_bucket()));
            return first << 1 | second;
        }
        if let Ok(buckets) = <&mut [u64; 3]>::try_from(&mut *buckets) {
            self.transpose(buckets);
            let [first, second, third] = buckets.map(|bucket| spread_by_three(bucket & self.max_bucket()));
            return first << 2 | second << 1 | third;
        }
        self.transpose(buckets);
        self.interleave(buckets)
    }

    /// The bits of all buckets, the highest of each first.
    fn interleave(self, buckets: &[u64]) -> u64 {
        let bits_from_the_top = (0..self.bits).rev();
        bits_from_the_top
            .flat_map(|bit| buckets.iter().map(move |bucket| bucket >> bit & 1))
            .fold(0, |place, bit| place << 1 | bit)
    }

    #[inline]
    fn transpose(self, buckets: &mut [u64]) {
        let Some((first, others)) = buckets.split_first_mut() else { return };
        for bit in (0..self.bits).rev() {
            let p = (1u64 << bit) - 1;
            // All ones where the bit is set: it is as often as not, so a branch would be guessed wrong half of the time.
            let set = |bucket: u64| (bucket >> bit & 1).wrapping_neg();
            // The first bucket exchanges with itself, so that only the inversion is left.
            *first ^= p & set(*first);
            for other in others.iter_mut() {
                let inverts = set(*other);
                let exchanged = (*first ^ *other) & p & !inverts;
                *first ^= p & inverts | exchanged;
                *other ^= exchanged;
            }
        }
        let mut before = *first;
        for other in others.iter_mut() {
            *other ^= before;
            before = *other;
        }
        self.undo_excess(buckets);
    }

    fn undo_excess(self, buckets: &mut [u64]) {
        let Some((last, others)) = buckets.split_last_mut() else { return };
        let mut t = *last;
        let mut shift = 1;
        while shift < self.bits {
            *last ^= *last >> shift;
            shift *= 2;
        }
        t ^= *last;
        for other in others {
            *other ^= t;
        }
    }
}

/// Puts a zero before each of 32 bits.
fn spread_by_two(bits: u64) -> u64 {
    let spread = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let spread = (spread | spread << 2) & 0x3333_3333_3333_3333;
    (spread | spread << 1) & 0x5555_5555_5555_5555
}

/// Puts two zeros before each of 21 bits.
fn spread_by_three(bits: u64) -> u64 {
    let spread = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    let spread = (spread | spread << 16) & 0x001f_0000_ff00_00ff;
    let spread = (spread | spread << 8) & 0x100f_00f0_0f00_f00f;
    let spread = (spread | spread << 4) & 0x10c3_0c30_c30c_30c3;
    (spread | spread << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread_as_they_are_interleaved() {
        let numbers = (1..1000_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for number in numbers.chain([0, u64::MAX]) {
            let (two, three) = (Curve { bits: 31 }, Curve { bits: 21 });
            let low = number & two.max_bucket();
            assert_eq!(spread_by_two(low), two.interleave(&[0, low]));
            let low = number & three.max_bucket();
            assert_eq!(spread_by_three(low), three.interleave(&[0, 0, low]));
        }
    }

    /// Places that libtiledb gives (20-semantics §2.3).
    #[test]
    fn places_are_those_of_the_reference() {
        let check =
            |bits, buckets: [u64; 2], expected| assert_eq!(Curve { bits }.index(&mut buckets.clone()), expected, "{buckets:?}");
        check(4, [0, 0], 0);
        check(4, [1, 0], 1);
        check(4, [1, 1], 2);
        check(4, [0, 1], 3);
        check(4, [2, 3], 9);
        check(4, [15, 0], 255);
        check(4, [15, 15], 170);
    }

    #[test]
    fn numbers_are_spread_over_their_domain() {
        let curve = Curve::new(2).unwrap();
        assert_eq!((curve.bits(), curve.max_bucket()), (31, 0x7fff_ffff));
        assert_eq!(curve.bucket_of_number(1.0, 0.0, 1000.0), 2_147_483);
        let check = |cell: [f64; 2], expected| {
            let mut buckets = cell.map(|value| curve.bucket_of_number(value, 0.0, 1000.0));
            assert_eq!(curve.index(&mut buckets), expected, "{cell:?}");
        };
        check([1.0, 0.0], 4_402_074_108_239);
        check([0.0, 1.0], 16_127_513_127_919);
        check([500.0, 500.0], 768_614_336_404_564_650);
        check([1000.0, 1000.0], 3_074_457_345_618_258_602);
        check([1000.0, 0.0], 4_611_686_018_427_387_903);
    }

    #[test]
    fn three_dimensions_have_twenty_one_bits_each() {
        let curve = Curve::new(3).unwrap();
        let cell = [(50.0, 0.0, 99.0), (1234.0, 0.0, 9999.0), (9.0, 5.0, 17.0)];
        let mut buckets = cell.map(|(value, low, high)| curve.bucket_of_number(value, low, high));
        assert_eq!(buckets, [1_059_167, 258_814, 699_050]);
        assert_eq!(curve.index(&mut buckets), 8_584_798_569_834_433_195);
    }

    #[test]
    fn strings_give_their_first_eight_bytes() {
        let curve = Curve::new(2).unwrap();
        let mut buckets = [curve.bucket_of_string(b"a"), curve.bucket_of_string(b"cat")];
        assert_eq!(buckets, [813_694_976, 833_665_536]);
        assert_eq!(curve.index(&mut buckets), 721_014_649_541_361_664);
        assert_eq!(curve.bucket_of_string(b""), 0);
        assert_eq!(curve.bucket_of_string(b"abcdefgh"), curve.bucket_of_string(b"abcdefghi"));
    }

    #[test]
    fn a_high_byte_in_a_string_sets_all_bits_above_it() {
        let curve = Curve::new(2).unwrap();
        assert_eq!(curve.bucket_of_string(b"a\x80"), 0x7fc0_0000);
        assert_eq!(curve.bucket_of_string(b"\0\0\0\0\0\0\0\xff"), 0x7fff_ffff);
    }

    #[test]
    fn one_dimension_reaches_one_bucket_too_many() {
        let curve = Curve::new(1).unwrap();
        assert_eq!(curve.bucket_of_number(9.0, 0.0, 9.0), 1 << 63);
        assert_eq!(curve.index(&mut [5]), 5);
    }

    #[test]
    fn odd_numbers_have_buckets_too() {
        let curve = Curve::new(2).unwrap();
        assert_eq!(curve.bucket_of_number(3.0, 3.0, 3.0), 0);
        assert_eq!(curve.bucket_of_number(f64::NAN, 0.0, 1.0), 0);
        assert_eq!(curve.bucket_of_number(f64::INFINITY, 0.0, 1.0), u64::MAX);
        assert_eq!(curve.index(&mut []), 0);
        assert!(Curve::new(0).is_none() && Curve::new(17).is_none());
    }
}
