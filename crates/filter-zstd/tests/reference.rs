//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype, the cells and the options.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_filter::{Chunk, EncodedChunk, Filter};
use talavera_filter_zstd::Zstd;
use talavera_testkit::filters::{decodes_to, with_context};
use talavera_types::Datatype;

const FILTER: Zstd = Zstd { level: -1 };

/// The chunk is decoded to the cells and to what a filter before left as metadata.
fn check(metadata: &[u8], data: &[u8], metadata_before: &[u8], cells: &[u8]) {
    let (chunk, expected) = (EncodedChunk::new(metadata, data), EncodedChunk::new(metadata_before, cells));
    with_context(Datatype::UInt8, |cx| decodes_to(&FILTER, cx, chunk, expected));
}

#[test]
fn chunks_of_the_reference_are_read() {
    // INT32, seven times 42; level -1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x13, 0, 0, 0],
        &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x1c, 0x55, 0, 0, 0x20, 0x2a, 0, 0, 0, 1, 0, 0x83, 0x8e, 8],
        &[],
        &[0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0],
    );
    // INT32, seven times 42; level -7.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x17, 0, 0, 0],
        &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x1c, 0x75, 0, 0, 0x40, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 1, 0, 0xa3, 0x0b, 0x17],
        &[],
        &[0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0],
    );
    // INT32, seven times 42; level 22.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x14, 0, 0, 0],
        &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x1c, 0x5d, 0, 0, 0x28, 0x2a, 0, 0, 0, 0x2a, 1, 0, 0xea, 0xab, 5],
        &[],
        &[0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0],
    );
    // STRING_ASCII of variable length, nine words; level -1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x3d, 0, 0, 0, 0x31, 0, 0, 0],
        &[
            0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x3d, 0x45, 1, 0, 0xe8, 0x63, 0x68, 0x72, 0x6f, 0x6d, 0x6f, 0x73, 0x6f, 0x6d, 0x65,
            0x2d, 0x58, 0x48, 0x47, 0x35, 0x34, 0x33, 0x32, 0x33, 0x32, 0x41, 0x48, 0x47, 0x35, 0x34, 0x63, 0x68, 0x72, 0x31, 3,
            0, 0x2f, 0x1c, 0x20, 0xc5, 0x41, 0x44, 0x4c, 0x27,
        ],
        &[],
        b"chromosome-XHG543232AHG54chr1HG543232chromosome-Xchromosome-X",
    );
    // STRING_ASCII of variable length, five empty strings; level -1.
    check(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0], &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0], &[], &[]);
    // INT32, nine random ascending numbers; behind BYTESHUFFLE, whose metadata is compressed too.
    check(
        &[1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0x11, 0, 0, 0, 0x24, 0, 0, 0, 0x22, 0, 0, 0],
        &[
            0x28, 0xb5, 0x2f, 0xfd, 0x20, 8, 0x41, 0, 0, 1, 0, 0, 0, 0x24, 0, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x24, 0xcd, 0,
            0, 0x98, 0x28, 0x5e, 0x8f, 0x92, 0xad, 0x9c, 0xc9, 0x98, 0xdc, 0, 0, 0, 0, 0, 1, 2, 3, 3, 0, 1, 0, 0x67, 0x10, 6,
        ],
        &[1, 0, 0, 0, 0x24, 0, 0, 0],
        &[
            0x28, 0x5e, 0x8f, 0x92, 0xad, 0x9c, 0xc9, 0x98, 0xdc, 0, 0, 0, 0, 0, 1, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0,
        ],
    );
}

#[test]
fn what_is_written_is_read() {
    let cells: Vec<u8> = (0u32..20_000).flat_map(|cell| (cell / 3).to_le_bytes()).collect();
    with_context(Datatype::UInt8, |cx| {
        for level in [-100, -7, -1, 0, 3, 22, 100] {
            let filter = Zstd { level };
            let encoded = filter.encode(Chunk::new(&cells), cx).unwrap();
            let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
            assert!(data.len() < cells.len() + 100);
            let mut decoded = vec![0; cells.len()];
            filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut decoded).unwrap();
            assert!(decoded == cells, "level {level}");
        }
    });
}
