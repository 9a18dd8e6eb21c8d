//! Which Arrow type the cells of a field have: the table of the README.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, TimeUnit};
use talavera::{CellValNum, Datatype};

use crate::ArrowOptions;

/// What the cells of a field are in TileDB and become in Arrow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) datatype: Datatype,
    pub(crate) cell_val_num: CellValNum,
    pub(crate) form: Form,
    /// The Arrow type of one value, where cells are values or lists of them.
    pub(crate) value: DataType,
}

/// How values make a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One value.
    Single,
    /// So many values.
    FixedList(i32),
    /// Any number of values.
    VarList,
    /// So many bytes.
    FixedBytes(i32),
    /// Any number of bytes.
    VarBytes,
    /// Text that is UTF-8 as it stands.
    Utf8,
    /// Text of two or four bytes a character, which becomes UTF-8.
    Wide,
}

impl Shape {
    /// The shape of such cells; none when a cell has more values than Arrow can count.
    pub(crate) fn new(datatype: Datatype, cell_val_num: CellValNum, options: &ArrowOptions) -> Option<Self> {
        use Datatype as D;
        let bytes = is_bytes(datatype);
        let form = match (cell_val_num.fixed(), datatype) {
            (Some(values), _) if bytes => Form::FixedBytes(values.try_into().ok()?),
            (Some(1), _) => Form::Single,
            (Some(values), _) => Form::FixedList(values.try_into().ok()?),
            (None, D::StringAscii | D::StringUtf8 | D::GeomWkt) if !options.strings_as_binary => Form::Utf8,
            (None, D::StringUtf16 | D::StringUcs2 | D::StringUtf32 | D::StringUcs4) if !options.strings_as_binary => Form::Wide,
            (None, _) if bytes => Form::VarBytes,
            (None, _) => Form::VarList,
        };
        Some(Self { datatype, cell_val_num, form, value: value_type(datatype, options) })
    }

    /// The Arrow type of the cells.
    pub(crate) fn data_type(&self) -> DataType {
        match self.form {
            Form::Single => self.value.clone(),
            Form::FixedList(values) => DataType::FixedSizeList(self.item(), values),
            Form::VarList => DataType::LargeList(self.item()),
            Form::FixedBytes(bytes) => DataType::FixedSizeBinary(bytes),
            Form::VarBytes => DataType::LargeBinary,
            Form::Utf8 | Form::Wide => DataType::LargeUtf8,
        }
    }

    /// The field of the values in a list.
    pub(crate) fn item(&self) -> FieldRef {
        Arc::new(Field::new(Field::LIST_FIELD_DEFAULT_NAME, self.value.clone(), self.value_may_be_missing()))
    }

    /// Whether a cell may be null in Arrow that is not in the array.
    pub(crate) fn cell_may_be_missing(&self) -> bool {
        self.form == Form::Single && self.value_may_be_missing()
    }

    /// Not-a-time has no place in 32 bits.
    fn value_may_be_missing(&self) -> bool {
        self.value == DataType::Date32
    }
}

/// Datatypes whose values mean nothing alone: one-byte text and plain bytes.
pub(crate) fn is_bytes(datatype: Datatype) -> bool {
    use Datatype as D;
    matches!(datatype, D::Char | D::StringAscii | D::StringUtf8 | D::Any | D::Blob | D::GeomWkb | D::GeomWkt)
}

/// The Arrow type of one value.
fn value_type(datatype: Datatype, options: &ArrowOptions) -> DataType {
    use Datatype as D;
    match datatype {
        D::Int8 => DataType::Int8,
        D::Int16 => DataType::Int16,
        D::Int32 => DataType::Int32,
        D::UInt16 | D::StringUtf16 | D::StringUcs2 => DataType::UInt16,
        D::UInt32 | D::StringUtf32 | D::StringUcs4 => DataType::UInt32,
        D::UInt64 => DataType::UInt64,
        D::Float32 => DataType::Float32,
        D::Float64 => DataType::Float64,
        D::Bool => DataType::Boolean,
        D::DateTimeDay if !options.days_as_integers => DataType::Date32,
        D::DateTimeSec => DataType::Timestamp(TimeUnit::Second, None),
        D::DateTimeMs => DataType::Timestamp(TimeUnit::Millisecond, None),
        D::DateTimeUs => DataType::Timestamp(TimeUnit::Microsecond, None),
        D::DateTimeNs => DataType::Timestamp(TimeUnit::Nanosecond, None),
        // Arrow's times of day of these units have 32 bits; its durations have the 64 of ours.
        D::TimeSec => DataType::Duration(TimeUnit::Second),
        D::TimeMs => DataType::Duration(TimeUnit::Millisecond),
        D::TimeUs => DataType::Time64(TimeUnit::Microsecond),
        D::TimeNs => DataType::Time64(TimeUnit::Nanosecond),
        _ if datatype.size() == 1 => DataType::UInt8,
        _ => DataType::Int64,
    }
}
