//! Delete and update commits: real payloads and the laws of the pair.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::prelude::*;
use talavera_condition::{Combination, Comparison, Literal, QueryCondition, UpdateCommit, UpdateValue, field};

/// The bytes of `hex`, in which spaces and bars only separate.
fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|char| char.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

fn check(hex: &str, expected: QueryCondition) {
    let payload = bytes(hex);
    assert_eq!(QueryCondition::decode(&payload).unwrap(), expected);
    assert_eq!(expected.encode().unwrap(), payload, "{expected}");
}

fn int(value: i32) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

fn float(value: f64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

#[test]
fn deletes_of_every_release_since_version_sixteen_hold_for_the_cells_to_keep() {
    // The same in all of versions 16 to 23. Deleted was v < -20: value node, GE, "v", four bytes.
    check("01 03 01000000 76 0400000000000000 ecffffff", field("v").ge(int(-20)));
    // Deleted was v > 40: value node, LE, "v", four bytes.
    check("01 01 01000000 76 0400000000000000 28000000", field("v").le(int(40)));
    // Deleted was v >= 0 and f > 5.5: expression node, OR, two children.
    check(
        "00 01 0200000000000000 | 01 00 01000000 76 0400000000000000 00000000 | 01 01 01000000 66 0800000000000000 0000000000001640",
        field("v").lt(int(0)) | field("f").le(float(5.5)),
    );
    // Deleted was s >= "k".
    check("01 00 01000000 73 0100000000000000 6b", field("s").lt(b"k".to_vec()));
}

#[test]
fn expressions_nest_and_members_have_offsets() {
    // Deleted by 2.30: s == "" or (a < 1 and (f == 2.0 or d > 7)).
    check(
        "00 00 0200000000000000 | 01 05 01000000 73 0000000000000000
         | 00 01 0200000000000000 | 01 03 01000000 61 0400000000000000 01000000
         | 00 00 0200000000000000 | 01 05 01000000 66 0800000000000000 0000000000000040 | 01 01 01000000 64 0400000000000000 07000000",
        field("s").ne(Vec::new())
            & (field("a").ge(int(1)) | field("f").ne(float(2.0)) & field("d").le(int(7))),
    );
    // Deleted by 2.30: s in ["a", "bcd", ""]; NOT IN, the members in a row, then where each starts.
    check(
        "01 07 01000000 73 0400000000000000 61626364 1800000000000000 0000000000000000 0100000000000000 0400000000000000",
        field("s").is_not_in([b"a".to_vec(), b"bcd".to_vec(), Vec::new()]),
    );
    // Deleted by 2.30: a not in [1].
    check("01 06 01000000 61 0400000000000000 01000000 0800000000000000 0000000000000000", field("a").is_in([int(1)]));
}

#[test]
fn updates_hold_for_the_cells_to_leave() {
    // Written by 2.30: a = 99, s = "hello" where a == 2.
    let payload = bytes(
        "01 05 01000000 61 0400000000000000 02000000 | 0200000000000000
         | 0100000000000000 61 0400000000000000 63000000 | 0100000000000000 73 0500000000000000 68656c6c6f",
    );
    let values = vec![
        UpdateValue { field: "a".to_owned(), value: int(99) },
        UpdateValue { field: "s".to_owned(), value: b"hello".to_vec() },
    ];
    let commit = UpdateCommit { condition: field("a").ne(int(2)), values };
    assert_eq!(UpdateCommit::decode(&payload).unwrap(), commit);
    assert_eq!(commit.encode().unwrap(), payload);
}

#[test]
fn a_stored_not_is_resolved() {
    // Expression node, NOT, one child: a < 2.
    let payload = bytes("00 02 0100000000000000 | 01 00 01000000 61 0400000000000000 02000000");
    assert_eq!(QueryCondition::decode(&payload).unwrap(), field("a").ge(int(2)));
}

#[test]
fn what_makes_no_sense_is_an_error_with_its_place() {
    let check = |hex, expected| assert_eq!(QueryCondition::decode(&bytes(hex)).unwrap_err().to_string(), expected, "{hex}");
    check("", "condition node type: needs 1 bytes, 0 left (at byte 0)");
    check("02", "condition node type: 2 is not a node type (0 or 1) (at byte 0)");
    check("01 08 00000000 0000000000000000", "comparison operator: 8 is not a comparison operator (0 to 7) (at byte 1)");
    check("00 03 0000000000000000", "combination operator: 3 is not AND, OR or NOT (0 to 2) (at byte 1)");
    check("00 01 0000000000000000", "condition children: 0 is not a number of children (at byte 2)");
    check(
        "00 01 ffffffffffffffff 00",
        "condition children: 18446744073709551615 items of at least 14 bytes do not fit into the 1 bytes left (at byte 10)",
    );
    check("01 04 00000000 0000000000000000 00", "delete commit: 1 bytes left over (at byte 14)");
    // Members whose starts descend, do not begin at the front, or leave the value.
    let members = |starts: &str| format!("01 06 00000000 0200000000000000 6161 1000000000000000 {starts}");
    for starts in ["0100000000000000 0000000000000000", "0100000000000000 0200000000000000", "0000000000000000 0300000000000000"]
    {
        assert_eq!(QueryCondition::decode(&bytes(&members(starts))).unwrap_err().field, "condition value offsets");
    }
    assert!(QueryCondition::decode(&bytes(&members("0000000000000000 0100000000000000"))).is_ok());
}

#[test]
fn deep_nesting_is_refused_before_the_stack_ends() {
    let nested =
        |levels: usize| [bytes("00 01 0100000000000000").repeat(levels), bytes("01 04 00000000 0000000000000000")].concat();
    assert!(QueryCondition::decode(&nested(QueryCondition::MAX_DEPTH - 1)).is_ok());
    let error = QueryCondition::decode(&nested(100_000)).unwrap_err();
    assert_eq!(error.to_string(), "condition node type: nested deeper than 128 levels (at byte 1280)");
}

#[test]
fn what_the_format_has_no_place_for_is_not_stored() {
    assert_eq!(
        (field("a").eq(int(1)) | field("z").is_null()).encode().unwrap_err().to_string(),
        "z is null cannot be stored: a null test is stored like a comparison with the empty string",
    );
    assert!(QueryCondition::Constant(true).encode().is_err());
    assert!(field("a").eq(1).encode().is_err(), "a number of no width yet");
    assert!(QueryCondition::Combine { combination: Combination::And, children: Vec::new() }.encode().is_err());
}

fn stored() -> impl Strategy<Value = QueryCondition> {
    let value = || any::<Vec<u8>>().prop_map(Literal::Bytes);
    let name = "[a-zé]{0,3}";
    let leaf = prop_oneof![
        (name, 0..6_usize, value()).prop_map(|(name, index, value)| field(name).compare(Comparison::ALL[index], value)),
        (name, any::<bool>(), prop::collection::vec(value(), 0..4)).prop_map(|(field, negated, values)| QueryCondition::In {
            field,
            negated,
            values
        }),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        let combination = prop_oneof![Just(Combination::And), Just(Combination::Or)];
        (combination, prop::collection::vec(inner, 1..4))
            .prop_map(|(combination, children)| QueryCondition::Combine { combination, children })
    })
}

fn updates() -> impl Strategy<Value = UpdateCommit> {
    let value = ("[a-z]{0,3}", any::<Vec<u8>>()).prop_map(|(field, value)| UpdateValue { field, value });
    (stored(), prop::collection::vec(value, 0..3)).prop_map(|(condition, values)| UpdateCommit { condition, values })
}

talavera_testkit::decoder_laws! {
    mod delete_laws {
        value: QueryCondition = stored(),
        encode: |condition: &QueryCondition| condition.encode().unwrap(),
        decode: QueryCondition::decode,
    }
}

talavera_testkit::decoder_laws! {
    mod update_laws {
        value: UpdateCommit = updates(),
        encode: |commit: &UpdateCommit| commit.encode().unwrap(),
        decode: UpdateCommit::decode,
    }
}
