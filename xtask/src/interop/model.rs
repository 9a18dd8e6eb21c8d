//! What an array must hold after some writes, by the plainest means: cell by cell.

use std::collections::BTreeMap;

use talavera_schema::{ArraySchema, Attribute, NdRange};

use super::cells::Fields;
use super::filters;
use super::questions::{Cell, Columns, rows, rows_of};
use super::schema::ends;
use super::{cells, engines};
use crate::Failure;

/// The cells of an array, newest on top.
pub(super) struct Model {
    schema: ArraySchema,
    /// Each write with its time.
    writes: Vec<(u64, Content)>,
}

enum Content {
    /// A box and its cells, row-major.
    Dense(NdRange, Vec<Vec<Cell>>),
    Sparse(Vec<Vec<Cell>>),
}

impl Model {
    pub(super) fn new(schema: &ArraySchema) -> Self {
        Self { schema: schema.clone(), writes: Vec::new() }
    }

    pub(super) fn write(&mut self, write: &engines::Write, time: u64) {
        let content = match write {
            engines::Write::Dense { subarray, layout, fields } => {
                let mut rows = rows_of(fields);
                if *layout == talavera_types::Layout::ColMajor {
                    rows = row_major(subarray, rows);
                }
                Content::Dense(subarray.clone(), rows)
            }
            engines::Write::Sparse { fields } => Content::Sparse(self.in_order(fields)),
            engines::Write::Stream { parts } => Content::Sparse(parts.iter().flat_map(|part| self.in_order(part)).collect()),
        };
        self.writes.push((time, content));
    }

    /// Rows of dimensions, then attributes.
    fn in_order(&self, fields: &Fields) -> Vec<Vec<Cell>> {
        let dimensions = self.schema.domain.dimensions.iter().map(|dimension| &dimension.name);
        let names = dimensions.chain(self.schema.attributes.iter().map(|attribute| &attribute.name));
        let find = |name: &String| fields.iter().find(|(of, _)| of == name).cloned();
        rows_of(&names.filter_map(find).collect::<Vec<_>>())
    }

    /// Compares all that an array holds with the model; fields that filters change are left out.
    pub(super) fn check(&mut self, found: &Columns) -> Result<(), Failure> {
        // Of two writes the later counts; no two have the same time.
        self.writes.sort_by_key(|(time, _)| *time);
        let mut expected = if self.schema.is_dense() { self.dense() } else { self.sparse() };
        let mut found = rows(&self.schema, found);
        let first = if self.schema.is_dense() { 0 } else { self.schema.domain.dimensions.len() };
        for row in expected.iter_mut().chain(&mut found) {
            for (cell, attribute) in row.iter_mut().skip(first).zip(&self.schema.attributes) {
                if filters::demands(&attribute.filters, attribute.datatype, attribute.is_var()).lossy {
                    *cell = Cell::default();
                }
            }
        }
        if !self.schema.is_dense() {
            expected.sort();
            found.sort();
        }
        if expected.len() != found.len() {
            return Err(format!("{} cells instead of the {} written", found.len(), expected.len()).into());
        }
        match expected.iter().zip(&found).position(|(expected, found)| expected != found) {
            None => Ok(()),
            Some(at) => Err(format!("cell {at} is {:02x?}, written was {:02x?}", found[at], expected[at]).into()),
        }
    }

    fn dense(&self) -> Vec<Vec<Cell>> {
        let fill = |attribute: &Attribute| {
            (attribute.nullable.then_some(u8::from(attribute.fill_validity)), attribute.fill_value.clone())
        };
        let fill: Vec<Cell> = self.schema.attributes.iter().map(fill).collect();
        let whole = cells::whole(&self.schema);
        let mut all = vec![fill; positions(&whole).len()];
        for (_, content) in &self.writes {
            let Content::Dense(subarray, rows) = content else { continue };
            for (position, row) in positions(subarray).iter().zip(rows) {
                if let Some(cell) = place(&whole, position).and_then(|place| all.get_mut(place)) {
                    cell.clone_from(row);
                }
            }
        }
        all
    }

    fn sparse(&self) -> Vec<Vec<Cell>> {
        let rows = self.writes.iter().flat_map(|(_, content)| match content {
            Content::Sparse(rows) => rows.as_slice(),
            Content::Dense(..) => &[],
        });
        if self.schema.allows_dups {
            return rows.cloned().collect();
        }
        let dimensions = self.schema.domain.dimensions.len();
        let newest: BTreeMap<&[Cell], &Vec<Cell>> = rows.map(|row| (&row[..dimensions], row)).collect();
        newest.into_values().cloned().collect()
    }
}

/// All cells of a box, row-major.
fn positions(whole: &NdRange) -> Vec<Vec<i128>> {
    let mut all = vec![Vec::new()];
    for (low, high) in whole.0.iter().filter_map(ends) {
        all = all
            .into_iter()
            .flat_map(|position: Vec<i128>| (low..=high).map(move |at| [position.as_slice(), &[at]].concat()))
            .collect();
    }
    all
}

/// Where a cell is among those of a box, row-major.
fn place(whole: &NdRange, position: &[i128]) -> Option<usize> {
    let place =
        whole.0.iter().filter_map(ends).zip(position).fold(0, |place, ((low, high), at)| place * (high - low + 1) + (at - low));
    usize::try_from(place).ok()
}

/// Cells of a box in column-major order, put into row-major order.
fn row_major(subarray: &NdRange, rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    let reversed = |range: &NdRange| NdRange(range.0.iter().rev().cloned().collect());
    let mut placed = vec![Vec::new(); rows.len()];
    for (position, row) in positions(&reversed(subarray)).into_iter().zip(rows) {
        let position: Vec<i128> = position.into_iter().rev().collect();
        if let Some(target) = place(subarray, &position).and_then(|place| placed.get_mut(place)) {
            *target = row;
        }
    }
    placed
}
