//! The contract of a filter.

use std::fmt::Debug;

use talavera_codec::Limits;
use talavera_types::{Datatype, FilterType, FormatVersion};

use crate::{Buffers, Chunk, EncodedChunk, FilterError};

/// What a filter is told beside the bytes.
#[derive(Debug, Clone, Copy)]
pub struct FilterContext<'a> {
    /// The datatype of the elements as the filter sees them on the way to disk (10-tile-chunks §7).
    pub datatype: Datatype,
    /// Bytes of one cell of the tile, whatever filters before made of it; what RLE counts in.
    pub cell_bytes: usize,
    /// The format version of the fragment.
    pub version: FormatVersion,
    /// What decoding this chunk may allocate, all filters together.
    pub limits: &'a Limits,
    /// Where filters find buffers and leave them.
    pub buffers: &'a Buffers,
}

/// One filter with its options.
///
/// Filters are plain functions of a chunk: they touch nothing else and may be called from any thread.
pub trait Filter: Debug + Send + Sync {
    /// Which filter this is.
    fn filter_type(&self) -> FilterType;

    /// One step towards the disk.
    ///
    /// # Errors
    /// [`FilterError::InvalidInput`] for cells that the filter cannot store so that they come back.
    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError>;

    /// One step from the disk, for bytes of any origin.
    ///
    /// # Errors
    /// [`FilterError::Corrupt`] for bytes that no encoder of this filter wrote.
    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError>;

    /// As [`Filter::decode`] for the filter nearest the cells: exactly fills `cells`, and no metadata may be left.
    ///
    /// # Errors
    /// As [`Filter::decode`], and when there are more or fewer bytes.
    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        self.decode(chunk, cx)?.copy_into(cells).map_err(FilterError::corrupt(self.filter_type()))
    }

    /// The filter as one that takes strings and offsets together, if it is such a one.
    fn as_string_filter(&self) -> Option<&dyn StringFilter> {
        None
    }
}

/// A filter that, first in a pipeline of variable-length text, takes the cells' offsets as well as their bytes.
///
/// The offsets tile is empty on disk then (10-tile-chunks §4).
pub trait StringFilter {
    /// Encodes the cells of a whole tile. `offsets` holds the start of each cell in `values`, one more than there are
    /// cells: the last is the length of `values`.
    ///
    /// # Errors
    /// [`FilterError::InvalidInput`] for more bytes than the format's 32-bit lengths can say.
    fn encode_strings(&self, values: &[u8], offsets: &[u64], cx: &FilterContext<'_>) -> Result<Chunk<'static>, FilterError>;

    /// Decodes the cells of a whole tile: fills `values` exactly and appends the start of each of `cells` cells, counted
    /// from the start of `values`, to `offsets`.
    ///
    /// # Errors
    /// [`FilterError::Corrupt`] for damaged bytes, and for more or fewer cells or bytes than asked for.
    fn decode_strings(
        &self,
        chunk: EncodedChunk<'_>,
        cx: &FilterContext<'_>,
        cells: usize,
        values: &mut [u8],
        offsets: &mut Vec<u64>,
    ) -> Result<(), FilterError>;
}
