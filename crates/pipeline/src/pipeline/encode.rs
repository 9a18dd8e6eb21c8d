//! To disk: cells become chunks.

use std::ops::Range;

use talavera_codec::{Limits, Writer};
use talavera_filter::{Buffers, Chunk, FilterError};

use super::{BUFFERS, Pipeline, Stage};
use crate::{ChunkEntry, ChunkTable, PipelineError, TileSource, chunking};

/// Some chunks of a tile, encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedPart {
    chunks: usize,
    bytes: Vec<u8>,
}

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
        let chunks = self.chunks(cells.bytes())?;
        self.encode_chunks_from(cells, &chunks)
    }

    /// Encodes a tile of variable-length cells without their offsets. `offsets` holds the start of each cell in `values`,
    /// one more than there are cells: the last is the length of `values`.
    ///
    /// # Errors
    /// As [`Pipeline::encode_tile`], and [`PipelineError::InvalidInput`] for offsets that do not ascend from 0 to the length
    /// of `values`.
    pub fn encode_var_tile(&self, values: &[u8], offsets: &[u64]) -> Result<Vec<u8>, PipelineError> {
        self.encode_chunks(values, &self.var_chunks(values, offsets)?)
    }

    /// The chunks that a tile of fixed-length cells of so many bytes is cut into, for [`Pipeline::encode_part`].
    ///
    /// # Errors
    /// [`PipelineError::InvalidInput`] for bytes that are no whole cells.
    pub fn chunks(&self, bytes: usize) -> Result<Vec<Range<usize>>, PipelineError> {
        let cell_bytes = self.format.cell_bytes;
        if !bytes.is_multiple_of(cell_bytes) {
            let reason = format!("{bytes} bytes are no whole cells of {cell_bytes} bytes");
            return Err(PipelineError::invalid_input(reason));
        }
        Ok(if self.whole_tile_chunks { chunking::one(bytes) } else { chunking::fixed(bytes, cell_bytes) })
    }

    /// As [`Pipeline::chunks`], of variable-length cells; `offsets` is as in [`Pipeline::encode_var_tile`].
    ///
    /// # Errors
    /// [`PipelineError::InvalidInput`] for offsets that do not ascend from 0 to the length of `values`.
    pub fn var_chunks(&self, values: &[u8], offsets: &[u64]) -> Result<Vec<Range<usize>>, PipelineError> {
        check_offsets(values, offsets)?;
        Ok(match self.format.version.keeps_var_cells_whole() {
            _ if self.whole_tile_chunks => chunking::one(values.len()),
            true => chunking::var(offsets, self.format.cell_bytes),
            false => chunking::equal(values.len(), self.format.cell_bytes),
        })
    }

    /// Encodes some of the chunks of a tile, for those who share these among threads; [`Pipeline::join`] makes the tile.
    /// `cells` begins with the first of them.
    ///
    /// # Errors
    /// As [`Pipeline::encode_chunks`].
    pub fn encode_part(
        &self,
        cells: &mut dyn TileSource,
        chunks: &[Range<usize>],
        part: Range<usize>,
    ) -> Result<EncodedPart, PipelineError> {
        let count = part.len();
        let mut w = Writer::with_capacity(room(chunks.get(part.clone()).unwrap_or_default()));
        self.encode_into(cells, chunks, part, &mut w)?;
        Ok(EncodedPart { chunks: count, bytes: w.into_vec() })
    }

    /// A tile of its parts, in their order.
    #[must_use]
    pub fn join(parts: &[EncodedPart]) -> Vec<u8> {
        let mut w = Writer::with_capacity(8 + parts.iter().map(|part| part.bytes.len()).sum::<usize>());
        ChunkTable::encode_count(&mut w, parts.iter().map(|part| part.chunks).sum());
        parts.iter().for_each(|part| w.bytes(&part.bytes));
        w.into_vec()
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
        if chunks.last().map_or(0, |chunk| chunk.end) != cells.bytes() {
            return Err(not_covered());
        }
        let mut w = Writer::with_capacity(8 + room(chunks));
        ChunkTable::encode_count(&mut w, chunks.len());
        self.encode_into(cells, chunks, 0..chunks.len(), &mut w)?;
        Ok(w.into_vec())
    }

    fn encode_into(
        &self,
        cells: &mut dyn TileSource,
        chunks: &[Range<usize>],
        part: Range<usize>,
        w: &mut Writer,
    ) -> Result<(), PipelineError> {
        let mut room = BUFFERS.with(Buffers::take_empty);
        let before = part.start.checked_sub(1).and_then(|before| chunks.get(before));
        let mut end = before.map_or(0, |before| before.end);
        for index in part {
            let range = chunks.get(index).ok_or_else(not_covered)?;
            let chunk = cells.next(range.len(), &mut room);
            if range.start != end || chunk.len() != range.len() {
                return Err(not_covered());
            }
            self.encode_chunk(index, chunk, w)?;
            end = range.end;
        }
        BUFFERS.with(|buffers| buffers.give_back(room.into()));
        Ok(())
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
fn not_covered() -> PipelineError {
    PipelineError::invalid_input("the chunks do not cover the bytes of the tile")
}

/// Bytes for chunks that nothing makes smaller: room that is not used is never touched, while room that is too small would be
/// copied.
fn room(chunks: &[Range<usize>]) -> usize {
    const HEADER_BYTES: usize = 12;
    chunks.iter().map(|chunk| chunk.len() + HEADER_BYTES).sum::<usize>() + 64
}
