//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype, the cells and the options.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_codec::Limits;
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext};
use talavera_filter_bzip2::Bzip2;
use talavera_types::{Datatype, FormatVersion};

const FILTER: Bzip2 = Bzip2 { level: -1 };

fn with_context<T>(act: impl FnOnce(&FilterContext<'_>) -> T) -> T {
    let limits = Limits::new(1 << 20);
    act(&FilterContext { datatype: Datatype::UInt8, cell_bytes: 1, version: FormatVersion::DEFAULT, limits: &limits })
}

/// The chunk is decoded to the cells and to what a filter before left as metadata.
fn check(metadata: &[u8], data: &[u8], metadata_before: &[u8], cells: &[u8]) {
    with_context(|cx| {
        let decoded = FILTER.decode(EncodedChunk::new(metadata, data), cx).unwrap();
        assert_eq!(decoded, EncodedChunk::new(metadata_before, cells));
        let mut in_place = vec![0xaa; cells.len()];
        let result = FILTER.decode_into(EncodedChunk::new(metadata, data), cx, &mut in_place);
        if metadata_before.is_empty() {
            result.unwrap();
            assert_eq!(in_place, cells);
        } else {
            result.expect_err("metadata is left");
        }
    });
}

#[test]
fn chunks_of_the_reference_are_read() {
    // INT32, seven times 42; level -1, which is 1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x29, 0, 0, 0],
        &[
            0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x97, 0x76, 0xcf, 0xb7, 0, 0, 0x0d, 0xd0, 0, 0x40, 0, 0,
            0x10, 0x20, 0, 0x30, 0x80, 0x6f, 0x49, 0x13, 0x37, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0x97, 0x76, 0xcf, 0xb7,
        ],
        &[],
        &[0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0, 0x2a, 0, 0, 0],
    );
    // UINT8, random; level 9.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0x34, 0, 0, 0],
        &[
            0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xf4, 0x1c, 0x48, 0x53, 0, 0, 1, 0x31, 0x49, 8, 0, 0,
            0x10, 0, 0x40, 2, 0x40, 0, 1, 0, 0x10, 0x20, 0, 0x22, 0x1a, 0x6d, 0x10, 0x86, 3, 0x8a, 0x12, 0xf8, 0xbb, 0x92, 0x29,
            0xc2, 0x84, 0x87, 0xa0, 0xe2, 0x42, 0x98,
        ],
        &[],
        &[0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
    );
    // FLOAT64, seven times 3.25; level -1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x38, 0, 0, 0, 0x2d, 0, 0, 0],
        &[
            0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x28, 0xe0, 0x60, 0xee, 0, 0, 1, 0x44, 0, 0x50, 0x10,
            0x40, 0, 0x20, 0, 0x30, 0xcd, 0x34, 0x1b, 0xd5, 0x19, 0x4e, 0x90, 0xf2, 0x98, 0x5d, 0xc9, 0x14, 0xe1, 0x42, 0x40,
            0xa3, 0x81, 0x83, 0xb8,
        ],
        &[],
        &[
            0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a,
            0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40,
        ],
    );
    // STRING_ASCII of variable length, nine words; level -1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x3d, 0, 0, 0, 0x4c, 0, 0, 0],
        &[
            0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xd3, 0x75, 0x67, 0xd5, 0, 0, 0x0e, 0x9f, 0x80, 0, 2,
            0x3e, 0, 0x20, 0xc0, 0, 0x40, 0x0a, 0x42, 0x98, 0, 0x20, 0, 0x31, 0x43, 0x4d, 0x30, 0, 0x22, 0xa8, 0x7a, 0x6a, 0x33,
            0x51, 0x89, 0x4e, 0xac, 0x12, 0x49, 0xdb, 0x77, 0x9c, 0x35, 0x8a, 0xa7, 0xc8, 0x27, 0x2f, 0xc1, 0xa1, 0xdb, 0x96,
            0x1d, 0x84, 0x3f, 0x8b, 0xb9, 0x22, 0x9c, 0x28, 0x48, 0x69, 0xba, 0xb3, 0xea, 0x80,
        ],
        &[],
        b"chromosome-XHG543232AHG54chr1HG543232chromosome-Xchromosome-X",
    );
    // STRING_ASCII of variable length, five empty strings; level -1.
    check(
        &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x0e, 0, 0, 0],
        &[0x42, 0x5a, 0x68, 0x31, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0],
        &[],
        &[],
    );
}

#[test]
fn what_is_written_is_read() {
    let cells: Vec<u8> = (0u32..20_000).flat_map(|cell| (cell / 3).to_le_bytes()).collect();
    with_context(|cx| {
        for level in [-1, 0, 1, 9] {
            let filter = Bzip2 { level };
            let encoded = filter.encode(Chunk::new(&cells), cx).unwrap();
            let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
            assert!(data.len() < cells.len() + 100);
            let mut decoded = vec![0; cells.len()];
            filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut decoded).unwrap();
            assert!(decoded == cells, "level {level}");
        }
        assert!(Bzip2 { level: 10 }.encode(Chunk::new(&cells), cx).is_err());
    });
}
