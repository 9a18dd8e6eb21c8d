//! Evaluation over the cells of one tile, field by field.

mod kernel;

use talavera_types::{Datatype, with_datatype};

use crate::bound::{BoundCondition, BoundField, Leaf, Node, Test};
use crate::members::Members;
use crate::{Bitmap, Combination, ConditionError};

/// The cells of one field of one tile.
#[derive(Debug, Clone, Copy)]
pub struct FieldView<'a> {
    /// The values, little-endian, one cell behind the other.
    pub data: &'a [u8],
    /// Where cells of variable length start, in bytes, and behind the last where it ends: one more than the cells.
    pub offsets: Option<&'a [u64]>,
    /// One byte per cell of a nullable field, 0 for null; without it no cell is null.
    pub validity: Option<&'a [u8]>,
}

impl BoundCondition {
    /// Says in `out` which of `cells` cells match; `out` is made to have that many.
    ///
    /// `lookup` is asked once for each of [`fields`](Self::fields). `None` means that the fragment lacks the field, as
    /// does a view with offsets for a field of fixed length or without them for one of variable length: the schema
    /// has changed since. Every test of such a field, null tests included, is false for all cells; the rest of the
    /// condition counts on. (The reference implementation lets such a test in an OR also undo those before it.)
    ///
    /// # Errors
    /// [`ConditionError::Cells`] when data, offsets or validity of a view do not hold that many cells.
    pub fn evaluate<'a>(
        &self,
        cells: usize,
        lookup: impl Fn(&str) -> Option<FieldView<'a>>,
        out: &mut Bitmap,
    ) -> Result<(), ConditionError> {
        let columns = self.fields.iter().map(|field| match lookup(&field.name) {
            Some(view) => Column::new(field, view, cells),
            None => Ok(None),
        });
        let columns: Vec<Option<Column<'_>>> = columns.collect::<Result<_, _>>()?;
        node(&self.root, &columns, cells, out);
        Ok(())
    }
}

fn node(node: &Node, columns: &[Option<Column<'_>>], cells: usize, out: &mut Bitmap) {
    match node {
        Node::Constant(holds) => out.reset(cells, *holds),
        Node::Leaf(leaf) => match columns.get(leaf.field) {
            Some(Some(column)) => column.test(leaf, cells, out),
            _ => out.reset(cells, false),
        },
        Node::Combine(combination, children) => combine(*combination, children, columns, cells, out),
    }
}

fn combine(combination: Combination, children: &[Node], columns: &[Option<Column<'_>>], cells: usize, out: &mut Bitmap) {
    let Some((first, rest)) = children.split_first() else {
        return out.reset(cells, combination == Combination::And);
    };
    node(first, columns, cells, out);
    let mut child_matches = Bitmap::default();
    for child in rest {
        match combination {
            Combination::And if out.none() => return,
            Combination::Or if out.all() => return,
            _ => node(child, columns, cells, &mut child_matches),
        }
        match combination {
            Combination::And => out.and(&child_matches),
            Combination::Or => out.or(&child_matches),
        }
    }
}

/// The cells of a field, checked to be as many as said.
struct Column<'a> {
    values: Values<'a>,
    validity: Option<&'a [u8]>,
}

#[derive(Clone, Copy)]
enum Values<'a> {
    Fixed { data: &'a [u8], cell_bytes: usize },
    Var { data: &'a [u8], offsets: &'a [u64] },
}

impl<'a> Column<'a> {
    /// The checked column; `None` when the view has the shape of another field.
    fn new(field: &BoundField, view: FieldView<'a>, cells: usize) -> Result<Option<Self>, ConditionError> {
        let check = |part, found, expected| {
            let wrong = || ConditionError::Cells { field: field.name.clone(), part, found, expected };
            if found == expected { Ok(()) } else { Err(wrong()) }
        };
        let data = view.data;
        let values = match (field.cell_val_num.fixed(), view.offsets) {
            (Some(values), None) => {
                let cell_bytes = usize::try_from(values).unwrap_or(usize::MAX).saturating_mul(field.datatype.size());
                check("data length", data.len(), cells.saturating_mul(cell_bytes))?;
                Values::Fixed { data, cell_bytes }
            }
            (None, Some(offsets)) => {
                check("number of offsets", offsets.len(), cells.saturating_add(1))?;
                check("number of ascending offsets", ascending(offsets), offsets.len())?;
                let end = offsets.last().and_then(|end| usize::try_from(*end).ok()).unwrap_or(usize::MAX);
                check("data length", data.len(), data.len().max(end))?;
                Values::Var { data, offsets }
            }
            _ => return Ok(None),
        };
        if let Some(validity) = view.validity {
            check("number of validity bytes", validity.len(), cells)?;
        }
        Ok(Some(Self { values, validity: view.validity }))
    }

    fn test(&self, leaf: &Leaf, cells: usize, out: &mut Bitmap) {
        match &leaf.test {
            Test::IsNull => {
                out.reset(cells, false);
                if let Some(validity) = self.validity {
                    kernel::fixed(validity, out, |valid: u8| valid == 0);
                }
                return;
            }
            Test::IsNotNull => out.reset(cells, true),
            Test::Never => return out.reset(cells, false),
            Test::Number { datatype, comparison, value } => {
                out.reset(cells, false);
                self.numbers(*datatype, *comparison, value, out);
            }
            Test::Text { comparison, value } => {
                out.reset(cells, false);
                kernel::compare_text(self.values, *comparison, value, out);
            }
            Test::Member { negated, members } => {
                out.reset(cells, false);
                self.members(members, *negated, out);
            }
        }
        if let Some(validity) = self.validity {
            kernel::keep_valid(validity, out);
        }
    }

    fn numbers(&self, datatype: Datatype, comparison: crate::Comparison, value: &[u8], out: &mut Bitmap) {
        if let Values::Fixed { data, .. } = self.values {
            with_datatype!(datatype, T => kernel::compare_numbers::<T>(data, comparison, value, out));
        }
    }

    fn members(&self, members: &Members, negated: bool, out: &mut Bitmap) {
        match (members, self.values) {
            (Members::Text(members), values) => kernel::member_text(values, members, negated, out),
            (Members::One(members), Values::Fixed { data, .. }) => kernel::member_bytes(data, members, negated, out),
            (Members::Two(members), Values::Fixed { data, .. }) => kernel::member_numbers(data, members, negated, out),
            (Members::Four(members), Values::Fixed { data, .. }) => kernel::member_numbers(data, members, negated, out),
            (Members::Eight(members), Values::Fixed { data, .. }) => kernel::member_numbers(data, members, negated, out),
            // Numbers of a variable number in a cell are refused when the condition is bound.
            (_, Values::Var { .. }) => {}
        }
    }
}

/// How many offsets ascend from the first on, equal ones included.
fn ascending(offsets: &[u64]) -> usize {
    // First the loop that vectorises; only unsorted offsets are counted.
    if offsets.iter().zip(offsets.iter().skip(1)).fold(true, |ok, (low, high)| ok & (low <= high)) {
        return offsets.len();
    }
    1 + offsets.iter().zip(offsets.iter().skip(1)).take_while(|(low, high)| low <= high).count()
}
