//! The first and last cells of a dense read, so that a table need not read all those between them.

use talavera::{Array, Range};

use crate::args::OrderArg;
use crate::format::table::EDGE;
use crate::selection::Selection;

/// Both ends of a dense read with more cells than a table shows.
pub(super) struct Edges {
    front: Selection,
    back: Selection,
    between: u64,
}

impl Edges {
    /// The ends of a selection; none where it is small, has no cells that can be counted, several ranges, or an order
    /// that does not lead from one corner of a rectangle to the other.
    pub(super) fn of(array: &Array, selection: &Selection) -> Option<Self> {
        let schema = array.schema();
        let by_rows = match selection.order {
            None | Some(OrderArg::RowMajor | OrderArg::Unordered) => true,
            Some(OrderArg::ColMajor) => false,
            Some(OrderArg::Global) => return None,
        };
        if !schema.is_dense() {
            return None;
        }
        let inside = selection.dense_ranges(schema).zip(&schema.domain.dimensions).enumerate();
        let whole = inside.map(|(index, (ranges, dimension))| {
            let current = schema.current_domain.as_ref().and_then(|current| current.0.get(index));
            // A range that reaches out of the domain is refused as it was asked for, not in parts.
            let domain = current.or(dimension.domain.as_ref())?;
            match ranges.as_slice() {
                [range] => Some((*range).clone()).filter(|range| domain.contains(range)),
                _ => None,
            }
        });
        let whole: Vec<Range> = whole.collect::<Option<_>>()?;
        let (front, back) = (edge(&whole, by_rows, true)?, edge(&whole, by_rows, false)?);
        // More cells than 64 bits can count are as good as the most that they can.
        let between = count(&whole).unwrap_or(u64::MAX).checked_sub(count(&front)?)?.checked_sub(count(&back)?)?;
        let select =
            |ranges: Vec<Range>| Selection { ranges: ranges.into_iter().map(|range| vec![range]).collect(), ..selection.clone() };
        Some(Self { front: select(front), back: select(back), between })
    }

    /// Both ends in order, each with the number of cells that are left out before it.
    pub(super) fn parts(&self) -> [(u64, &Selection); 2] {
        [(0, &self.front), (self.between, &self.back)]
    }
}

fn count(ranges: &[Range]) -> Option<u64> {
    ranges.iter().try_fold(1_u64, |cells, range| cells.checked_mul(range.cell_count()?))
}

/// The smallest part at one end that reads as one piece and has at least as many cells as a table shows.
fn edge(whole: &[Range], by_rows: bool, front: bool) -> Option<Vec<Range>> {
    let mut part = whole.to_vec();
    let slowest_first: Vec<_> = if by_rows { (0..whole.len()).collect() } else { (0..whole.len()).rev().collect() };
    for (position, &dimension) in slowest_first.iter().enumerate() {
        let faster = slowest_first.get(position + 1..)?.iter();
        let inner = faster.map(|&faster| whole.get(faster)).collect::<Option<Vec<_>>>()?;
        let inner_cells = inner.into_iter().try_fold(1_u64, |cells, range| cells.checked_mul(range.cell_count()?));
        let values = (EDGE as u64).div_ceil(inner_cells.unwrap_or(u64::MAX)).max(1);
        *part.get_mut(dimension)? = narrowed(whole.get(dimension)?, values, front)?;
        if values > 1 {
            break;
        }
    }
    Some(part)
}

/// The first or last values of a range of integers.
fn narrowed(range: &Range, values: u64, front: bool) -> Option<Range> {
    let kept = values.min(range.cell_count().unwrap_or(u64::MAX)).checked_sub(1)?;
    Some(match *range {
        Range::Signed(low, _) if front => Range::Signed(low, low.checked_add_unsigned(kept)?),
        Range::Signed(_, high) => Range::Signed(high.checked_sub_unsigned(kept)?, high),
        Range::Unsigned(low, _) if front => Range::Unsigned(low, low.checked_add(kept)?),
        Range::Unsigned(_, high) => Range::Unsigned(high.checked_sub(kept)?, high),
        _ => return None,
    })
}
