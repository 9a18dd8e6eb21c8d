use talavera_schema::{Dimension, TileExtent};
use talavera_types::Datatype;

use super::*;

fn dimension(datatype: Datatype, domain: Range) -> Dimension {
    Dimension::new("d", datatype, domain, None::<TileExtent>)
}

fn along(dimension: &Dimension, range: impl IntoRange) -> Result<Range, String> {
    range.into_range().along(dimension, dimension.domain.as_ref()).map_err(|error| error.to_string())
}

#[test]
fn integers_of_any_type_become_the_type_of_the_dimension() {
    let signed = dimension(Datatype::Int16, Range::Signed(-10, 100));
    assert_eq!(along(&signed, 1..=5), Ok(Range::Signed(1, 5)));
    assert_eq!(along(&signed, 1_u64..6), Ok(Range::Signed(1, 5)));
    assert_eq!(along(&signed, -3_i8), Ok(Range::Signed(-3, -3)));
    assert_eq!(along(&signed, ..=5_usize), Ok(Range::Signed(-10, 5)));
    assert_eq!(along(&signed, ..5_isize), Ok(Range::Signed(-10, 4)));
    assert_eq!(along(&signed, 5..), Ok(Range::Signed(5, 100)));
    assert_eq!(along(&signed, (Bound::Excluded(1), Bound::Unbounded)), Ok(Range::Signed(2, 100)));
    let day = dimension(Datatype::DateTimeDay, Range::Signed(0, 20_000));
    assert_eq!(along(&day, 18_262..18_263), Ok(Range::Signed(18_262, 18_262)));
    let unsigned = dimension(Datatype::UInt8, Range::Unsigned(0, 255));
    assert_eq!(along(&unsigned, 0..256), Ok(Range::Unsigned(0, 255)), "the end is not in the range");
    let wide = dimension(Datatype::UInt64, Range::Unsigned(0, u64::MAX));
    assert_eq!(along(&wide, 1 << 63..u64::MAX), Ok(Range::Unsigned(1 << 63, u64::MAX - 1)));
}

#[test]
fn ends_that_the_datatype_cannot_hold_are_refused() {
    let unsigned = dimension(Datatype::UInt8, Range::Unsigned(0, 255));
    assert_eq!(along(&unsigned, 0..=256), Err("dimension 'd': UINT8 cannot hold 256".into()));
    assert_eq!(along(&unsigned, -1..=5), Err("dimension 'd': UINT8 cannot hold -1".into()));
    let signed = dimension(Datatype::Int64, Range::Signed(0, 9));
    assert_eq!(along(&signed, 0..=u64::MAX), Err("dimension 'd': INT64 cannot hold 18446744073709551615".into()));
}

#[test]
fn ranges_without_values_are_refused() {
    let signed = dimension(Datatype::Int64, Range::Signed(0, 9));
    assert_eq!(along(&signed, 5..5), Err("dimension 'd': the range [5, 4] is empty".into()));
    #[expect(clippy::reversed_empty_ranges, reason = "a caller may get it wrong")]
    let reversed = 6..=5;
    assert!(along(&signed, reversed).is_err());
    assert!(along(&signed, 10..).is_err(), "behind the domain");
}

#[test]
fn floats_become_the_nearest_of_the_dimension() {
    let narrow = dimension(Datatype::Float32, Range::Float32(-1.0, 1.0));
    assert_eq!(along(&narrow, 0.1..=0.5), Ok(Range::Float32(0.1, 0.5)));
    assert_eq!(along(&narrow, ..0.5_f32), Ok(Range::Float32(-1.0, 0.5_f32.next_down())));
    assert_eq!(along(&narrow, 0..=1), Ok(Range::Float32(0.0, 1.0)));
    assert_eq!(along(&narrow, 16_777_217), Err("dimension 'd': FLOAT32 cannot hold 16777217".into()));
    assert!(along(&narrow, 0.0..=1e300).is_err());
    let wide = dimension(Datatype::Float64, Range::Float64(-1.0, 1.0));
    assert_eq!(along(&wide, 0.1..), Ok(Range::Float64(0.1, 1.0)));
    assert_eq!(along(&wide, i64::MAX), Err(format!("dimension 'd': FLOAT64 cannot hold {}", i64::MAX)));
}

#[test]
fn ranges_of_strings_are_closed() {
    let text = Dimension::string("d");
    let range = |low: &[u8], high: &[u8]| Ok(Range::String(low.into(), high.into()));
    assert_eq!(along(&text, "a"..="c"), range(b"a", b"c"));
    assert_eq!(along(&text, "b".to_owned()), range(b"b", b"b"));
    assert_eq!(along(&text, ..=b"\xff"), range(b"", b"\xff"));
    assert_eq!(along(&text, (Bound::Excluded("a"), Bound::Included("c"))), range(b"a\0", b"c"));
    let refused = Err("dimension 'd': a range of strings must name and include its last string".to_owned());
    assert_eq!(along(&text, "a".."c"), refused);
    assert_eq!(along(&text, "a"..), refused);
}

#[test]
fn values_of_another_kind_are_refused() {
    let signed = dimension(Datatype::Int32, Range::Signed(0, 9));
    let refused = |found| Err(format!("dimension 'd' is INT32; {found} cannot be a range of it"));
    assert_eq!(along(&signed, 1.0..=2.0), refused("floats"));
    assert_eq!(along(&signed, "1"), refused("strings"));
    assert_eq!(along(&signed, Range::Unsigned(1, 2)), refused("integers"));
    assert_eq!(along(&signed, Range::Signed(1, 2)), Ok(Range::Signed(1, 2)));
    let float = dimension(Datatype::Float64, Range::Float64(0.0, 9.0));
    assert!(along(&float, "1").is_err() && along(&Dimension::string("d"), 1).is_err());
}
