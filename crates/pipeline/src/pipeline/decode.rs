//! From disk: chunks become cells.

use talavera_codec::{DecodeErrorKind, Limits};
use talavera_filter::{Buffers, EncodedChunk, FilterError};
use talavera_types::FilterType;

use super::{BUFFERS, Pipeline, Stage};
use crate::{ChunkEntry, ChunkTable, PipelineError};

impl Pipeline {
    /// Decodes one chunk of `tile`, which is what its table was decoded from. Exactly fills `cells`.
    ///
    /// # Errors
    /// [`PipelineError::Chunk`] for bytes that the filters refuse or that decode to another length,
    /// [`PipelineError::InvalidInput`] when `chunk` is not of this tile or `cells` has another length than
    /// [`ChunkEntry::original_bytes`].
    pub fn decode_chunk(&self, chunk: &ChunkEntry, tile: &[u8], cells: &mut [u8]) -> Result<(), PipelineError> {
        if cells.len() != chunk.original_bytes {
            let reason = format!("chunk {} has {} bytes, room for {}", chunk.index, chunk.original_bytes, cells.len());
            return Err(PipelineError::invalid_input(reason));
        }
        if cells.is_empty() {
            return Ok(());
        }
        let limits = self.limits(cells.len());
        let encoded = encoded_chunk(chunk, tile)?;
        BUFFERS
            .with(|buffers| self.undo_into(&self.stages, encoded, &limits, buffers, cells))
            .map_err(PipelineError::in_chunk(chunk.index))
    }

    /// Decodes a whole tile, chunk by chunk. Exactly fills `cells`.
    ///
    /// # Errors
    /// [`PipelineError::Corrupt`] for a damaged chunk table, [`PipelineError::TileSize`] when the chunks do not add up to
    /// `cells`, [`PipelineError::Chunk`] for a chunk that its filters refuse.
    pub fn decode_tile(&self, tile: &[u8], cells: &mut [u8]) -> Result<(), PipelineError> {
        let table = ChunkTable::decode(tile)?;
        check_tile_size(table.original_bytes(), cells.len())?;
        for chunk in &table {
            let target = cells.get_mut(chunk.cells()).unwrap_or_default();
            self.decode_chunk(chunk, tile, target)?;
        }
        Ok(())
    }

    /// Decodes a whole tile of strings whose offsets its first filter stored with them: exactly fills `values` and
    /// appends the start of each of `cells` cells, counted from the start of `values`, to `offsets`.
    ///
    /// # Errors
    /// As [`Pipeline::decode_tile`], and [`PipelineError::InvalidInput`] when the first filter takes no strings or the tile
    /// has several chunks. `offsets` may have grown then.
    pub fn decode_strings(
        &self,
        tile: &[u8],
        cells: usize,
        values: &mut [u8],
        offsets: &mut Vec<u64>,
    ) -> Result<(), PipelineError> {
        let Some((strings, first, rest)) = self.string_stage() else {
            return Err(PipelineError::invalid_input("the offsets tile is empty but the first filter stores no offsets"));
        };
        let table = ChunkTable::decode(tile)?;
        check_tile_size(table.original_bytes(), values.len())?;
        if values.is_empty() {
            // All strings are empty, so all start where the first does.
            if offsets.try_reserve(cells).is_err() {
                return Err(PipelineError::invalid_input(format!("the offsets of {cells} cells do not fit into memory")));
            }
            offsets.resize(offsets.len().saturating_add(cells), 0);
            return Ok(());
        }
        let mut chunks = table.iter();
        let (Some(chunk), None) = (chunks.next(), chunks.next()) else {
            let reason = format!("strings stored with their offsets are one chunk, this tile has {}", table.len());
            return Err(PipelineError::invalid_input(reason));
        };
        let limits = self.limits(values.len().saturating_add(cells.saturating_mul(8)));
        let encoded = encoded_chunk(chunk, tile)?;
        let decode = |buffers: &Buffers| {
            let encoded = self.undo(rest, encoded, &limits, buffers)?;
            strings.decode_strings(encoded, &self.context(first, &limits, buffers), cells, values, offsets)
        };
        BUFFERS.with(decode).map_err(PipelineError::in_chunk(chunk.index))
    }

    /// Undoes all of `stages`, the one nearest the cells straight into them.
    fn undo_into(
        &self,
        stages: &[Stage],
        encoded: EncodedChunk<'_>,
        limits: &Limits,
        buffers: &Buffers,
        cells: &mut [u8],
    ) -> Result<(), FilterError> {
        match stages.split_first() {
            // Nothing is undone by a copy less.
            Some((first, rest)) if first.spec.filter_type() == FilterType::None => {
                self.undo_into(rest, encoded, limits, buffers, cells)
            }
            Some((first, rest)) => {
                let encoded = self.undo(rest, encoded, limits, buffers)?;
                first.filter.decode_into(encoded, &self.context(first, limits, buffers), cells)
            }
            None => copy(&encoded, cells),
        }
    }

    /// Undoes `stages`, the last first.
    fn undo<'a>(
        &self,
        stages: &[Stage],
        encoded: EncodedChunk<'a>,
        limits: &Limits,
        buffers: &Buffers,
    ) -> Result<EncodedChunk<'a>, FilterError> {
        let undo = |encoded, stage: &Stage| stage.filter.decode(encoded, &self.context(stage, limits, buffers));
        stages.iter().rev().try_fold(encoded, undo)
    }

    /// What decoding a chunk of so many bytes may allocate: whatever its filters make of incompressible cells, with room
    /// to spare, and far less than what a few damaged bytes can ask for.
    pub(super) fn limits(&self, original_bytes: usize) -> Limits {
        const PER_FILTER: u64 = 64 << 10;
        const PER_CHUNK: u64 = 1 << 20;
        let filters = self.stages.len() as u64 + 1;
        let per_filter = (original_bytes as u64).saturating_mul(4).saturating_add(PER_FILTER);
        // A decoded image passes through a buffer with four bytes a pixel.
        let images = self.image_bytes.saturating_mul(4);
        Limits::new(filters.saturating_mul(per_filter).saturating_add(PER_CHUNK).saturating_add(images))
    }
}

/// The chunk as it stands in its tile.
fn encoded_chunk<'a>(chunk: &ChunkEntry, tile: &'a [u8]) -> Result<EncodedChunk<'a>, PipelineError> {
    match (tile.get(chunk.metadata.clone()), tile.get(chunk.data.clone())) {
        (Some(metadata), Some(data)) => Ok(EncodedChunk::new(metadata, data)),
        _ => Err(PipelineError::invalid_input(format!("chunk {} reaches beyond its tile", chunk.index))),
    }
}

/// What an empty pipeline does.
fn copy(encoded: &EncodedChunk<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
    let corrupt = FilterError::corrupt(FilterType::None);
    if !encoded.metadata.is_empty() {
        return Err(corrupt(DecodeErrorKind::Trailing { left: encoded.metadata.len() as u64 }.at("chunk metadata", 0)));
    }
    if encoded.data.len() != cells.len() {
        let kind = DecodeErrorKind::Mismatch { found: encoded.data.len() as u64, expected: cells.len() as u64 };
        return Err(corrupt(kind.at("chunk data length", 0)));
    }
    cells.copy_from_slice(&encoded.data);
    Ok(())
}

fn check_tile_size(found: usize, expected: usize) -> Result<(), PipelineError> {
    if found == expected {
        return Ok(());
    }
    Err(PipelineError::TileSize { found: found as u64, expected: expected as u64 })
}
