use proptest::prelude::*;

use super::*;
use crate::field;

fn check(text: &str, expected: QueryCondition) {
    assert_eq!(QueryCondition::from_text(text), Ok(expected), "{text}");
}

#[test]
fn tests_of_all_kinds_are_read() {
    check("q > 5", field("q").gt(5));
    check("q<>-5", field("q").ne(-5));
    check("q == 5.0e-1", field("q").eq(0.5));
    check("b = TRUE", field("b").eq(true));
    check("s <= 'it''s'", field("s").le("it's"));
    check("v >= x'ECffffff'", field("v").ge(vec![0xec, 0xff, 0xff, 0xff]));
    check("cat in ('a','b')", field("cat").is_in(["a", "b"]));
    check("cat NOT IN ()", field("cat").is_not_in(Vec::<i32>::new()));
    check("z is not null", field("z").is_not_null());
    check("f < -inf", field("f").lt(f64::NEG_INFINITY));
    check("\"is\" is null", field("is").is_null());
    check("größe = 1", field("größe").eq(1));
    check("inf = 1 and nan = 2 and x = 3", field("inf").eq(1) & field("nan").eq(2) & field("x").eq(3));
    check("true", QueryCondition::Constant(true));
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    let (a, b, c) = (field("a").eq(1), field("b").eq(2), field("c").eq(3));
    check("a = 1 or b = 2 and c = 3", a.clone() | b.clone() & c.clone());
    check("(a = 1 or b = 2) and c = 3", (a.clone() | b.clone()) & c.clone());
    check("not a = 1 and b = 2", !a.clone() & b.clone());
    check("not (a = 1 and not b = 2) or c = 3", !a | b | c);
}

#[test]
fn errors_point_at_the_place() {
    let check = |text, expected| assert_eq!(QueryCondition::from_text(text).unwrap_err().to_string(), expected, "{text}");
    check("", "expected a field name, '(' or 'not', found the end (at byte 0)");
    check("q > ", "expected a number, 'text', true, false or x'bytes', found the end (at byte 4)");
    check("q > r", "expected a number, 'text', true, false or x'bytes', found the name r (at byte 4)");
    check("q ! 5", "expected a name, a value, a comparison, '(' , ')' or ',', found '!' (at byte 2)");
    check("q in (1 2)", "expected ',' or ')', found 2 (at byte 8)");
    check("(q = 1", "expected ')', 'and' or 'or', found the end (at byte 6)");
    check("q = 1 r = 2", "expected 'and', 'or' or the end, found the name r (at byte 6)");
    check("q = 'abc", "expected a closing quote, found none (at byte 4)");
    check("q = x'abc'", "expected two hexadecimal digits for each byte, found x'abc' (at byte 4)");
    check("q = 12ab", "expected a number of at most 127 bits, or a float, found 12ab (at byte 4)");
    check("q not null", "expected 'in', found 'null' (at byte 6)");
}

#[test]
fn the_caret_counts_characters_and_lines() {
    let text = "größe = 1\n  and größe !";
    let error = QueryCondition::from_text(text).unwrap_err();
    assert!(error.caret(text).starts_with("  and größe !\n            ^ expected"), "{}", error.caret(text));
}

#[test]
fn deep_nesting_is_refused_before_the_stack_ends() {
    let deep = |levels: usize| format!("{}a = 1{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(QueryCondition::from_text(&deep(100)), Ok(field("a").eq(1)));
    assert_eq!(QueryCondition::from_text(&deep(100_000)).unwrap_err().offset, QueryCondition::MAX_DEPTH - 1);
    assert!(QueryCondition::from_text(&"not ".repeat(100_000)).is_err());
}

fn literals() -> impl Strategy<Value = Literal> {
    prop_oneof![
        any::<i128>().prop_map(Literal::Int),
        any::<f64>().prop_filter("NaN differs from itself", |value| !value.is_nan()).prop_map(Literal::Float),
        any::<bool>().prop_map(Literal::Bool),
        ".*".prop_map(Literal::Text),
        any::<Vec<u8>>().prop_map(Literal::Bytes),
    ]
}

/// Conditions as the operators make them: no combination lies directly within its like.
fn conditions() -> impl Strategy<Value = QueryCondition> {
    let names = prop_oneof!["[a-z_][a-z0-9_]{0,3}", ".*", Just("NULL".to_owned())];
    let leaf = prop_oneof![
        (names.clone(), 0..6_usize, literals())
            .prop_map(|(name, index, value)| field(name).compare(Comparison::ALL[index], value)),
        (names.clone(), any::<bool>(), prop::collection::vec(literals(), 0..4))
            .prop_map(|(field, negated, values)| QueryCondition::In { field, negated, values }),
        names.clone().prop_map(|name| field(name).is_null()),
        names.prop_map(|name| field(name).is_not_null()),
        any::<bool>().prop_map(QueryCondition::Constant),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a & b),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a | b),
            inner.prop_map(|inner| !inner),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_displayed_is_read_back(condition in conditions()) {
        let text = condition.to_string();
        prop_assert_eq!(QueryCondition::from_text(&text), Ok(condition), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".*") {
        if let Err(error) = QueryCondition::from_text(&text) {
            prop_assert!(text.is_char_boundary(error.offset));
            let _ = error.caret(&text);
        }
    }

    #[test]
    fn no_words_in_a_row_make_it_panic(words in prop::collection::vec(prop_oneof!["and", "or", "not", "in", "is", "null", "[(),=<>'\"x-]", "[0-9.e]{1,4}", "a"], 0..12)) {
        let text = words.join(" ");
        if let Err(error) = QueryCondition::from_text(&text) {
            let _ = error.caret(&text);
        }
    }
}
