//! Cells to filter: always the same.

use talavera_types::Datatype;

/// What the cells are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// Readings that drift slowly, with noise in the low bits.
    U32,
    /// Numbers that only grow.
    U64,
    /// Quarters.
    F64,
    /// Runs of equal bytes.
    Runs,
    /// A picture of soft gradients, four bytes a pixel.
    Pixels,
    /// Words out of a small vocabulary.
    Words,
    /// The same words, sorted.
    SortedWords,
}

impl Cells {
    /// As names of benchmarks have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::Runs | Self::Pixels => "u8",
            Self::Words | Self::SortedWords => "ascii",
        }
    }

    /// The datatype of the cells.
    #[must_use]
    pub fn datatype(self) -> Datatype {
        match self {
            Self::U32 => Datatype::UInt32,
            Self::U64 => Datatype::UInt64,
            Self::F64 => Datatype::Float64,
            Self::Runs | Self::Pixels => Datatype::UInt8,
            Self::Words | Self::SortedWords => Datatype::StringAscii,
        }
    }

    /// So many bytes of cells; of words, a few less.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Vec<u8> {
        let mut noise = Noise(1);
        let count = bytes / self.datatype().size();
        match self {
            Self::U32 => (0..).take(count).flat_map(|i| (1_000_000 + i / 4 + noise.below(1 << 10)).to_le_bytes()).collect(),
            Self::U64 => {
                let mut sum = 1u64 << 40;
                let next = || {
                    sum += u64::from(noise.below(200));
                    sum.to_le_bytes()
                };
                std::iter::repeat_with(next).take(count).flatten().collect()
            }
            Self::F64 => (0..count).flat_map(|_| (f64::from(noise.below(1 << 16)) / 4.0).to_le_bytes()).collect(),
            Self::Runs => {
                let mut value = 0;
                let next = || {
                    value = if noise.below(16) == 0 { noise.byte() } else { value };
                    value
                };
                std::iter::repeat_with(next).take(count).collect()
            }
            Self::Pixels => (0u32..).flat_map(|i| [i / 997 % 256, i / 31 % 256]).flat_map(u8::try_from).take(count).collect(),
            Self::Words | Self::SortedWords => self.words(bytes).concat().into_bytes(),
        }
    }

    /// The words that take at most so many bytes together; none where the cells are no words.
    #[must_use]
    pub fn words(self, bytes: usize) -> Vec<&'static str> {
        if !matches!(self, Self::Words | Self::SortedWords) {
            return Vec::new();
        }
        let mut noise = Noise(2);
        let next = || VOCABULARY.get(usize::from(noise.byte()) % VOCABULARY.len()).copied().unwrap_or_default();
        let mut words: Vec<&str> = std::iter::repeat_with(next).take(bytes / 5).collect();
        if self == Self::SortedWords {
            words.sort_unstable();
        }
        words
    }
}

const VOCABULARY: [&str; 11] = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "isle", "jade", "knoll"];

/// The same numbers each time: xorshift.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}
