//! Delete and update commits: delete_commit_file, update_commit_file.
//!
//! The stored tree is the negation of what somebody asked to delete or to update: it holds for the cells to **keep**.
//! The specification's pages do not say so; every release of the reference implementation does it. They also list the
//! operators 0 to 5 only; 6 (IN) and 7 (NOT IN) occur, with offsets behind the value.

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

use crate::{Combination, Comparison, ConditionError, Literal, QueryCondition};

/// The payload of an update commit: the cells to keep as they are, and what the others get.
///
/// Updates are experimental in the reference implementation, whose readers apply only the condition, as a delete.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateCommit {
    /// Holds for the cells that are **not** updated.
    pub condition: QueryCondition,
    /// What the other cells get.
    pub values: Vec<UpdateValue>,
}

/// What one attribute of an updated cell becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateValue {
    /// The attribute's name.
    pub field: String,
    /// The new value: little-endian, in the attribute's width; text without end mark.
    pub value: Vec<u8>,
}

impl QueryCondition {
    /// Decodes the payload of a delete commit: the condition that holds for the cells to keep.
    ///
    /// Values come as [`Literal::Bytes`]; [`bind_stored`](Self::bind_stored) takes them. A stored NOT, which no known
    /// writer leaves, is resolved.
    ///
    /// # Errors
    /// When the payload is cut short, has bytes left over, an unknown operator, a name that is not UTF-8, offsets
    /// that do not ascend, or nodes nested deeper than [`MAX_DEPTH`](Self::MAX_DEPTH).
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let condition = decode_node(&mut r, 0)?;
        r.finish("delete commit")?;
        Ok(condition)
    }

    /// Encodes the condition as the payload of a delete commit; it must hold for the cells to keep.
    ///
    /// Values must be bytes in the width of their field, as
    /// [`BoundCondition::to_stored`](crate::BoundCondition::to_stored) gives them.
    ///
    /// # Errors
    /// [`ConditionError::Unstorable`] for null tests, constants and values that are not bytes yet: the format has no
    /// place for them. [`ConditionError::Empty`] for a combination of nothing, [`ConditionError::Depth`] for one that
    /// would not be decoded again.
    pub fn encode(&self) -> Result<Vec<u8>, ConditionError> {
        let mut w = Writer::new();
        encode_node(self, &mut w, 0)?;
        Ok(w.into_vec())
    }
}

impl UpdateCommit {
    /// Decodes the payload of an update commit.
    ///
    /// # Errors
    /// As [`QueryCondition::decode`].
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let condition = decode_node(&mut r, 0)?;
        let count = r.count_u64("update values", UPDATE_VALUE_MIN_BYTES)?;
        let values = (0..count).map(|_| UpdateValue::decode(&mut r)).collect::<Result<_, _>>()?;
        r.finish("update commit")?;
        Ok(Self { condition, values })
    }

    /// Encodes the payload of an update commit.
    ///
    /// # Errors
    /// As [`QueryCondition::encode`].
    pub fn encode(&self) -> Result<Vec<u8>, ConditionError> {
        let mut w = Writer::new();
        encode_node(&self.condition, &mut w, 0)?;
        w.len_u64(self.values.len());
        self.values.iter().for_each(|value| value.encode(&mut w));
        Ok(w.into_vec())
    }
}

impl UpdateValue {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let field = r.string_u64("updated field name")?;
        let value = r.bytes_u64("updated value")?.to_vec();
        Ok(Self { field, value })
    }

    fn encode(&self, w: &mut Writer) {
        w.string_u64(&self.field);
        w.bytes_u64(&self.value);
    }
}

fn decode_node(r: &mut Reader<'_>, depth: usize) -> Result<QueryCondition, DecodeError> {
    if depth >= QueryCondition::MAX_DEPTH {
        return Err(DecodeErrorKind::Depth { limit: QueryCondition::MAX_DEPTH as u64 }.at(NODE_TYPE, r.offset()));
    }
    let offset = r.offset();
    match r.u8(NODE_TYPE)? {
        EXPRESSION => decode_expression(r, depth),
        VALUE => decode_value(r),
        found => Err(DecodeErrorKind::Invalid { found: found.into(), expected: "a node type (0 or 1)" }.at(NODE_TYPE, offset)),
    }
}

fn encode_node(condition: &QueryCondition, w: &mut Writer, depth: usize) -> Result<(), ConditionError> {
    if depth >= QueryCondition::MAX_DEPTH {
        return Err(ConditionError::Depth { limit: QueryCondition::MAX_DEPTH });
    }
    match condition {
        QueryCondition::Combine { combination, children } => {
            w.u8(EXPRESSION);
            encode_expression(*combination, children, w, depth)
        }
        QueryCondition::Compare { field, comparison, value } => {
            w.u8(VALUE);
            w.u8(*comparison as u8);
            encode_name(field, w)?;
            w.bytes_u64(stored_bytes(field, value)?);
            Ok(())
        }
        QueryCondition::In { field, negated, values } => {
            w.u8(VALUE);
            w.u8(if *negated { NOT_IN } else { IN });
            encode_name(field, w)?;
            encode_members(field, values, w)
        }
        QueryCondition::IsNull { .. } | QueryCondition::IsNotNull { .. } => {
            Err(unstorable(condition.to_string(), "a null test is stored like a comparison with the empty string"))
        }
        QueryCondition::Constant(_) => Err(unstorable(condition.to_string(), "the format has no constant conditions")),
    }
}

fn decode_expression(r: &mut Reader<'_>, depth: usize) -> Result<QueryCondition, DecodeError> {
    const OP: &str = "combination operator";
    const CHILDREN: &str = "condition children";
    let offset = r.offset();
    let op = r.u8(OP)?;
    let children_offset = r.offset();
    let count = r.count_u64(CHILDREN, VALUE_NODE_MIN_BYTES)?;
    let wrong_count = |expected| Err(DecodeErrorKind::Invalid { found: count as u64, expected }.at(CHILDREN, children_offset));
    let combination = match op {
        0 => Combination::And,
        1 => Combination::Or,
        2 if count == 1 => return decode_node(r, depth + 1).map(QueryCondition::negate),
        2 => return wrong_count("the one child of NOT"),
        _ => return Err(DecodeErrorKind::Invalid { found: op.into(), expected: "AND, OR or NOT (0 to 2)" }.at(OP, offset)),
    };
    if count == 0 {
        return wrong_count("a number of children");
    }
    // Grown as nodes arrive: levels nested in one another could each reserve for all the bytes left.
    let mut children = Vec::new();
    for _ in 0..count {
        children.push(decode_node(r, depth + 1)?);
    }
    Ok(QueryCondition::Combine { combination, children })
}

fn encode_expression(
    combination: Combination,
    children: &[QueryCondition],
    w: &mut Writer,
    depth: usize,
) -> Result<(), ConditionError> {
    if children.is_empty() {
        return Err(ConditionError::Empty);
    }
    w.u8(combination as u8);
    w.len_u64(children.len());
    children.iter().try_for_each(|child| encode_node(child, w, depth + 1))
}

fn decode_value(r: &mut Reader<'_>) -> Result<QueryCondition, DecodeError> {
    const OP: &str = "comparison operator";
    let offset = r.offset();
    let op = r.u8(OP)?;
    let field = r.string_u32("condition field name")?;
    let value_bytes = r.u64("condition value")?;
    let value = r.split(value_bytes, "condition value")?;
    if let Some(comparison) = Comparison::ALL.get(usize::from(op)) {
        return Ok(QueryCondition::Compare { field, comparison: *comparison, value: Literal::Bytes(value.rest().to_vec()) });
    }
    if op != IN && op != NOT_IN {
        return Err(DecodeErrorKind::Invalid { found: op.into(), expected: "a comparison operator (0 to 7)" }.at(OP, offset));
    }
    let values = decode_members(r, value)?;
    Ok(QueryCondition::In { field, negated: op == NOT_IN, values })
}

/// The members of an IN list: `value` holds them one behind the other, the offsets in `r` say where each starts.
fn decode_members(r: &mut Reader<'_>, mut value: Reader<'_>) -> Result<Vec<Literal>, DecodeError> {
    const OFFSETS: &str = "condition value offsets";
    let offset = r.offset();
    let invalid = |found, expected| DecodeErrorKind::Invalid { found, expected }.at(OFFSETS, offset);
    let bytes = r.bytes_u64(OFFSETS)?;
    let (starts, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(invalid(bytes.len() as u64, "a multiple of 8 bytes"));
    }
    let value_bytes = value.remaining() as u64;
    let ends = starts.iter().skip(1).map(|end| u64::from_le_bytes(*end)).chain([value_bytes]);
    let mut members = Vec::with_capacity(starts.len());
    let mut expected_start = 0;
    for (start, end) in starts.iter().map(|start| u64::from_le_bytes(*start)).zip(ends) {
        if start != expected_start || end < start || end > value_bytes {
            return Err(invalid(start.max(end), "in a list that ascends from 0 to the end of the value"));
        }
        members.push(Literal::Bytes(value.bytes(end - start, "condition value")?.to_vec()));
        expected_start = end;
    }
    value.finish("condition value")?;
    Ok(members)
}

fn encode_members(field: &str, values: &[Literal], w: &mut Writer) -> Result<(), ConditionError> {
    let members = values.iter().map(|value| stored_bytes(field, value)).collect::<Result<Vec<_>, _>>()?;
    w.bytes_u64(&members.concat());
    w.len_u64(members.len() * 8);
    let mut start = 0;
    for member in members {
        w.len_u64(start);
        start += member.len();
    }
    Ok(())
}

fn encode_name(field: &str, w: &mut Writer) -> Result<(), ConditionError> {
    if u32::try_from(field.len()).is_err() {
        return Err(unstorable("a field name".to_owned(), "its length takes more than 32 bits"));
    }
    w.string_u32(field);
    Ok(())
}

fn stored_bytes<'a>(field: &str, value: &'a Literal) -> Result<&'a [u8], ConditionError> {
    match value {
        Literal::Bytes(bytes) => Ok(bytes),
        other => Err(unstorable(format!("{other} for field '{field}'"), "it is not bound to a schema yet")),
    }
}

fn unstorable(part: String, reason: &'static str) -> ConditionError {
    ConditionError::Unstorable { part, reason }
}

const NODE_TYPE: &str = "condition node type";
const EXPRESSION: u8 = 0;
const VALUE: u8 = 1;
const IN: u8 = 6;
const NOT_IN: u8 = 7;
/// Node type, operator, the lengths of a name and of a value.
const VALUE_NODE_MIN_BYTES: u64 = 1 + 1 + 4 + 8;
const UPDATE_VALUE_MIN_BYTES: u64 = 8 + 8;
