//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_filter::{Chunk, Filter};
use talavera_filter_xor::Xor;
use talavera_testkit::filters::with_context;
use talavera_types::Datatype;

const DATATYPES: &[Datatype] =
    &[Datatype::Int8, Datatype::UInt16, Datatype::Int32, Datatype::Float64, Datatype::DateTimeMs, Datatype::StringAscii];

/// A filter, the datatype it sees and cells that it takes.
fn chunks() -> impl Strategy<Value = (Xor, Datatype, Vec<u8>)> {
    (select(DATATYPES), vec(any::<u8>(), 0..200)).prop_map(|(datatype, mut cells)| {
        cells.truncate(cells.len() / datatype.size() * datatype.size());
        (Xor, datatype, cells)
    })
}

talavera_testkit::filter_laws! {
    mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error_or_a_value }
}

#[test]
fn bytes_behind_the_last_whole_element_are_refused() {
    with_context(Datatype::Int32, |cx| {
        let error = Xor.encode(Chunk::new(&[1, 2, 3, 4, 5]), cx).unwrap_err();
        let expected = "XOR cannot encode: a part of 5 bytes, which is no multiple of the 4 bytes of an element";
        assert_eq!(error.to_string(), expected);
    });
}
