//! The laws of encoder and decoder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::strategy::Strategy;
use talavera_filter_delta::{decode, encode};
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

    #[test]
    fn every_datatype_but_floats_comes_back(cells in vec(proptest::num::u8::ANY, 0..12).prop_map(|cells| cells.repeat(8))) {
        for &datatype in Datatype::ALL.iter().filter(|datatype| !datatype.is_float()) {
            let mut out = Vec::new();
            encode(&cells, datatype, &mut out).unwrap();
            let mut decoded = vec![0; cells.len()];
            decode(&out, datatype, &mut decoded).unwrap();
            proptest::prop_assert_eq!(&decoded, &cells, "{}", datatype);
        }
    }
}
