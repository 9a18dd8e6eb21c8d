//! Chunks that libtiledb wrote: decoding gives the cells back, and encoding gives the same bytes.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use talavera_codec::Limits;
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext};
use talavera_filter_md5::ChecksumMd5;
use talavera_types::{Datatype, FormatVersion};

/// A chunk of one filter: the cells, and metadata and data as they stand on disk.
struct Reference<'a> {
    filter: ChecksumMd5,
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

/// `md5/uint8/random/7`, written by 2.30.0.
#[test]
fn seven_bytes() {
    check(&Reference {
        filter: ChecksumMd5,
        datatype: Datatype::UInt8,
        version: 22,
        cells: &[0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
        // no metadata parts, one data part: 7 bytes and their digest
        metadata: &[
            0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xb9, 0x1a, 0x39,
            0xd7, 0x5c, 0x03, 0x6e, 0x50, 0xbe, 0x95, 0x64, 0xf9, 0x99, 0xa7, 0xf9, 0x75,
        ],
        data: &[0x68, 0x13, 0x88, 0x2a, 0x85, 0xbe, 0xea],
    });
}

/// `md5/uint8/constant/1`, written by 2.30.0.
#[test]
fn one_byte() {
    check(&Reference {
        filter: ChecksumMd5,
        datatype: Datatype::UInt8,
        version: 22,
        cells: &[0x2a],
        // no metadata parts, one data part: 1 byte and its digest
        metadata: &[
            0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x33, 0x89, 0xda,
            0xe3, 0x61, 0xaf, 0x79, 0xb0, 0x4c, 0x9c, 0x8e, 0x70, 0x57, 0xf6, 0x0c, 0xc6,
        ],
        data: &[0x2a],
    });
}
