//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype and the cells.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_filter::EncodedChunk;
use talavera_filter_double_delta::DoubleDelta;
use talavera_testkit::filters::{decodes_to, encodes_to, with_context};
use talavera_types::Datatype;

/// The chunk is decoded to the cells, and the cells are encoded to the chunk where `writes`.
fn check(reinterpret: Datatype, datatype: Datatype, metadata: &[u8], data: &[u8], cells: &[u8], writes: bool) {
    with_context(datatype, |cx| {
        decodes_to(&DoubleDelta { reinterpret }, cx, EncodedChunk::new(metadata, data), EncodedChunk::new(&[], cells));
        if writes {
            encodes_to(&DoubleDelta { reinterpret }, cx, cells, metadata, data);
        }
    });
}

#[test]
fn chunks_of_the_reference_are_read_and_written() {
    // UINT8, random ascending numbers.
    check(
        Datatype::Any,
        Datatype::UInt8,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x11, 0, 0, 0, 0x1b, 0, 0, 0],
        &[
            5, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x0e, 0x16, 0x78, 0x1a, 0xc6, 0x9a, 8, 0xa2, 0x50, 0x8a, 0, 0, 0, 0, 0x40, 0x28, 0xc4,
            0x8d,
        ],
        &[0x0e, 0x16, 0x1c, 0x1d, 0x20, 0x21, 0x24, 0x30, 0x31, 0x38, 0x45, 0x4b, 0x4f, 0x60, 0x60, 0x62, 0x63],
        true,
    );
    // INT8, three elements.
    check(
        Datatype::Any,
        Datatype::Int8,
        &[0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0x13, 0, 0, 0],
        &[6, 3, 0, 0, 0, 0, 0, 0, 0, 0x0c, 0x2f, 0, 0, 0, 0, 0, 0, 0, 0xaa],
        &[0x0c, 0x2f, 0x3d],
        true,
    );
    // INT16, around zero.
    check(
        Datatype::Any,
        Datatype::Int16,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x12, 0, 0, 0, 0x15, 0, 0, 0],
        &[8, 9, 0, 0, 0, 0, 0, 0, 0, 0xe6, 0xff, 0xb3, 0xff, 0x94, 0x8a, 0xa2, 0x3b, 0xc2, 0x88, 0x67, 0x48],
        &[0xe6, 0xff, 0xb3, 0xff, 0x10, 0, 0xcf, 0xff, 0xd4, 0xff, 0xfc, 0xff, 0xb0, 0xff, 6, 0, 0x12, 0],
        true,
    );
    // UINT16, random; stored as they are.
    check(
        Datatype::Any,
        Datatype::UInt16,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x0e, 0, 0, 0, 0x17, 0, 0, 0],
        &[0x10, 7, 0, 0, 0, 0, 0, 0, 0, 0xb4, 0x5d, 0xa9, 0xf2, 0x0d, 0x8a, 0xf5, 0xe9, 0xf9, 0xf0, 0xc8, 0xac, 0x61, 0x29],
        &[0xb4, 0x5d, 0xa9, 0xf2, 0x0d, 0x8a, 0xf5, 0xe9, 0xf9, 0xf0, 0xc8, 0xac, 0x61, 0x29],
        true,
    );
    // UINT32, smallest and largest; stored as they are, 33 bits needed.
    check(
        Datatype::Any,
        Datatype::UInt32,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x24, 0, 0, 0, 0x2d, 0, 0, 0],
        &[
            0x21, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0,
        ],
        &[
            0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0,
        ],
        true,
    );
    // INT64, around zero.
    check(
        Datatype::Any,
        Datatype::Int64,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x38, 0, 0, 0, 0x21, 0, 0, 0],
        &[
            8, 7, 0, 0, 0, 0, 0, 0, 0, 0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0, 0, 8, 0xd4, 0x58, 0x4a, 0x58, 0x18,
        ],
        &[
            0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xd8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0, 0, 0, 0, 0, 0xa1, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        ],
        true,
    );
    // UINT64, two elements.
    check(
        Datatype::Any,
        Datatype::UInt64,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x10, 0, 0, 0, 0x19, 0, 0, 0],
        &[0, 2, 0, 0, 0, 0, 0, 0, 0, 0x4d, 3, 0, 0, 0, 0, 0, 0, 0xdc, 3, 0, 0, 0, 0, 0, 0],
        &[0x4d, 3, 0, 0, 0, 0, 0, 0, 0xdc, 3, 0, 0, 0, 0, 0, 0],
        true,
    );
    // INT64, one element.
    check(
        Datatype::Any,
        Datatype::Int64,
        &[0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0x11, 0, 0, 0],
        &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a, 0, 0, 0, 0, 0, 0, 0],
        &[0x2a, 0, 0, 0, 0, 0, 0, 0],
        true,
    );
}
