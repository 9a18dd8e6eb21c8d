//! Dimension labels: names for the indices of a dimension, kept in a dense array of their own.
//!
//! Labels ascend or descend strictly, so that a range of labels is a range of indices (22-semantics §10.3).

use std::cmp::Ordering;
use std::sync::Arc;

use talavera_schema::{Coordinate, DimensionLabel, NdRange, Range};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::{DataOrder, Layout};

use crate::{ArrayWriter, EngineOptions, Error, FieldBuffer, OpenArray, TimeWindow, WriteOptions};

/// The labels of a dimension in a time window, in memory.
#[derive(Debug)]
pub struct Labels {
    label: DimensionLabel,
    /// The index of the first label.
    first: Range,
    values: FieldBuffer,
}

impl OpenArray {
    /// Reads the labels with this name.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the schema has no such label, when there are no labels yet, when indices between labels have
    /// none, and when labels are not in their order; whatever is wrong with the files of the label's array.
    pub fn labels(&self, name: &str) -> Result<Labels, Error> {
        let label = find(self.schema(), name)?;
        let array =
            OpenArray::open(self.shared_storage(), label_root(self.root(), label)?, self.window(), self.options().clone())?;
        let mut domains = array.fragments().iter().filter_map(|fragment| fragment.non_empty_domain().first().cloned());
        let first = domains.next().ok_or_else(|| Error::invalid(format!("label '{name}' has no values yet")))?;
        let mut rest: Vec<Range> = domains.collect();
        let mut whole = first;
        // Fragments may meet in any order; what is left over lies apart.
        while let Some(next) = rest.iter().position(|range| meets(&whole, range)) {
            whole.union_with(&rest.swap_remove(next));
        }
        if let Some(apart) = rest.first() {
            return Err(Error::invalid(format!("label '{name}' has values in {whole} and {apart}, and none between")));
        }
        let mut batch = array.query().range(0, whole.clone())?.fields([&label.attribute]).read()?;
        let values = batch.fields.pop().map(|(_, values)| values);
        let values = values.ok_or_else(|| Error::invalid(format!("label '{name}' has no values")))?;
        check_order(label, &values)?;
        Ok(Labels { label: label.clone(), first: whole, values })
    }
}

impl Labels {
    /// The labels in the order of their indices.
    #[must_use]
    pub fn values(&self) -> &FieldBuffer {
        &self.values
    }

    /// The indices that have labels.
    #[must_use]
    pub fn indices(&self) -> &Range {
        &self.first
    }

    /// From the least label to the greatest; none without labels.
    #[must_use]
    pub fn span(&self) -> Option<Range> {
        let (first, last) = (self.value(0)?, self.value(self.values.len().checked_sub(1)?)?);
        if self.label.order == DataOrder::Decreasing { Range::new(last, first) } else { Range::new(first, last) }
    }

    /// What the schema says about the labels.
    #[must_use]
    pub fn label(&self) -> &DimensionLabel {
        &self.label
    }

    /// The index of the dimension that is labelled.
    #[must_use]
    pub fn dimension(&self) -> usize {
        usize::try_from(self.label.dimension).unwrap_or(usize::MAX)
    }

    /// The indices whose labels lie in a closed range of labels.
    ///
    /// # Errors
    /// [`Error::Invalid`] when no label lies in it, or the range is of another type.
    pub fn indices_of(&self, labels: &Range) -> Result<Range, Error> {
        if !labels.is_of(self.label.datatype) {
            return Err(Error::invalid(format!(
                "label '{}' holds {}, the range {labels} does not",
                self.label.name, self.label.datatype
            )));
        }
        // Counted from the low end of the labels, whichever end of the indices that is.
        let count = self.values.len();
        let place = |from_low: usize| if self.label.order == DataOrder::Decreasing { count - 1 - from_low } else { from_low };
        let is_below = |from_low: usize, bound: Coordinate<'_>| match self.value(place(from_low)) {
            Some(value) => value.partial_cmp(&bound),
            None => None,
        };
        let start = partition(count, |at| is_below(at, labels.low()) == Some(Ordering::Less));
        let end = partition(count, |at| matches!(is_below(at, labels.high()), Some(Ordering::Less | Ordering::Equal)));
        if start >= end {
            return Err(Error::invalid(format!("no value of label '{}' lies in {labels}", self.label.name)));
        }
        let (a, b) = (place(start), place(end - 1));
        offset_range(&self.first, a.min(b), a.max(b)).ok_or_else(|| Error::invalid("the labels' indices leave their type"))
    }

    fn value(&self, place: usize) -> Option<Coordinate<'_>> {
        Coordinate::from_le_bytes(self.label.datatype, self.values.cell(place)?)
    }
}

/// Writes the labels of the indices from `first` on; gives the name of the new fragment of the label's array.
///
/// # Errors
/// [`Error::Invalid`] when the schema has no such label of its own, and when the values are not strictly in its order; as
/// [`ArrayWriter::write_dense`].
pub fn write_labels(
    storage: Arc<dyn Storage>,
    root: &ObjectPath,
    options: EngineOptions,
    name: &str,
    first: &Range,
    values: FieldBuffer,
    write: WriteOptions,
) -> Result<String, Error> {
    let array = OpenArray::open(Arc::clone(&storage), root.clone(), TimeWindow::until(u64::MAX), options.clone())?;
    let label = find(array.schema(), name)?;
    check_order(label, &values)?;
    let last = values.len().checked_sub(1).ok_or_else(|| Error::invalid("no labels to write"))?;
    let range = offset_range(first, 0, last).ok_or_else(|| Error::invalid("the labels' indices leave their type"))?;
    let writer = ArrayWriter::open(storage, label_root(root, label)?, options)?;
    writer.write_dense(&NdRange(vec![range]), Layout::RowMajor, &[(label.attribute.clone(), values)], write)
}

fn find<'s>(schema: &'s talavera_schema::ArraySchema, name: &str) -> Result<&'s DimensionLabel, Error> {
    schema.label(name).ok_or_else(|| Error::invalid(format!("the array has no dimension label '{name}'")))
}

fn label_root(root: &ObjectPath, label: &DimensionLabel) -> Result<ObjectPath, Error> {
    if !label.relative {
        return Err(Error::invalid(format!("label '{}' lies outside of the array, at {}", label.name, label.uri)));
    }
    Ok(root.join(&label.uri)?)
}

/// Whether two ranges of indices leave no index between them.
fn meets(a: &Range, b: &Range) -> bool {
    match (a, b) {
        (Range::Signed(a_low, a_high), Range::Signed(b_low, b_high)) => {
            *a_low <= b_high.saturating_add(1) && *b_low <= a_high.saturating_add(1)
        }
        (Range::Unsigned(a_low, a_high), Range::Unsigned(b_low, b_high)) => {
            *a_low <= b_high.saturating_add(1) && *b_low <= a_high.saturating_add(1)
        }
        _ => false,
    }
}

/// The indices from the `from`th to the `to`th of a range.
fn offset_range(range: &Range, from: usize, to: usize) -> Option<Range> {
    let (from, to) = (u64::try_from(from).ok()?, u64::try_from(to).ok()?);
    match *range {
        Range::Signed(low, _) => Some(Range::Signed(low.checked_add_unsigned(from)?, low.checked_add_unsigned(to)?)),
        Range::Unsigned(low, _) => Some(Range::Unsigned(low.checked_add(from)?, low.checked_add(to)?)),
        _ => None,
    }
}

/// Labels ascend, or descend, strictly.
fn check_order(label: &DimensionLabel, values: &FieldBuffer) -> Result<(), Error> {
    let value = |place| Coordinate::from_le_bytes(label.datatype, values.cell(place)?);
    let wanted = if label.order == DataOrder::Decreasing { Ordering::Greater } else { Ordering::Less };
    let wrong = (1..values.len()).find(|&place| value(place - 1).partial_cmp(&value(place)) != Some(wanted));
    match wrong {
        Some(place) => Err(Error::invalid(format!("value {place} of label '{}' is not in {} order", label.name, label.order))),
        None => Ok(()),
    }
}

/// The first of `count` places for which `before` does not hold, as it holds for all before and none after.
fn partition(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
