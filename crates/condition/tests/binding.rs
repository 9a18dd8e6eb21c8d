//! Binding: what is refused, how values become bytes, labels indices, and commits conditions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::num::NonZeroU32;

use talavera_condition::{Bitmap, BoundCondition, ConditionError, FieldType, FieldView, Literal, QueryCondition, field};
use talavera_schema::{ArraySchema, Attribute, Dimension, Enumeration, Range};
use talavera_types::{ArrayType, CellValNum, Datatype};

fn field_type(name: &str) -> Option<FieldType<'static>> {
    let three = CellValNum::Fixed(NonZeroU32::new(3).unwrap());
    let (datatype, cell_val_num, nullable, enumeration) = match name {
        "q" => (Datatype::Int16, CellValNum::ONE, true, None),
        "day" => (Datatype::DateTimeDay, CellValNum::ONE, false, None),
        "s" => (Datatype::StringAscii, CellValNum::Var, true, None),
        "c3" => (Datatype::Char, three, true, None),
        "s3" => (Datatype::StringAscii, three, true, None),
        "blob" => (Datatype::Blob, CellValNum::Var, true, None),
        "wide" => (Datatype::StringUtf16, CellValNum::Var, false, None),
        "xyz" => (Datatype::Float32, three, false, None),
        "list" => (Datatype::Int32, CellValNum::Var, false, None),
        "size" => (Datatype::UInt8, CellValNum::ONE, true, Some("sizes")),
        "colour" => (Datatype::Int8, CellValNum::ONE, false, Some("colours")),
        "lost" => (Datatype::Int8, CellValNum::ONE, false, Some("not loaded")),
        _ => return None,
    };
    Some(FieldType { datatype, cell_val_num, nullable, enumeration })
}

fn enumeration(name: &str, ordered: bool, labels: &[&str]) -> Enumeration {
    let labels = labels.iter().map(|label| label.as_bytes());
    Enumeration::from_values(name, "__0123456789abcdef0123456789abcdef_0", Datatype::StringUtf8, CellValNum::Var, ordered, labels)
        .unwrap()
}

fn bind(text: &str) -> Result<BoundCondition, ConditionError> {
    let sizes = enumeration("sizes", true, &["small", "medium", "large"]);
    let colours = enumeration("colours", false, &["red", "green"]);
    let condition = QueryCondition::from_text(text).unwrap();
    condition.bind_fields(field_type, |name| [&sizes, &colours].into_iter().find(|known| known.name() == name))
}

fn check_stored(text: &str, expected: &str) {
    assert_eq!(bind(text).unwrap().to_stored().unwrap().to_string(), expected, "{text}");
}

fn check_error(text: &str, expected: &str) {
    assert_eq!(bind(text).unwrap_err().to_string(), expected, "{text}");
}

/// The sizes 0 to 3 (the last is no label) and a null.
fn sizes(condition: &BoundCondition) -> Vec<usize> {
    let mut out = Bitmap::default();
    let view = FieldView { data: &[0, 1, 2, 3, 0], offsets: None, validity: Some(&[1, 1, 1, 1, 0]) };
    condition.evaluate(5, |_| Some(view), &mut out).unwrap();
    out.iter_ones().collect()
}

#[test]
fn values_take_the_width_of_their_field() {
    check_stored("q > -2", "q > x'feff'");
    check_stored("q in (3, 1, 3)", "q in (x'0100', x'0300')");
    check_stored("day >= '1970-01-03'", "day >= x'0200000000000000'");
    check_stored("s < '' or s = 'ab'", "s < x'' or s = x'6162'");
    check_stored("c3 = 'abc' and s3 > 'a'", "c3 = x'616263' and s3 > x'61'");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    check_error("missing = 1", "field 'missing' does not exist");
    check_error("blob = 'a'", "field 'blob' (BLOB): only null tests are possible on this datatype");
    check_error("wide in ('a')", "field 'wide' (STRING_UTF16): only null tests are possible on wide characters");
    check_error("xyz < 1.0", "field 'xyz' (FLOAT32): only null tests are possible on cells of several numbers");
    check_error("list != 1", "field 'list' (INT32): only null tests are possible on cells of several numbers");
    for name in ["blob", "wide", "xyz", "list"] {
        assert!(bind(&format!("{name} is null")).is_ok(), "{name}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    check_error("q > 40000", "field 'q': 40000 is not a value of INT16: out of range");
    check_error("q > 1.5", "field 'q': 1.5 is not a value of INT16: not a whole number");
    check_error(
        "q = 'a'",
        "field 'q': 'a' is not a value of INT16: text is compared with strings, characters, dates and times only",
    );
    check_error("q = x'01'", "field 'q': x'01' is not a value of INT16: its size is not that of a cell");
    check_error("c3 = 'ab'", "field 'c3': 'ab' is not a value of CHAR: its size is not that of a cell");
    check_error("c3 in ('abc', 'a')", "field 'c3': 'a' is not a value of CHAR: its size is not that of a cell");
    check_error(
        "day = '1970-13-01'",
        "field 'day': '1970-13-01' is not a value of DATETIME_DAY: not a date in ISO form, such as 2024-05-17 or 2024-05-17T08:30:00.25",
    );
}

#[test]
fn labels_become_indices() {
    check_stored("size = 'medium'", "size = x'01'");
    check_stored("size in ('large', 'huge', 'small')", "size in (x'00', x'02')");
    assert_eq!(sizes(&bind("size > 'small'").unwrap()), [1, 2, 3]);
    assert_eq!(sizes(&bind("size is null").unwrap()), [4]);
}

#[test]
fn a_label_that_does_not_exist_is_in_no_cell() {
    for text in ["size = 'huge'", "size < 'huge'", "size >= 'huge'", "size in ('huge')"] {
        assert_eq!(sizes(&bind(text).unwrap()), [], "{text}");
    }
    for text in ["size != 'huge'", "size not in ('huge')", "not size = 'huge'"] {
        assert_eq!(sizes(&bind(text).unwrap()), [0, 1, 2, 3], "{text}");
    }
    assert!(bind("size != 'huge'").unwrap().to_stored().is_err());
}

#[test]
fn labels_without_an_order_or_without_an_enumeration_are_refused() {
    assert!(bind("colour = 'red'").is_ok());
    check_error("colour < 'red'", "field 'colour': enumeration 'colours' is not ordered");
    check_error("lost = 'red'", "field 'lost': enumeration 'not loaded' is not loaded");
    assert!(bind("lost is not null").is_ok());
    check_error(
        "size = 1",
        "field 'size': 1 is not a value of STRING_UTF8: a number is compared with numbers, dates and times only",
    );
}

#[test]
fn stored_values_of_enumerated_attributes_are_indices() {
    // Deleted by 2.30: q == 'mid', the second of three labels of an INT8 attribute.
    let payload = [1, 5, 4, 0, 0, 0, b's', b'i', b'z', b'e', 1, 0, 0, 0, 0, 0, 0, 0, 1];
    let keep = QueryCondition::decode(&payload).unwrap();
    assert_eq!(sizes(&keep.bind_stored_fields(field_type).unwrap()), [0, 2, 3]);
}

#[test]
fn stored_values_must_have_the_width_of_their_field() {
    let stored = |name: &str, value: &[u8]| field(name).ge(value).bind_stored_fields(field_type);
    assert!(stored("q", &[1, 0]).is_ok());
    assert!(matches!(stored("q", &[1, 0, 0]), Err(ConditionError::Literal { .. })));
    assert!(matches!(stored("q", &[]), Err(ConditionError::Literal { .. })));
}

#[test]
fn a_stored_comparison_with_nothing_is_the_null_test_it_was() {
    let no_bytes = || Literal::Bytes(Vec::new());
    let bound = |condition: QueryCondition| condition.bind_stored_fields(field_type).unwrap();
    assert_eq!(bound(field("q").eq(no_bytes())), bound(field("q").is_null()));
    assert_eq!(bound(field("q").ne(no_bytes())), bound(field("q").is_not_null()));
    // On strings of a variable length it has become a comparison with the empty string.
    let text = bound(field("s").ne(no_bytes()));
    let mut out = Bitmap::default();
    let view = FieldView { data: b"a", offsets: Some(&[0, 0, 1, 1]), validity: Some(&[1, 1, 0]) };
    text.evaluate(3, |_| Some(view), &mut out).unwrap();
    assert_eq!(out.iter_ones().collect::<Vec<_>>(), [1]);
    // In a query it never was a null test.
    assert!(field("q").eq(no_bytes()).bind_fields(field_type, |_| None).is_err());
}

#[test]
fn trees_that_are_empty_or_too_deep_are_refused() {
    use talavera_condition::Combination::{And, Or};
    let empty = QueryCondition::Combine { combination: And, children: Vec::new() };
    assert_eq!(empty.bind_fields(field_type, |_| None).unwrap_err(), ConditionError::Empty);
    let deep = (0..200)
        .fold(QueryCondition::Constant(true), |inner, _| QueryCondition::Combine { combination: Or, children: vec![inner] });
    assert_eq!(deep.bind_fields(field_type, |_| None).unwrap_err(), ConditionError::Depth { limit: 128 });
}

#[test]
fn a_schema_offers_its_attributes_its_dimensions_and_the_timestamps() {
    let sizes = enumeration("sizes", true, &["small", "medium", "large"]);
    let schema = ArraySchema::builder(ArrayType::Sparse)
        .dimension(Dimension::new("x", Datatype::Int32, Range::Signed(0, 99), None))
        .dimension(Dimension::string("name"))
        .attribute(Attribute { enumeration: Some("sizes".to_owned()), ..Attribute::new("size", Datatype::UInt8) })
        .enumeration(&sizes)
        .build()
        .unwrap();
    let condition = QueryCondition::from_text("x < 5 and name > 'b' and size = 'medium' and __timestamps <= 9").unwrap();
    let keep = condition.bind(&schema, |name| (name == "sizes").then_some(&sizes)).unwrap().to_stored().unwrap();
    assert_eq!(keep.to_string(), "x < x'05000000' and name > x'62' and size = x'01' and __timestamps <= x'0900000000000000'",);
    assert_eq!(keep.bind_stored(&schema).unwrap().to_stored().unwrap(), keep);
    assert!(field("y").is_null().bind(&schema, |_| None).is_err());
}

#[test]
fn the_fields_that_are_needed_are_listed_once() {
    let bound = bind("s = 'a' and q > 1 or s is null").unwrap();
    assert_eq!(bound.fields().collect::<Vec<_>>(), ["q", "s"]);
}
