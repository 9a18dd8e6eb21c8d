//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype and the cells.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_filter::EncodedChunk;
use talavera_filter_delta::Delta;
use talavera_testkit::filters::{decodes_to, encodes_to, with_context};
use talavera_types::Datatype;

/// The chunk is decoded to the cells, and the cells are encoded to the chunk where `writes`.
fn check(reinterpret: Datatype, datatype: Datatype, metadata: &[u8], data: &[u8], cells: &[u8], writes: bool) {
    with_context(datatype, |cx| {
        decodes_to(&Delta { reinterpret }, cx, EncodedChunk::new(metadata, data), EncodedChunk::new(&[], cells));
        if writes {
            encodes_to(&Delta { reinterpret }, cx, cells, metadata, data);
        }
    });
}

#[test]
fn chunks_of_the_reference_are_read_and_written() {
    // UINT8, random.
    check(
        Datatype::Any,
        Datatype::UInt8,
        &[0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0x11, 0, 0, 0],
        &[9, 0, 0, 0, 0, 0, 0, 0, 6, 0x75, 0x86, 0xb5, 0x5e, 0x93, 0x0b, 0x6e, 0xd5],
        &[6, 0x7b, 1, 0xb6, 0x14, 0xa7, 0xb2, 0x20, 0xf5],
        true,
    );
    // INT16, smallest and largest.
    check(
        Datatype::Any,
        Datatype::Int16,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x12, 0, 0, 0, 0x1a, 0, 0, 0],
        &[9, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0xff, 0xff, 0, 0],
        &[0, 0x80, 0, 0x80, 0, 0x80, 0, 0x80, 0xff, 0x7f, 0xff, 0x7f, 0, 0x80, 0xff, 0x7f, 0xff, 0x7f],
        true,
    );
    // INT32, around zero.
    check(
        Datatype::Any,
        Datatype::Int32,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x24, 0, 0, 0],
        &[
            7, 0, 0, 0, 0, 0, 0, 0, 0xb8, 0xff, 0xff, 0xff, 0x59, 0, 0, 0, 5, 0, 0, 0, 0xdf, 0xff, 0xff, 0xff, 0xc2, 0xff, 0xff,
            0xff, 0x62, 0, 0, 0, 0xce, 0xff, 0xff, 0xff,
        ],
        &[
            0xb8, 0xff, 0xff, 0xff, 0x11, 0, 0, 0, 0x16, 0, 0, 0, 0xf5, 0xff, 0xff, 0xff, 0xb7, 0xff, 0xff, 0xff, 0x19, 0, 0, 0,
            0xe7, 0xff, 0xff, 0xff,
        ],
        true,
    );
    // INT64, a ramp.
    check(
        Datatype::Any,
        Datatype::Int64,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x38, 0, 0, 0, 0x40, 0, 0, 0],
        &[
            7, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0,
            0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
        ],
        &[
            5, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0x0b, 0, 0, 0, 0, 0, 0, 0, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0,
            0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0, 0, 0x17, 0, 0, 0, 0, 0, 0, 0,
        ],
        true,
    );
}

/// A chunk of 100 INT32 cells, 5, 8, 11 and so on, with one element of leftover memory behind; what 2.19 writes is the
/// same without it.
#[test]
fn the_surplus_element_of_2_16_is_read_over_and_never_written() {
    let cells: Vec<u8> = (0..100i32).flat_map(|cell| (5 + 3 * cell).to_le_bytes()).collect();
    let mut data = vec![100, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0];
    data.extend([3, 0, 0, 0].repeat(99));
    // One data part of 400 bytes, 408 in this form.
    check(Datatype::Any, Datatype::Int32, &[0, 0, 0, 0, 1, 0, 0, 0, 0x90, 1, 0, 0, 0x98, 1, 0, 0], &data, &cells, true);
    data.extend([0xd2, 0xfe, 0xff, 0xff]);
    check(Datatype::Any, Datatype::Int32, &[0, 0, 0, 0, 1, 0, 0, 0, 0x90, 1, 0, 0, 0x9c, 1, 0, 0], &data, &cells, false);
}
