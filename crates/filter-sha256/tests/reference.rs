//! Chunks that libtiledb wrote: decoding gives the cells back, and encoding gives the same bytes.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use talavera_codec::Limits;
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext};
use talavera_filter_sha256::ChecksumSha256;
use talavera_types::{Datatype, FormatVersion};

/// A chunk of one filter: the cells, and metadata and data as they stand on disk.
struct Reference<'a> {
    filter: ChecksumSha256,
    datatype: Datatype,
    version: u32,
    cells: &'a [u8],
    metadata: &'a [u8],
    data: &'a [u8],
}

fn check(reference: &Reference<'_>) {
    let Reference { filter, datatype, version, cells, metadata, data } = reference;
    let limits = Limits::new(1 << 20);
    let version = FormatVersion::new(*version).unwrap();
    let cx = FilterContext { datatype: *datatype, cell_bytes: datatype.size(), version, limits: &limits };

    let encoded = filter.encode(Chunk::new(cells), &cx).unwrap();
    assert_eq!(*encoded.metadata.concat(), **metadata);
    assert_eq!(*encoded.data.concat(), **data);

    let decoded = filter.decode(EncodedChunk::new(metadata, data), &cx).unwrap();
    assert_eq!(decoded, EncodedChunk::new(&[], cells));
    let mut out = vec![0xaa; cells.len()];
    filter.decode_into(EncodedChunk::new(metadata, data), &cx, &mut out).unwrap();
    assert_eq!(out, *cells);
}

/// `sha256/uint8/random/7`, written by 2.30.0.
#[test]
fn seven_bytes() {
    check(&Reference {
        filter: ChecksumSha256,
        datatype: Datatype::UInt8,
        version: 22,
        cells: &[0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
        // no metadata parts, one data part: 7 bytes and their digest
        metadata: &[
            0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0xf2, 0x9a,
            0xc8, 0xba, 0xdb, 0x7d, 0x2c, 0x5f, 0x61, 0x19, 0x8d, 0xe8, 0x05, 0x84, 0x01, 0x10, 0x4c, 0x0c, 0xcf, 0x78, 0x86,
            0x52, 0x09, 0x41, 0xdf, 0x20, 0xc6, 0xc7, 0x28, 0x64, 0x96,
        ],
        data: &[0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
    });
}

/// `sha256/uint8/constant/1`, written by 2.30.0.
#[test]
fn one_byte() {
    check(&Reference {
        filter: ChecksumSha256,
        datatype: Datatype::UInt8,
        version: 22,
        cells: &[0x2a],
        // no metadata parts, one data part: 1 byte and its digest
        metadata: &[
            0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x68, 0x48, 0x88,
            0xc0, 0xeb, 0xb1, 0x7f, 0x37, 0x42, 0x98, 0xb6, 0x5e, 0xe2, 0x80, 0x75, 0x26, 0xc0, 0x66, 0x09, 0x4c, 0x70, 0x1b,
            0xcc, 0x7e, 0xbb, 0xe1, 0xc1, 0x09, 0x5f, 0x49, 0x4f, 0xc1,
        ],
        data: &[0x2a],
    });
}
