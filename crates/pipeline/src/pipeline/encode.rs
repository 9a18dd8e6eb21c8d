//! To disk: cells become chunks.

use std::ops::Range;

use talavera_codec::{Limits, Writer};
use talavera_filter::{Buffers, Chunk, FilterError};

use super::{BUFFERS, Pipeline, Stage};
use crate::{ChunkEntry, ChunkTable, PipelineError, TileSource, chunking};

impl Pipeline {
    /// Encodes a tile of fixed-length cells, or of offsets or validity.
    ///
    /// # Errors
    /// [`PipelineError::Chunk`] for cells that a filter cannot store, [`PipelineError::InvalidInput`] for bytes that are no
    /// whole cells and for a chunk of 4 GiB and more.
    pub fn encode_tile(&self, mut cells: &[u8]) -> Result<Vec<u8>, PipelineError> {
        self.encode_tile_from(&mut cells)
    }

    /// As [`Pipeline::encode_tile`], of cells that need not lie side by side.
    ///
    /// # Errors
    /// As [`Pipeline::encode_tile`], and [`PipelineError::InvalidInput`] for a source with fewer bytes than it says.
    pub fn encode_tile_from(&self, cells: &mut dyn TileSource) -> Result<Vec<u8>, PipelineError> {
        let bytes = cells.bytes();
        if !bytes.is_multiple_of(self.format.cell_bytes) {
            let reason = format!("{bytes} bytes are no whole cells of {} bytes", self.format.cell_bytes);
            return Err(PipelineError::invalid_input(reason));
        }
        if self.whole_tile_chunks {
            return self.encode_chunks_from(cells, &chunking::one(bytes));
        }
        self.encode_chunks_from(cells, &chunking::fixed(bytes, self.format.cell_bytes))
    }

    /// Encodes a tile of variable-length cells without their offsets. `offsets` holds the start of each cell in `values`,
    /// one more than there are cells: the last is the length of `values`.
    ///
    /// # Errors
    /// As [`Pipeline::encode_tile`], and [`PipelineError::InvalidInput`] for offsets that do not ascend from 0 to the length
    /// of `values`.
    pub fn encode_var_tile(&self, values: &[u8], offsets: &[u64]) -> Result<Vec<u8>, PipelineError> {
        check_offsets(values, offsets)?;
        if self.whole_tile_chunks {
            return self.encode_chunks(values, &chunking::one(values.len()));
        }
        let chunks = match self.format.version.keeps_var_cells_whole() {
            true => chunking::var(offsets, self.format.cell_bytes),
            false => chunking::equal(values.len(), self.format.cell_bytes),
        };
        self.encode_chunks(values, &chunks)
    }

    /// Encodes a tile of strings together with their offsets, as one chunk; the offsets tile is
    /// [empty](crate::is_empty_tile) then. `offsets` is as in [`Pipeline::encode_var_tile`].
    ///
    /// # Errors
    /// As [`Pipeline::encode_var_tile`], and [`PipelineError::InvalidInput`] when the first filter takes no strings.
    pub fn encode_strings(&self, values: &[u8], offsets: &[u64]) -> Result<Vec<u8>, PipelineError> {
        check_offsets(values, offsets)?;
        let Some((strings, first, rest)) = self.string_stage() else {
            return Err(PipelineError::invalid_input("the first filter stores no offsets"));
        };
        let limits = unlimited();
        let encode = |buffers: &Buffers| {
            let chunk = strings.encode_strings(values, offsets, &self.context(first, &limits, buffers))?;
            self.run(rest, chunk, buffers)
        };
        let chunk = BUFFERS.with(encode).map_err(PipelineError::in_chunk(0))?;
        let mut w = Writer::new();
        ChunkTable::encode_count(&mut w, 1);
        write_chunk(&chunk, 0, values.len(), &mut w)?;
        Ok(w.into_vec())
    }

    /// The tile that stands for no tile: the offsets of strings that [`Pipeline::encode_strings`] stored.
    #[must_use]
    pub fn encode_empty_tile() -> Vec<u8> {
        vec![0; 8]
    }

    /// Encodes a tile cut at the given bounds, for chunks that follow another rule (see
    /// [`coordinates::chunks`](crate::coordinates::chunks)). They must cover `cells` in order.
    ///
    /// # Errors
    /// [`PipelineError::Chunk`] for cells that a filter cannot store, [`PipelineError::InvalidInput`] for chunks that do not
    /// cover `cells`, and for one of 4 GiB and more.
    pub fn encode_chunks(&self, mut cells: &[u8], chunks: &[Range<usize>]) -> Result<Vec<u8>, PipelineError> {
        self.encode_chunks_from(&mut cells, chunks)
    }

    fn encode_chunks_from(&self, cells: &mut dyn TileSource, chunks: &[Range<usize>]) -> Result<Vec<u8>, PipelineError> {
        // Room that is not used is never touched, while room that is too small would be copied.
        const HEADER_BYTES: usize = 12;
        let bytes = cells.bytes();
        let mut w = Writer::with_capacity(bytes + chunks.len() * HEADER_BYTES + 64);
        ChunkTable::encode_count(&mut w, chunks.len());
        let mut room = BUFFERS.with(Buffers::take_empty);
        let mut end = 0;
        for (index, range) in chunks.iter().enumerate() {
            let chunk = cells.next(range.len(), &mut room);
            if range.start != end || chunk.len() != range.len() {
                return Err(not_covered(bytes));
            }
            self.encode_chunk(index, chunk, &mut w)?;
            end = range.end;
        }
        BUFFERS.with(|buffers| buffers.give_back(room.into()));
        if end == bytes { Ok(w.into_vec()) } else { Err(not_covered(bytes)) }
    }

    fn encode_chunk(&self, index: usize, cells: &[u8], w: &mut Writer) -> Result<(), PipelineError> {
        BUFFERS.with(|buffers| {
            let chunk = self.run(&self.stages, Chunk::new(cells), buffers).map_err(PipelineError::in_chunk(index))?;
            write_chunk(&chunk, index, cells.len(), w)?;
            chunk.data.give_back(buffers);
            Ok(())
        })
    }

    /// Runs `stages`, the first first.
    fn run<'a>(&self, stages: &[Stage], chunk: Chunk<'a>, buffers: &Buffers) -> Result<Chunk<'a>, FilterError> {
        let limits = unlimited();
        stages.iter().try_fold(chunk, |chunk, stage| stage.filter.encode(chunk, &self.context(stage, &limits, buffers)))
    }
}

/// Encoding allocates by what the caller has in memory already.
fn unlimited() -> Limits {
    Limits::new(u64::MAX)
}

fn write_chunk(chunk: &Chunk<'_>, index: usize, original: usize, w: &mut Writer) -> Result<(), PipelineError> {
    let length = |bytes: usize| {
        u32::try_from(bytes)
            .map_err(|_| PipelineError::invalid_input(format!("chunk {index} takes {bytes} bytes; 4 GiB is the limit")))
    };
    let (filtered, metadata) = (length(chunk.data.total_bytes())?, length(chunk.metadata.total_bytes())?);
    ChunkEntry::encode_header(w, length(original)?, filtered, metadata);
    for part in chunk.metadata.iter().chain(chunk.data.iter()) {
        w.bytes(part);
    }
    Ok(())
}

fn check_offsets(values: &[u8], offsets: &[u64]) -> Result<(), PipelineError> {
    let ends_right = offsets.last() == Some(&(values.len() as u64)) && offsets.first() == Some(&0);
    if ends_right && offsets.is_sorted() {
        return Ok(());
    }
    Err(PipelineError::invalid_input(format!("the offsets do not ascend from 0 to the {} bytes of the cells", values.len())))
}

#[cold]
fn not_covered(bytes: usize) -> PipelineError {
    PipelineError::invalid_input(format!("the chunks do not cover the {bytes} bytes of the tile"))
}
