//! Bit streams in 64-bit words: the layout that the double-delta filter stores.
//!
//! Bits fill a word from bit 63 down, a value may straddle two words, and words are stored little-endian.

use crate::{DecodeError, Reader, Writer};

/// Takes values of up to 64 bits from a stream of words.
#[derive(Debug)]
pub struct BitReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    word: u64,
    left: u32,
}

impl<'r, 'a> BitReader<'r, 'a> {
    /// A stream whose first word is next in `reader`; words are taken from it as they are needed.
    #[must_use]
    pub fn new(reader: &'r mut Reader<'a>) -> Self {
        Self { reader, word: 0, left: 0 }
    }

    /// The next `bits` bits, 0 to 64, as a number, most significant first.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`](crate::DecodeErrorKind::Truncated) when the words end before.
    #[inline]
    pub fn bits(&mut self, bits: u32, field: &'static str) -> Result<u64, DecodeError> {
        let bits = bits.min(64);
        if bits <= self.left {
            return Ok(self.take(bits));
        }
        let high_bits = self.left;
        let high = self.take(high_bits);
        self.word = self.reader.u64(field)?;
        self.left = 64;
        let low_bits = bits - high_bits;
        Ok(high.checked_shl(low_bits).unwrap_or(0) | self.take(low_bits))
    }

    #[inline]
    fn take(&mut self, bits: u32) -> u64 {
        let value = self.word.checked_shr(64 - bits).unwrap_or(0);
        self.word = self.word.checked_shl(bits).unwrap_or(0);
        self.left -= bits;
        value
    }
}

/// Puts values of up to 64 bits into a stream of words.
#[derive(Debug)]
pub struct BitWriter<'w> {
    writer: &'w mut Writer,
    word: u64,
    used: u32,
}

impl<'w> BitWriter<'w> {
    /// A stream whose words are appended to `writer`.
    #[must_use]
    pub fn new(writer: &'w mut Writer) -> Self {
        Self { writer, word: 0, used: 0 }
    }

    /// Appends the lowest `bits` bits of `value`, 0 to 64, most significant first.
    #[inline]
    pub fn bits(&mut self, value: u64, bits: u32) {
        let bits = bits.min(64);
        if bits == 0 {
            return;
        }
        let value = value & u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        let free = 64 - self.used;
        if bits < free {
            self.word |= value << (free - bits);
            self.used += bits;
            return;
        }
        let rest = bits - free;
        self.writer.u64(self.word | value.checked_shr(rest).unwrap_or(0));
        self.word = value.checked_shl(64 - rest).unwrap_or(0);
        self.used = rest;
    }

    /// Ends the stream; the last word is filled with zeros.
    pub fn finish(self) {
        if self.used > 0 {
            self.writer.u64(self.word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_fill_a_little_endian_word_from_the_top() {
        let mut w = Writer::new();
        let mut bits = BitWriter::new(&mut w);
        bits.bits(1, 1);
        bits.bits(0b01, 2);
        bits.finish();
        assert_eq!(w.into_vec(), [0, 0, 0, 0, 0, 0, 0, 0b1010_0000]);
    }

    proptest::proptest! {
        #[test]
        fn what_was_written_is_read(values: Vec<(u64, u8)>) {
            let values: Vec<(u64, u32)> = values.into_iter().map(|(value, bits)| (value, u32::from(bits % 65))).collect();
            let mut w = Writer::new();
            let mut out = BitWriter::new(&mut w);
            for &(value, bits) in &values {
                out.bits(value, bits);
            }
            out.finish();
            let bytes = w.into_vec();
            let total: u64 = values.iter().map(|(_, bits)| u64::from(*bits)).sum();
            proptest::prop_assert_eq!(bytes.len() as u64, total.div_ceil(64) * 8);
            let mut r = Reader::new(&bytes);
            let mut input = BitReader::new(&mut r);
            for (value, bits) in values {
                let mask = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
                proptest::prop_assert_eq!(input.bits(bits, "value").unwrap(), value & mask);
            }
        }
    }
}
