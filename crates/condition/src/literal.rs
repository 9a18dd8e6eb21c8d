//! Values in conditions, and their conversion into the bytes of a datatype.

use serde::{Deserialize, Serialize};
use talavera_types::{Datatype, DatatypeClass};

use crate::datetime;

/// A value in a condition, before it is known which datatype it is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Literal {
    /// A whole number, for integers, dates (in their unit since 1970), times, booleans (0 or 1) and, if it is exactly
    /// one, floats.
    Int(#[serde(with = "digits")] i128),
    /// A float; for integers only if it is whole. For FLOAT32 it is rounded to the nearest.
    Float(#[serde(with = "bits")] f64),
    /// A boolean, for BOOL.
    Bool(bool),
    /// Text, for strings and characters; for dates and times in ISO form, such as `2024-05-17T08:30:00`.
    Text(String),
    /// The bytes of a value as the format stores them: little-endian, in the field's width. What a delete commit holds.
    Bytes(Vec<u8>),
}

/// Whole numbers as text: few forms of data have room for 128 bits.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Floats as their bits: JSON has neither NaN nor infinities.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident;)*) => {$(
        impl From<$from> for Literal {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from! {
    i8 => Int; i16 => Int; i32 => Int; i64 => Int; i128 => Int;
    u8 => Int; u16 => Int; u32 => Int; u64 => Int;
    f32 => Float; f64 => Float;
    bool => Bool;
    &str => Text; String => Text;
    &[u8] => Bytes; Vec<u8> => Bytes;
}

impl Literal {
    /// The little-endian bytes of the value in `datatype`, or why it has none. Raw bytes pass as they are.
    pub(crate) fn to_native(&self, datatype: Datatype) -> Result<Vec<u8>, &'static str> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.clone()),
            Self::Text(text) => text_bytes(text, datatype),
            Self::Bool(value) if datatype == Datatype::Bool => Ok(vec![u8::from(*value)]),
            Self::Bool(_) => Err("a boolean is compared with BOOL only"),
            Self::Int(value) => int_bytes(*value, datatype),
            Self::Float(value) => float_bytes(*value, datatype),
        }
    }
}

fn text_bytes(text: &str, datatype: Datatype) -> Result<Vec<u8>, &'static str> {
    if is_text(datatype) {
        return Ok(text.as_bytes().to_vec());
    }
    if datatype.is_datetime() {
        return datetime::datetime(text, datatype).map(|value| value.to_le_bytes().to_vec());
    }
    if datatype.is_time() {
        return datetime::time(text, datatype).map(|value| value.to_le_bytes().to_vec());
    }
    Err("text is compared with strings, characters, dates and times only")
}

/// Whether cells compare as bytes: strings of one byte a character, and characters.
pub(crate) fn is_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8)
}

fn int_bytes(value: i128, datatype: Datatype) -> Result<Vec<u8>, &'static str> {
    const RANGE: &str = "out of range";
    macro_rules! bytes {
        ($type:ty) => {
            <$type>::try_from(value).map(|value| value.to_le_bytes().to_vec()).map_err(|_| RANGE)
        };
    }
    match datatype {
        Datatype::Int8 => bytes!(i8),
        Datatype::Int16 => bytes!(i16),
        Datatype::Int32 => bytes!(i32),
        Datatype::Int64 => bytes!(i64),
        Datatype::UInt8 | Datatype::Bool => bytes!(u8),
        Datatype::UInt16 => bytes!(u16),
        Datatype::UInt32 => bytes!(u32),
        Datatype::UInt64 => bytes!(u64),
        _ if datatype.is_datetime() || datatype.is_time() => bytes!(i64),
        _ if datatype.is_float() => exact_float(value, datatype).ok_or("not exactly a float"),
        _ => Err("a number is compared with numbers, dates and times only"),
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "each result is compared with the number it came from"
)]
fn exact_float(value: i128, datatype: Datatype) -> Option<Vec<u8>> {
    if datatype == Datatype::Float32 {
        let float = value as f32;
        return (value < i128::MAX && float as i128 == value).then(|| float.to_le_bytes().to_vec());
    }
    let float = value as f64;
    (value < i128::MAX && float as i128 == value).then(|| float.to_le_bytes().to_vec())
}

#[expect(clippy::cast_possible_truncation, reason = "FLOAT32 rounds, and whole floats are checked against the range")]
fn float_bytes(value: f64, datatype: Datatype) -> Result<Vec<u8>, &'static str> {
    match datatype {
        Datatype::Float64 => Ok(value.to_le_bytes().to_vec()),
        Datatype::Float32 => {
            let rounded = value as f32;
            if value.is_finite() && !rounded.is_finite() {
                return Err("out of range");
            }
            Ok(rounded.to_le_bytes().to_vec())
        }
        _ if datatype.class() == DatatypeClass::Opaque || is_text(datatype) => {
            Err("a number is compared with numbers, dates and times only")
        }
        // Casting saturates far outside every integer type, so the range check still refuses it.
        _ if value.is_finite() && value.fract() == 0.0 => int_bytes(value as i128, datatype),
        _ => Err("not a whole number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_of_json_as_they_went_in() {
        for value in [Literal::Int(i128::from(u64::MAX)), Literal::Float(f64::NEG_INFINITY), Literal::Text("a'\"".into())] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Literal>(&json).unwrap(), value, "{json}");
        }
        let json = serde_json::to_string(&Literal::Float(f64::NAN)).unwrap();
        let Literal::Float(nan) = serde_json::from_str(&json).unwrap() else { panic!("{json}") };
        assert_eq!(nan.to_bits(), f64::NAN.to_bits());
    }

    fn bytes(literal: impl Into<Literal>, datatype: Datatype) -> Result<Vec<u8>, &'static str> {
        literal.into().to_native(datatype)
    }

    #[test]
    fn whole_numbers_must_fit_the_datatype() {
        assert_eq!(bytes(-1, Datatype::Int16), Ok(vec![0xff, 0xff]));
        assert_eq!(bytes(u64::MAX, Datatype::UInt64), Ok(vec![0xff; 8]));
        assert_eq!(bytes(300, Datatype::UInt8), Err("out of range"));
        assert_eq!(bytes(-1, Datatype::UInt64), Err("out of range"));
        assert_eq!(bytes(16_777_217, Datatype::Float32), Err("not exactly a float"));
        assert_eq!(bytes(16_777_217, Datatype::Float64), Ok(16_777_217_f64.to_le_bytes().to_vec()));
    }

    #[test]
    fn floats_are_integers_only_when_whole_and_in_range() {
        assert_eq!(bytes(5.0, Datatype::Int8), Ok(vec![5]));
        assert_eq!(bytes(5.5, Datatype::Int8), Err("not a whole number"));
        assert_eq!(bytes(1e300, Datatype::Int64), Err("out of range"));
        assert_eq!(bytes(f64::NAN, Datatype::Int64), Err("not a whole number"));
        assert_eq!(bytes(1e300, Datatype::Float32), Err("out of range"));
        assert_eq!(bytes(0.1, Datatype::Float32), Ok(0.1_f32.to_le_bytes().to_vec()));
    }

    #[test]
    fn dates_come_as_iso_text_or_as_numbers() {
        assert_eq!(bytes("2020-01-02", Datatype::DateTimeDay), Ok(18_263_i64.to_le_bytes().to_vec()));
        assert_eq!(bytes(18_263, Datatype::DateTimeDay), Ok(18_263_i64.to_le_bytes().to_vec()));
        assert_eq!(bytes("01:30", Datatype::TimeMin), Ok(90_i64.to_le_bytes().to_vec()));
        assert!(bytes("2020-01-02", Datatype::Int64).is_err());
    }
}
