//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_filter::{Chunk, Filter};
use talavera_filter_positive_delta::PositiveDelta;
use talavera_testkit::filters::{encode, with_context, with_version};
use talavera_types::{Datatype, FormatVersion};

const DATATYPES: &[Datatype] = &[
    Datatype::Int8,
    Datatype::Int16,
    Datatype::UInt16,
    Datatype::Int32,
    Datatype::UInt32,
    Datatype::Int64,
    Datatype::UInt64,
    Datatype::DateTimeMs,
    Datatype::Float32,
];

/// A filter, the datatype it sees and cells that it takes: numbers that ascend within the datatype.
fn chunks() -> impl Strategy<Value = (PositiveDelta, Datatype, Vec<u8>)> {
    (8..100u32, select(DATATYPES), vec(any::<i64>(), 0..40), 0..8usize).prop_map(|(window, datatype, mut numbers, tail)| {
        let bits = 8 * datatype.size();
        // Cut to the datatype, without a sign, so that they ascend in every type.
        for number in &mut numbers {
            *number = (*number & i64::MAX) >> (64 - bits);
        }
        numbers.sort_unstable();
        let mut cells: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()[..datatype.size()].to_vec()).collect();
        // Behind a filter that changes sizes, elements need not be whole.
        cells.extend(vec![0x7f; tail * usize::from(window % 5 == 0 && datatype.size() > tail)]);
        (PositiveDelta { max_window_bytes: window }, datatype, cells)
    })
}

talavera_testkit::filter_laws! {
    mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error_or_a_value }
}

#[test]
fn dates_have_deltas_from_version_20_on() {
    let cells = [5i64, 6].map(i64::to_le_bytes).concat();
    let encode = |version| {
        let version = FormatVersion::new(version).unwrap();
        with_version(Datatype::DateTimeDay, version, |cx| encode(&PositiveDelta::default(), &cells, cx))
    };
    assert_eq!(encode(19), (vec![], cells.clone()));
    // One window: first 5, 16 bytes.
    let metadata = [1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
    assert_eq!(encode(20), (metadata.to_vec(), [0i64, 1].map(i64::to_le_bytes).concat()));
}

#[test]
fn numbers_that_descend_are_refused() {
    let encode = |datatype, cells: &[u8]| {
        with_context(datatype, |cx| PositiveDelta::default().encode(Chunk::new(cells), cx).map(drop).map_err(|e| e.to_string()))
    };
    let refused = Err("POSITIVE_DELTA cannot encode: values that descend".to_owned());
    // 127 and 128, or -128 where there is a sign.
    assert_eq!(encode(Datatype::UInt8, &[0x7f, 0x80]), Ok(()));
    assert_eq!(encode(Datatype::Int8, &[0x7f, 0x80]), refused);
    assert_eq!(encode(Datatype::UInt8, &[0x80, 0x7f]), refused);
}

#[test]
fn a_window_smaller_than_an_element_is_refused() {
    with_context(Datatype::Int32, |cx| {
        let error = PositiveDelta { max_window_bytes: 3 }.encode(Chunk::new(&[0; 8]), cx).unwrap_err();
        let expected = "POSITIVE_DELTA cannot encode: a window of at most 3 bytes holds no element of 4";
        assert_eq!(error.to_string(), expected);
    });
}
