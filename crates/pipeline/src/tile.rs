//! How a tile stands on disk: the format's tile page and 10-tile-chunks §1.
//!
//! ```text
//! tile  := u64 chunk count; chunk[chunk count]
//! chunk := u32 original bytes; u32 filtered bytes; u32 metadata bytes; metadata; data
//! ```

use std::ops::Range;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

/// Where the chunks of a tile are, on disk and among the tile's cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkTable {
    chunks: Vec<ChunkEntry>,
    original_bytes: usize,
    tile_bytes: usize,
}

/// One chunk of a tile. Ranges are bytes of the tile that the table was decoded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkEntry {
    /// Which chunk of the tile this is, from 0.
    pub index: usize,
    /// Bytes of the decoded chunk. A chunk of 0 bytes is empty whatever its data are: some libraries' filters wrote
    /// garbage there that they cannot read themselves (10-tile-chunks §1).
    pub original_bytes: usize,
    /// Bytes of all chunks before it, decoded: where this one belongs in the decoded tile.
    pub original_offset: usize,
    /// What filters wrote beside the data.
    pub metadata: Range<usize>,
    /// The data as the last filter left them.
    pub data: Range<usize>,
}

impl ChunkTable {
    /// Reads the table of a tile that is all of `tile`; the data of chunks are passed over.
    ///
    /// # Errors
    /// A [`DecodeError`] when chunks reach beyond the tile, when their original lengths add up to more than memory can
    /// address, or when bytes follow the last chunk.
    pub fn decode(tile: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(tile);
        let table = Self::decode_next(&mut r)?;
        r.finish("tile")?;
        Ok(table)
    }

    /// Reads the table of the tile at the cursor and moves behind the tile: a data file is its tiles back to back, and
    /// each says where it ends. Ranges count from where the cursor stood.
    ///
    /// # Errors
    /// As [`ChunkTable::decode`], but bytes may follow.
    pub fn decode_next(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = r.remaining();
        let count = r.count_u64("chunk count", ChunkEntry::HEADER_BYTES)?;
        let mut chunks = Vec::with_capacity(count);
        let mut original_offset = 0usize;
        for index in 0..count {
            let chunk = ChunkEntry::decode(r, index, original_offset, start)?;
            original_offset = original_offset.checked_add(chunk.original_bytes).ok_or_else(|| {
                DecodeErrorKind::Limit { needed: u64::MAX, limit: usize::MAX as u64 }.at("chunk original length", r.offset())
            })?;
            chunks.push(chunk);
        }
        Ok(Self { chunks, original_bytes: original_offset, tile_bytes: start - r.remaining() })
    }

    /// Writes the number of chunks, which every tile starts with.
    pub(crate) fn encode_count(w: &mut Writer, chunks: usize) {
        w.len_u64(chunks);
    }

    /// The chunks in order.
    pub fn iter(&self) -> std::slice::Iter<'_, ChunkEntry> {
        self.chunks.iter()
    }

    /// How many chunks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there is no chunk at all, as in an offsets tile whose offsets are in the data tile.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Bytes of the decoded tile.
    #[must_use]
    pub fn original_bytes(&self) -> usize {
        self.original_bytes
    }

    /// Bytes of the tile on disk.
    #[must_use]
    pub fn tile_bytes(&self) -> usize {
        self.tile_bytes
    }
}

impl<'a> IntoIterator for &'a ChunkTable {
    type Item = &'a ChunkEntry;
    type IntoIter = std::slice::Iter<'a, ChunkEntry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl ChunkEntry {
    /// Where the decoded chunk belongs in the decoded tile.
    #[must_use]
    pub fn cells(&self) -> Range<usize> {
        self.original_offset..self.original_offset.saturating_add(self.original_bytes)
    }

    /// Bytes of a chunk before its metadata.
    const HEADER_BYTES: u64 = 12;

    fn decode(r: &mut Reader<'_>, index: usize, original_offset: usize, start: usize) -> Result<Self, DecodeError> {
        let before = r.clone();
        let original = r.u32("chunk original length")?;
        let filtered = r.u32("chunk filtered length")?;
        let metadata = r.u32("chunk metadata length")?;
        let mut range = |bytes: u32, field| {
            let from = start - r.remaining();
            r.bytes(bytes.into(), field)?;
            Ok::<_, DecodeError>(from..start - r.remaining())
        };
        let metadata = range(metadata, "chunk metadata")?;
        let data = range(filtered, "chunk data")?;
        let original_bytes = usize::try_from(original)
            .map_err(|_| before.invalid("chunk original length", original.into(), "a length that memory can address"))?;
        Ok(Self { index, original_bytes, original_offset, metadata, data })
    }

    /// Writes what stands before the metadata and the data of a chunk.
    pub(crate) fn encode_header(w: &mut Writer, original: u32, filtered: u32, metadata: u32) {
        w.u32(original);
        w.u32(filtered);
        w.u32(metadata);
    }
}

/// Whether a tile is the eight zero bytes that stand for a tile without chunks.
///
/// An offsets tile is that, while its tile has cells, exactly when RLE or DICTIONARY stored the offsets with the strings.
/// Decide by this and not by the format version: newer libraries that append to older arrays write strings this way too
/// (10-tile-chunks §4).
#[must_use]
pub fn is_empty_tile(tile: &[u8]) -> bool {
    tile == [0; 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chunks: one unfiltered of four bytes, one of 100 bytes filtered to three with one byte of metadata.
    const TILE: [u8; 40] = [
        2, 0, 0, 0, 0, 0, 0, 0, // chunk count
        4, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, // original, filtered, metadata lengths
        b'a', b'b', b'c', b'd', // data
        100, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0,    // lengths
        0xff, // metadata
        1, 2, 3, // data
    ];

    #[test]
    fn chunks_are_found_on_disk_and_among_the_cells() {
        let table = ChunkTable::decode(&TILE).unwrap();
        let first = ChunkEntry { index: 0, original_bytes: 4, original_offset: 0, metadata: 20..20, data: 20..24 };
        let second = ChunkEntry { index: 1, original_bytes: 100, original_offset: 4, metadata: 36..37, data: 37..40 };
        assert_eq!(table.iter().cloned().collect::<Vec<_>>(), [first, second]);
        assert_eq!((table.len(), table.original_bytes(), table.tile_bytes()), (2, 104, 40));
    }

    #[test]
    fn tiles_back_to_back_are_walked_without_offsets() {
        let file = [TILE.as_slice(), &[0; 8], &TILE].concat();
        let mut r = Reader::new(&file);
        assert_eq!(ChunkTable::decode_next(&mut r).unwrap().len(), 2);
        assert!(ChunkTable::decode_next(&mut r).unwrap().is_empty());
        assert_eq!(ChunkTable::decode_next(&mut r).unwrap(), ChunkTable::decode(&TILE).unwrap());
        assert!(r.is_empty());
    }

    #[test]
    fn every_shorter_prefix_and_any_longer_tile_is_an_error() {
        for len in 0..TILE.len() {
            assert!(ChunkTable::decode(&TILE[..len]).is_err(), "the first {len} bytes");
        }
        let error = ChunkTable::decode(&[TILE.as_slice(), &[0]].concat()).unwrap_err();
        assert_eq!(error.to_string(), "tile: 1 bytes left over (at byte 40)");
    }

    #[test]
    fn an_impossible_chunk_count_is_refused_before_anything_is_reserved() {
        let error = ChunkTable::decode(&[0xff; 100]).unwrap_err();
        assert_eq!(error.field, "chunk count");
    }

    #[test]
    fn eight_zero_bytes_are_an_empty_tile() {
        assert!(is_empty_tile(&[0; 8]));
        assert!(!is_empty_tile(&TILE));
        assert!(!is_empty_tile(&[]));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_table_panic(bytes: Vec<u8>, at in 0..TILE.len(), bit in 0u32..8) {
            drop(ChunkTable::decode(&bytes));
            let mut tile = TILE;
            tile[at] ^= 1u8 << bit;
            drop(ChunkTable::decode(&tile));
        }
    }
}
