//! Which cells of a dense array an input has: by the ranges asked for, by its coordinates, or all.

use talavera::{ArraySchema, Coordinate, FieldBuffer, NdRange, Range};

use crate::args::WriteOrder;
use crate::error::Error;
use crate::input::bounds;
use crate::range;

/// A rectangle in the making: a range along each dimension, where one is known.
#[derive(Debug)]
pub(super) struct Region(Vec<Option<Range>>);

impl Region {
    /// The ranges of `--range`.
    ///
    /// # Errors
    /// [`Error::Usage`] for ranges that do not fit the array, two along a dimension, and any of a sparse array.
    pub(super) fn from_texts(texts: &[String], schema: &ArraySchema) -> Result<Self, Error> {
        let mut ranges = vec![None; schema.domain.dimensions.len()];
        for text in texts {
            let usage = |reason: &str| Error::usage(format!("--range {text}: {reason}"));
            if !schema.is_dense() {
                return Err(usage("cells of a sparse array bring their coordinates as columns; leave out --range"));
            }
            let (dimension, range) = range::from_text(text, schema, None)?;
            if let Some(known) = ranges.get_mut(dimension).and_then(|known| known.replace(range)) {
                return Err(usage(&format!("the dimension has the range {known} already")));
            }
        }
        Ok(Self(ranges))
    }

    /// Takes the coordinates out of the fields. Where a dimension has no range, it gets that of the coordinates, which
    /// must be those of the rectangle, in order.
    ///
    /// # Errors
    /// [`Error::Usage`] for coordinates that do not follow each other.
    pub(super) fn take_coordinates(
        &mut self,
        schema: &ArraySchema,
        fields: &mut Vec<(String, FieldBuffer)>,
        order: WriteOrder,
    ) -> Result<(), Error> {
        let mut coordinates = Vec::new();
        for (dimension, range) in schema.domain.dimensions.iter().zip(&mut self.0) {
            let at = fields.iter().position(|(name, _)| *name == dimension.name);
            let cells = at.map(|at| fields.remove(at).1);
            if range.is_none() {
                *range = cells.as_ref().and_then(bounds);
            }
            coordinates.push(cells);
        }
        let ranges = self.ranges(schema)?;
        let mut stride = 1_u64;
        let dimensions = schema.domain.dimensions.iter().zip(&ranges.0).zip(&coordinates);
        let dimensions: Vec<_> = match order {
            WriteOrder::RowMajor => dimensions.rev().collect(),
            WriteOrder::ColMajor => dimensions.collect(),
        };
        for ((dimension, range), cells) in dimensions {
            let width = range.cell_count().unwrap_or(u64::MAX);
            if let Some(cells) = cells {
                follow(&dimension.name, range, cells, stride, width, order)?;
            }
            stride = stride.saturating_mul(width);
        }
        Ok(())
    }

    /// The rectangle: where nothing was said of a dimension, its current domain or domain.
    ///
    /// # Errors
    /// [`Error::Usage`] for a dimension without a domain, which no dense array has.
    pub(super) fn ranges(&self, schema: &ArraySchema) -> Result<NdRange, Error> {
        let along = |(index, dimension): (usize, &talavera::Dimension)| {
            let current = schema.current_domain.as_ref().and_then(|current| current.0.get(index));
            let whole = current.or(dimension.domain.as_ref());
            let range = self.0.get(index).and_then(Option::as_ref).or(whole).cloned();
            range.ok_or_else(|| Error::usage(format!("dimension '{}' has no domain: give a --range", dimension.name)))
        };
        Ok(NdRange(schema.domain.dimensions.iter().enumerate().map(along).collect::<Result<_, _>>()?))
    }
}

/// Checks that coordinates count through a range, each `stride` times.
fn follow(name: &str, range: &Range, cells: &FieldBuffer, stride: u64, width: u64, order: WriteOrder) -> Result<(), Error> {
    let low = range.low().integer_bits().unwrap_or(0);
    for cell in 0..cells.len() {
        let expected = low.wrapping_add(cell as u64 / stride.max(1) % width.max(1));
        let found = cells.cell(cell).and_then(|bytes| Coordinate::from_le_bytes(cells.datatype(), bytes));
        if found.and_then(|found| found.integer_bits()) != Some(expected) {
            let order = match order {
                WriteOrder::RowMajor => "row-major",
                WriteOrder::ColMajor => "col-major",
            };
            let found = found.map_or_else(String::new, |found| found.to_string());
            return Err(Error::usage(format!(
                "cell {}: coordinate {found} of dimension '{name}' does not follow in {order} order within {range}; \
                 a dense array takes every cell of a rectangle, in order",
                cell + 1
            )));
        }
    }
    Ok(())
}
