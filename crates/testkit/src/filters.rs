//! What the tests of filters share: a context, comparison with chunks that libtiledb wrote, and the laws of filters.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test helpers fail by panicking")]

pub mod laws;
pub mod strings;

use talavera_codec::Limits;
use talavera_filter::{Buffers, Chunk, EncodedChunk, Filter, FilterContext};
use talavera_types::{Datatype, FormatVersion};

/// Runs a check on cells of a datatype in the default format version, with 1 MiB to allocate.
pub fn with_context<R>(datatype: Datatype, check: impl FnOnce(&FilterContext<'_>) -> R) -> R {
    with_version(datatype, FormatVersion::DEFAULT, check)
}

/// As [`with_context`] in any format version.
pub fn with_version<R>(datatype: Datatype, version: FormatVersion, check: impl FnOnce(&FilterContext<'_>) -> R) -> R {
    let limits = Limits::new(1 << 20);
    check(&FilterContext { datatype, cell_bytes: datatype.size(), version, limits: &limits, buffers: &Buffers::new() })
}

/// A chunk of one filter: the cells, and metadata and data as they stand on disk.
#[derive(Debug)]
pub struct Reference<'a, F> {
    /// The filter with its options.
    pub filter: F,
    /// The datatype that it sees.
    pub datatype: Datatype,
    /// The format version, as a number.
    pub version: u32,
    /// The cells.
    pub cells: &'a [u8],
    /// The chunk's metadata on disk.
    pub metadata: &'a [u8],
    /// The chunk's data on disk.
    pub data: &'a [u8],
}

/// The cells are encoded to the chunk, and the chunk is decoded to the cells.
///
/// # Panics
/// When one is not.
pub fn check<F: Filter>(reference: &Reference<'_, F>) {
    let Reference { filter, datatype, version, cells, metadata, data } = reference;
    with_version(*datatype, FormatVersion::new(*version).unwrap(), |cx| {
        encodes_to(filter, cx, cells, metadata, data);
        decodes_to(filter, cx, EncodedChunk::new(metadata, data), EncodedChunk::new(&[], cells));
    });
}

/// The cells are encoded to exactly this metadata and data.
///
/// # Panics
/// When they are not.
pub fn encodes_to(filter: &dyn Filter, cx: &FilterContext<'_>, cells: &[u8], metadata: &[u8], data: &[u8]) {
    let encoded = filter.encode(Chunk::new(cells), cx).unwrap();
    assert_eq!((&*encoded.metadata.concat(), &*encoded.data.concat()), (metadata, data));
}

/// The chunk is decoded to exactly this, alone and straight into cells. Metadata of a filter before is left by the first and
/// too much for the second.
///
/// # Panics
/// When it is not.
pub fn decodes_to(filter: &dyn Filter, cx: &FilterContext<'_>, chunk: EncodedChunk<'_>, expected: EncodedChunk<'_>) {
    assert_eq!(filter.decode(chunk.clone(), cx).unwrap(), expected);
    let mut cells = vec![0xaa; expected.data.len()];
    let decoded = filter.decode_into(chunk, cx, &mut cells);
    if expected.metadata.is_empty() {
        decoded.unwrap();
        assert_eq!(cells, *expected.data);
    } else {
        assert!(decoded.is_err(), "metadata is left");
    }
}

/// Metadata and data of encoded cells, each in one piece.
///
/// # Panics
/// When the filter refuses the cells.
#[must_use]
pub fn encode(filter: &dyn Filter, cells: &[u8], cx: &FilterContext<'_>) -> (Vec<u8>, Vec<u8>) {
    let encoded = filter.encode(Chunk::new(cells), cx).unwrap();
    (encoded.metadata.concat().into_owned(), encoded.data.concat().into_owned())
}
