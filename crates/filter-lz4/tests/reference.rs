//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype, the cells and the options.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_filter::{Chunk, EncodedChunk, Filter};
use talavera_filter_lz4::Lz4;
use talavera_testkit::filters::{decodes_to, with_context};
use talavera_types::Datatype;

const FILTER: Lz4 = Lz4;

/// The chunk is decoded to the cells and to what a filter before left as metadata.
fn check(metadata: &[u8], data: &[u8], metadata_before: &[u8], cells: &[u8]) {
    let (chunk, expected) = (EncodedChunk::new(metadata, data), EncodedChunk::new(metadata_before, cells));
    with_context(Datatype::UInt8, |cx| decodes_to(&FILTER, cx, chunk, expected));
}

#[test]
fn chunks_of_the_reference_are_read() {
    // INT32, seven times 42.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x0e, 0, 0, 0],
        &[0x4f, 0x2a, 0, 0, 0, 4, 0, 0, 0x50, 0, 0x2a, 0, 0, 0],
        &[],
        &[0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0],
    );
    // FLOAT64, seven times 3.25.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x38, 0, 0, 0, 0x13, 0, 0, 0],
        &[0x11, 0, 1, 0, 0x21, 0x0a, 0x40, 7, 0, 0x0f, 8, 0, 0x13, 0x50, 0, 0, 0, 0x0a, 0x40],
        &[],
        &[
            0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a,
            0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40,
        ],
    );
    // UINT8, random.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0],
        &[0x70, 0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
        &[],
        &[0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
    );
    // STRING_ASCII of variable length, nine words.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x3d, 0, 0, 0, 0x2f, 0, 0, 0],
        &[
            0xf0, 6, 0x63, 0x68, 0x72, 0x6f, 0x6d, 0x6f, 0x73, 0x6f, 0x6d, 0x65, 0x2d, 0x58, 0x48, 0x47, 0x35, 0x34, 0x33, 0x32,
            0x33, 0x32, 0x41, 9, 0, 0x40, 0x63, 0x68, 0x72, 0x31, 8, 0, 0, 0x11, 0, 8, 0x25, 0, 3, 0x0c, 0, 0x50, 0x6f, 0x6d,
            0x65, 0x2d, 0x58,
        ],
        &[],
        b"chromosome-XHG543232AHG54chr1HG543232chromosome-Xchromosome-X",
    );
    // STRING_ASCII of variable length, five empty strings.
    check(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], &[0], &[], &[]);
    // UINT64, one number; behind BITSHUFFLE, whose metadata is compressed too.
    check(
        &[1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0],
        &[0x80, 1, 0, 0, 0, 8, 0, 0, 0, 0x80, 0x5b, 1, 0, 0, 0, 0, 0, 0],
        &[1, 0, 0, 0, 8, 0, 0, 0],
        &[0x5b, 1, 0, 0, 0, 0, 0, 0],
    );
}

#[test]
fn what_is_written_is_read() {
    let cells: Vec<u8> = (0u32..20_000).flat_map(|cell| (cell / 3).to_le_bytes()).collect();
    with_context(Datatype::UInt8, |cx| {
        let encoded = FILTER.encode(Chunk::new(&cells), cx).unwrap();
        let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
        assert!(data.len() < cells.len());
        let mut decoded = vec![0; cells.len()];
        FILTER.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut decoded).unwrap();
        assert!(decoded == cells);
    });
}
