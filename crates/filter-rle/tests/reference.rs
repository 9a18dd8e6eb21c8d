//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype and the cells.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_codec::Limits;
use talavera_filter::{Buffers, EncodedChunk, Filter, FilterContext};
use talavera_filter_rle::Rle;
use talavera_testkit::filters::strings::check_strings;
use talavera_testkit::filters::{decodes_to, encodes_to, with_context};
use talavera_types::{Datatype, FormatVersion};

/// The chunk is decoded to the cells, and the cells are encoded to the chunk where `writes`.
fn check(datatype: Datatype, metadata: &[u8], data: &[u8], cells: &[u8], writes: bool) {
    with_context(datatype, |cx| {
        decodes_to(&Rle, cx, EncodedChunk::new(metadata, data), EncodedChunk::new(&[], cells));
        if writes {
            encodes_to(&Rle, cx, cells, metadata, data);
        }
    });
}

#[test]
fn chunks_of_the_reference_are_read_and_written() {
    // INT8, smallest and largest.
    check(
        Datatype::Int8,
        &[0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0x0f, 0, 0, 0],
        &[0x7f, 0, 1, 0x80, 0, 1, 0x7f, 0, 1, 0x80, 0, 4, 0x7f, 0, 2],
        &[0x7f, 0x80, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x7f, 0x7f],
        true,
    );
    // UINT16, smallest and largest.
    check(
        Datatype::UInt16,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x10, 0, 0, 0, 0x0c, 0, 0, 0],
        &[0, 0, 0, 1, 0xff, 0xff, 0, 4, 0, 0, 0, 3],
        &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0],
        true,
    );
    // INT32, smallest and largest.
    check(
        Datatype::Int32,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x18, 0, 0, 0],
        &[0xff, 0xff, 0xff, 0x7f, 0, 1, 0, 0, 0, 0x80, 0, 1, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0, 0, 0, 0x80, 0, 4],
        &[
            0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 0,
            0x80,
        ],
        true,
    );
    // FLOAT64, seven times 3.25.
    check(
        Datatype::Float64,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x38, 0, 0, 0, 0x0a, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 7],
        &[
            0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a,
            0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40, 0, 0, 0, 0, 0, 0, 0x0a, 0x40,
        ],
        true,
    );
    // BLOB of variable length, five empty cells.
    check(Datatype::Blob, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[], &[], true);
}

#[test]
fn strings_of_the_reference_are_read_and_written() {
    // STRING_ASCII, words.
    check_strings(
        &Rle,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 0x22, 0, 0, 0, 0x38, 0, 0, 0, 1, 1],
        &[
            1, 4, 0x48, 0x47, 0x35, 0x34, 2, 4, 0x63, 0x68, 0x72, 0x31, 1, 0x0c, 0x63, 0x68, 0x72, 0x6f, 0x6d, 0x6f, 0x73, 0x6f,
            0x6d, 0x65, 0x2d, 0x58, 2, 0, 1, 4, 0x63, 0x68, 0x72, 0x31,
        ],
        &["HG54", "chr1", "chr1", "chromosome-X", "", "", "chr1"],
    );
    // STRING_UTF8, words.
    check_strings(
        &Rle,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0x32, 0, 0, 0, 0x39, 0, 0, 0, 0x38, 0, 0, 0, 1, 1],
        &[
            2, 5, 0x70, 0x6c, 0x61, 0x69, 0x6e, 1, 8, 0xf0, 0x9f, 0x8e, 0x89, 0xf0, 0x9f, 0x8e, 0x89, 1, 0x0c, 0xcf, 0x80, 0xe2,
            0x89, 0x88, 0x33, 0x2e, 0x31, 0x34, 0x31, 0x35, 0x39, 1, 0, 1, 8, 0xf0, 0x9f, 0x8e, 0x89, 0xf0, 0x9f, 0x8e, 0x89, 1,
            0x0c, 0xcf, 0x80, 0xe2, 0x89, 0x88, 0x33, 0x2e, 0x31, 0x34, 0x31, 0x35, 0x39,
        ],
        &["plain", "plain", "🎉🎉", "π≈3.14159", "", "🎉🎉", "π≈3.14159"],
    );
    // STRING_ASCII, five empty strings.
    check_strings(&Rle, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0x28, 0, 0, 0, 1, 1], &[5, 0], &["", "", "", "", ""]);
}

/// Runs of eight short words and one of 300 times `x`, whose length the reference cut to one byte; it cannot read them.
#[test]
fn strings_whose_length_the_reference_cut_are_refused() {
    let metadata = &[0, 0, 0, 0, 1, 0, 0, 0, 0x52, 1, 0, 0, 0x64, 1, 0, 0, 0x48, 0, 0, 0, 1, 1];
    let words = b"\x01\x08HG543232\x01\x04HG54\x01\x01A".repeat(2);
    let last = b"\x01\x08HG543232\x01\x04HG54\x01\x2c";
    let data = [&words, last.as_slice(), &[b'x'; 300]].concat();
    let limits = Limits::new(1 << 20);
    let version = FormatVersion::DEFAULT;
    let cx = FilterContext { datatype: Datatype::StringAscii, cell_bytes: 1, version, limits: &limits, buffers: &Buffers::new() };
    let filter = Rle.as_string_filter().unwrap();
    let error = filter.decode_strings(EncodedChunk::new(metadata, &data), &cx, 9, &mut [0; 338], &mut Vec::new());
    assert!(error.is_err());
}

#[test]
fn metadata_of_other_filters_is_cut_into_cells_too() {
    // INT32, one number; behind BYTESHUFFLE.
    let metadata = &[1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0x0c, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0];
    let data = &[1, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 1, 0x30, 2, 0, 0, 0, 1];
    let limits = Limits::new(1 << 20);
    let cx = FilterContext {
        datatype: Datatype::Int32,
        cell_bytes: 4,
        version: FormatVersion::DEFAULT,
        limits: &limits,
        buffers: &Buffers::new(),
    };
    let decoded = Rle.decode(EncodedChunk::new(metadata, data), &cx).unwrap();
    assert_eq!(decoded, EncodedChunk::new(&[1, 0, 0, 0, 4, 0, 0, 0], &[0x30, 2, 0, 0]));
}
