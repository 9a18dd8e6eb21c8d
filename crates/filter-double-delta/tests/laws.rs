//! The laws of encoder and decoder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use talavera_filter_double_delta::{decode, encode};
use talavera_types::Datatype;

talavera_testkit::cells_laws! {
    mod laws {
        cells: vec(proptest::num::u8::ANY, 96), bytes: 96,
        encode: |cells: &[u8], out: &mut Vec<u8>| encode(cells, Datatype::Int32, out).unwrap(),
        decode: |bytes: &[u8], cells: &mut [u8]| decode(bytes, Datatype::Int32, cells),
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Steps of all sizes, so that all numbers of bits occur.
    #[test]
    fn every_datatype_but_floats_comes_back(steps in vec(proptest::num::i64::ANY, 0..100), narrow in 2u32..64) {
        let steps = steps.iter().map(|step| step >> narrow);
        let cells: Vec<u8> = steps
            .scan((0i64, 0i64), |(value, delta), step| {
                *delta = delta.wrapping_add(step);
                *value = value.wrapping_add(*delta >> 8);
                Some(value.to_le_bytes())
            })
            .flatten()
            .collect();
        for &datatype in Datatype::ALL.iter().filter(|datatype| !datatype.is_float()) {
            let mut out = Vec::new();
            if encode(&cells, datatype, &mut out).is_err() {
                // Only differences of eight bytes can be too large.
                proptest::prop_assert_eq!(datatype.size(), 8);
                continue;
            }
            let mut decoded = vec![0; cells.len()];
            decode(&out, datatype, &mut decoded).unwrap();
            proptest::prop_assert_eq!(&decoded, &cells, "{}", datatype);
        }
    }
}
