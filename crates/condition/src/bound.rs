//! A condition whose fields and values fit a schema.

use talavera_types::{CellValNum, Datatype};

use crate::{Combination, Comparison, ConditionError, Literal, QueryCondition};

/// A condition bound to a schema: every field exists and every value has the field's width.
///
/// Made by [`QueryCondition::bind`] or [`QueryCondition::bind_stored`].
#[derive(Debug, Clone, PartialEq)]
pub struct BoundCondition {
    /// Sorted by name; leaves refer to them by position.
    pub(crate) fields: Vec<BoundField>,
    pub(crate) root: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoundField {
    pub(crate) name: String,
    pub(crate) datatype: Datatype,
    pub(crate) cell_val_num: CellValNum,
    pub(crate) nullable: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Constant(bool),
    Leaf(Leaf),
    Combine(Combination, Vec<Node>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) field: usize,
    pub(crate) test: Test,
}

/// What a leaf asks of a cell. All but [`Test::IsNull`] are false for a null.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    IsNull,
    /// Also "differs from a label that does not exist".
    IsNotNull,
    /// "Equals a label that does not exist".
    Never,
    Number {
        datatype: Datatype,
        comparison: Comparison,
        value: Vec<u8>,
    },
    /// Bytes in unsigned order, shorter before longer.
    Text {
        comparison: Comparison,
        value: Vec<u8>,
    },
    Member {
        negated: bool,
        members: Members,
    },
}

/// The values of an IN list, ascending and each once; numbers as the unsigned integers of their bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Members {
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
    Eight(Vec<u64>),
    Text(Vec<Vec<u8>>),
}

impl BoundCondition {
    /// The names of the fields whose cells are needed, each once, sorted.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// The condition with the bytes that it compares: what [`QueryCondition::encode`] stores in a delete commit.
    ///
    /// # Errors
    /// [`ConditionError::Unstorable`] for null tests, constants, and comparisons with a label that the enumeration
    /// lacks; the format cannot tell them apart from other conditions, or not at all.
    pub fn to_stored(&self) -> Result<QueryCondition, ConditionError> {
        self.stored_node(&self.root)
    }

    fn stored_node(&self, node: &Node) -> Result<QueryCondition, ConditionError> {
        let unstorable = |part: String, reason| Err(ConditionError::Unstorable { part, reason });
        let leaf = match node {
            Node::Constant(holds) => return unstorable(holds.to_string(), "the format has no constant conditions"),
            Node::Combine(combination, children) => {
                let children = children.iter().map(|child| self.stored_node(child)).collect::<Result<_, _>>()?;
                return Ok(QueryCondition::Combine { combination: *combination, children });
            }
            Node::Leaf(leaf) => leaf,
        };
        let field = self.fields.get(leaf.field).map(|field| field.name.clone()).unwrap_or_default();
        match &leaf.test {
            Test::IsNull | Test::IsNotNull | Test::Never => {
                unstorable(format!("the test of field '{field}'"), "it is a null test or names an unknown label")
            }
            Test::Number { comparison, value, .. } | Test::Text { comparison, value } => {
                Ok(QueryCondition::Compare { field, comparison: *comparison, value: Literal::Bytes(value.clone()) })
            }
            Test::Member { negated, members } => {
                Ok(QueryCondition::In { field, negated: *negated, values: members.to_literals() })
            }
        }
    }
}

impl Members {
    /// The list for cells of `width` bytes, 1, 2, 4 or 8; any other width makes a list of text. Members of another
    /// width than the cells cannot be in a list of numbers and are dropped.
    pub(crate) fn new(width: usize, values: Vec<Vec<u8>>) -> Self {
        macro_rules! numbers {
            ($variant:ident, $type:ty) => {{
                let numbers = values.iter().filter_map(|value| Some(<$type>::from_le_bytes(value.as_slice().try_into().ok()?)));
                Self::$variant(sorted(numbers.collect()))
            }};
        }
        match width {
            1 => numbers!(One, u8),
            2 => numbers!(Two, u16),
            4 => numbers!(Four, u32),
            8 => numbers!(Eight, u64),
            _ => Self::Text(sorted(values)),
        }
    }

    /// Whether `test` holds for a member, given as the format stores it; none is asked after one that it holds for.
    pub(crate) fn any(&self, mut test: impl FnMut(&[u8]) -> bool) -> bool {
        match self {
            Self::One(members) => members.iter().any(|member| test(&[*member])),
            Self::Two(members) => members.iter().any(|member| test(&member.to_le_bytes())),
            Self::Four(members) => members.iter().any(|member| test(&member.to_le_bytes())),
            Self::Eight(members) => members.iter().any(|member| test(&member.to_le_bytes())),
            Self::Text(members) => members.iter().any(|member| test(member)),
        }
    }

    fn to_literals(&self) -> Vec<Literal> {
        let mut literals = Vec::new();
        self.any(|member| {
            literals.push(Literal::Bytes(member.to_vec()));
            false
        });
        literals
    }
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values.dedup();
    values
}
