//! Cells that look like measurements and are the same each time.

use talavera_engine::{CellBytes, FieldBuffer};
use talavera_filter::{FilterList, FilterSpec};
use talavera_schema::{Attribute, Dimension};
use talavera_types::{CellValNum, Datatype};

use crate::Failure;
pub(crate) use crate::fixtures::random::Random;

/// Cells of one value each, of `N` bytes.
pub(crate) fn values<const N: usize>(
    datatype: Datatype,
    cells: usize,
    mut value: impl FnMut() -> [u8; N],
) -> Result<FieldBuffer, Failure> {
    let mut bytes = CellBytes::zeroed(cells * N);
    bytes.as_chunks_mut::<N>().0.iter_mut().for_each(|target| *target = value());
    Ok(FieldBuffer::new(datatype, CellValNum::ONE, bytes, None, None)?)
}

/// Cells of text; `append` adds that of the next cell.
pub(crate) fn text(cells: usize, mut append: impl FnMut(&mut Vec<u8>)) -> Result<FieldBuffer, Failure> {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    for _ in 0..cells {
        append(&mut bytes);
        offsets.push(bytes.len() as u64);
    }
    Ok(FieldBuffer::new(Datatype::StringAscii, CellValNum::Var, CellBytes::copied(&bytes), Some(offsets), None)?)
}

/// A number with two decimals, near this one.
pub(crate) fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

pub(crate) fn zstd(level: i32) -> FilterSpec {
    FilterSpec::Zstd { level }
}

pub(crate) fn filtered(mut attribute: Attribute, filters: Vec<FilterSpec>) -> Attribute {
    attribute.filters = FilterList::new(filters);
    attribute
}

pub(crate) fn filtered_dimension(mut dimension: Dimension, filters: Vec<FilterSpec>) -> Dimension {
    dimension.filters = FilterList::new(filters);
    dimension
}
