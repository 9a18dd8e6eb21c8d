//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_filter_sha256::ChecksumSha256;
use talavera_types::Datatype;

const DATATYPES: &[Datatype] = &[Datatype::Int32];

/// A filter, the datatype it sees and cells that it takes.
fn chunks() -> impl Strategy<Value = (ChecksumSha256, Datatype, Vec<u8>)> {
    (select(DATATYPES), vec(any::<u8>(), 1..60)).prop_map(|(datatype, cells)| (ChecksumSha256, datatype, cells))
}

talavera_testkit::filter_laws! {
    mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error }
}
