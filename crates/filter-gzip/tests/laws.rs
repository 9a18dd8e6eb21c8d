//! The laws of encoder and decoder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use talavera_filter_gzip::{compress, decompress};

talavera_testkit::cells_laws! {
    mod laws {
        cells: vec(0u8..6, 96), bytes: 96,
        encode: |cells: &[u8], out: &mut Vec<u8>| compress(cells, -1, out).unwrap(),
        decode: |bytes: &[u8], cells: &mut [u8]| decompress(bytes, cells),
    }
}

#[test]
fn a_stream_does_not_depend_on_those_before_it() {
    let cells: Vec<u8> = (0..70_000_u32).map(|number| (number.wrapping_mul(number) >> 7).to_le_bytes()[0]).collect();
    let at = |level, cells: &[u8]| {
        let mut out = Vec::new();
        compress(cells, level, &mut out).unwrap();
        out
    };
    // A new thread has none before.
    let alone = |level| std::thread::scope(|scope| scope.spawn(|| at(level, &cells)).join().unwrap());
    for (level, before) in [(1, 1), (1, 9), (9, 1), (0, 6), (6, 0), (6, 6)] {
        at(before, &cells[..40_000]);
        decompress(&[0x78, 1, 2], &mut [0; 9]).unwrap_err();
        let out = at(level, &cells);
        assert!(out == alone(level), "level {level} behind level {before}");
        let mut decoded = vec![0; cells.len()];
        decompress(&out, &mut decoded).unwrap();
        assert!(decoded == cells);
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
