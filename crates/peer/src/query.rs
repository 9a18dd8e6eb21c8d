//! Reads, writes and what they return, as plain data.

use crate::{Column, Datatype, Layout, Range};

/// What an array or group is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reading.
    Read,
    /// Writing cells or metadata.
    Write,
    /// Deleting cells by condition.
    Delete,
    /// Deleting whole fragments or a whole group, alone.
    ModifyExclusive,
}

impl Mode {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Delete => 2,
            Self::ModifyExclusive => 4,
        }
    }
}

/// The timestamps between which an array is opened, in milliseconds, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// The first timestamp; `None` for 0.
    pub start: Option<u64>,
    /// The last timestamp, and that of writes; `None` for now.
    pub end: Option<u64>,
}

impl Window {
    /// From the beginning to `end`. Releases before 2.0 ignore it in writes: they use the clock.
    #[must_use]
    pub fn until(end: u64) -> Self {
        Self { start: None, end: Some(end) }
    }
}

/// A write query.
#[derive(Debug, Clone)]
pub struct Write {
    /// The order of the cells.
    pub layout: Layout,
    /// For dense arrays the box that is written, one range per dimension.
    pub subarray: Vec<Range>,
    /// One submission each: the columns of attributes and, in sparse arrays, dimensions, by name. Only writes in global
    /// order can have several.
    pub batches: Vec<Vec<(String, Column)>>,
}

impl Write {
    /// A write of one box of a dense array.
    #[must_use]
    pub fn dense(layout: Layout, subarray: impl Into<Vec<Range>>, columns: Vec<(String, Column)>) -> Self {
        Self { layout, subarray: subarray.into(), batches: vec![columns] }
    }

    /// An unordered write of cells of a sparse array.
    #[must_use]
    pub fn sparse(columns: Vec<(String, Column)>) -> Self {
        Self { layout: Layout::Unordered, subarray: Vec::new(), batches: vec![columns] }
    }
}

/// A read query.
#[derive(Debug, Clone)]
pub struct Read {
    /// The order of the cells.
    pub layout: Layout,
    /// The ranges per dimension; an empty list leaves the dimension whole, as does a missing one. Whole is the current
    /// domain of a dense array that has one.
    pub ranges: Vec<Vec<Range>>,
    /// The fields to read; `None` for all attributes and, in sparse arrays, all dimensions before them.
    pub fields: Option<Vec<String>>,
    /// Which cells to keep.
    pub condition: Option<Condition>,
    /// The bytes of each buffer. A read that does not fit is continued, and buffers that hold no cell are doubled.
    pub buffer_bytes: usize,
}

impl Default for Read {
    fn default() -> Self {
        Self { layout: Layout::RowMajor, ranges: Vec::new(), fields: None, condition: None, buffer_bytes: 1 << 20 }
    }
}

/// What is asked of all cells of a read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The number of cells.
    Count,
    /// The sum of a field.
    Sum,
    /// Its least value.
    Min,
    /// Its greatest value.
    Max,
    /// The mean of its values.
    Mean,
    /// The number of its nulls.
    NullCount,
}

/// A comparison of a query condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Less than.
    Less,
    /// At most.
    LessOrEqual,
    /// Greater than.
    Greater,
    /// At least.
    GreaterOrEqual,
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
}

impl Operator {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Less => 0,
            Self::LessOrEqual => 1,
            Self::Greater => 2,
            Self::GreaterOrEqual => 3,
            Self::Equal => 4,
            Self::NotEqual => 5,
        }
    }
}

/// A query condition.
#[derive(Debug, Clone)]
pub enum Condition {
    /// A comparison of a field with a value.
    Compare {
        /// The attribute or dimension.
        field: String,
        /// How they are compared.
        operator: Operator,
        /// The value's bytes; `None` for null.
        value: Option<Vec<u8>>,
        /// Whether the value is a member of the attribute's enumeration, not the number stored.
        use_enumeration: bool,
    },
    /// Whether a field is, or is not, one of some values.
    Member {
        /// The attribute or dimension.
        field: String,
        /// The bytes of each value.
        values: Vec<Vec<u8>>,
        /// Whether the values are those to leave out.
        negated: bool,
    },
    /// Both hold.
    And(Box<Condition>, Box<Condition>),
    /// One of them holds.
    Or(Box<Condition>, Box<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
}

impl Condition {
    /// A comparison with a value; members of an enumeration count as values.
    #[must_use]
    pub fn compare(field: &str, operator: Operator, value: impl Into<Vec<u8>>) -> Self {
        Self::Compare { field: field.into(), operator, value: Some(value.into()), use_enumeration: true }
    }

    /// Both this and `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::And(Box::new(self), Box::new(other))
    }

    /// This or `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::Or(Box::new(self), Box::new(other))
    }
}

/// One entry of an array's or group's metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// Its key.
    pub key: String,
    /// The datatype of its values.
    pub datatype: Datatype,
    /// The number of values.
    pub count: u32,
    /// The values' bytes; `None` for a key without value.
    pub value: Option<Vec<u8>>,
}

/// What the library tells about a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// Its name.
    pub name: String,
    /// The format version it is written in.
    pub format_version: u32,
    /// Its first and last timestamp.
    pub timestamps: (u64, u64),
    /// Whether it is dense.
    pub dense: bool,
    /// Its number of cells; in dense fragments those of whole tiles.
    pub cell_count: u64,
    /// What it covers, one range per dimension.
    pub non_empty_domain: Vec<Range>,
}

/// The fragments of an array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fragments {
    /// Those that are loaded, in the order in which they were written.
    pub loaded: Vec<Fragment>,
    /// The URIs of those that a consolidated one replaces.
    pub to_vacuum: Vec<String>,
}

/// What lies at a URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectType {
    /// Neither array nor group.
    None,
    /// A group.
    Group,
    /// An array.
    Array,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its absolute URI.
    pub uri: String,
    /// What it is.
    pub object_type: ObjectType,
    /// Its name, where it has one.
    pub name: Option<String>,
}
