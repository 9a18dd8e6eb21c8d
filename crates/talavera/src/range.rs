//! Ranges as Rust writes them, and what they mean along a dimension.

mod along;
mod points;

use std::ops::{self, Bound};

use talavera_engine::OpenArray;
use talavera_schema::{ArraySchema, Dimension, Range};
use talavera_types::Datatype;

use crate::Error;

pub use points::IntoPoint;
pub(crate) use points::columns as point_columns;

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

/// Which dimension is meant.
pub(crate) fn dimension<'s>(schema: &'s ArraySchema, key: DimensionKey<'_>) -> Result<(usize, &'s Dimension), Error> {
    let found = match key {
        DimensionKey::Name(name) => schema.dimension(name),
        DimensionKey::Index(index) => schema.domain.dimensions.get(index).map(|dimension| (index, dimension)),
    };
    found.ok_or_else(|| Error::UnknownDimension { dimension: key.to_string() })
}

/// Which dimension is meant, and what the range is along it.
pub(crate) fn along_dimension(
    schema: &ArraySchema,
    key: DimensionKey<'_>,
    range: impl IntoRange,
) -> Result<(usize, Range), Error> {
    let (index, dimension) = dimension(schema, key)?;
    Ok((index, range.into_range().along(dimension, whole(schema, index))?))
}

/// The dimension that is labelled, and the indices whose labels lie in a range.
pub(crate) fn of_labels(array: &OpenArray, label: &str, range: impl IntoRange) -> Result<(usize, Range), Error> {
    let labels = array.labels(label)?;
    let (span, datatype) = (labels.span(), labels.label().datatype);
    // Labels are along a dimension of their own, as far as a range is concerned.
    let along = match &span {
        Some(span) if datatype != Datatype::StringAscii => Dimension::new(label, datatype, span.clone(), None),
        _ => Dimension::string(label),
    };
    let indices = labels.indices_of(&range.into_range().along(&along, span.as_ref())?)?;
    Ok((labels.dimension(), indices))
}

/// All values along a dimension: the current domain, or else the domain.
pub(crate) fn whole(schema: &ArraySchema, dimension: usize) -> Option<&Range> {
    let current = schema.current_domain.as_ref().and_then(|current| current.0.get(dimension));
    current.or_else(|| schema.domain.dimensions.get(dimension)?.domain.as_ref())
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
