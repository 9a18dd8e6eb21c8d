//! Evaluation: the stated semantics on literal cells, and agreement with a slow model cell by cell.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod model;

use model::{Cell, Tile, cells, conditions, field_type, matches};
use proptest::prelude::*;
use talavera_condition::{
    Bitmap, BoundCondition, ConditionError, FieldType, FieldView, QueryCondition, TileBounds, Tri, Trust, field,
};

fn bind(condition: &QueryCondition) -> BoundCondition {
    condition.bind_fields(field_type, |_| None).unwrap()
}

fn evaluate(condition: &QueryCondition, tile: &Tile) -> Vec<usize> {
    let mut out = Bitmap::new(7, true);
    bind(condition).evaluate(tile.cells, |name| tile.view(name), &mut out).unwrap();
    assert_eq!(out.len(), tile.cells);
    out.iter_ones().collect()
}

fn check(column: (&'static str, Vec<Option<Cell>>), condition: QueryCondition, expected: &[usize]) {
    let tile = Tile::new(column.1.len(), [column]);
    assert_eq!(evaluate(&condition, &tile), expected, "{condition}");
}

fn ints(values: &[Option<i32>]) -> (&'static str, Vec<Option<Cell>>) {
    ("int", values.iter().map(|value| value.map(Cell::Int)).collect())
}

fn floats(values: &[f64]) -> (&'static str, Vec<Option<Cell>>) {
    ("float", values.iter().map(|value| Some(Cell::Float(*value))).collect())
}

fn texts(name: &'static str, values: &[&str]) -> (&'static str, Vec<Option<Cell>>) {
    (name, values.iter().map(|value| Some(Cell::Text(value.as_bytes().to_vec()))).collect())
}

#[test]
fn a_null_matches_nothing_but_the_test_for_it() {
    let column = || ints(&[Some(1), None, Some(2), None]);
    check(column(), field("int").eq(1), &[0]);
    check(column(), field("int").ne(1), &[2]);
    check(column(), field("int").is_in([1]), &[0]);
    check(column(), field("int").is_not_in([1]), &[2]);
    check(column(), field("int").is_not_in(Vec::<i32>::new()), &[0, 2]);
    check(column(), !field("int").lt(2), &[2]);
    check(column(), field("int").is_null(), &[1, 3]);
    check(column(), !field("int").is_null(), &[0, 2]);
}

#[test]
fn fields_that_cannot_be_null_answer_null_tests_alike_for_all_cells() {
    check(floats(&[1.0, f64::NAN]), field("float").is_null(), &[]);
    check(floats(&[1.0, f64::NAN]), field("float").is_not_null(), &[0, 1]);
}

#[test]
fn nan_only_differs_but_is_found_in_a_list_by_its_bytes() {
    let column = || floats(&[f64::NAN, 0.0, -0.0]);
    check(column(), field("float").ne(0.0), &[0]);
    check(column(), field("float").eq(0.0), &[1, 2]);
    check(column(), !field("float").lt(0.0), &[1, 2]);
    check(column(), field("float").eq(f64::NAN), &[]);
    check(column(), field("float").is_in([f64::NAN, -0.0]), &[0, 2]);
}

#[test]
fn text_is_ordered_by_unsigned_bytes_and_length() {
    let column = || texts("text", &["", "a", "ab", "b", "é"]);
    check(column(), field("text").gt("a"), &[2, 3, 4]);
    check(column(), field("text").le("a"), &[0, 1]);
    check(column(), field("text").eq(""), &[0]);
    check(column(), field("text").is_not_in(["", "é"]), &[1, 2, 3]);
}

#[test]
fn characters_of_a_fixed_length_compare_whole() {
    let column = || texts("chars", &["bbb", "bbc", "abc"]);
    check(column(), field("chars").eq("bbb"), &[0]);
    check(column(), field("chars").gt("bbb"), &[1]);
    check(column(), field("chars").is_in(["abc", "bbc"]), &[1, 2]);
}

#[test]
fn a_field_that_the_fragment_lacks_makes_only_its_own_tests_false() {
    let column = || ints(&[Some(1), Some(2)]);
    check(column(), field("int").eq(1) | field("byte").eq(3), &[0]);
    check(column(), field("byte").eq(3) | field("int").eq(1), &[0]);
    check(column(), field("byte").is_not_null() | field("byte").is_null(), &[]);
    check(column(), field("int").eq(1) & field("byte").ne(3), &[]);
}

#[test]
fn a_view_of_another_shape_counts_as_lacking() {
    let bound = bind(&field("byte").ge(0));
    let mut out = Bitmap::default();
    bound.evaluate(1, |_| Some(FieldView { data: &[0], offsets: Some(&[0, 1]), validity: None }), &mut out).unwrap();
    assert!(out.none());
}

#[test]
fn constants_need_no_fields() {
    let tile = Tile::new(3, []);
    assert_eq!(evaluate(&QueryCondition::Constant(true), &tile), [0, 1, 2]);
    assert_eq!(bind(&QueryCondition::Constant(false)).fields().len(), 0);
}

#[test]
fn views_that_do_not_hold_the_cells_are_refused() {
    let check = |name: &str, data: &[u8], offsets: Option<&[u64]>, validity: Option<&[u8]>, expected: &str| {
        let bound = bind(&field(name).is_null());
        let error = bound.evaluate(2, |_| Some(FieldView { data, offsets, validity }), &mut Bitmap::default()).unwrap_err();
        assert!(matches!(error, ConditionError::Cells { .. }));
        assert_eq!(error.to_string(), expected);
    };
    check("int", &[0; 7], None, None, "field 'int': data length is 7, expected 8");
    check("int", &[0; 8], None, Some(&[1]), "field 'int': number of validity bytes is 1, expected 2");
    check("text", b"ab", Some(&[0, 1]), None, "field 'text': number of offsets is 2, expected 3");
    check("text", b"ab", Some(&[0, 2, 1]), None, "field 'text': number of ascending offsets is 2, expected 3");
    check("text", b"ab", Some(&[0, 1, 3]), None, "field 'text': data length is 2, expected 3");
    check("text", b"ab", Some(&[0, 1, u64::MAX]), None, "field 'text': data length is 2, expected 18446744073709551615");
}

/// The least and the greatest of the cells that are not null, and not NaN.
fn bounds(tile: &Tile, name: &str, with_nulls: bool) -> Option<TileBounds<'static>> {
    let column = tile.columns.get(name)?;
    let nulls = column.iter().filter(|cell| cell.is_none()).count();
    let known: Vec<&Cell> = column.iter().flatten().filter(|cell| !cell.is_nan()).collect();
    let least = known.iter().copied().reduce(|a, b| if b.less(a) { b } else { a });
    let greatest = known.iter().copied().reduce(|a, b| if a.less(b) { b } else { a });
    let trust = if column.iter().flatten().any(Cell::is_nan) { Trust::ExceptNan } else { Trust::Exact };
    Some(TileBounds {
        min: least.map(|cell| cell.bytes().into()),
        max: greatest.map(|cell| cell.bytes().into()),
        null_count: with_nulls.then_some(nulls as u64),
        trust,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..Default::default() })]

    #[test]
    fn every_cell_is_judged_as_by_the_model((condition, tile) in (conditions(), cells())) {
        let expected: Vec<usize> = (0..tile.cells).filter(|&cell| matches(&condition, &tile, cell)).collect();
        prop_assert_eq!(evaluate(&condition, &tile), expected, "{}", condition);
    }

    #[test]
    fn stored_and_bound_again_a_condition_means_the_same((condition, tile) in (conditions(), cells())) {
        // Null tests and constants cannot be stored.
        if let Ok(stored) = bind(&condition).to_stored() {
            let decoded = QueryCondition::decode(&stored.encode().unwrap()).unwrap();
            let bound = decoded.bind_stored_fields(field_type).unwrap();
            let mut out = Bitmap::default();
            bound.evaluate(tile.cells, |name| tile.view(name), &mut out).unwrap();
            prop_assert_eq!(out.iter_ones().collect::<Vec<_>>(), evaluate(&condition, &tile), "{}", condition);
        }
    }

    #[test]
    fn what_bounds_promise_is_true_of_the_cells((condition, tile, with_nulls) in (conditions(), cells(), any::<bool>())) {
        let found = evaluate(&condition, &tile).len();
        match bind(&condition).prune(tile.cells as u64, |name| bounds(&tile, name, with_nulls)) {
            Tri::AllMatch => prop_assert_eq!(found, tile.cells, "{}", condition),
            Tri::NoneMatch => prop_assert_eq!(found, 0, "{}", condition),
            Tri::Unknown => {}
        }
    }

    #[test]
    fn no_view_makes_it_panic(data: Vec<u8>, offsets: Vec<u64>, validity: Vec<u8>, cells in 0..5_usize) {
        for condition in [field("int").lt(5), field("text").lt("b"), field("chars").is_in(["abc"]), field("int").is_null()] {
            let view = FieldView { data: &data, offsets: Some(&offsets), validity: Some(&validity) };
            let fixed = FieldView { offsets: None, ..view };
            let bound = bind(&condition);
            let _ = bound.evaluate(cells, |_| Some(view), &mut Bitmap::default());
            let _ = bound.evaluate(cells, |_| Some(fixed), &mut Bitmap::default());
        }
    }
}

#[test]
fn bounds_decide_where_they_can() {
    let check = |condition: QueryCondition, trust, null_count, expected| {
        let (min, max) = (10_i32.to_le_bytes(), 20_i32.to_le_bytes());
        let bounds = || TileBounds { min: Some((&min[..]).into()), max: Some((&max[..]).into()), null_count, trust };
        assert_eq!(bind(&condition).prune(8, |_| Some(bounds())), expected, "{condition}");
    };
    let int = field("int");
    check(int.lt(10), Trust::Exact, Some(0), Tri::NoneMatch);
    check(int.le(10), Trust::Exact, Some(0), Tri::Unknown);
    check(int.le(20), Trust::Exact, Some(0), Tri::AllMatch);
    check(int.le(20), Trust::Exact, Some(1), Tri::Unknown);
    check(int.le(20), Trust::Exact, None, Tri::Unknown);
    check(int.le(20), Trust::Exact, Some(8), Tri::NoneMatch);
    check(int.le(20), Trust::Nothing, Some(0), Tri::Unknown);
    check(int.eq(21), Trust::Exact, None, Tri::NoneMatch);
    check(int.ne(21), Trust::Exact, Some(0), Tri::AllMatch);
    check(int.is_in([1, 2, 30]), Trust::Exact, None, Tri::NoneMatch);
    check(int.is_not_in([1, 2, 30]), Trust::Exact, Some(0), Tri::AllMatch);
    check(int.is_in([1, 15]), Trust::Exact, Some(0), Tri::Unknown);
    check(int.is_null(), Trust::Nothing, Some(0), Tri::NoneMatch);
    check(int.is_null(), Trust::Nothing, Some(8), Tri::AllMatch);
    check(int.lt(10) & int.is_null(), Trust::Exact, Some(1), Tri::NoneMatch);
    check(int.is_null() | int.lt(10), Trust::Exact, Some(1), Tri::Unknown);
}

#[test]
fn a_field_that_the_fragment_lacks_prunes_its_tests() {
    let bound = bind(&(field("int").ge(0) & field("byte").ge(0)));
    assert_eq!(bound.prune(4, |name| (name == "int").then(TileBounds::default)), Tri::NoneMatch);
    let nothing_known = bound.prune(4, |_| Some(TileBounds::default()));
    assert_eq!(nothing_known, Tri::Unknown);
}

#[test]
fn ranges_of_dimensions_bound_their_cells() {
    use talavera_schema::Range;
    use talavera_types::{CellValNum, Datatype};
    let fields = |name: &str| {
        let (datatype, cell_val_num) =
            if name == "x" { (Datatype::Int16, CellValNum::ONE) } else { (Datatype::StringAscii, CellValNum::Var) };
        Some(FieldType { datatype, cell_val_num, nullable: false, enumeration: None })
    };
    let x = Range::Signed(-5, 7);
    let s = Range::String(Box::from(*b"ab"), Box::from(*b"cd"));
    let prune = |condition: QueryCondition| {
        condition.bind_fields(fields, |_| None).unwrap().prune(10, |name| {
            Some(match name {
                "x" => TileBounds::from_range(&x, Datatype::Int16, Trust::Exact),
                _ => TileBounds::from_range(&s, Datatype::StringAscii, Trust::Exact),
            })
        })
    };
    assert_eq!(prune(field("x").ge(-5) & field("s").lt("ce")), Tri::AllMatch);
    assert_eq!(prune(field("x").gt(7)), Tri::NoneMatch);
    assert_eq!(prune(field("s").eq("a")), Tri::NoneMatch);
    assert_eq!(prune(field("s").eq("b")), Tri::Unknown);
}
