//! The values of an IN list, ready to be searched.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::Literal;

/// The values of an IN list; numbers as the unsigned integers of their bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Members {
    One(MemberSet<u8>),
    Two(MemberSet<u16>),
    Four(MemberSet<u32>),
    Eight(MemberSet<u64>),
    Text(MemberSet<Vec<u8>>),
}

/// Values in two orders: ascending and each once, for loops over all; hashed, to find one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MemberSet<T: Hash + Eq> {
    pub(crate) ascending: Vec<T>,
    pub(crate) hashed: HashSet<T, BuildHasherDefault<MemberHasher>>,
}

impl Members {
    /// The list for cells of `width` bytes, 1, 2, 4 or 8; any other width makes a list of text. Members of another
    /// width than the cells cannot be in a list of numbers and are dropped.
    pub(crate) fn new(width: usize, values: Vec<Vec<u8>>) -> Self {
        macro_rules! numbers {
            ($variant:ident, $type:ty) => {{
                let numbers = values.iter().filter_map(|value| Some(<$type>::from_le_bytes(value.as_slice().try_into().ok()?)));
                Self::$variant(MemberSet::new(numbers.collect()))
            }};
        }
        match width {
            1 => numbers!(One, u8),
            2 => numbers!(Two, u16),
            4 => numbers!(Four, u32),
            8 => numbers!(Eight, u64),
            _ => Self::Text(MemberSet::new(values)),
        }
    }

    /// Whether `test` holds for a member, given as the format stores it; none is asked after one that it holds for.
    pub(crate) fn any(&self, mut test: impl FnMut(&[u8]) -> bool) -> bool {
        match self {
            Self::One(members) => members.ascending.iter().any(|member| test(&[*member])),
            Self::Two(members) => members.ascending.iter().any(|member| test(&member.to_le_bytes())),
            Self::Four(members) => members.ascending.iter().any(|member| test(&member.to_le_bytes())),
            Self::Eight(members) => members.ascending.iter().any(|member| test(&member.to_le_bytes())),
            Self::Text(members) => members.ascending.iter().any(|member| test(member)),
        }
    }

    /// The members as the format stores them.
    pub(crate) fn to_literals(&self) -> Vec<Literal> {
        let mut literals = Vec::new();
        self.any(|member| {
            literals.push(Literal::Bytes(member.to_vec()));
            false
        });
        literals
    }
}

impl<T: Hash + Ord + Clone> MemberSet<T> {
    fn new(mut values: Vec<T>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self { hashed: values.iter().cloned().collect(), ascending: values }
    }
}

/// A hash of a few instructions. The set holds what the condition's author wrote and never grows, so that cells from
/// outside can meet long chains only where the author put them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MemberHasher(u64);

impl MemberHasher {
    fn add(&mut self, number: u64) {
        // An odd number without pattern: 2⁶⁴ divided by the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for MemberHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks::<8>();
        eights.iter().for_each(|eight| self.add(u64::from_le_bytes(*eight)));
        if !rest.is_empty() {
            self.add(rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
    }

    fn write_u16(&mut self, number: u16) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        // The set picks its place by the lowest bits, which the multiplication mixes least.
        self.0.rotate_left(26)
    }
}
