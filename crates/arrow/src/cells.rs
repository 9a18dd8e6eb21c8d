//! The cells of a field as an Arrow array, without a copy where the table of the README says so.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Date32Array, FixedSizeBinaryArray, FixedSizeListArray, LargeBinaryArray,
    LargeListArray, PrimitiveArray,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};
use talavera::FieldBuffer;

use crate::Error;
use crate::shape::{Form, Shape};
use crate::text;

/// What numpy calls NaT and the format fills dates with.
const NOT_A_TIME: i64 = i64::MIN;

/// The parts of a field in Arrow's terms.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The bytes of all cells.
    pub(crate) data: Buffer,
    /// Where cells start, in bytes, and one more.
    offsets: Option<Vec<u64>>,
    pub(crate) nulls: Option<NullBuffer>,
}

/// The cells as an array of [`Shape::data_type`].
pub(crate) fn to_arrow(field: &str, shape: &Shape, buffer: FieldBuffer) -> Result<ArrayRef, Error> {
    if shape.form == Form::Wide {
        return text::from_wide(field, &buffer);
    }
    let mut parts = Parts::new(field, buffer)?;
    Ok(match shape.form {
        Form::Single => values(field, shape, &parts.data, parts.nulls.as_ref(), parts.nulls.clone(), &|value| value)?,
        Form::FixedList(length) => {
            let owner = |value: usize| usize::try_from(length).ok().and_then(|length| value.checked_div(length)).unwrap_or(value);
            let values = values(field, shape, &parts.data, parts.nulls.as_ref(), None, &owner)?;
            Arc::new(FixedSizeListArray::try_new(shape.item(), length, values, parts.nulls)?)
        }
        Form::VarList => {
            let offsets = parts.take_offsets(field, shape.datatype.size())?;
            let owner = |value: usize| offsets.partition_point(|start| start.as_usize() <= value).saturating_sub(1);
            let values = values(field, shape, &parts.data, parts.nulls.as_ref(), None, &owner)?;
            Arc::new(LargeListArray::try_new(shape.item(), offsets, values, parts.nulls)?)
        }
        Form::FixedBytes(length) => Arc::new(FixedSizeBinaryArray::try_new(length, parts.data, parts.nulls)?),
        Form::VarBytes => Arc::new(LargeBinaryArray::try_new(parts.take_offsets(field, 1)?, parts.data, parts.nulls)?),
        Form::Utf8 | Form::Wide => text::checked(field, shape.datatype, parts.take_offsets(field, 1)?, parts.data, parts.nulls)?,
    })
}

impl Parts {
    pub(crate) fn new(field: &str, buffer: FieldBuffer) -> Result<Self, Error> {
        let nulls = buffer.validity().map(to_nulls);
        if nulls.as_ref().is_some_and(|nulls| nulls.len() != buffer.len()) {
            return Err(Error::cells(field, "validity and data are not those of the same cells"));
        }
        let (data, offsets, _) = buffer.into_parts();
        let (words, bytes) = data.into_words();
        let words = Buffer::from_vec(words);
        let bytes = bytes.min(words.len());
        Ok(Self { data: words.slice_with_length(0, bytes), offsets, nulls })
    }

    /// The offsets, in values of `size` bytes instead of in bytes; the memory stays theirs.
    fn take_offsets(&mut self, field: &str, size: usize) -> Result<OffsetBuffer<i64>, Error> {
        let mut offsets = self.offsets.take().unwrap_or_default();
        let sound = offsets.first() == Some(&0)
            && offsets.is_sorted()
            && offsets.last().is_some_and(|&end| usize::try_from(end) == Ok(self.data.len()) && i64::try_from(end).is_ok());
        let mut left_over = 0;
        if size > 1 {
            // Sizes are powers of two; so this is a loop of shifts that the compiler vectorises.
            let (shift, mask) = (size.trailing_zeros(), size as u64 - 1);
            for offset in &mut offsets {
                left_over |= *offset & mask;
                *offset >>= shift;
            }
        }
        if !sound || left_over != 0 {
            return Err(Error::cells(field, "offsets do not cut the data into cells"));
        }
        let count = offsets.len();
        Ok(OffsetBuffer::new(ScalarBuffer::new(Buffer::from_vec(offsets), 0, count)))
    }
}

/// Validity bytes as bits.
fn to_nulls(validity: &[u8]) -> NullBuffer {
    NullBuffer::new(to_bits(validity))
}

fn to_bits(bytes: &[u8]) -> BooleanBuffer {
    BooleanBuffer::collect_bool(bytes.len(), |index| bytes.get(index).is_some_and(|&byte| byte != 0))
}

/// Bytes as values of a native type, without a copy.
pub(crate) fn scalars<T: ArrowNativeType>(data: &Buffer) -> ScalarBuffer<T> {
    ScalarBuffer::new(data.clone(), 0, data.len() / size_of::<T>())
}

/// An array of all values, those of lists one after the other.
///
/// `cell_nulls` and `owner`, the cell that a value belongs to, excuse values under nulls from having to fit.
fn values(
    field: &str,
    shape: &Shape,
    data: &Buffer,
    cell_nulls: Option<&NullBuffer>,
    nulls: Option<NullBuffer>,
    owner: &dyn Fn(usize) -> usize,
) -> Result<ArrayRef, Error> {
    use DataType as A;
    match &shape.value {
        A::Boolean => Ok(Arc::new(BooleanArray::new(to_bits(data), nulls))),
        A::Date32 => days(field, &scalars(data), cell_nulls, nulls, owner),
        A::Int8 => primitive::<Int8Type>(data, nulls),
        A::Int16 => primitive::<Int16Type>(data, nulls),
        A::Int32 => primitive::<Int32Type>(data, nulls),
        A::Int64 => primitive::<Int64Type>(data, nulls),
        A::UInt8 => primitive::<UInt8Type>(data, nulls),
        A::UInt16 => primitive::<UInt16Type>(data, nulls),
        A::UInt32 => primitive::<UInt32Type>(data, nulls),
        A::UInt64 => primitive::<UInt64Type>(data, nulls),
        A::Float32 => primitive::<Float32Type>(data, nulls),
        A::Float64 => primitive::<Float64Type>(data, nulls),
        A::Timestamp(TimeUnit::Second, _) => primitive::<TimestampSecondType>(data, nulls),
        A::Timestamp(TimeUnit::Millisecond, _) => primitive::<TimestampMillisecondType>(data, nulls),
        A::Timestamp(TimeUnit::Microsecond, _) => primitive::<TimestampMicrosecondType>(data, nulls),
        A::Timestamp(TimeUnit::Nanosecond, _) => primitive::<TimestampNanosecondType>(data, nulls),
        A::Duration(TimeUnit::Second) => primitive::<DurationSecondType>(data, nulls),
        A::Duration(TimeUnit::Millisecond) => primitive::<DurationMillisecondType>(data, nulls),
        A::Time64(TimeUnit::Microsecond) => primitive::<Time64MicrosecondType>(data, nulls),
        A::Time64(TimeUnit::Nanosecond) => primitive::<Time64NanosecondType>(data, nulls),
        _ => Err(Error::cells(field, "has no Arrow type")),
    }
}

fn primitive<T: ArrowPrimitiveType>(data: &Buffer, nulls: Option<NullBuffer>) -> Result<ArrayRef, Error> {
    Ok(Arc::new(PrimitiveArray::<T>::try_new(scalars(data), nulls)?))
}

/// Days in 32 bits; not-a-time, and what stands under a null and does not fit, is null.
fn days(
    field: &str,
    days: &[i64],
    cell_nulls: Option<&NullBuffer>,
    nulls: Option<NullBuffer>,
    owner: &dyn Fn(usize) -> usize,
) -> Result<ArrayRef, Error> {
    let mut missing = false;
    let narrow = |(value, &days): (usize, &i64)| match i32::try_from(days) {
        Ok(day) => Ok(day),
        Err(_) if days == NOT_A_TIME || cell_nulls.is_some_and(|nulls| nulls.is_null(owner(value))) => {
            missing = true;
            Ok(0)
        }
        Err(_) => Err(Error::DayRange { field: field.to_owned(), cell: owner(value), days }),
    };
    let narrowed = days.iter().enumerate().map(narrow).collect::<Result<Vec<i32>, _>>()?;
    let present = |value| days.get(value).is_some_and(|&days| i32::try_from(days).is_ok());
    let missing = missing.then(|| NullBuffer::new(BooleanBuffer::collect_bool(days.len(), present)));
    Ok(Arc::new(Date32Array::try_new(narrowed.into(), NullBuffer::union(nulls.as_ref(), missing.as_ref()))?))
}

#[cfg(test)]
mod tests;
