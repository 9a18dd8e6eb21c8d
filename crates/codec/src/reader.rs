//! The cursor that every decoder reads from.

use crate::{DecodeError, DecodeErrorKind};

/// A cursor over bytes from outside: it splits the front off and knows its offset.
///
/// Numbers are little-endian unless the method says otherwise. Every method takes the name of the field it reads, for
/// the error; after an error the cursor stands where it stood before.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    offset: u64,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $from:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`DecodeErrorKind::Truncated`] when the bytes end before.
        #[inline]
        pub fn $name(&mut self, field: &'static str) -> Result<$type, DecodeError> {
            Ok(<$type>::$from(*self.array(field)?))
        }
    )*};
}

impl<'a> Reader<'a> {
    /// A cursor at the front of `bytes`, whose offsets count from there.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::at(bytes, 0)
    }

    /// A cursor at the front of `bytes`, which themselves begin at byte `offset` of what errors should count from.
    #[must_use]
    pub fn at(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, offset }
    }

    /// Bytes from the start to the cursor.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether no byte is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// All that is left, without moving.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] when fewer are left.
    #[inline]
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<&'a [u8; N], DecodeError> {
        let Some((head, rest)) = self.rest.split_first_chunk() else {
            return Err(self.truncated(field, N as u64));
        };
        self.advance(rest);
        Ok(head)
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] when fewer are left.
    #[inline]
    pub fn bytes(&mut self, len: u64, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let split = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((head, rest)) = split else {
            return Err(self.truncated(field, len));
        };
        self.advance(rest);
        Ok(head)
    }

    numbers! {
        /// One byte.
        u8: u8 = from_le_bytes;
        /// A 16-bit number.
        u16: u16 = from_le_bytes;
        /// A 32-bit number.
        u32: u32 = from_le_bytes;
        /// A 64-bit number.
        u64: u64 = from_le_bytes;
        /// A signed 32-bit number.
        i32: i32 = from_le_bytes;
        /// A signed 64-bit number.
        i64: i64 = from_le_bytes;
        /// A 32-bit float.
        f32: f32 = from_le_bytes;
        /// A 64-bit float.
        f64: f64 = from_le_bytes;
        /// A big-endian 16-bit number.
        u16_be: u16 = from_be_bytes;
    }

    /// A big-endian number of `width` bytes, 1 to 8.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Invalid`] for another width, [`DecodeErrorKind::Truncated`] when the bytes end before.
    #[inline]
    pub fn uint_be(&mut self, width: u8, field: &'static str) -> Result<u64, DecodeError> {
        if !(1..=8).contains(&width) {
            return Err(self.invalid(field, width.into(), "a width of 1 to 8 bytes"));
        }
        let bytes = self.bytes(width.into(), field)?;
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// A byte that is 0 or 1.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Invalid`] for any other byte, [`DecodeErrorKind::Truncated`] when there is none.
    pub fn bool(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        let start = self.clone();
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            found => {
                *self = start;
                Err(self.invalid(field, found.into(), "0 or 1"))
            }
        }
    }

    /// Bytes behind their length as a 32-bit number.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] when fewer are left.
    pub fn bytes_u32(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let len = self.u32(field)?;
        self.bytes(len.into(), field)
    }

    /// Bytes behind their length as a 64-bit number.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] when fewer are left.
    pub fn bytes_u64(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let len = self.u64(field)?;
        self.bytes(len, field)
    }

    /// UTF-8 text behind its length in bytes as a 32-bit number.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] when fewer bytes are left, [`DecodeErrorKind::NotUtf8`] when they are no text.
    pub fn string_u32(&mut self, field: &'static str) -> Result<String, DecodeError> {
        let offset = self.offset;
        text(self.bytes_u32(field)?, field, offset)
    }

    /// UTF-8 text behind its length in bytes as a 64-bit number.
    ///
    /// # Errors
    /// As [`Reader::string_u32`].
    pub fn string_u64(&mut self, field: &'static str) -> Result<String, DecodeError> {
        let offset = self.offset;
        text(self.bytes_u64(field)?, field, offset)
    }

    /// A 32-bit number of items, each of at least `min_item_bytes`, that the bytes left can hold.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Count`] when they cannot, so the number is safe to reserve memory by.
    pub fn count_u32(&mut self, field: &'static str, min_item_bytes: u64) -> Result<usize, DecodeError> {
        let count = self.u32(field)?;
        self.check_count(field, count.into(), min_item_bytes)
    }

    /// A 64-bit number of items, each of at least `min_item_bytes`, that the bytes left can hold.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Count`] when they cannot, so the number is safe to reserve memory by.
    pub fn count_u64(&mut self, field: &'static str, min_item_bytes: u64) -> Result<usize, DecodeError> {
        let count = self.u64(field)?;
        self.check_count(field, count, min_item_bytes)
    }

    /// Whether `count` items of at least `min_item_bytes` can be in the bytes left; if so, the count as a length.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Count`] when they cannot.
    pub fn check_count(&self, field: &'static str, count: u64, min_item_bytes: u64) -> Result<usize, DecodeError> {
        let left = self.rest.len() as u64;
        let item_bytes = min_item_bytes.max(1);
        match usize::try_from(count) {
            Ok(length) if count <= left / item_bytes => Ok(length),
            _ => Err(DecodeErrorKind::Count { count, item_bytes, left }.at(field, self.offset)),
        }
    }

    /// `count` little-endian 64-bit numbers.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Count`] when fewer are left.
    pub fn u64s(&mut self, count: u64, field: &'static str) -> Result<Vec<u64>, DecodeError> {
        let count = self.check_count(field, count, 8)?;
        let (numbers, _) = self.bytes(count as u64 * 8, field)?.as_chunks::<8>();
        Ok(numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    /// A cursor over the next `len` bytes only, with the same offsets; this one moves behind them.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] when fewer are left.
    pub fn split(&mut self, len: u64, field: &'static str) -> Result<Reader<'a>, DecodeError> {
        let offset = self.offset;
        Ok(Reader::at(self.bytes(len, field)?, offset))
    }

    /// Ends a structure.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Trailing`] when bytes are left.
    pub fn finish(self, field: &'static str) -> Result<(), DecodeError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(DecodeErrorKind::Trailing { left: self.rest.len() as u64 }.at(field, self.offset))
    }

    /// The error for a number at the cursor that stands for nothing.
    #[cold]
    #[must_use]
    pub fn invalid(&self, field: &'static str, found: u64, expected: &'static str) -> DecodeError {
        DecodeErrorKind::Invalid { found, expected }.at(field, self.offset)
    }

    #[cold]
    fn truncated(&self, field: &'static str, needed: u64) -> DecodeError {
        DecodeErrorKind::Truncated { needed, left: self.rest.len() as u64 }.at(field, self.offset)
    }

    #[inline]
    fn advance(&mut self, rest: &'a [u8]) {
        self.offset += (self.rest.len() - rest.len()) as u64;
        self.rest = rest;
    }
}

fn text(bytes: &[u8], field: &'static str, offset: u64) -> Result<String, DecodeError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(DecodeErrorKind::NotUtf8.at(field, offset)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_count_is_refused_before_anything_is_reserved() {
        let bytes = [0xff; 16];
        let error = Reader::new(&bytes).count_u64("tile offsets", 8).unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::Count { count: u64::MAX, item_bytes: 8, left: 8 });
    }

    #[test]
    fn offsets_count_from_where_the_caller_says() {
        let mut r = Reader::at(&[1, 2, 3], 100);
        r.u8("first").unwrap();
        assert_eq!(r.u32("second").unwrap_err().to_string(), "second: needs 4 bytes, 2 left (at byte 101)");
    }

    #[test]
    fn a_failed_read_leaves_the_cursor_where_it_was() {
        let mut r = Reader::new(&[7, 0, 0]);
        assert!(r.bool("flag").is_err());
        assert!(r.u32("number").is_err());
        assert_eq!(r.u8("byte").unwrap(), 7);
    }

    #[test]
    fn finish_refuses_leftover_bytes() {
        let error = Reader::new(&[0; 3]).finish("footer").unwrap_err();
        assert_eq!(error.to_string(), "footer: 3 bytes left over (at byte 0)");
    }

    #[test]
    fn big_endian_numbers_have_any_width_up_to_eight() {
        let mut r = Reader::new(&[1, 2, 3, 4, 5]);
        assert_eq!(r.uint_be(2, "run").unwrap(), 0x0102);
        assert_eq!(r.uint_be(1, "run").unwrap(), 3);
        assert!(r.uint_be(9, "run").is_err());
        assert_eq!(r.u16_be("run").unwrap(), 0x0405);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_and_no_lengths_make_the_reader_panic(bytes: Vec<u8>, len: u64) {
            let mut r = Reader::new(&bytes);
            let _ = r.clone().bytes(len, "f");
            let _ = r.clone().u64s(len, "f");
            let _ = r.clone().split(len, "f");
            let _ = r.clone().string_u32("f");
            let _ = r.clone().string_u64("f");
            let _ = r.clone().bytes_u64("f");
            let _ = r.count_u32("f", len);
        }
    }
}
