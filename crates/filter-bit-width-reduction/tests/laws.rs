//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_filter::{Chunk, EncodedChunk, Filter};
use talavera_filter_bit_width_reduction::BitWidthReduction;
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

/// A filter, the datatype it sees and cells that it takes: numbers of some bits, spread over their windows.
fn chunks() -> impl Strategy<Value = (BitWidthReduction, Datatype, Vec<u8>)> {
    let numbers = (0..64u32).prop_flat_map(|shift| vec(any::<u64>().prop_map(move |number| number >> shift), 0..40));
    (8..100u32, select(DATATYPES), any::<u64>(), numbers, 0..8usize).prop_map(|(window, datatype, base, numbers, tail)| {
        let number = |number: &u64| number.wrapping_add(base).to_le_bytes()[..datatype.size()].to_vec();
        let mut cells: Vec<u8> = numbers.iter().flat_map(number).collect();
        // Behind a filter that changes sizes, elements need not be whole.
        cells.extend(vec![7; tail * usize::from(window % 5 == 0)]);
        (BitWidthReduction { max_window_bytes: window }, datatype, cells)
    })
}

talavera_testkit::filter_laws! {
    mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error_or_a_value }
}

#[test]
fn dates_are_reduced_from_version_20_on() {
    let cells = [5i64, 6].map(i64::to_le_bytes).concat();
    let encode = |version| {
        let version = FormatVersion::new(version).unwrap();
        with_version(Datatype::DateTimeDay, version, |cx| encode(&BitWidthReduction::default(), &cells, cx))
    };
    assert_eq!(encode(19), (vec![], cells.clone()));
    // 16 bytes in one window: offset 5, 8 bits, 16 bytes.
    let metadata = [16, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 8, 16, 0, 0, 0];
    assert_eq!(encode(20), (metadata.to_vec(), vec![0, 1]));
}

#[test]
fn a_window_smaller_than_an_element_is_refused() {
    with_context(Datatype::Int32, |cx| {
        let error = BitWidthReduction { max_window_bytes: 3 }.encode(Chunk::new(&[0; 8]), cx).unwrap_err();
        let expected = "BIT_WIDTH_REDUCTION cannot encode: a window of at most 3 bytes holds no element of 4";
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn a_width_that_no_integer_has_is_refused() {
    with_context(Datatype::Int32, |cx| {
        // Four bytes in one window: offset 0, 12 bits, 4 bytes.
        let metadata = [4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 12, 4, 0, 0, 0];
        let error = BitWidthReduction::default().decode(EncodedChunk::new(&metadata, &[1, 2]), cx).unwrap_err();
        let expected = "BIT_WIDTH_REDUCTION: bit width window bits: 12 is not the width of an integer (at byte 12)";
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn a_length_that_nothing_vouches_for_is_held_against_the_limit() {
    with_context(Datatype::Int32, |cx| {
        let metadata = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        let error = BitWidthReduction::default().decode(EncodedChunk::new(&metadata, &[]), cx).unwrap_err();
        let expected = "BIT_WIDTH_REDUCTION: bit width input length: 4294967295 bytes exceed the limit of 1048576 (at byte 0)";
        assert_eq!(error.to_string(), expected);
    });
}
