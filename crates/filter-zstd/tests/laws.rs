//! The laws of encoder and decoder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use talavera_filter_zstd::{compress, decompress};

talavera_testkit::cells_laws! {
    mod laws {
        cells: vec(0u8..6, 96), bytes: 96,
        encode: |cells: &[u8], out: &mut Vec<u8>| compress(cells, -1, out).unwrap(),
        decode: |bytes: &[u8], cells: &mut [u8]| decompress(bytes, cells),
    }
}

#[test]
fn bytes_behind_the_stream_are_refused() {
    let mut out = Vec::new();
    compress(b"cells", 3, &mut out).unwrap();
    out.push(0);
    decompress(&out, &mut [0; 5]).unwrap_err();
}

#[test]
fn no_bytes_are_a_stream_too() {
    let mut out = Vec::new();
    compress(&[], 3, &mut out).unwrap();
    decompress(&out, &mut []).unwrap();
    assert!(!out.is_empty());
}
