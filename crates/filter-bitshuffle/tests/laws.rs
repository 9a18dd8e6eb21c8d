//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_filter_bitshuffle::Bitshuffle;
use talavera_types::Datatype;

const DATATYPES: &[Datatype] =
    &[Datatype::Int8, Datatype::UInt16, Datatype::Int32, Datatype::Float64, Datatype::DateTimeMs, Datatype::StringAscii];

/// A filter, the datatype it sees and cells that it takes.
fn chunks() -> impl Strategy<Value = (Bitshuffle, Datatype, Vec<u8>)> {
    (select(DATATYPES), vec(any::<u8>(), 0..200)).prop_map(|(datatype, cells)| (Bitshuffle, datatype, cells))
}

talavera_testkit::filter_laws! {
    mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error_or_a_value }
}
