//! The laws of encoder and decoder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::strategy::Strategy;
use talavera_filter_delta::{decode, encode};
use talavera_types::Datatype;

const CELLS_BYTES: usize = 96;

talavera_testkit::decoder_laws! {
    mod laws {
        value: Vec<u8> = vec(proptest::num::u8::ANY, CELLS_BYTES),
        encode: |cells: &Vec<u8>| {
            let mut out = Vec::new();
            encode(cells, Datatype::Int32, &mut out).unwrap();
            out
        },
        decode: |bytes: &[u8]| {
            let mut cells = vec![0; CELLS_BYTES];
            decode(bytes, Datatype::Int32, &mut cells).map(|()| cells)
        },
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

    #[test]
    fn a_wrong_declared_length_is_an_error(value in vec(proptest::num::u8::ANY, CELLS_BYTES), len in 0usize..300) {
        let cells = &value;
        let mut out = Vec::new();
        encode(cells, Datatype::Int32, &mut out).unwrap();
        let bytes = &out;
        let mut cells = vec![0; len];
        proptest::prop_assert_eq!(decode(bytes, Datatype::Int32, &mut cells).is_ok(), len == CELLS_BYTES);
    }

    #[test]
    fn bytes_of_any_origin_do_not_panic(bytes in vec(proptest::num::u8::ANY, 0..200), len in 0usize..300) {
        let bytes = &bytes;
        let mut cells = vec![0; len];
        let _ = decode(bytes, Datatype::Int32, &mut cells);
    }

    #[test]
    fn what_was_in_the_output_stays(value in vec(proptest::num::u8::ANY, CELLS_BYTES)) {
        let cells = &value;
        let mut out = Vec::new();
        encode(cells, Datatype::Int32, &mut out).unwrap();
        let alone = out.clone();
        encode(cells, Datatype::Int32, &mut out).unwrap();
        proptest::prop_assert_eq!(out, [alone.clone(), alone].concat());
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
