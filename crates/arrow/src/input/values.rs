//! Single values as the format stores them.

use arrow_array::cast::AsArray as _;
use arrow_array::types::*;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use talavera::{CellBytes, Datatype};

use super::{Target, column_type};
use crate::Error;

/// What stands for no time at all.
pub(super) const NOT_A_TIME: i64 = i64::MIN;
const MILLISECONDS_OF_A_DAY: i64 = 86_400_000;

/// Whether values of an Arrow type have the bytes of a datatype.
pub(super) fn is_same_bits(data_type: &DataType, datatype: Datatype) -> bool {
    use Datatype as D;
    match data_type {
        DataType::Int8 => datatype == D::Int8,
        DataType::Int16 => datatype == D::Int16,
        DataType::Int32 => datatype == D::Int32,
        DataType::Int64 => datatype == D::Int64 || datatype.is_datetime() || datatype.is_time(),
        DataType::UInt8 => datatype.size() == 1 && datatype != D::Int8,
        DataType::UInt16 => matches!(datatype, D::UInt16 | D::StringUtf16 | D::StringUcs2),
        DataType::UInt32 => matches!(datatype, D::UInt32 | D::StringUtf32 | D::StringUcs4),
        DataType::UInt64 => datatype == D::UInt64,
        DataType::Float32 => datatype == D::Float32,
        DataType::Float64 => datatype == D::Float64,
        DataType::Date64 => datatype == D::DateTimeMs,
        DataType::Timestamp(TimeUnit::Second, _) => datatype == D::DateTimeSec,
        DataType::Timestamp(TimeUnit::Millisecond, _) => datatype == D::DateTimeMs,
        DataType::Timestamp(TimeUnit::Microsecond, _) => datatype == D::DateTimeUs,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => datatype == D::DateTimeNs,
        DataType::Duration(TimeUnit::Second) => datatype == D::TimeSec,
        DataType::Duration(TimeUnit::Millisecond) => datatype == D::TimeMs,
        DataType::Duration(TimeUnit::Microsecond) | DataType::Time64(TimeUnit::Microsecond) => datatype == D::TimeUs,
        DataType::Duration(TimeUnit::Nanosecond) | DataType::Time64(TimeUnit::Nanosecond) => datatype == D::TimeNs,
        _ => false,
    }
}

/// All values of an array, one after the other. Under a null stands anything, but not-a-time in a column of days.
pub(super) fn values(target: &Target, array: &ArrayRef) -> Result<CellBytes, Error> {
    match (array.data_type(), target.datatype) {
        (data_type, datatype) if is_same_bits(data_type, datatype) => raw(target, array),
        (DataType::Boolean, Datatype::Bool) => {
            let bits = array.as_boolean().values();
            Ok(CellBytes::copied(&bits.iter().map(u8::from).collect::<Vec<u8>>()))
        }
        (DataType::Date32, Datatype::DateTimeDay) => {
            let days = array.as_primitive::<Date32Type>();
            let day = |day: Option<i32>| day.map_or(NOT_A_TIME, i64::from);
            Ok(collect(days.len(), days.iter().map(day)))
        }
        (DataType::Date64, Datatype::DateTimeDay) => whole_days(target, array),
        (DataType::Time32(TimeUnit::Second), Datatype::TimeSec) => {
            let times = array.as_primitive::<Time32SecondType>().values();
            Ok(collect(times.len(), times.iter().map(|&time| time.into())))
        }
        (DataType::Time32(TimeUnit::Millisecond), Datatype::TimeMs) => {
            let times = array.as_primitive::<Time32MillisecondType>().values();
            Ok(collect(times.len(), times.iter().map(|&time| time.into())))
        }
        (found, _) => Err(column_type(target, found)),
    }
}

/// Values that need no conversion.
fn raw(target: &Target, array: &ArrayRef) -> Result<CellBytes, Error> {
    let size = target.datatype.size();
    let data = array.to_data();
    let range = data.offset() * size..(data.offset() + data.len()) * size;
    let bytes = data.buffers().first().and_then(|buffer| buffer.get(range));
    bytes.map(CellBytes::copied).ok_or_else(|| Error::cells(&target.name, "the column lacks values"))
}

fn whole_days(target: &Target, array: &ArrayRef) -> Result<CellBytes, Error> {
    let dates = array.as_primitive::<Date64Type>();
    let mut days = Vec::with_capacity(dates.len());
    for date in dates {
        match date {
            None => days.push(NOT_A_TIME),
            Some(date) if date % MILLISECONDS_OF_A_DAY == 0 => days.push(date / MILLISECONDS_OF_A_DAY),
            Some(_) => return Err(Error::cells(&target.name, "a date is no whole day")),
        }
    }
    Ok(collect(days.len(), days.into_iter()))
}

fn collect(count: usize, values: impl Iterator<Item = i64>) -> CellBytes {
    let mut bytes = CellBytes::zeroed(count * size_of::<i64>());
    for (target, value) in bytes.chunks_exact_mut(size_of::<i64>()).zip(values) {
        target.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}
