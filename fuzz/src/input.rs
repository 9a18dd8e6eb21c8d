//! Takes a fuzz input apart; where it ends, everything is zero.

use talavera_schema::ArraySchema;
use talavera_types::{Datatype, FormatVersion};

/// The bytes of an input that are still to be used.
#[derive(Debug, Clone)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All bytes of an input.
    pub fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let taken = self.take(N);
        array.iter_mut().zip(taken).for_each(|(to, from)| *to = *from);
        array
    }

    /// One byte.
    pub fn u8(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    /// Two bytes.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// Four bytes.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// Four bytes.
    pub fn i32(&mut self) -> i32 {
        i32::from_le_bytes(self.array())
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Four bytes.
    pub fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.array())
    }

    /// Eight bytes.
    pub fn f64(&mut self) -> f64 {
        f64::from_le_bytes(self.array())
    }

    /// One byte, any of which is a datatype.
    pub fn datatype(&mut self) -> Datatype {
        let index = usize::from(self.u8()) % Datatype::ALL.len();
        Datatype::ALL.get(index).copied().unwrap_or(Datatype::Any)
    }

    /// One byte, any of which is a version: the number of the version, or the rest of dividing by 23.
    pub fn version(&mut self) -> FormatVersion {
        let versions = FormatVersion::NEWEST.number();
        FormatVersion::new((u32::from(self.u8()) + versions - 1) % versions + 1).unwrap_or(FormatVersion::DEFAULT)
    }

    /// The next bytes, so many or what is left.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Bytes behind their length of two bytes.
    pub fn bytes(&mut self) -> &'a [u8] {
        let len = usize::from(self.u16());
        self.take(len)
    }

    /// A schema's payload behind its length of two bytes; `None` when it is none.
    pub fn schema(&mut self) -> Option<ArraySchema> {
        ArraySchema::decode(self.bytes()).ok()
    }

    /// What is left.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}
