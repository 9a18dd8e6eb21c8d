//! `NAME:TYPE[?]` as an attribute.

use std::num::NonZeroU32;

use talavera::{Attribute, CellValNum, Datatype};

use crate::error::Error;

/// The attribute that a text describes: `temp:FLOAT64`, `name:STRING_UTF8?`, `rgb:UINT8[3]`, `spectrum:FLOAT32[]`. Text
/// and bytes are of variable length unless told otherwise. What may be null has null as its fill value.
///
/// # Errors
/// [`Error::Usage`] with the argument that it is of.
pub(crate) fn attribute(argument: &str, text: &str) -> Result<Attribute, Error> {
    let usage = |reason: String| Error::usage(format!("{argument} {text}: {reason}"));
    let (name, described) = text.rsplit_once(':').ok_or_else(|| usage("write NAME:TYPE, such as temp:FLOAT64".to_owned()))?;
    let (described, nullable) = described.strip_suffix('?').map_or((described, false), |described| (described, true));
    let (type_name, count) = match described.strip_suffix(']').and_then(|described| described.split_once('[')) {
        Some((type_name, count)) => (type_name, Some(count)),
        None => (described, None),
    };
    let datatype = datatype(type_name).map_err(usage)?;
    let fixed = |count: &str| count.parse().ok().and_then(NonZeroU32::new).filter(|count| count.get() != u32::MAX);
    let cell_val_num = match count {
        None if is_text(datatype) => CellValNum::Var,
        None => CellValNum::ONE,
        Some("") => CellValNum::Var,
        Some(count) => CellValNum::Fixed(fixed(count).ok_or_else(|| usage(format!("'{count}' is not a number of values")))?),
    };
    Ok(Attribute { nullable, ..Attribute::with_cell_val_num(name, datatype, cell_val_num) })
}

/// The datatype of this name, in capital letters or not.
///
/// # Errors
/// A sentence that says what names there are.
pub(crate) fn datatype(name: &str) -> Result<Datatype, String> {
    Datatype::from_name(&name.to_ascii_uppercase()).ok_or_else(|| {
        let names: Vec<_> = Datatype::ALL.iter().map(|datatype| datatype.name()).collect();
        format!("there is no datatype '{name}'; there are {}", names.join(", "))
    })
}

/// Whether values are characters or bytes, of which one alone is rarely meant.
fn is_text(datatype: Datatype) -> bool {
    let bytes = matches!(datatype, Datatype::Any | Datatype::Blob | Datatype::GeomWkb | Datatype::GeomWkt);
    datatype.is_string() || bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_described_in_short() {
        let check = |text: &str, expected: Attribute| assert_eq!(attribute("--add", text).unwrap(), expected, "{text}");
        check("temp:FLOAT64", Attribute::new("temp", Datatype::Float64));
        check("a:b:int8?", Attribute { nullable: true, ..Attribute::new("a:b", Datatype::Int8) });
        check("name:STRING_UTF8", Attribute::var("name", Datatype::StringUtf8));
        check("s:FLOAT32[]", Attribute::var("s", Datatype::Float32));
        let three = CellValNum::Fixed(3.try_into().unwrap());
        check("rgb:UINT8[3]", Attribute::with_cell_val_num("rgb", Datatype::UInt8, three));
    }

    #[test]
    fn errors_say_what_would_fit() {
        let refused = |text: &str| attribute("--add", text).unwrap_err().to_string();
        assert_eq!(refused("temp"), "--add temp: write NAME:TYPE, such as temp:FLOAT64");
        assert!(refused("temp:REAL").starts_with("--add temp:REAL: there is no datatype 'REAL'; there are INT32, INT64,"));
        assert_eq!(refused("a:INT8[x]"), "--add a:INT8[x]: 'x' is not a number of values");
    }
}
