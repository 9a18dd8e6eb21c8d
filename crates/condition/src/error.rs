//! The error of binding, storing and evaluating conditions.

use talavera_types::Datatype;

/// Why a condition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// The schema has no such attribute or dimension.
    #[error("field '{field}' does not exist")]
    UnknownField {
        /// The name in the condition.
        field: String,
    },
    /// The field cannot be compared at all.
    #[error("field '{field}' ({datatype}): {reason}")]
    Unsupported {
        /// The field's name.
        field: String,
        /// The field's datatype.
        datatype: Datatype,
        /// What about it is not supported.
        reason: &'static str,
    },
    /// A value cannot be compared with the field.
    #[error("field '{field}': {literal} is not a value of {datatype}: {reason}")]
    Literal {
        /// The field's name.
        field: String,
        /// The datatype that the value must have: the field's, or that of its enumeration.
        datatype: Datatype,
        /// The value, as in the text form.
        literal: String,
        /// Why it does not fit.
        reason: &'static str,
    },
    /// The values of an enumerated attribute were not given.
    #[error("field '{field}': enumeration '{enumeration}' is not loaded")]
    MissingEnumeration {
        /// The attribute's name.
        field: String,
        /// The enumeration's name.
        enumeration: String,
    },
    /// `<`, `<=`, `>` or `>=` on labels that have no order.
    #[error("field '{field}': enumeration '{enumeration}' is not ordered")]
    UnorderedEnumeration {
        /// The attribute's name.
        field: String,
        /// The enumeration's name.
        enumeration: String,
    },
    /// AND or OR of nothing.
    #[error("a combined condition has no parts")]
    Empty,
    /// Conditions nested deeper than [`QueryCondition::MAX_DEPTH`](crate::QueryCondition::MAX_DEPTH).
    #[error("nested deeper than {limit} levels")]
    Depth {
        /// The deepest level allowed.
        limit: usize,
    },
    /// The condition has no form in a delete or update commit.
    #[error("{part} cannot be stored: {reason}")]
    Unstorable {
        /// The part of the condition, as in the text form.
        part: String,
        /// Why it cannot be stored.
        reason: &'static str,
    },
    /// The cells given for a field are not as many as said, or their offsets do not fit the data.
    #[error("field '{field}': {part} is {found}, expected {expected}")]
    Cells {
        /// The field's name.
        field: String,
        /// Which length is wrong.
        part: &'static str,
        /// The length found.
        found: usize,
        /// The length expected.
        expected: usize,
    },
}
