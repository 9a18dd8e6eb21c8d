//! The datatypes of the C API: number, name and size.

/// Writes the enum, its table of names and its sizes from one list.
macro_rules! datatypes {
    ($($variant:ident = $code:literal $name:literal $bytes:literal,)*) => {
        /// A datatype of the C API, which has the format's numbers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Datatype {
            $(#[doc = concat!("`", $name, "`, ", $bytes, " bytes a value.")] $variant,)*
        }

        impl Datatype {
            /// Every datatype, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its number in the C API and on disk.
            #[must_use]
            pub fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Its name in the C API without the prefix.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Bytes of one value; of text, of one code unit.
            #[must_use]
            pub fn size(self) -> usize {
                match self { $(Self::$variant => $bytes,)* }
            }
        }
    };
}

datatypes! {
    Int32 = 0 "INT32" 4,
    Int64 = 1 "INT64" 8,
    Float32 = 2 "FLOAT32" 4,
    Float64 = 3 "FLOAT64" 8,
    Char = 4 "CHAR" 1,
    Int8 = 5 "INT8" 1,
    UInt8 = 6 "UINT8" 1,
    Int16 = 7 "INT16" 2,
    UInt16 = 8 "UINT16" 2,
    UInt32 = 9 "UINT32" 4,
    UInt64 = 10 "UINT64" 8,
    StringAscii = 11 "STRING_ASCII" 1,
    StringUtf8 = 12 "STRING_UTF8" 1,
    StringUtf16 = 13 "STRING_UTF16" 2,
    StringUtf32 = 14 "STRING_UTF32" 4,
    StringUcs2 = 15 "STRING_UCS2" 2,
    StringUcs4 = 16 "STRING_UCS4" 4,
    Any = 17 "ANY" 1,
    DateTimeYear = 18 "DATETIME_YEAR" 8,
    DateTimeMonth = 19 "DATETIME_MONTH" 8,
    DateTimeWeek = 20 "DATETIME_WEEK" 8,
    DateTimeDay = 21 "DATETIME_DAY" 8,
    DateTimeHour = 22 "DATETIME_HR" 8,
    DateTimeMinute = 23 "DATETIME_MIN" 8,
    DateTimeSecond = 24 "DATETIME_SEC" 8,
    DateTimeMillisecond = 25 "DATETIME_MS" 8,
    DateTimeMicrosecond = 26 "DATETIME_US" 8,
    DateTimeNanosecond = 27 "DATETIME_NS" 8,
    DateTimePicosecond = 28 "DATETIME_PS" 8,
    DateTimeFemtosecond = 29 "DATETIME_FS" 8,
    DateTimeAttosecond = 30 "DATETIME_AS" 8,
    TimeHour = 31 "TIME_HR" 8,
    TimeMinute = 32 "TIME_MIN" 8,
    TimeSecond = 33 "TIME_SEC" 8,
    TimeMillisecond = 34 "TIME_MS" 8,
    TimeMicrosecond = 35 "TIME_US" 8,
    TimeNanosecond = 36 "TIME_NS" 8,
    TimePicosecond = 37 "TIME_PS" 8,
    TimeFemtosecond = 38 "TIME_FS" 8,
    TimeAttosecond = 39 "TIME_AS" 8,
    Blob = 40 "BLOB" 1,
    Bool = 41 "BOOL" 1,
    GeomWkb = 42 "GEOM_WKB" 1,
    GeomWkt = 43 "GEOM_WKT" 1,
}

impl Datatype {
    /// The datatype with this number, or `None`.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|datatype| datatype.code() == code)
    }

    /// The datatype with this name, or `None`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|datatype| datatype.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_consecutive_and_unique() {
        for (code, &datatype) in Datatype::ALL.iter().enumerate() {
            assert_eq!(usize::from(datatype.code()), code);
            assert_eq!(Datatype::from_name(datatype.name()), Some(datatype));
        }
        assert_eq!(Datatype::from_code(44), None);
    }
}
