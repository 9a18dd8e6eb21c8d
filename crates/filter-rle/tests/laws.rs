//! The laws of encoder and decoder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use talavera_filter_rle::{decode, encode};

talavera_testkit::cells_laws! {
    mod laws {
        cells: vec(0u8..2, 96), bytes: 96,
        encode: |cells: &[u8], out: &mut Vec<u8>| encode(cells, 2, out).unwrap(),
        decode: |bytes: &[u8], cells: &mut [u8]| decode(bytes, 2, cells),
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn cells_of_any_length_come_back(cells in vec(0u8..2, 0..40), cell_bytes in 1usize..20) {
        let cells = cells.repeat(cell_bytes);
        let mut out = Vec::new();
        encode(&cells, cell_bytes, &mut out).unwrap();
        let mut decoded = vec![7; cells.len()];
        decode(&out, cell_bytes, &mut decoded).unwrap();
        proptest::prop_assert_eq!(decoded, cells);
    }
}
