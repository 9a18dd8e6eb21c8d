//! The one error of every decoder: which field, where, what was wrong.

/// Why bytes from outside could not be decoded.
///
/// Displayed as `field: kind (at byte offset)`; layers above add the file, the tile and the chunk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {kind} (at byte {offset})")]
pub struct DecodeError {
    /// The field in the words of the format.
    pub field: &'static str,
    /// Where the field starts, in bytes from the start of what was being decoded.
    pub offset: u64,
    /// What was wrong with it.
    pub kind: DecodeErrorKind,
}

/// What was wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The bytes end before the field does.
    #[error("needs {needed} bytes, {left} left")]
    Truncated {
        /// Bytes that the field needs.
        needed: u64,
        /// Bytes that were left.
        left: u64,
    },
    /// A count whose items cannot fit into the bytes that are left.
    #[error("{count} items of at least {item_bytes} bytes do not fit into the {left} bytes left")]
    Count {
        /// The declared number of items.
        count: u64,
        /// The least number of bytes that one item takes.
        item_bytes: u64,
        /// Bytes that were left.
        left: u64,
    },
    /// A number that stands for nothing.
    #[error("{found} is not {expected}")]
    Invalid {
        /// The number found.
        found: u64,
        /// What was expected, in words that follow "is not".
        expected: &'static str,
    },
    /// A number that must equal another and does not.
    #[error("is {found}, expected {expected}")]
    Mismatch {
        /// The number found.
        found: u64,
        /// The number that follows from the rest of the data.
        expected: u64,
    },
    /// Bytes after the end of a structure.
    #[error("{left} bytes left over")]
    Trailing {
        /// How many bytes.
        left: u64,
    },
    /// A declared size above what the caller allows.
    #[error("{needed} bytes exceed the limit of {limit}")]
    Limit {
        /// Bytes that the data asks for, together with what was charged before.
        needed: u64,
        /// Bytes that the caller allows.
        limit: u64,
    },
    /// Structures nested deeper than allowed.
    #[error("nested deeper than {limit} levels")]
    Depth {
        /// The deepest level allowed.
        limit: u64,
    },
    /// Text that is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// Data that its own codec or checksum refuses.
    #[error("{reason}")]
    Refused {
        /// What the codec said.
        reason: String,
    },
}

impl DecodeErrorKind {
    /// The error with its field and offset.
    #[cold]
    #[must_use]
    pub fn at(self, field: &'static str, offset: u64) -> DecodeError {
        DecodeError { field, offset, kind: self }
    }
}
