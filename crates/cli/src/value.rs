//! One cell, or any value of a datatype, as JSON and as text.

pub(crate) mod datetime;
mod input;

use std::fmt::Write as _;

use serde_json::{Number, Value};
use talavera::{CellValNum, Datatype};

/// What a value is made of: its datatype, and whether it is one number or a list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The datatype of a single value.
    pub(crate) datatype: Datatype,
    /// Whether there is always exactly one, so that no list is written.
    pub(crate) single: bool,
}

/// A number of any datatype.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Num {
    /// Signed integers, dates and times.
    Signed(i64),
    /// Unsigned integers and booleans.
    Unsigned(u64),
    /// FLOAT32.
    Float32(f32),
    /// FLOAT64.
    Float64(f64),
}

/// How the bytes of a datatype are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Number,
    Latin1,
    Utf8,
    Utf16,
    Utf32,
    Hex,
}

impl Shape {
    /// The cells of a field or the values of an enumeration.
    pub(crate) fn of_cells(datatype: Datatype, cell_val_num: CellValNum) -> Self {
        Self { datatype, single: cell_val_num == CellValNum::ONE }
    }

    /// One value, as the end of a range.
    pub(crate) fn one(datatype: Datatype) -> Self {
        Self { datatype, single: true }
    }

    /// Any number of values, as in metadata.
    pub(crate) fn list(datatype: Datatype) -> Self {
        Self { datatype, single: false }
    }

    /// Whether numbers are shown, so that a table sets them to the right.
    pub(crate) fn is_numeric(self) -> bool {
        self.single && class(self.datatype) == Class::Number && !self.datatype.is_datetime()
    }

    /// The value in the JSON of the format's test data: integers, dates and times as numbers, text as text, bytes as
    /// hexadecimal digits, text that is none as `{"hex": …}`, several numbers as a list.
    pub(crate) fn json(self, bytes: &[u8]) -> Value {
        match class(self.datatype) {
            Class::Number if self.single => numbers(self.datatype, bytes).next().map_or(Value::Null, Num::json),
            Class::Number => Value::Array(numbers(self.datatype, bytes).map(Num::json).collect()),
            Class::Hex => Value::String(hex(bytes)),
            _ => match decode_text(self.datatype, bytes) {
                Some(text) => Value::String(text),
                None => Value::Object([("hex".to_owned(), Value::String(hex(bytes)))].into_iter().collect()),
            },
        }
    }

    /// Appends the value as text: dates and times as ISO 8601 writes them, bytes as hexadecimal digits, text as it is
    /// (what is not valid in its encoding as `\x` escapes), several numbers as `[1, 2]`.
    pub(crate) fn write_text(self, out: &mut String, bytes: &[u8]) {
        match class(self.datatype) {
            Class::Number if self.single => {
                if let Some(number) = numbers(self.datatype, bytes).next() {
                    number.write_text(out, self.datatype);
                }
            }
            Class::Number => {
                out.push('[');
                for (index, number) in numbers(self.datatype, bytes).enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    number.write_text(out, self.datatype);
                }
                out.push(']');
            }
            Class::Hex => out.push_str(&hex(bytes)),
            _ => match decode_text(self.datatype, bytes) {
                Some(text) => out.push_str(&text),
                None => bytes.iter().for_each(|byte| push_escaped(out, *byte)),
            },
        }
    }

    /// The order of values that the test data of the format are sorted in: numbers by value with NaN last, text by its
    /// UTF-8 bytes, bytes by their digits, lists by their elements.
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        match class(self.datatype) {
            Class::Number => {
                let mut others = numbers(self.datatype, b);
                for number in numbers(self.datatype, a) {
                    let Some(other) = others.next() else { return std::cmp::Ordering::Greater };
                    let order = number.compare(other);
                    if order.is_ne() {
                        return order;
                    }
                }
                if others.next().is_some() { std::cmp::Ordering::Less } else { std::cmp::Ordering::Equal }
            }
            // Both orders are those of the bytes; the two other encodings have their own.
            Class::Latin1 | Class::Hex => a.cmp(b),
            _ => match (decode_text(self.datatype, a), decode_text(self.datatype, b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                (text_a, text_b) => text_b.is_some().cmp(&text_a.is_some()).then_with(|| a.cmp(b)),
            },
        }
    }
}

impl Num {
    /// Reads one number of the datatype from all of `bytes`.
    pub(crate) fn from_le_bytes(datatype: Datatype, bytes: &[u8]) -> Option<Self> {
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let unsigned = u64::from_le_bytes(wide);
        Some(match datatype {
            Datatype::Float32 => Self::Float32(f32::from_le_bytes(*bytes.first_chunk()?)),
            Datatype::Float64 => Self::Float64(f64::from_le_bytes(wide)),
            _ if is_signed(datatype) => {
                // Shifting up and back down fills the upper bits with the sign.
                let unused_bits = 64 - 8 * bytes.len().max(1);
                Self::Signed((unsigned << unused_bits).cast_signed() >> unused_bits)
            }
            _ => Self::Unsigned(unsigned),
        })
    }

    /// As JSON; floats that JSON has no numbers for by name.
    pub(crate) fn json(self) -> Value {
        match self {
            Self::Signed(value) => value.into(),
            Self::Unsigned(value) => value.into(),
            Self::Float32(value) => float_json(value.into()),
            Self::Float64(value) => float_json(value),
        }
    }

    /// The number as an index into the values of an enumeration.
    pub(crate) fn index(self) -> Option<usize> {
        match self {
            Self::Signed(value) => usize::try_from(value).ok(),
            Self::Unsigned(value) => usize::try_from(value).ok(),
            Self::Float32(_) | Self::Float64(_) => None,
        }
    }

    fn write_text(self, out: &mut String, datatype: Datatype) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Signed(value) if datatype.is_datetime() || datatype.is_time() => {
                out.push_str(&datetime::text(datatype, value));
                Ok(())
            }
            Self::Signed(value) => write!(out, "{value}"),
            Self::Unsigned(value) => write!(out, "{value}"),
            Self::Float32(value) if value.is_finite() => write!(out, "{value:?}"),
            Self::Float64(value) if value.is_finite() => write!(out, "{value:?}"),
            Self::Float32(value) => write!(out, "{}", float_name(value.into())),
            Self::Float64(value) => write!(out, "{}", float_name(value)),
        };
    }

    fn compare(self, other: Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Signed(a), Self::Signed(b)) => a.cmp(&b),
            (Self::Unsigned(a), Self::Unsigned(b)) => a.cmp(&b),
            (Self::Float32(a), Self::Float32(b)) => compare_floats(a.into(), b.into()),
            (Self::Float64(a), Self::Float64(b)) => compare_floats(a, b),
            _ => std::cmp::Ordering::Equal,
        }
    }
}

/// The ends of a range of a dimension as JSON.
pub(crate) fn range_json(datatype: Datatype, range: &talavera::Range) -> Value {
    Value::Array(vec![coordinate_json(datatype, range.low()), coordinate_json(datatype, range.high())])
}

/// The ends of a range of a dimension as text, `low..high`: what `--range` takes.
pub(crate) fn range_text(datatype: Datatype, range: &talavera::Range) -> String {
    format!("{}..{}", coordinate_text(datatype, range.low()), coordinate_text(datatype, range.high()))
}

fn coordinate_json(datatype: Datatype, coordinate: talavera::Coordinate<'_>) -> Value {
    match coordinate {
        talavera::Coordinate::Signed(value) => Num::Signed(value).json(),
        talavera::Coordinate::Unsigned(value) => Num::Unsigned(value).json(),
        talavera::Coordinate::Float32(value) => Num::Float32(value).json(),
        talavera::Coordinate::Float64(value) => Num::Float64(value).json(),
        talavera::Coordinate::String(bytes) => Shape::one(datatype).json(bytes),
    }
}

fn coordinate_text(datatype: Datatype, coordinate: talavera::Coordinate<'_>) -> String {
    let mut text = String::new();
    match coordinate {
        talavera::Coordinate::Signed(value) => Num::Signed(value).write_text(&mut text, datatype),
        talavera::Coordinate::Unsigned(value) => Num::Unsigned(value).write_text(&mut text, datatype),
        talavera::Coordinate::Float32(value) => Num::Float32(value).write_text(&mut text, datatype),
        talavera::Coordinate::Float64(value) => Num::Float64(value).write_text(&mut text, datatype),
        talavera::Coordinate::String(bytes) => {
            text.push('"');
            bytes.iter().for_each(|byte| push_escaped(&mut text, *byte));
            text.push('"');
        }
    }
    text
}

/// Whether values are signed integers, or dates and times, which are stored as such.
pub(crate) fn is_signed(datatype: Datatype) -> bool {
    let integer = matches!(datatype, Datatype::Int8 | Datatype::Int16 | Datatype::Int32 | Datatype::Int64);
    integer || datatype.is_datetime() || datatype.is_time()
}

fn class(datatype: Datatype) -> Class {
    match datatype {
        Datatype::Char | Datatype::StringAscii => Class::Latin1,
        Datatype::StringUtf8 | Datatype::GeomWkt => Class::Utf8,
        Datatype::StringUtf16 | Datatype::StringUcs2 => Class::Utf16,
        Datatype::StringUtf32 | Datatype::StringUcs4 => Class::Utf32,
        Datatype::Any | Datatype::Blob | Datatype::GeomWkb => Class::Hex,
        _ => Class::Number,
    }
}

fn numbers(datatype: Datatype, bytes: &[u8]) -> impl Iterator<Item = Num> {
    bytes.chunks_exact(datatype.size()).filter_map(move |bytes| Num::from_le_bytes(datatype, bytes))
}

/// The text that bytes of a text datatype spell; `None` when they are not valid in its encoding.
fn decode_text(datatype: Datatype, bytes: &[u8]) -> Option<String> {
    match class(datatype) {
        Class::Latin1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        Class::Utf8 => std::str::from_utf8(bytes).ok().map(str::to_owned),
        Class::Utf16 => {
            let (units, rest) = bytes.as_chunks();
            let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
            char::decode_utf16(units).collect::<Result<_, _>>().ok().filter(|_| rest.is_empty())
        }
        Class::Utf32 => {
            let (units, rest) = bytes.as_chunks();
            let text = units.iter().map(|unit| char::from_u32(u32::from_le_bytes(*unit))).collect();
            Option::filter(text, |_| rest.is_empty())
        }
        Class::Number | Class::Hex => None,
    }
}

/// The bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

fn push_escaped(out: &mut String, byte: u8) {
    out.extend(std::ascii::escape_default(byte).map(char::from));
}

fn float_json(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| Value::String(float_name(value).to_owned()), Value::Number)
}

fn float_name(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

fn compare_floats(a: f64, b: f64) -> std::cmp::Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(datatype: Datatype, single: bool, bytes: &[u8], json: &str, text: &str) {
        let shape = Shape { datatype, single };
        assert_eq!(shape.json(bytes).to_string(), json, "{datatype}");
        let mut written = String::new();
        shape.write_text(&mut written, bytes);
        assert_eq!(written, text, "{datatype}");
    }

    #[test]
    fn integers_of_64_bits_are_exact() {
        check(Datatype::UInt64, true, &[0xff; 8], "18446744073709551615", "18446744073709551615");
        check(Datatype::Int64, true, &i64::MIN.to_le_bytes(), "-9223372036854775808", "-9223372036854775808");
        check(Datatype::Int8, true, &[0x80], "-128", "-128");
        check(Datatype::Bool, true, &[1], "1", "1");
    }

    #[test]
    fn floats_are_shortest_and_named_where_json_has_no_number() {
        check(Datatype::Float64, true, &0.1_f64.to_le_bytes(), "0.1", "0.1");
        check(Datatype::Float64, true, &(-0.0_f64).to_le_bytes(), "-0.0", "-0.0");
        check(Datatype::Float64, true, &f64::NAN.to_le_bytes(), "\"NaN\"", "NaN");
        check(Datatype::Float32, true, &f32::NEG_INFINITY.to_le_bytes(), "\"-Infinity\"", "-Infinity");
        // JSON has the shortest digits of the value as a double, text those of the value itself.
        check(Datatype::Float32, true, &0.1_f32.to_le_bytes(), "0.10000000149011612", "0.1");
    }

    #[test]
    fn text_is_decoded_by_its_datatype() {
        check(Datatype::StringAscii, false, b"a\xe9", "\"aé\"", "aé");
        check(Datatype::StringUtf8, false, "grün".as_bytes(), "\"grün\"", "grün");
        check(Datatype::StringUtf8, false, b"a\xff", "{\"hex\":\"61ff\"}", "a\\xff");
        check(Datatype::StringUtf16, false, &[0x3d, 0xd8, 0x00, 0xde], "\"😀\"", "😀");
        check(Datatype::StringUcs2, false, &[0x00, 0xde], "{\"hex\":\"00de\"}", "\\x00\\xde");
        check(Datatype::StringUtf32, false, &[0x00, 0xf6, 0x01, 0x00], "\"😀\"", "😀");
        check(Datatype::Blob, false, &[0, 0xab], "\"00ab\"", "00ab");
    }

    #[test]
    fn several_numbers_are_a_list() {
        check(Datatype::Int16, false, &[1, 0, 0xff, 0xff], "[1,-1]", "[1, -1]");
        check(Datatype::Int16, false, &[], "[]", "[]");
    }

    #[test]
    fn values_sort_as_the_test_data_do() {
        use std::cmp::Ordering::{Greater, Less};
        let utf16 = Shape::list(Datatype::StringUtf16);
        // U+FF41 sorts before U+1F600 as text, though its first unit is above that of the pair.
        assert_eq!(utf16.compare(&[0x41, 0xff], &[0x3d, 0xd8, 0x00, 0xde]), Less);
        let floats = Shape::one(Datatype::Float64);
        assert_eq!(floats.compare(&f64::NAN.to_le_bytes(), &f64::INFINITY.to_le_bytes()), Greater);
        let lists = Shape::list(Datatype::Int8);
        assert_eq!(lists.compare(&[1], &[1, 0x80]), Less);
        assert_eq!(lists.compare(&[2], &[1, 5]), Greater);
    }
}
