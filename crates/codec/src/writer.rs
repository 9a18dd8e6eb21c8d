//! The mirror of the reader.

/// Bytes being written; numbers are little-endian unless the method says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $to:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name(&mut self, value: $type) {
            self.bytes.extend_from_slice(&value.$to());
        }
    )*};
}

impl Writer {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing yet, with room for `bytes`.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    numbers! {
        /// One byte.
        u8: u8 = to_le_bytes;
        /// A 16-bit number.
        u16: u16 = to_le_bytes;
        /// A 32-bit number.
        u32: u32 = to_le_bytes;
        /// A 64-bit number.
        u64: u64 = to_le_bytes;
        /// A signed 32-bit number.
        i32: i32 = to_le_bytes;
        /// A signed 64-bit number.
        i64: i64 = to_le_bytes;
        /// A 32-bit float.
        f32: f32 = to_le_bytes;
        /// A 64-bit float.
        f64: f64 = to_le_bytes;
        /// A big-endian 16-bit number.
        u16_be: u16 = to_be_bytes;
    }

    /// The lowest `width` bytes of a number, big-endian; at most 8.
    #[inline]
    pub fn uint_be(&mut self, value: u64, width: u8) {
        let skip = 8usize.saturating_sub(width.into());
        self.bytes.extend(value.to_be_bytes().into_iter().skip(skip));
    }

    /// One byte, 0 or 1.
    pub fn bool(&mut self, value: bool) {
        self.u8(value.into());
    }

    /// Bytes as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A length or count as a 32-bit number.
    ///
    /// # Panics
    /// When it does not fit. Names, lists and parts that large are refused where they enter.
    #[inline]
    #[expect(clippy::expect_used, reason = "a documented limit of the format, checked where such data enters")]
    pub fn len_u32(&mut self, len: usize) {
        self.u32(u32::try_from(len).expect("length fits into 32 bits"));
    }

    /// A length or count as a 64-bit number.
    #[inline]
    pub fn len_u64(&mut self, len: usize) {
        self.u64(len as u64);
    }

    /// Bytes behind their length as a 32-bit number.
    ///
    /// # Panics
    /// As [`Writer::len_u32`].
    pub fn bytes_u32(&mut self, bytes: &[u8]) {
        self.len_u32(bytes.len());
        self.bytes(bytes);
    }

    /// Bytes behind their length as a 64-bit number.
    pub fn bytes_u64(&mut self, bytes: &[u8]) {
        self.len_u64(bytes.len());
        self.bytes(bytes);
    }

    /// Text behind its length in bytes as a 32-bit number.
    ///
    /// # Panics
    /// As [`Writer::len_u32`].
    pub fn string_u32(&mut self, text: &str) {
        self.bytes_u32(text.as_bytes());
    }

    /// Text behind its length in bytes as a 64-bit number.
    pub fn string_u64(&mut self, text: &str) {
        self.bytes_u64(text.as_bytes());
    }

    /// Numbers without a count.
    pub fn u64s(&mut self, numbers: &[u64]) {
        self.bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    /// Bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What was written so far.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// What was written.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        self.bytes
    }
}
