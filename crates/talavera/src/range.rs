//! Ranges as Rust writes them, and what they mean along a dimension.

use std::ops::{self, Bound};

use talavera_schema::{Dimension, Range};
use talavera_types::{Datatype, DatatypeClass};

use crate::Error;

/// What can be asked for along a dimension: a Rust range, a single value, or a [`Range`] with its datatype.
///
/// | Dimension | Ranges |
/// | --- | --- |
/// | integers, dates, times | `1..=5`, `1..6`, `..=5`, `3..`, `4`, of any integer type |
/// | floats | `0.5..=1.5`, `..2.0`, `1`, of floats, and of integers that are exact as floats |
/// | strings | `"a"..="c"`, `..="c"`, `"b"`, as text or bytes |
///
/// Ends that are left out are those of the current domain, or else of the domain. Dates and times are numbers of the
/// dimension's unit.
pub trait IntoRange {
    /// The range, whose ends have no datatype yet.
    fn into_range(self) -> AskedRange;
}

/// A value that a range can start or end with: an integer, a float, text, bytes.
pub trait RangeEnd {
    /// The value.
    fn into_value(self) -> RangeValue;
}

/// A range that may lack ends and whose ends have no datatype yet.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedRange {
    /// A range with its datatype.
    Typed(Range),
    /// From one value to another.
    Between(Bound<RangeValue>, Bound<RangeValue>),
}

/// A start or end of a range before it has a datatype.
#[derive(Debug, Clone, PartialEq)]
pub enum RangeValue {
    /// An integer, a date, a time.
    Integer(i128),
    /// A float.
    Float(f64),
    /// A string.
    String(Box<[u8]>),
}

/// Which dimension: by name, or by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DimensionKey<'n> {
    /// The first dimension with this name.
    Name(&'n str),
    /// The dimension at this index, from 0; for arrays whose dimensions have no names.
    Index(usize),
}

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

macro_rules! range_end {
    ($($type:ty: $value:ident => $made:expr;)*) => {$(
        impl RangeEnd for $type {
            fn into_value(self) -> RangeValue {
                let $value = self;
                $made
            }
        }
    )*};
}

range_end! {
    i8: value => RangeValue::Integer(value.into());
    i16: value => RangeValue::Integer(value.into());
    i32: value => RangeValue::Integer(value.into());
    i64: value => RangeValue::Integer(value.into());
    isize: value => RangeValue::Integer(i128::try_from(value).unwrap_or_default());
    u8: value => RangeValue::Integer(value.into());
    u16: value => RangeValue::Integer(value.into());
    u32: value => RangeValue::Integer(value.into());
    u64: value => RangeValue::Integer(value.into());
    usize: value => RangeValue::Integer(i128::try_from(value).unwrap_or(i128::MAX));
    f32: value => RangeValue::Float(value.into());
    f64: value => RangeValue::Float(value);
    &str: value => RangeValue::String(value.as_bytes().into());
    String: value => RangeValue::String(value.into_bytes().into());
    &String: value => RangeValue::String(value.as_bytes().into());
    &[u8]: value => RangeValue::String(value.into());
    Vec<u8>: value => RangeValue::String(value.into());
}

impl<const N: usize> RangeEnd for &[u8; N] {
    fn into_value(self) -> RangeValue {
        RangeValue::String(Box::from(self.as_slice()))
    }
}

impl RangeEnd for RangeValue {
    fn into_value(self) -> RangeValue {
        self
    }
}

impl<T: RangeEnd> IntoRange for T {
    fn into_range(self) -> AskedRange {
        let value = self.into_value();
        AskedRange::Between(Bound::Included(value.clone()), Bound::Included(value))
    }
}

impl<T: RangeEnd> IntoRange for ops::RangeInclusive<T> {
    fn into_range(self) -> AskedRange {
        let (low, high) = self.into_inner();
        AskedRange::Between(Bound::Included(low.into_value()), Bound::Included(high.into_value()))
    }
}

impl<T: RangeEnd> IntoRange for ops::Range<T> {
    fn into_range(self) -> AskedRange {
        AskedRange::Between(Bound::Included(self.start.into_value()), Bound::Excluded(self.end.into_value()))
    }
}

impl<T: RangeEnd> IntoRange for ops::RangeFrom<T> {
    fn into_range(self) -> AskedRange {
        AskedRange::Between(Bound::Included(self.start.into_value()), Bound::Unbounded)
    }
}

impl<T: RangeEnd> IntoRange for ops::RangeToInclusive<T> {
    fn into_range(self) -> AskedRange {
        AskedRange::Between(Bound::Unbounded, Bound::Included(self.end.into_value()))
    }
}

impl<T: RangeEnd> IntoRange for ops::RangeTo<T> {
    fn into_range(self) -> AskedRange {
        AskedRange::Between(Bound::Unbounded, Bound::Excluded(self.end.into_value()))
    }
}

impl<T: RangeEnd> IntoRange for (Bound<T>, Bound<T>) {
    fn into_range(self) -> AskedRange {
        AskedRange::Between(self.0.map(T::into_value), self.1.map(T::into_value))
    }
}

impl IntoRange for Range {
    fn into_range(self) -> AskedRange {
        AskedRange::Typed(self)
    }
}

impl IntoRange for &Range {
    fn into_range(self) -> AskedRange {
        AskedRange::Typed(self.clone())
    }
}

impl IntoRange for AskedRange {
    fn into_range(self) -> Self {
        self
    }
}

impl<'n> From<&'n str> for DimensionKey<'n> {
    fn from(name: &'n str) -> Self {
        Self::Name(name)
    }
}

impl<'n> From<&'n String> for DimensionKey<'n> {
    fn from(name: &'n String) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for DimensionKey<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl std::fmt::Display for DimensionKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => write!(f, "'{name}'"),
            Self::Index(index) => index.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
