//! A condition whose fields and values fit a schema.

use talavera_types::{CellValNum, Datatype};

use crate::members::Members;
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
