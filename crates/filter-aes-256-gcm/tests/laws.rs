//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_filter_aes_256_gcm::Aes256Gcm;
use talavera_testkit::filters::{encode, with_context};
use talavera_types::Datatype;

const DATATYPES: &[Datatype] = &[Datatype::Int32];

/// A filter, the datatype it sees and cells that it takes.
fn chunks() -> impl Strategy<Value = (Aes256Gcm, Datatype, Vec<u8>)> {
    (select(DATATYPES), vec(any::<u8>(), 0..60)).prop_map(|(datatype, cells)| (Aes256Gcm::new(&[7; 32]), datatype, cells))
}

talavera_testkit::filter_laws! {
    mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error }
}

#[test]
fn every_part_has_an_iv_of_its_own() {
    with_context(Datatype::Int32, |cx| {
        let filter = Aes256Gcm::new(&[7; 32]);
        let (first, second) = (encode(&filter, &[1; 16], cx), encode(&filter, &[1; 16], cx));
        // Counts and lengths are the same, IVs and tags are not.
        assert_eq!(first.0[..16], second.0[..16]);
        assert_ne!(first.0[16..28], second.0[16..28]);
        assert_ne!(first.1, second.1);
    });
}

#[test]
fn the_key_is_not_shown() {
    assert_eq!(format!("{:?}", Aes256Gcm::new(&[7; 32])), "Aes256Gcm { .. }");
}
