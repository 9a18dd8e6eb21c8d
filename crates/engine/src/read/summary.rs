//! What statistics of several tiles say together about a field.

use talavera_condition::{TileBounds, Trust};
use talavera_schema::Coordinate;
use talavera_types::{Datatype, DatatypeClass};

use super::part::FieldStatistics;

/// The least and the greatest value, as bytes.
type Bounds = (Vec<u8>, Vec<u8>);

/// Bounds and nulls that hold for all that was added.
#[derive(Debug)]
pub(crate) struct Summary {
    datatype: Datatype,
    nullable: bool,
    /// None where something has no bounds to be relied on; nothing before the first value.
    bounds: Option<Option<Bounds>>,
    nulls: Option<u64>,
}

impl Summary {
    /// What holds for no cells.
    pub(crate) fn new(datatype: Datatype, nullable: bool) -> Self {
        Self { datatype, nullable, bounds: Some(None), nulls: Some(0) }
    }

    /// Adds a tile with so many cells.
    pub(crate) fn add(&mut self, known: TileBounds<'_>, cells: u64) {
        let null_count = if self.nullable { known.null_count } else { Some(0) };
        self.nulls = self.nulls.zip(null_count).and_then(|(sum, count)| sum.checked_add(count));
        if null_count == Some(cells) {
            return;
        }
        let own = known.min.zip(known.max).filter(|_| known.trust == Trust::Exact);
        self.widen(own.map(|(min, max)| (min.into_owned(), max.into_owned())));
    }

    /// Adds cells that nobody wrote.
    pub(crate) fn add_fill(&mut self, value: &[u8], is_null: bool) {
        self.forget_nulls();
        if !is_null {
            // A NUL, which is the fill value of text, ends its comparison.
            let number = !matches!(self.datatype.class(), DatatypeClass::Text | DatatypeClass::Opaque);
            self.widen(number.then(|| (value.to_vec(), value.to_vec())));
        }
    }

    /// The nulls are not known, of fields that may have any.
    pub(crate) fn forget_nulls(&mut self) {
        self.nulls = self.nulls.filter(|_| !self.nullable);
    }

    /// Nothing is known.
    pub(crate) fn forget(&mut self) {
        (self.bounds, self.nulls) = (None, None);
    }

    /// What is known in the end.
    pub(crate) fn finish(self, field: &str) -> FieldStatistics {
        let (min, max) = self.bounds.flatten().unzip();
        FieldStatistics { field: field.to_owned(), min, max, null_count: self.nulls }
    }

    fn widen(&mut self, own: Option<Bounds>) {
        self.bounds = match (self.bounds.take(), own) {
            (Some(all), Some(own)) => widened(all, own, self.datatype).map(Some),
            _ => None,
        };
    }
}

/// Bounds that hold for the cells of both; none for values that have no order.
fn widened(all: Option<Bounds>, own: Bounds, datatype: Datatype) -> Option<Bounds> {
    let is_less = |a: &[u8], b: &[u8]| -> Option<bool> {
        let (a, b) = (Coordinate::from_le_bytes(datatype, a)?, Coordinate::from_le_bytes(datatype, b)?);
        a.partial_cmp(&b).map(std::cmp::Ordering::is_lt)
    };
    is_less(&own.0, &own.1)?;
    let Some((min, max)) = all else { return Some(own) };
    let min = if is_less(&own.0, &min)? { own.0 } else { min };
    let max = if is_less(&max, &own.1)? { own.1 } else { max };
    Some((min, max))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn tile(min: i8, max: i8, null_count: Option<u64>) -> TileBounds<'static> {
        let value = |value: i8| Some(Cow::Owned(value.to_le_bytes().to_vec()));
        TileBounds { min: value(min), max: value(max), null_count, trust: Trust::Exact }
    }

    #[test]
    fn bounds_hold_for_all_tiles_and_fill_values() {
        let mut summary = Summary::new(Datatype::Int8, true);
        summary.add(tile(-3, 5, Some(1)), 10);
        summary.add(tile(7, 9, Some(2)), 10);
        // A tile of nulls has bounds that mean nothing.
        summary.add(tile(100, 100, Some(10)), 10);
        let found = summary.finish("a");
        assert_eq!((found.min, found.max, found.null_count), (Some(vec![0xfd]), Some(vec![9]), Some(13)));

        let mut summary = Summary::new(Datatype::Int8, false);
        summary.add(tile(-3, 5, None), 10);
        summary.add_fill(&[0x80], false);
        let found = summary.finish("a");
        assert_eq!((found.min, found.max, found.null_count), (Some(vec![0x80]), Some(vec![5]), Some(0)));
    }

    #[test]
    fn what_cannot_be_relied_on_leaves_nothing_known() {
        let mut summary = Summary::new(Datatype::Int8, true);
        summary.add(tile(-3, 5, None), 10);
        summary.add(TileBounds { trust: Trust::Nothing, ..tile(1, 1, None) }, 10);
        summary.add(tile(0, 1, Some(0)), 10);
        let found = summary.finish("a");
        assert_eq!((found.min, found.max, found.null_count), (None, None, None));
    }
}
