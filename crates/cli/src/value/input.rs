//! Values as people and files write them, back into bytes: the inverse of how they are shown.

use serde_json::Value;
use talavera::Datatype;

use super::{Class, Num, Shape, class, datetime, is_signed};

impl Shape {
    /// Appends the bytes of a value in the JSON that [`Shape::json`] writes; dates and times may be ISO text, too.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn append_json(self, out: &mut Vec<u8>, value: &Value) -> Result<(), String> {
        let datatype = self.datatype;
        let refused = || Err(format!("{value} is not a value of {datatype}"));
        match (class(datatype), value) {
            (Class::Number, Value::Array(values)) if !self.single => {
                values.iter().try_for_each(|value| Num::from_json(datatype, value)?.append(out, datatype))
            }
            (Class::Number, value) if self.single => Num::from_json(datatype, value)?.append(out, datatype),
            (Class::Number, _) => Err(format!("{value} is not a list of {datatype}")),
            (Class::Hex, Value::String(digits)) => append_hex(out, digits),
            (_, Value::String(text)) => append_text(out, datatype, text),
            (_, Value::Object(object)) => match object.get("hex") {
                Some(Value::String(digits)) if object.len() == 1 => append_hex(out, digits),
                _ => refused(),
            },
            _ => refused(),
        }
    }

    /// Appends the bytes of a value in the text that [`Shape::write_text`] writes: numbers, ISO dates and times, text,
    /// hexadecimal digits for bytes; several numbers with commas between, in brackets or not.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn append_text(self, out: &mut Vec<u8>, text: &str) -> Result<(), String> {
        let datatype = self.datatype;
        match class(datatype) {
            Class::Number if self.single => Num::from_text(datatype, text.trim())?.append(out, datatype),
            Class::Number => {
                let text = text.trim();
                let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text).trim();
                if inner.is_empty() {
                    return Ok(());
                }
                inner.split(',').try_for_each(|text| Num::from_text(datatype, text.trim())?.append(out, datatype))
            }
            Class::Hex => append_hex(out, text),
            _ => append_text(out, datatype, text),
        }
    }
}

impl Num {
    /// The number that JSON holds; floats that JSON has no numbers for by name.
    fn from_json(datatype: Datatype, value: &Value) -> Result<Self, String> {
        let number = match value {
            Value::String(text) if datatype.is_float() || datatype.is_datetime() || datatype.is_time() => {
                return Self::from_text(datatype, text);
            }
            Value::Bool(value) if datatype == Datatype::Bool => Some(Self::Unsigned(u64::from(*value))),
            value if datatype == Datatype::Float64 => value.as_f64().map(Self::Float64),
            value if datatype == Datatype::Float32 => value.as_f64().map(|value| Self::Float32(nearest(value))),
            value if is_signed(datatype) => value.as_i64().map(Self::Signed),
            value => value.as_u64().map(Self::Unsigned),
        };
        number.ok_or_else(|| format!("{value} is not a value of {datatype}"))
    }

    /// The number that a text spells.
    pub(crate) fn from_text(datatype: Datatype, text: &str) -> Result<Self, String> {
        let number = match datatype {
            Datatype::Float32 => text.parse().ok().map(Self::Float32),
            Datatype::Float64 => text.parse().ok().map(Self::Float64),
            Datatype::Bool if text.eq_ignore_ascii_case("true") => Some(Self::Unsigned(1)),
            Datatype::Bool if text.eq_ignore_ascii_case("false") => Some(Self::Unsigned(0)),
            _ if datatype.is_datetime() && text == "NaT" => Some(Self::Signed(i64::MIN)),
            _ if datatype.is_datetime() || datatype.is_time() => return datetime::number(datatype, text).map(Self::Signed),
            _ if is_signed(datatype) => text.parse().ok().map(Self::Signed),
            _ => text.parse().ok().map(Self::Unsigned),
        };
        number.ok_or_else(|| format!("'{text}' is not a value of {datatype}"))
    }

    /// Appends the number, little-endian, as wide as its datatype.
    ///
    /// # Errors
    /// When the datatype is too narrow for it.
    pub(crate) fn append(self, out: &mut Vec<u8>, datatype: Datatype) -> Result<(), String> {
        let bytes = match self {
            Self::Float32(value) => return append_bytes(out, &value.to_le_bytes()),
            Self::Signed(value) => value.to_le_bytes(),
            Self::Unsigned(value) => value.to_le_bytes(),
            Self::Float64(value) => value.to_le_bytes(),
        };
        let narrow = bytes.get(..datatype.size()).unwrap_or(&bytes);
        if Self::from_le_bytes(datatype, narrow).is_none_or(|read| !read.is_same(self)) || is_no_bool(datatype, self) {
            let mut text = String::new();
            self.write_text(&mut text, datatype);
            return Err(format!("'{text}' is not a value of {datatype}"));
        }
        append_bytes(out, narrow)
    }

    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Float64(a), Self::Float64(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }
}

fn is_no_bool(datatype: Datatype, number: Num) -> bool {
    datatype == Datatype::Bool && !matches!(number, Num::Unsigned(0 | 1))
}

#[expect(clippy::cast_possible_truncation, reason = "JSON has the digits of a double, of which the nearest float is meant")]
fn nearest(value: f64) -> f32 {
    value as f32
}

fn append_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), String> {
    out.extend_from_slice(bytes);
    Ok(())
}

/// The bytes that hexadecimal digits spell.
fn append_hex(out: &mut Vec<u8>, digits: &str) -> Result<(), String> {
    let refused = || format!("'{digits}' is not a number of pairs of hexadecimal digits");
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(refused());
    }
    for pair in pairs {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let [high, low] = *pair;
        let (Some(high), Some(low)) = (digit(high), digit(low)) else { return Err(refused()) };
        out.push(high << 4 | low);
    }
    Ok(())
}

/// The bytes of text in the encoding of its datatype.
fn append_text(out: &mut Vec<u8>, datatype: Datatype, text: &str) -> Result<(), String> {
    match class(datatype) {
        Class::Latin1 => {
            for character in text.chars() {
                let byte = u8::try_from(u32::from(character));
                out.push(byte.map_err(|_| format!("'{character}' has no place in {datatype}"))?);
            }
        }
        Class::Utf16 => text.encode_utf16().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes())),
        Class::Utf32 => text.chars().for_each(|unit| out.extend_from_slice(&u32::from(unit).to_le_bytes())),
        Class::Utf8 | Class::Number | Class::Hex => out.extend_from_slice(text.as_bytes()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown is read back as the same bytes, from JSON and from text.
    fn check(datatype: Datatype, single: bool, bytes: &[u8]) {
        let shape = Shape { datatype, single };
        let mut read = Vec::new();
        shape.append_json(&mut read, &shape.json(bytes)).unwrap();
        assert_eq!(read, bytes, "{datatype}");
        let mut text = String::new();
        shape.write_text(&mut text, bytes);
        read.clear();
        shape.append_text(&mut read, &text).unwrap();
        assert_eq!(read, bytes, "{datatype}: {text}");
    }

    fn refused(datatype: Datatype, text: &str) -> String {
        Shape::one(datatype).append_text(&mut Vec::new(), text).unwrap_err()
    }

    #[test]
    fn what_is_shown_is_read_back() {
        check(Datatype::UInt64, true, &[0xff; 8]);
        check(Datatype::Int64, true, &i64::MIN.to_le_bytes());
        check(Datatype::Int8, true, &[0x80]);
        check(Datatype::Bool, true, &[1]);
        check(Datatype::Float64, true, &0.1_f64.to_le_bytes());
        check(Datatype::Float64, true, &(-0.0_f64).to_le_bytes());
        check(Datatype::Float64, true, &f64::NEG_INFINITY.to_le_bytes());
        check(Datatype::Float64, true, &f64::NAN.to_le_bytes());
        check(Datatype::Float32, true, &0.1_f32.to_le_bytes());
        check(Datatype::Float32, true, &f32::MAX.to_le_bytes());
        check(Datatype::DateTimeDay, true, &18_385_i64.to_le_bytes());
        check(Datatype::DateTimeYear, true, &50_i64.to_le_bytes());
        check(Datatype::DateTimeNs, true, &i64::MIN.to_le_bytes());
        check(Datatype::TimeMs, true, &1_i64.to_le_bytes());
        check(Datatype::StringAscii, false, b"a\xe9");
        check(Datatype::StringUtf8, false, "grün".as_bytes());
        check(Datatype::StringUtf16, false, &[0x3d, 0xd8, 0x00, 0xde]);
        check(Datatype::StringUtf32, false, &[0x00, 0xf6, 0x01, 0x00]);
        check(Datatype::Blob, false, &[0, 0xab]);
        check(Datatype::Int16, false, &[1, 0, 0xff, 0xff]);
        check(Datatype::Int16, false, &[]);
    }

    #[test]
    fn text_that_is_none_comes_back_from_json_only() {
        let shape = Shape::list(Datatype::StringUtf8);
        let mut read = Vec::new();
        shape.append_json(&mut read, &shape.json(b"a\xff")).unwrap();
        assert_eq!(read, b"a\xff");
    }

    #[test]
    fn values_must_fit_their_datatype() {
        assert_eq!(refused(Datatype::Int8, "128"), "'128' is not a value of INT8");
        assert_eq!(refused(Datatype::UInt8, "-1"), "'-1' is not a value of UINT8");
        assert_eq!(refused(Datatype::Bool, "2"), "'2' is not a value of BOOL");
        assert_eq!(refused(Datatype::Float64, "much"), "'much' is not a value of FLOAT64");
        assert_eq!(refused(Datatype::Blob, "0"), "'0' is not a number of pairs of hexadecimal digits");
        assert_eq!(refused(Datatype::StringAscii, "5 €"), "'€' has no place in STRING_ASCII");
        assert!(refused(Datatype::DateTimeDay, "soon").contains("write it like 2020-05-03"));
    }
}
