//! Chunks that libtiledb wrote, byte for byte; each comment names the datatype and the cells.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use talavera_codec::Limits;
use talavera_filter::{Buffers, Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_filter_dictionary::Dictionary;
use talavera_testkit::filters::strings::check_strings;
use talavera_types::{Datatype, FormatVersion};

#[test]
fn strings_of_the_reference_are_read_and_written() {
    // STRING_ASCII, words.
    check_strings(
        &Dictionary,
        &[
            0, 0, 0, 0, 1, 0, 0, 0, 0x1c, 0, 0, 0, 7, 0, 0, 0, 0x38, 0, 0, 0, 1, 1, 0x18, 0, 0, 0, 4, 0x48, 0x47, 0x35, 0x34, 4,
            0x63, 0x68, 0x72, 0x31, 0x0c, 0x63, 0x68, 0x72, 0x6f, 0x6d, 0x6f, 0x73, 0x6f, 0x6d, 0x65, 0x2d, 0x58, 0,
        ],
        &[0, 1, 1, 2, 3, 3, 1],
        &["HG54", "chr1", "chr1", "chromosome-X", "", "", "chr1"],
    );
    // STRING_UTF8, words.
    check_strings(
        &Dictionary,
        &[
            0, 0, 0, 0, 1, 0, 0, 0, 0x32, 0, 0, 0, 7, 0, 0, 0, 0x38, 0, 0, 0, 1, 1, 0x1d, 0, 0, 0, 5, 0x70, 0x6c, 0x61, 0x69,
            0x6e, 8, 0xf0, 0x9f, 0x8e, 0x89, 0xf0, 0x9f, 0x8e, 0x89, 0x0c, 0xcf, 0x80, 0xe2, 0x89, 0x88, 0x33, 0x2e, 0x31, 0x34,
            0x31, 0x35, 0x39, 0,
        ],
        &[0, 0, 1, 2, 3, 1, 2],
        &["plain", "plain", "🎉🎉", "π≈3.14159", "", "🎉🎉", "π≈3.14159"],
    );
    // STRING_ASCII, five empty strings.
    check_strings(
        &Dictionary,
        &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0x28, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0],
        &["", "", "", "", ""],
    );
}

#[test]
fn cells_without_offsets_are_refused() {
    let limits = Limits::new(1 << 20);
    let version = FormatVersion::DEFAULT;
    let cx = FilterContext { datatype: Datatype::StringAscii, cell_bytes: 1, version, limits: &limits, buffers: &Buffers::new() };
    let error = Dictionary.encode(Chunk::new(b"cells"), &cx).unwrap_err();
    assert!(matches!(error, FilterError::Unsupported { .. }));
    assert!(Dictionary.decode(EncodedChunk::new(&[], &[]), &cx).is_err());
    assert!(Dictionary.decode_into(EncodedChunk::new(&[], &[]), &cx, &mut []).is_err());
}
