//! What a range means along a dimension: ends of the dimension's datatype, both included.

use std::ops::Bound;

use talavera_schema::{Dimension, Range};
use talavera_types::{Datatype, DatatypeClass};

use super::{AskedRange, RangeValue};
use crate::Error;

impl AskedRange {
    /// The range along a dimension; `whole` supplies the ends that are left out.
    pub(crate) fn along(self, dimension: &Dimension, whole: Option<&Range>) -> Result<Range, Error> {
        let along = Along { dimension, whole };
        match self {
            Self::Typed(range) if range.is_of(dimension.datatype) => Ok(range),
            Self::Typed(range) => Err(along.wrong_type(match range {
                Range::Signed(..) | Range::Unsigned(..) => "integers",
                Range::Float32(..) | Range::Float64(..) => "floats",
                Range::String(..) => "strings",
            })),
            Self::Between(low, high) => match dimension.datatype.class() {
                DatatypeClass::Signed | DatatypeClass::Unsigned => along.integers(&low, &high),
                DatatypeClass::Float => along.floats(&low, &high),
                DatatypeClass::Text | DatatypeClass::Opaque => along.strings(low, high),
            },
        }
    }
}

/// The dimension that a range is made for.
struct Along<'a> {
    dimension: &'a Dimension,
    whole: Option<&'a Range>,
}

impl Along<'_> {
    fn integers(&self, low: &Bound<RangeValue>, high: &Bound<RangeValue>) -> Result<Range, Error> {
        let (whole_low, whole_high) = match self.whole {
            Some(&Range::Signed(low, high)) => (low.into(), high.into()),
            Some(&Range::Unsigned(low, high)) => (low.into(), high.into()),
            _ => (0, 0),
        };
        let low = match low {
            Bound::Included(value) => self.integer(value)?,
            Bound::Excluded(value) => self.integer(value)?.saturating_add(1),
            Bound::Unbounded => whole_low,
        };
        let high = match high {
            Bound::Included(value) => self.integer(value)?,
            Bound::Excluded(value) => self.integer(value)?.saturating_sub(1),
            Bound::Unbounded => whole_high,
        };
        if low > high {
            return Err(self.empty(format!("[{low}, {high}]")));
        }
        let fitting = |value| self.fitting(value);
        if self.dimension.datatype.class() == DatatypeClass::Unsigned {
            let end = |value| u64::try_from(value).ok().filter(|&end| fitting(Range::Unsigned(end, end)));
            let end = |value: i128| end(value).ok_or_else(|| self.out_of_type(value.to_string()));
            Ok(Range::Unsigned(end(low)?, end(high)?))
        } else {
            let end = |value| i64::try_from(value).ok().filter(|&end| fitting(Range::Signed(end, end)));
            let end = |value: i128| end(value).ok_or_else(|| self.out_of_type(value.to_string()));
            Ok(Range::Signed(end(low)?, end(high)?))
        }
    }

    fn floats(&self, low: &Bound<RangeValue>, high: &Bound<RangeValue>) -> Result<Range, Error> {
        if self.dimension.datatype == Datatype::Float32 {
            let whole = if let Some(&Range::Float32(low, high)) = self.whole { (low, high) } else { (f32::MIN, f32::MAX) };
            let low = closed(low, whole.0, f32::next_up, |value| self.float32(value))?;
            let high = closed(high, whole.1, f32::next_down, |value| self.float32(value))?;
            if low > high { Err(self.empty(format!("[{low}, {high}]"))) } else { Ok(Range::Float32(low, high)) }
        } else {
            let whole = if let Some(&Range::Float64(low, high)) = self.whole { (low, high) } else { (f64::MIN, f64::MAX) };
            let low = closed(low, whole.0, f64::next_up, |value| self.float64(value))?;
            let high = closed(high, whole.1, f64::next_down, |value| self.float64(value))?;
            if low > high { Err(self.empty(format!("[{low}, {high}]"))) } else { Ok(Range::Float64(low, high)) }
        }
    }

    /// Strings have no greatest one and none just before another, so the end must be there and be included.
    fn strings(&self, low: Bound<RangeValue>, high: Bound<RangeValue>) -> Result<Range, Error> {
        let text = |value| match value {
            RangeValue::String(bytes) => Ok(bytes),
            RangeValue::Integer(_) => Err(self.wrong_type("integers")),
            RangeValue::Float(_) => Err(self.wrong_type("floats")),
        };
        let low = match low {
            Bound::Included(value) => text(value)?,
            // The string just after another has one more byte, zero.
            Bound::Excluded(value) => text(value)?.into_iter().chain([0]).collect(),
            Bound::Unbounded => Box::default(),
        };
        match high {
            Bound::Included(value) => Ok(Range::String(low, text(value)?)),
            Bound::Excluded(_) | Bound::Unbounded => Err(Error::OpenStringRange { dimension: self.name() }),
        }
    }

    fn integer(&self, value: &RangeValue) -> Result<i128, Error> {
        match value {
            RangeValue::Integer(value) => Ok(*value),
            RangeValue::Float(_) => Err(self.wrong_type("floats")),
            RangeValue::String(_) => Err(self.wrong_type("strings")),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "an integer that is no float is found by casting it back"
    )]
    fn float64(&self, value: &RangeValue) -> Result<f64, Error> {
        match value {
            RangeValue::Float(value) => Ok(*value),
            RangeValue::Integer(value) if *value as f64 as i128 == *value => Ok(*value as f64),
            RangeValue::Integer(value) => Err(self.out_of_type(value.to_string())),
            RangeValue::String(_) => Err(self.wrong_type("strings")),
        }
    }

    /// The nearest FLOAT32, so that 0.1 means what was written as 0.1; but integers must be exact.
    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is wanted")]
    fn float32(&self, value: &RangeValue) -> Result<f32, Error> {
        let wide = self.float64(value)?;
        let near = wide as f32;
        let lost = match value {
            RangeValue::Integer(_) => f64::from(near) != wide,
            _ => near.is_infinite() && wide.is_finite(),
        };
        if lost { Err(self.out_of_type(wide.to_string())) } else { Ok(near) }
    }

    fn fitting(&self, range: Range) -> bool {
        range.is_of(self.dimension.datatype)
    }

    fn name(&self) -> String {
        self.dimension.name.clone()
    }

    #[cold]
    fn wrong_type(&self, found: &'static str) -> Error {
        Error::RangeType { dimension: self.name(), datatype: self.dimension.datatype, found }
    }

    #[cold]
    fn out_of_type(&self, value: String) -> Error {
        Error::RangeValue { dimension: self.name(), datatype: self.dimension.datatype, value }
    }

    #[cold]
    fn empty(&self, range: String) -> Error {
        Error::EmptyRange { dimension: self.name(), range }
    }
}

/// The end of a closed range of floats: an excluded end is replaced by its neighbour inside.
fn closed<T>(
    bound: &Bound<RangeValue>,
    whole: T,
    inside: impl Fn(T) -> T,
    value: impl Fn(&RangeValue) -> Result<T, Error>,
) -> Result<T, Error> {
    match bound {
        Bound::Included(end) => value(end),
        Bound::Excluded(end) => value(end).map(inside),
        Bound::Unbounded => Ok(whole),
    }
}
