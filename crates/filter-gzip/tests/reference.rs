//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype, the cells and the options.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_filter::{Chunk, EncodedChunk, Filter};
use talavera_filter_gzip::Gzip;
use talavera_testkit::filters::{decodes_to, with_context};
use talavera_types::Datatype;

const FILTER: Gzip = Gzip { level: -1 };

/// The chunk is decoded to the cells and to what a filter before left as metadata.
fn check(metadata: &[u8], data: &[u8], metadata_before: &[u8], cells: &[u8]) {
    let (chunk, expected) = (EncodedChunk::new(metadata, data), EncodedChunk::new(metadata_before, cells));
    with_context(Datatype::UInt8, |cx| decodes_to(&FILTER, cx, chunk, expected));
}

#[test]
fn chunks_of_the_reference_are_read() {
    // INT32, seven times 42; level -1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x0e, 0, 0, 0],
        &[0x78, 0x9c, 0xd3, 0x62, 0x60, 0x60, 0xd0, 0xc2, 0x81, 1, 0x12, 0x7c, 1, 0x27],
        &[],
        &[0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0],
    );
    // UINT8, random; level 0.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0x12, 0, 0, 0],
        &[0x78, 1, 1, 7, 0, 0xf8, 0xff, 0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea, 0x0a, 0x96, 3, 0x5b],
        &[],
        &[0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
    );
    // FLOAT64, random; level 9.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0x10, 0, 0, 0],
        &[0x78, 0xda, 0x3b, 0x14, 0xe7, 0x9f, 0xaf, 0xb4, 0xae, 0xc5, 1, 0, 0x10, 0x89, 3, 0x73],
        &[],
        &[0xc2, 0x5e, 0x4f, 0x6f, 0x22, 0xae, 0x84, 0x40],
    );
    // STRING_ASCII of variable length, nine words; level -1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x3d, 0, 0, 0, 0x29, 0, 0, 0],
        &[
            0x78, 0x9c, 0x4b, 0xce, 0x28, 0xca, 0xcf, 0xcd, 0x2f, 0xce, 0xcf, 0x4d, 0xd5, 0x8d, 0xf0, 0x70, 0x37, 0x35, 0x31,
            0x36, 0x32, 0x36, 0x72, 4, 0x31, 0x92, 0x33, 0x8a, 0x0c, 0x61, 2, 0xc9, 0x48, 0x8a, 0x90, 0xd9, 0, 0x67, 0xf7, 0x14,
            0x6f,
        ],
        &[],
        b"chromosome-XHG543232AHG54chr1HG543232chromosome-Xchromosome-X",
    );
    // STRING_ASCII of variable length, five empty strings; level -1.
    check(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0], &[0x78, 0x9c, 3, 0, 0, 0, 0, 1], &[], &[]);
}

#[test]
fn what_is_written_is_read() {
    let cells: Vec<u8> = (0u32..20_000).flat_map(|cell| (cell / 3).to_le_bytes()).collect();
    with_context(Datatype::UInt8, |cx| {
        for level in [-1, 0, 1, 6, 9] {
            let filter = Gzip { level };
            let encoded = filter.encode(Chunk::new(&cells), cx).unwrap();
            let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
            assert!(data.len() < cells.len() + 100);
            let mut decoded = vec![0; cells.len()];
            filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut decoded).unwrap();
            assert!(decoded == cells, "level {level}");
        }
        assert!(Gzip { level: 10 }.encode(Chunk::new(&cells), cx).is_err());
    });
}
