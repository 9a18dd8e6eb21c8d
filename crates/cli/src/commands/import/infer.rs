//! Which datatype the texts of a column have.

use talavera::{Attribute, Datatype};

use crate::value::datetime;

/// What all texts of a column could be, as far as they were seen.
#[derive(Debug, Clone)]
pub(super) struct Kinds {
    /// What can still be, in the order of preference.
    candidates: Vec<Datatype>,
    has_values: bool,
    has_nulls: bool,
}

/// The narrowest comes first; what is none of these is text.
const CANDIDATES: [Datatype; 8] = [
    Datatype::Int64,
    Datatype::UInt64,
    Datatype::Float64,
    Datatype::Bool,
    Datatype::DateTimeDay,
    Datatype::DateTimeMs,
    Datatype::DateTimeUs,
    Datatype::DateTimeNs,
];

impl Default for Kinds {
    fn default() -> Self {
        Self { candidates: CANDIDATES.to_vec(), has_values: false, has_nulls: false }
    }
}

impl Kinds {
    /// Looks at one more text, or at a null.
    pub(super) fn see(&mut self, text: Option<&str>) {
        let Some(text) = text else {
            self.has_nulls = true;
            return;
        };
        self.has_values = true;
        self.candidates.retain(|datatype| is_value(*datatype, text));
    }

    /// The attribute of this column; text of an index column is STRING_ASCII, as dimensions are.
    pub(super) fn attribute(&self, name: &str, is_index: bool) -> Attribute {
        let datatype = self.candidates.first().filter(|_| self.has_values);
        let attribute = match datatype {
            Some(datatype) => Attribute::new(name, *datatype),
            None if is_index => return Attribute::var(name, Datatype::StringAscii),
            None => Attribute::var(name, Datatype::StringUtf8),
        };
        Attribute { nullable: self.has_nulls && !is_index, ..attribute }
    }
}

fn is_value(datatype: Datatype, text: &str) -> bool {
    match datatype {
        Datatype::Int64 => !is_code(text) && text.parse::<i64>().is_ok(),
        Datatype::UInt64 => !is_code(text) && text.parse::<u64>().is_ok(),
        Datatype::Float64 => !is_code(text) && text.parse::<f64>().is_ok(),
        Datatype::Bool => text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false"),
        // Written in full: 2020-05 and 2020 may be anything.
        _ => text.len() >= "2020-05-03".len() && text.parse::<i64>().is_err() && datetime::number(datatype, text).is_ok(),
    }
}

/// Whether digits are no number but a code, such as a postal one: it would lose its zeros.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    text.starts_with('+') || (digits.len() > 1 && digits.starts_with(b"0") && digits.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[Option<&str>], datatype: Datatype, nullable: bool) {
        let mut kinds = Kinds::default();
        texts.iter().for_each(|text| kinds.see(*text));
        let attribute = kinds.attribute("a", false);
        assert_eq!((attribute.datatype, attribute.nullable), (datatype, nullable), "{texts:?}");
    }

    #[test]
    fn the_narrowest_datatype_of_all_texts_is_taken() {
        check(&[Some("1"), Some("-2")], Datatype::Int64, false);
        check(&[Some("1"), None], Datatype::Int64, true);
        check(&[Some("18446744073709551615")], Datatype::UInt64, false);
        check(&[Some("1"), Some("2.5"), Some("nan")], Datatype::Float64, false);
        check(&[Some("true"), Some("False")], Datatype::Bool, false);
        check(&[Some("2020-05-03")], Datatype::DateTimeDay, false);
        check(&[Some("2020-05-03"), Some("2020-05-03T10:30:00.5")], Datatype::DateTimeMs, false);
        check(&[Some("2020-05-03T10:30:00.000000001")], Datatype::DateTimeNs, false);
        check(&[Some("1"), Some("x")], Datatype::StringUtf8, false);
        check(&[None], Datatype::StringUtf8, true);
    }

    #[test]
    fn codes_and_vague_dates_stay_text() {
        check(&[Some("01067"), Some("10115")], Datatype::StringUtf8, false);
        check(&[Some("+49")], Datatype::StringUtf8, false);
        check(&[Some("2020-05")], Datatype::StringUtf8, false);
        check(&[Some("0"), Some("0.5")], Datatype::Float64, false);
    }

    #[test]
    fn text_of_an_index_is_that_of_dimensions() {
        let mut kinds = Kinds::default();
        kinds.see(Some("a"));
        assert_eq!(kinds.attribute("id", true), Attribute::var("id", Datatype::StringAscii));
    }
}
