//! Datatypes: code, size, default fill value, class.

use crate::on_disk::on_disk;

on_disk! {
    /// The datatype of an attribute, dimension, label, enumeration or metadata value.
    pub enum Datatype, "a datatype" {
        /// Signed 32-bit integer.
        Int32 = 0 "INT32",
        /// Signed 64-bit integer.
        Int64 = 1 "INT64",
        /// 32-bit float.
        Float32 = 2 "FLOAT32",
        /// 64-bit float.
        Float64 = 3 "FLOAT64",
        /// A character, one byte.
        Char = 4 "CHAR",
        /// Signed 8-bit integer.
        Int8 = 5 "INT8",
        /// Unsigned 8-bit integer.
        UInt8 = 6 "UINT8",
        /// Signed 16-bit integer.
        Int16 = 7 "INT16",
        /// Unsigned 16-bit integer.
        UInt16 = 8 "UINT16",
        /// Unsigned 32-bit integer.
        UInt32 = 9 "UINT32",
        /// Unsigned 64-bit integer.
        UInt64 = 10 "UINT64",
        /// ASCII text; the only string type of a dimension.
        StringAscii = 11 "STRING_ASCII",
        /// UTF-8 text.
        StringUtf8 = 12 "STRING_UTF8",
        /// UTF-16 text.
        StringUtf16 = 13 "STRING_UTF16",
        /// UTF-32 text.
        StringUtf32 = 14 "STRING_UTF32",
        /// UCS-2 text.
        StringUcs2 = 15 "STRING_UCS2",
        /// UCS-4 text.
        StringUcs4 = 16 "STRING_UCS4",
        /// Bytes of any meaning.
        Any = 17 "ANY",
        /// Years since 1970.
        DateTimeYear = 18 "DATETIME_YEAR",
        /// Months since 1970-01.
        DateTimeMonth = 19 "DATETIME_MONTH",
        /// Weeks since 1970-01-01.
        DateTimeWeek = 20 "DATETIME_WEEK",
        /// Days since 1970-01-01.
        DateTimeDay = 21 "DATETIME_DAY",
        /// Hours since 1970-01-01.
        DateTimeHr = 22 "DATETIME_HR",
        /// Minutes since 1970-01-01.
        DateTimeMin = 23 "DATETIME_MIN",
        /// Seconds since 1970-01-01.
        DateTimeSec = 24 "DATETIME_SEC",
        /// Milliseconds since 1970-01-01.
        DateTimeMs = 25 "DATETIME_MS",
        /// Microseconds since 1970-01-01.
        DateTimeUs = 26 "DATETIME_US",
        /// Nanoseconds since 1970-01-01.
        DateTimeNs = 27 "DATETIME_NS",
        /// Picoseconds since 1970-01-01.
        DateTimePs = 28 "DATETIME_PS",
        /// Femtoseconds since 1970-01-01.
        DateTimeFs = 29 "DATETIME_FS",
        /// Attoseconds since 1970-01-01.
        DateTimeAs = 30 "DATETIME_AS",
        /// Hours of a day.
        TimeHr = 31 "TIME_HR",
        /// Minutes of a day.
        TimeMin = 32 "TIME_MIN",
        /// Seconds of a day.
        TimeSec = 33 "TIME_SEC",
        /// Milliseconds of a day.
        TimeMs = 34 "TIME_MS",
        /// Microseconds of a day.
        TimeUs = 35 "TIME_US",
        /// Nanoseconds of a day.
        TimeNs = 36 "TIME_NS",
        /// Picoseconds of a day.
        TimePs = 37 "TIME_PS",
        /// Femtoseconds of a day.
        TimeFs = 38 "TIME_FS",
        /// Attoseconds of a day.
        TimeAs = 39 "TIME_AS",
        /// Bytes.
        Blob = 40 "BLOB",
        /// Zero or one, one byte.
        Bool = 41 "BOOL",
        /// Geometry as well-known binary.
        GeomWkb = 42 "GEOM_WKB",
        /// Geometry as well-known text.
        GeomWkt = 43 "GEOM_WKT",
    }
}

/// What arithmetic a datatype takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DatatypeClass {
    /// Signed integers, dates and times.
    Signed,
    /// Unsigned integers and booleans.
    Unsigned,
    /// Floats.
    Float,
    /// Text of one byte a character that has minimum and maximum: CHAR and STRING_ASCII.
    Text,
    /// Everything else: bytes that are only stored.
    Opaque,
}

impl Datatype {
    /// Bytes of one value.
    #[must_use]
    pub fn size(self) -> usize {
        use Datatype as D;
        match self {
            D::Char
            | D::Int8
            | D::UInt8
            | D::StringAscii
            | D::StringUtf8
            | D::Any
            | D::Blob
            | D::Bool
            | D::GeomWkb
            | D::GeomWkt => 1,
            D::Int16 | D::UInt16 | D::StringUtf16 | D::StringUcs2 => 2,
            D::Int32 | D::UInt32 | D::Float32 | D::StringUtf32 | D::StringUcs4 => 4,
            D::Int64 | D::UInt64 | D::Float64 => 8,
            _ => 8, // Dates and times.
        }
    }

    /// What arithmetic the datatype takes part in.
    #[must_use]
    pub fn class(self) -> DatatypeClass {
        use Datatype as D;
        match self {
            D::Int8 | D::Int16 | D::Int32 | D::Int64 => DatatypeClass::Signed,
            D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 | D::Bool => DatatypeClass::Unsigned,
            D::Float32 | D::Float64 => DatatypeClass::Float,
            D::Char | D::StringAscii => DatatypeClass::Text,
            _ if self.is_datetime() || self.is_time() => DatatypeClass::Signed,
            _ => DatatypeClass::Opaque,
        }
    }

    /// A point in time since 1970.
    #[must_use]
    pub fn is_datetime(self) -> bool {
        (Self::DateTimeYear..=Self::DateTimeAs).contains(&self)
    }

    /// A time of day.
    #[must_use]
    pub fn is_time(self) -> bool {
        (Self::TimeHr..=Self::TimeAs).contains(&self)
    }

    /// INT8 to UINT64, neither dates nor booleans.
    #[must_use]
    pub fn is_integer(self) -> bool {
        use Datatype as D;
        matches!(self, D::Int8 | D::Int16 | D::Int32 | D::Int64 | D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64)
    }

    /// FLOAT32 or FLOAT64.
    #[must_use]
    pub fn is_float(self) -> bool {
        self.class() == DatatypeClass::Float
    }

    /// Text in any encoding; not CHAR.
    #[must_use]
    pub fn is_string(self) -> bool {
        use Datatype as D;
        matches!(self, D::StringAscii | D::StringUtf8 | D::StringUtf16 | D::StringUtf32 | D::StringUcs2 | D::StringUcs4)
    }

    /// Whether a dimension may have this type: integers, floats, dates, times, STRING_ASCII.
    #[must_use]
    pub fn is_dimension_type(self) -> bool {
        self == Self::StringAscii || self.is_integer() || self.is_float() || self.is_datetime() || self.is_time()
    }

    /// The signed integer of the same size, which filters that leave the type behind hand on.
    #[must_use]
    pub fn signed_of_size(size: usize) -> Option<Self> {
        match size {
            1 => Some(Self::Int8),
            2 => Some(Self::Int16),
            4 => Some(Self::Int32),
            8 => Some(Self::Int64),
            _ => None,
        }
    }

    /// The default fill of one value, little-endian: type minimum (signed), maximum (unsigned), NaN, `0x80` for CHAR,
    /// zero for the rest.
    #[must_use]
    pub fn default_fill(self) -> &'static [u8] {
        use Datatype as D;
        const NAN_32: [u8; 4] = f32::NAN.to_le_bytes();
        const NAN_64: [u8; 8] = f64::NAN.to_le_bytes();
        match self {
            D::Char | D::Int8 => &[0x80],
            D::Int16 => &[0, 0x80],
            D::Int32 => &[0, 0, 0, 0x80],
            D::UInt8 => &[0xff],
            D::UInt16 => &[0xff; 2],
            D::UInt32 => &[0xff; 4],
            D::UInt64 => &[0xff; 8],
            D::Float32 => &NAN_32,
            D::Float64 => &NAN_64,
            D::Bool => &[0],
            _ => match (self.class(), self.size()) {
                (DatatypeClass::Signed, _) => &[0, 0, 0, 0, 0, 0, 0, 0x80],
                (_, 1) => &[0],
                (_, 2) => &[0; 2],
                (_, _) => &[0; 4],
            },
        }
    }
}

/// A Rust type whose bytes are a value of a datatype.
pub trait Native: Copy + PartialEq + PartialOrd + Default + std::fmt::Debug + Send + Sync + 'static {
    /// Bytes of one value.
    const SIZE: usize;

    /// The value whose little-endian bytes are at the front of `bytes`, if there are enough.
    fn read_le(bytes: &[u8]) -> Option<Self>;
}

macro_rules! native {
    ($($type:ty)*) => {$(
        impl Native for $type {
            const SIZE: usize = size_of::<$type>();

            #[inline]
            fn read_le(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_le_bytes(*bytes.first_chunk()?))
            }
        }
    )*};
}

native! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

/// Runs an expression with the Rust type of a datatype: `with_datatype!(datatype, T => decode::<T>(bytes))`.
///
/// Dates and times are `i64`, text and bytes `u8` (UTF-16 and UCS-2 `u16`, UTF-32 and UCS-4 `u32`). The expression is
/// compiled once for each of ten types, so call a generic function in it.
#[macro_export]
macro_rules! with_datatype {
    ($datatype:expr, $native:ident => $body:expr) => {{
        use $crate::Datatype as __D;
        match $datatype {
            __D::Int8 => {
                type $native = i8;
                $body
            }
            __D::Int16 => {
                type $native = i16;
                $body
            }
            __D::Int32 => {
                type $native = i32;
                $body
            }
            __D::UInt16 | __D::StringUtf16 | __D::StringUcs2 => {
                type $native = u16;
                $body
            }
            __D::UInt32 | __D::StringUtf32 | __D::StringUcs4 => {
                type $native = u32;
                $body
            }
            __D::UInt64 => {
                type $native = u64;
                $body
            }
            __D::Float32 => {
                type $native = f32;
                $body
            }
            __D::Float64 => {
                type $native = f64;
                $body
            }
            __datatype if __datatype.size() == 1 => {
                type $native = u8;
                $body
            }
            _ => {
                type $native = i64;
                $body
            }
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_comes_back() {
        for code in 0..=u8::MAX {
            match Datatype::from_code(code) {
                Some(datatype) => {
                    assert_eq!(datatype.code(), code);
                    assert_eq!(Datatype::from_name(datatype.name()), Some(datatype));
                    assert_eq!(datatype.default_fill().len(), datatype.size());
                }
                None => assert!(code > 43),
            }
        }
    }

    #[test]
    fn the_native_type_has_the_size_of_the_datatype() {
        for &datatype in Datatype::ALL {
            assert_eq!(with_datatype!(datatype, T => T::SIZE), datatype.size(), "{datatype}");
        }
    }
}
