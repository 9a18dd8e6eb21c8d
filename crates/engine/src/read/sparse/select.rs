//! Which cells of a sparse array a read means: ranges per dimension, sorted, merged, and compared as order keys.

use std::ops::Bound;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use talavera_condition::Bitmap;
use talavera_fragment::Cover;
use talavera_schema::{ArraySchema, NdRange, Range};

use crate::order::{order_keys, range_keys};
use crate::{Error, FieldBuffer};

use super::points::Points;
use super::tiles::Kept;

/// The cells of a read: those whose coordinate is, in every dimension, in one of the ranges; of a list of points, if there
/// is one, those that are in it as well.
///
/// It may hold millions of ranges, so that copies share them.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) axes: Vec<Arc<AxisSelection>>,
    pub(crate) points: Option<Arc<Points>>,
    /// The only tiles that count, where not all do.
    pub(crate) tiles: Option<Arc<TileIntervals>>,
}

/// For each fragment of the array the first and last tile of intervals, ascending.
pub(crate) type TileIntervals = Vec<Vec<(u64, u64)>>;

/// The coordinates of a read along one dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AxisSelection {
    /// All.
    All,
    /// Those whose order key is in one of these ranges, which ascend and do not touch.
    Keys(Vec<(u64, u64)>),
    /// Strings in one of these ranges, which ascend and do not overlap.
    Text(Vec<TextRange>),
}

/// Strings from `low` on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextRange {
    pub(crate) low: Box<[u8]>,
    pub(crate) high: Bound<Box<[u8]>>,
}

impl TextRange {
    fn contains(&self, text: &[u8]) -> bool {
        *text >= *self.low && self.reaches(text)
    }

    /// Whether `text` does not lie beyond the end.
    pub(crate) fn reaches(&self, text: &[u8]) -> bool {
        match &self.high {
            Bound::Included(high) => *text <= **high,
            Bound::Excluded(high) => *text < **high,
            Bound::Unbounded => true,
        }
    }
}

impl AxisSelection {
    /// The union of ranges of one dimension; no ranges mean all.
    pub(crate) fn new(ranges: &[Range]) -> Result<Self, Error> {
        if ranges.is_empty() {
            return Ok(Self::All);
        }
        let mut keys = Vec::new();
        let mut text = Vec::new();
        for range in ranges {
            match range {
                Range::String(low, high) => text.push(TextRange { low: low.clone(), high: Bound::Included(high.clone()) }),
                _ => keys.extend(range_keys(range)),
            }
        }
        match (keys.is_empty(), text.is_empty()) {
            (_, true) => Ok(Self::Keys(merge_keys(keys))),
            (true, false) => Ok(Self::Text(merge_text(text))),
            (false, false) => Err(Error::invalid("strings and numbers as ranges of one dimension")),
        }
    }

    /// The same, whoever sent it: ranges ascend and do not overlap.
    pub(crate) fn put_in_order(self) -> Self {
        match self {
            Self::All => Self::All,
            Self::Keys(ranges) => Self::Keys(merge_keys(ranges)),
            Self::Text(ranges) => Self::Text(merge_text(ranges)),
        }
    }

    /// Whether this key is meant.
    pub(crate) fn contains_key(&self, key: u64) -> bool {
        match self {
            Self::Keys(ranges) => {
                let at = ranges.partition_point(|&(_, end)| end < key);
                ranges.get(at).is_some_and(|&(start, _)| start <= key)
            }
            Self::All | Self::Text(_) => true,
        }
    }

    /// Whether this string is meant.
    pub(crate) fn contains_text(&self, text: &[u8]) -> bool {
        match self {
            Self::Text(ranges) => {
                let at = ranges.partition_point(|range| !range.reaches(text));
                ranges.get(at).is_some_and(|range| range.contains(text))
            }
            Self::All | Self::Keys(_) => true,
        }
    }

    /// How much of the coordinates of an MBR are meant.
    ///
    /// An MBR that bounds nothing tells nothing: libraries let NaN into them, and those before 2.0 compared dates as
    /// unsigned numbers, so that their MBRs end before they start where dates before and after 1970 meet.
    fn cover(&self, mbr: &Range) -> Cover {
        match (self, mbr) {
            (Self::All, _) => Cover::Full,
            _ if !mbr.is_valid() => Cover::Partial,
            (Self::Text(ranges), Range::String(low, high)) => {
                let from = ranges.partition_point(|range| !range.reaches(low));
                let Some(range) = ranges.get(from) else { return Cover::None };
                cover(range.low <= *high, range.contains(low) && range.reaches(high))
            }
            (Self::Keys(ranges), mbr) => {
                let Some((low, high)) = range_keys(mbr) else { return Cover::Partial };
                let from = ranges.partition_point(|&(_, end)| end < low);
                let Some(&(start, end)) = ranges.get(from) else { return Cover::None };
                cover(start <= high, start <= low && high <= end)
            }
            (Self::Text(_), _) => Cover::Partial,
        }
    }

    /// Keeps the cells whose coordinate is meant.
    fn retain(&self, column: &FieldBuffer, cells: u32, kept: &mut Kept) {
        match self {
            Self::All => {}
            Self::Text(_) => kept.retain(cells, |cell| self.contains_text(column.cell(cell as usize).unwrap_or_default())),
            Self::Keys(ranges) => {
                let keys = order_keys(column.datatype(), column.bytes());
                let key = |cell: u32| keys.get(cell as usize).copied().unwrap_or(0);
                match Members::new(ranges, &keys) {
                    Members::None => kept.retain(cells, |_| false),
                    Members::All => {}
                    Members::Between(low, high) => kept.retain(cells, |cell| (low..=high).contains(&key(cell))),
                    Members::Each { low, bits } => {
                        kept.retain(cells, |cell| usize::try_from(key(cell) - low).is_ok_and(|at| bits.get(at)));
                    }
                    Members::Among(ranges) => kept.retain(cells, |cell| {
                        let key = key(cell);
                        let at = ranges.partition_point(|&(_, end)| end < key);
                        ranges.get(at).is_some_and(|&(start, _)| start <= key)
                    }),
                }
            }
        }
    }
}

/// The ranges that matter for the keys of one tile, in the form that is asked fastest.
enum Members<'r> {
    None,
    All,
    Between(u64, u64),
    /// A bit for each key from `low` on.
    Each {
        low: u64,
        bits: Bitmap,
    },
    Among(&'r [(u64, u64)]),
}

impl<'r> Members<'r> {
    fn new(ranges: &'r [(u64, u64)], keys: &[u64]) -> Self {
        /// Bits that may be set for each cell of a tile: beyond that, searching costs less.
        const BITS_PER_CELL: usize = 32;
        let (Some(&low), Some(&high)) = (keys.iter().min(), keys.iter().max()) else { return Self::None };
        let near = ranges.get(ranges.partition_point(|&(_, end)| end < low)..).unwrap_or_default();
        let near = near.get(..near.partition_point(|&(start, _)| start <= high)).unwrap_or_default();
        match near {
            [] => Self::None,
            &[(start, end)] if start <= low && high <= end => Self::All,
            &[(start, end)] => Self::Between(start, end),
            _ => match usize::try_from(high - low) {
                Ok(span) if span < keys.len().saturating_mul(BITS_PER_CELL) => {
                    let mut bits = Bitmap::new(span + 1, false);
                    let place = |key: u64| usize::try_from(key.clamp(low, high) - low).unwrap_or(span);
                    near.iter().flat_map(|&(start, end)| place(start)..=place(end)).for_each(|at| bits.set(at, true));
                    Self::Each { low, bits }
                }
                _ => Self::Among(near),
            },
        }
    }
}

impl Selection {
    /// The selection of these ranges, one list per dimension.
    pub(crate) fn new<'r>(schema: &ArraySchema, ranges: impl IntoIterator<Item = &'r [Range]>) -> Result<Self, Error> {
        let mut axes =
            ranges.into_iter().map(|ranges| AxisSelection::new(ranges).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
        axes.resize(schema.domain.dimensions.len(), Arc::new(AxisSelection::All));
        Ok(Self { axes, points: None, tiles: None })
    }

    /// Of these cells only those at the points.
    pub(crate) fn at_points(mut self, points: Arc<Points>) -> Self {
        for (dimension, axis) in self.axes.iter_mut().enumerate() {
            if let (AxisSelection::All, Some(bounds)) = (&**axis, points.bounds(dimension)) {
                *axis = Arc::new(AxisSelection::Keys(vec![bounds]));
            }
        }
        self.points = Some(points);
        self
    }

    /// Whether a tile of a fragment counts at all.
    pub(crate) fn has_tile(&self, fragment: usize, tile: u64) -> bool {
        let Some(tiles) = &self.tiles else { return true };
        let intervals = tiles.get(fragment).map_or(&[][..], Vec::as_slice);
        let at = intervals.partition_point(|&(_, last)| last < tile);
        intervals.get(at).is_some_and(|&(first, _)| first <= tile)
    }

    /// How much of a rectangle is meant.
    pub(crate) fn cover(&self, mbr: &NdRange) -> Cover {
        let mut all = Cover::Full;
        for (axis, range) in self.axes.iter().zip(&mbr.0) {
            match axis.cover(range) {
                Cover::None => return Cover::None,
                Cover::Partial => all = Cover::Partial,
                Cover::Full => {}
            }
        }
        match &self.points {
            Some(points) if points.any_in(mbr, &self.axes) => Cover::Partial,
            Some(_) => Cover::None,
            None => all,
        }
    }

    /// Whether all cells are meant.
    pub(crate) fn is_all(&self) -> bool {
        self.points.is_none() && self.tiles.is_none() && self.axes.iter().all(|axis| **axis == AxisSelection::All)
    }

    /// Whether cells are chosen along each dimension alone, and not by all coordinates together.
    pub(crate) fn looks_along_each(&self) -> bool {
        self.points.is_none()
    }

    /// Whether the coordinates along a dimension choose cells.
    pub(crate) fn looks_along(&self, dimension: usize) -> bool {
        self.axes.get(dimension).is_some_and(|axis| **axis != AxisSelection::All)
    }

    /// The cells of a tile, whose coordinates lie in `mbr`, that are meant.
    pub(crate) fn kept(&self, coordinates: &[FieldBuffer], cells: u32, mbr: &NdRange) -> Kept {
        let mut kept = Kept::All;
        for (axis, column) in self.axes.iter().zip(coordinates) {
            axis.retain(column, cells, &mut kept);
        }
        if let Some(points) = &self.points {
            points.retain(mbr, &self.axes, coordinates, &mut kept);
        }
        kept
    }
}

fn cover(touches: bool, holds: bool) -> Cover {
    match (touches, holds) {
        (false, _) => Cover::None,
        (true, false) => Cover::Partial,
        (true, true) => Cover::Full,
    }
}

fn merge_keys(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.retain(|(low, high)| low <= high);
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (low, high) in ranges {
        match merged.last_mut() {
            Some((_, end)) if low <= end.saturating_add(1) => *end = high.max(*end),
            _ => merged.push((low, high)),
        }
    }
    merged
}

fn merge_text(mut ranges: Vec<TextRange>) -> Vec<TextRange> {
    ranges.retain(|range| range.reaches(&range.low));
    ranges.sort_by(|a, b| a.low.cmp(&b.low));
    let mut merged: Vec<TextRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            // The later start lies inside; the end is the greater of both.
            Some(last) if last.reaches(&range.low) => {
                let grows = match &range.high {
                    Bound::Included(high) => !last.reaches(high),
                    Bound::Excluded(high) => !last.reaches(high) && last.high != Bound::Included(high.clone()),
                    Bound::Unbounded => true,
                };
                if grows {
                    last.high = range.high;
                }
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(low: &str, high: &str) -> Range {
        Range::String(low.as_bytes().into(), high.as_bytes().into())
    }

    #[test]
    fn a_range_inside_another_does_not_shorten_it() {
        let AxisSelection::Text(merged) = AxisSelection::new(&[text("a", "z"), text("b", "d")]).unwrap() else { panic!() };
        assert_eq!(merged, [TextRange { low: b"a"[..].into(), high: Bound::Included(b"z"[..].into()) }]);
    }

    #[test]
    fn a_reversed_range_of_strings_holds_nothing() {
        let axis = AxisSelection::new(&[text("d", "b")]).unwrap();
        assert_eq!(axis.cover(&text("a", "z")), Cover::None);
    }

    #[test]
    fn rectangles_are_covered_by_one_of_the_ranges_or_partly() {
        let axis = AxisSelection::new(&[Range::Signed(10, 20), Range::Signed(-5, 0), Range::Signed(21, 22)]).unwrap();
        assert_eq!(axis.cover(&Range::Signed(11, 22)), Cover::Full);
        assert_eq!(axis.cover(&Range::Signed(1, 9)), Cover::None);
        assert_eq!(axis.cover(&Range::Signed(0, 9)), Cover::Partial);
        assert_eq!(axis.cover(&Range::Signed(23, 90)), Cover::None);
    }

    #[test]
    fn both_zeros_are_in_a_range_that_ends_in_one() {
        let axis = AxisSelection::new(&[Range::Float64(0.0, 1.0)]).unwrap();
        assert_eq!(axis.cover(&Range::Float64(-0.0, 0.5)), Cover::Full);
    }
}
