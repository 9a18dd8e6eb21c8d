//! What is known about the values of a field: their number, sum and bounds; and how two such sums of knowledge are one.

use talavera_fragment::{StatisticSet, Sum, float_bounds_are_exact};
use talavera_schema::Range;
use talavera_types::{Datatype, DatatypeClass, Native, with_datatype};

use super::{AggregateValue, TotalField};
use crate::fragment::FieldStatisticsLists;

/// Which totals of a field are wanted; values and nulls are always counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) sum: bool,
    pub(crate) bounds: bool,
}

/// The totals of some cells of a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Totals {
    /// Cells that are not null.
    pub(crate) values: u64,
    /// Cells that are null.
    pub(crate) nulls: u64,
    pub(crate) sum: SumTotal,
    pub(crate) bounds: Bounds,
}

/// A sum of values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum SumTotal {
    /// Nothing was added.
    #[default]
    None,
    /// Of integers; wide enough for any number of cells.
    Integer(i128),
    Float(f64),
}

/// The least and the greatest value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Bounds {
    /// There was no value.
    #[default]
    None,
    Signed(i64, i64),
    Unsigned(u64, u64),
    /// Of the values that are not NaN; reversed where all are.
    Float(f64, f64),
    Text(Box<[u8]>, Box<[u8]>),
}

impl Wanted {
    pub(crate) fn add(&mut self, other: Self) {
        self.sum |= other.sum;
        self.bounds |= other.bounds;
    }
}

impl Totals {
    /// Adds the totals of other cells of the field.
    pub(crate) fn add(&mut self, other: Self) {
        self.values += other.values;
        self.nulls += other.nulls;
        self.sum = match (self.sum, other.sum) {
            (sum, SumTotal::None) | (SumTotal::None, sum) => sum,
            (SumTotal::Integer(a), SumTotal::Integer(b)) => SumTotal::Integer(a.saturating_add(b)),
            (SumTotal::Float(a), SumTotal::Float(b)) => SumTotal::Float(a + b),
            // A field has one datatype.
            (sum, _) => sum,
        };
        let bounds = std::mem::take(&mut self.bounds);
        self.bounds = bounds.union(other.bounds);
    }

    pub(super) fn sum(&self, datatype: Datatype) -> AggregateValue {
        match (self.sum, datatype.class()) {
            (SumTotal::Float(sum), _) => AggregateValue::Float(sum),
            (SumTotal::None, DatatypeClass::Float) => AggregateValue::Float(0.0),
            (SumTotal::Integer(sum), DatatypeClass::Unsigned) => {
                AggregateValue::Unsigned(u64::try_from(sum).unwrap_or(if sum < 0 { 0 } else { u64::MAX }))
            }
            (SumTotal::Integer(sum), _) => {
                AggregateValue::Signed(i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX }))
            }
            (SumTotal::None, DatatypeClass::Unsigned) => AggregateValue::Unsigned(0),
            (SumTotal::None, _) => AggregateValue::Signed(0),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean is a float")]
    pub(super) fn mean(&self) -> AggregateValue {
        match self.sum {
            SumTotal::Integer(sum) if self.values > 0 => AggregateValue::Float(sum as f64 / self.values as f64),
            SumTotal::Float(sum) if self.values > 0 => AggregateValue::Float(sum / self.values as f64),
            _ => AggregateValue::Null,
        }
    }

    pub(super) fn min(&self) -> AggregateValue {
        match &self.bounds {
            Bounds::None => AggregateValue::Null,
            Bounds::Signed(min, _) => AggregateValue::Signed(*min),
            Bounds::Unsigned(min, _) => AggregateValue::Unsigned(*min),
            Bounds::Float(min, max) => AggregateValue::Float(if min <= max { *min } else { f64::NAN }),
            Bounds::Text(min, _) => AggregateValue::Text(min.clone()),
        }
    }

    pub(super) fn max(&self) -> AggregateValue {
        match &self.bounds {
            Bounds::None => AggregateValue::Null,
            Bounds::Signed(_, max) => AggregateValue::Signed(*max),
            Bounds::Unsigned(_, max) => AggregateValue::Unsigned(*max),
            Bounds::Float(min, max) => AggregateValue::Float(if min <= max { *max } else { f64::NAN }),
            Bounds::Text(_, max) => AggregateValue::Text(max.clone()),
        }
    }
}

impl Bounds {
    fn union(self, other: Self) -> Self {
        match (self, other) {
            (bounds, Self::None) | (Self::None, bounds) => bounds,
            (Self::Signed(low, high), Self::Signed(min, max)) => Self::Signed(low.min(min), high.max(max)),
            (Self::Unsigned(low, high), Self::Unsigned(min, max)) => Self::Unsigned(low.min(min), high.max(max)),
            (Self::Float(low, high), Self::Float(min, max)) => {
                Self::Float(if min < low { min } else { low }, if max > high { max } else { high })
            }
            (Self::Text(low, high), Self::Text(min, max)) => Self::Text(low.min(min), high.max(max)),
            // A field has one datatype.
            (bounds, _) => bounds,
        }
    }

    /// The bounds that a range of integers is; none for other ranges, in which NaN may hide or which were sorted otherwise.
    pub(crate) fn of_integers(range: &Range) -> Option<Self> {
        match range {
            Range::Signed(low, high) if low <= high => Some(Self::Signed(*low, *high)),
            Range::Unsigned(low, high) if low <= high => Some(Self::Unsigned(*low, *high)),
            _ => None,
        }
    }

    /// The bounds whose bytes these are; none where they bound nothing.
    fn of_numbers(datatype: Datatype, min: &[u8], max: &[u8]) -> Option<Self> {
        let of = with_datatype!(datatype, T => super::fold::bounds(T::read_le(min)?, T::read_le(max)?));
        match of {
            Self::Signed(min, max) if min > max => None,
            Self::Unsigned(min, max) if min > max => None,
            Self::Float(min, max) if min.is_nan() || max.is_nan() || min > max => None,
            bounds => Some(bounds),
        }
    }

    /// The bounds of text. A NUL ended the comparison of text when they were written, so those that hold one say nothing
    /// about what follows it.
    fn of_text(min: &[u8], max: &[u8]) -> Option<Self> {
        let tells = min <= max && !min.contains(&0) && !max.contains(&0);
        tells.then(|| Self::Text(min.into(), max.into()))
    }
}

/// The statistics of the tiles of a field of a fragment, and which of them say the truth.
#[derive(Debug)]
pub(crate) struct TileStatistics {
    pub(crate) lists: FieldStatisticsLists,
    pub(crate) exact: StatisticSet,
}

impl TileStatistics {
    /// The totals of all `cells` cells of a tile, where its statistics tell all that is wanted.
    pub(crate) fn totals(&self, tile: u64, cells: u64, field: &TotalField) -> Option<Totals> {
        let index = usize::try_from(tile).ok()?;
        let nulls = match &self.lists.null_counts {
            _ if !field.shape.nullable => 0,
            Some(counts) if self.exact.null_count => counts.get(index)?,
            _ => return None,
        };
        let values = cells.checked_sub(nulls)?;
        let mut totals = Totals { values, nulls, ..Totals::default() };
        if values == 0 {
            return Some(totals);
        }
        let datatype = field.shape.datatype;
        let sum = self.lists.sums.sum(index, datatype).filter(|sum| self.exact.sum && is_true(*sum));
        if field.wanted.sum {
            totals.sum = match sum? {
                Sum::Signed(sum) => SumTotal::Integer(sum.into()),
                Sum::Unsigned(sum) => SumTotal::Integer(sum.into()),
                Sum::Float(sum) => SumTotal::Float(sum),
            };
        }
        if field.wanted.bounds {
            // NaN among floats makes their bounds a matter of chance; a sum that is a number proves that there was none.
            let known = self.exact.min_max && (sum.is_some() || !datatype.is_float());
            let (min, max) = (self.lists.mins.value(index)?, self.lists.maxes.value(index)?);
            totals.bounds = match datatype.class() {
                _ if !known => return None,
                DatatypeClass::Text => Bounds::of_text(min, max)?,
                DatatypeClass::Opaque => return None,
                _ => Bounds::of_numbers(datatype, min, max)?,
            };
        }
        Some(totals)
    }
}

/// Whether a stored sum is that of all values.
fn is_true(sum: Sum) -> bool {
    match sum {
        Sum::Float(sum) => float_bounds_are_exact(sum),
        _ => sum.is_exact(),
    }
}
