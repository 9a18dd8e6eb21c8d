//! The laws of encoder and decoder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use talavera_filter_gzip::{compress, decompress};

const CELLS_BYTES: usize = 96;

talavera_testkit::decoder_laws! {
    mod laws {
        value: Vec<u8> = vec(0u8..6, CELLS_BYTES),
        encode: |cells: &Vec<u8>| {
            let mut out = Vec::new();
            compress(cells, -1, &mut out).unwrap();
            out
        },
        decode: |bytes: &[u8]| {
            let mut cells = vec![0; CELLS_BYTES];
            decompress(bytes, &mut cells).map(|()| cells)
        },
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

    #[test]
    fn a_wrong_declared_length_is_an_error(value in vec(0u8..6, CELLS_BYTES), len in 0usize..300) {
        let cells = &value;
        let mut out = Vec::new();
        compress(cells, -1, &mut out).unwrap();
        let bytes = &out;
        let mut cells = vec![0; len];
        proptest::prop_assert_eq!(decompress(bytes, &mut cells).is_ok(), len == CELLS_BYTES);
    }

    #[test]
    fn bytes_of_any_origin_do_not_panic(bytes in vec(proptest::num::u8::ANY, 0..200), len in 0usize..300) {
        let bytes = &bytes;
        let mut cells = vec![0; len];
        let _ = decompress(bytes, &mut cells);
    }

    #[test]
    fn what_was_in_the_output_stays(value in vec(0u8..6, CELLS_BYTES)) {
        let cells = &value;
        let mut out = Vec::new();
        compress(cells, -1, &mut out).unwrap();
        let alone = out.clone();
        compress(cells, -1, &mut out).unwrap();
        proptest::prop_assert_eq!(out, [alone.clone(), alone].concat());
    }
}

#[test]
fn bytes_behind_the_stream_are_refused() {
    let mut out = Vec::new();
    compress(b"cells", 6, &mut out).unwrap();
    out.push(0);
    decompress(&out, &mut [0; 5]).unwrap_err();
}

#[test]
fn no_bytes_are_a_stream_too() {
    let mut out = Vec::new();
    compress(&[], 6, &mut out).unwrap();
    decompress(&out, &mut []).unwrap();
    assert!(!out.is_empty());
}
