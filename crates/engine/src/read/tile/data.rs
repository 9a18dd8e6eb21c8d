//! One data file of a field: where its tiles lie, and how their bytes become cells.

use std::cell::RefCell;
use std::ops::Range;

use bytes::Bytes;
use talavera_filter::FilterList;
use talavera_fragment::{FieldId, TileOffsets};
use talavera_pipeline::{ChunkEntry, ChunkTable, EncryptionKey, Pipeline, PipelineError, TileFormat, TypeFlow};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::FormatVersion;

use crate::budget::Job;
use crate::field_buffer::copy_cells;
use crate::read::scatter::Scatter;
use crate::{CellBytes, Error};

/// One data file and how its tiles are filtered.
#[derive(Debug)]
pub(super) struct DataReader {
    pub(super) path: ObjectPath,
    pub(super) file_bytes: u64,
    pub(super) pipeline: Pipeline,
    /// The other rule for datatypes, for fragments that claim a version whose rule their writer did not follow
    /// (10-tile-chunks §7).
    pub(super) other_flow: Option<Pipeline>,
}

impl DataReader {
    pub(super) fn new(
        path: ObjectPath,
        file_bytes: u64,
        filters: &FilterList,
        format: TileFormat,
        key: Option<&EncryptionKey>,
        field: FieldId,
    ) -> Result<Self, Error> {
        let build = || {
            Pipeline::new(filters, format, key).map_err(|source| Error::Filters {
                path: path.clone(),
                field: format!("{field:?}"),
                source,
            })
        };
        let pipeline = build()?;
        let other_flow =
            if may_hand_on(format.version, filters) { Some(build()?.with_type_flow(TypeFlow::HandedOn)) } else { None };
        Ok(Self { path, file_bytes, pipeline, other_flow })
    }

    pub(super) fn range(&self, offsets: &TileOffsets, tile: u64) -> Result<Range<u64>, Error> {
        let index = usize::try_from(tile).unwrap_or(usize::MAX);
        offsets.range(index, self.file_bytes).map_err(|source| Error::TileContent { path: self.path.clone(), tile, source })
    }

    pub(super) fn fetch(&self, storage: &dyn Storage, offsets: &TileOffsets, tile: u64) -> Result<Bytes, Error> {
        Ok(storage.read_range(&self.path, self.range(offsets, tile)?)?)
    }

    /// Reads a tile into memory of its own, allocated once the tile itself agrees to the length.
    pub(super) fn read(
        &self,
        storage: &dyn Storage,
        offsets: &TileOffsets,
        tile: u64,
        len: usize,
        job: &Job,
    ) -> Result<CellBytes, Error> {
        let bytes = self.fetch(storage, offsets, tile)?;
        self.check_length(&bytes, tile, len)?;
        let mut cells = CellBytes::meaningless(len);
        self.decode_into(&bytes, tile, &mut cells)?;
        job.tile_done(bytes.len() as u64, len as u64);
        Ok(cells)
    }

    /// Whether the chunks of a tile add up to `len` bytes.
    pub(super) fn check_length(&self, bytes: &[u8], tile: u64, len: usize) -> Result<(), Error> {
        let found = ChunkTable::decode(bytes).map_err(|error| self.in_tile(tile)(error.into()))?.original_bytes();
        if found == len {
            return Ok(());
        }
        Err(self.in_tile(tile)(PipelineError::TileSize { found: found as u64, expected: len as u64 }))
    }

    pub(super) fn read_into(
        &self,
        storage: &dyn Storage,
        offsets: &TileOffsets,
        tile: u64,
        cells: &mut [u8],
        job: &Job,
    ) -> Result<(), Error> {
        let bytes = self.fetch(storage, offsets, tile)?;
        self.decode_into(&bytes, tile, cells)?;
        job.tile_done(bytes.len() as u64, cells.len() as u64);
        Ok(())
    }

    pub(super) fn scatter(
        &self,
        storage: &dyn Storage,
        offsets: &TileOffsets,
        (tile, len): (u64, usize),
        scatter: Scatter<'_>,
        job: &Job,
    ) -> Result<(), Error> {
        let bytes = self.fetch(storage, offsets, tile)?;
        let table = ChunkTable::decode(&bytes).map_err(|error| self.in_tile(tile)(error.into()))?;
        if table.original_bytes() != len {
            return Err(self.in_tile(tile)(PipelineError::TileSize {
                found: table.original_bytes() as u64,
                expected: len as u64,
            }));
        }
        let chunks: Vec<&ChunkEntry> = table.iter().collect();
        let cut_cells = chunks.iter().any(|chunk| !chunk.original_offset.is_multiple_of(scatter.cell_bytes()));
        let decoded = if cut_cells || self.other_flow.is_some() {
            let mut cells = vec![0; len];
            self.decode_into(&bytes, tile, &mut cells)?;
            let mut scatter = scatter;
            scatter.copy_from(0, &cells);
            len
        } else {
            self.scatter_chunks(&bytes, &chunks, scatter).map_err(self.in_tile(tile))?
        };
        job.tile_done(bytes.len() as u64, decoded as u64);
        Ok(())
    }

    /// Decodes the chunks that a scatter wants, several at once where threads are idle; gives their bytes.
    fn scatter_chunks(&self, bytes: &[u8], chunks: &[&ChunkEntry], mut scatter: Scatter<'_>) -> Result<usize, PipelineError> {
        match chunks {
            [] => Ok(0),
            _ if scatter.is_empty() => Ok(0),
            [chunk] => {
                self.scatter_chunk(bytes, chunk, &mut scatter)?;
                Ok(chunk.original_bytes)
            }
            _ => {
                let (front, back) = chunks.split_at(chunks.len() / 2);
                let cut = back.first().map_or(0, |chunk| chunk.original_offset / scatter.cell_bytes());
                let (before, behind) = scatter.split_at(cut);
                let halves =
                    rayon::join(|| self.scatter_chunks(bytes, front, before), || self.scatter_chunks(bytes, back, behind));
                Ok(halves.0? + halves.1?)
            }
        }
    }

    fn scatter_chunk(&self, bytes: &[u8], chunk: &ChunkEntry, scatter: &mut Scatter<'_>) -> Result<(), PipelineError> {
        let first = chunk.original_offset / scatter.cell_bytes();
        if self.pipeline.is_empty() && chunk.metadata.is_empty() && chunk.data.len() == chunk.original_bytes {
            // Nothing to undo: the cells stand in the file as they are.
            scatter.copy_from(first, bytes.get(chunk.data.clone()).unwrap_or_default());
            return Ok(());
        }
        if let Some(cells) = scatter.as_whole(chunk.original_bytes) {
            return self.pipeline.decode_chunk(chunk, bytes, cells);
        }
        with_scratch(chunk.original_bytes, |cells| {
            self.pipeline.decode_chunk(chunk, bytes, cells)?;
            scatter.copy_from(first, cells);
            Ok(())
        })
    }

    pub(super) fn decode_into(&self, bytes: &[u8], tile: u64, cells: &mut [u8]) -> Result<(), Error> {
        let Err(error) = self.pipeline.decode_tile(bytes, cells) else { return Ok(()) };
        let retried = self.other_flow.as_ref().is_some_and(|other| other.decode_tile(bytes, cells).is_ok());
        if retried { Ok(()) } else { Err(self.in_tile(tile)(error)) }
    }

    /// Decodes the chunks that hold some of the cells, and copies those; gives the bytes decoded.
    pub(super) fn decode_cells(
        &self,
        encoded: &[u8],
        tile: u64,
        wanted: &[u32],
        bytes: usize,
        target: &mut [u8],
    ) -> Result<usize, Error> {
        let cell_bytes = self.pipeline.format().cell_bytes.max(1);
        let table = ChunkTable::decode(encoded).map_err(|error| self.in_tile(tile)(error.into()))?;
        let cut_cells = table.iter().any(|chunk| chunk.original_bytes % cell_bytes != 0);
        if cut_cells || self.other_flow.is_some() {
            let mut cells = CellBytes::zeroed(bytes);
            self.decode_into(encoded, tile, &mut cells)?;
            copy_cells(target, &cells, cell_bytes, wanted.iter().map(|&cell| cell as usize));
            return Ok(bytes);
        }
        let (mut wanted, mut target, mut scratch, mut decoded) = (wanted, target, Vec::new(), 0);
        for chunk in &table {
            let cells = chunk.cells();
            let (first, end) = (cells.start / cell_bytes, cells.end / cell_bytes);
            let (here, rest) = wanted.split_at(wanted.partition_point(|&cell| (cell as usize) < end));
            wanted = rest;
            if here.is_empty() {
                continue;
            }
            let (part, behind) = std::mem::take(&mut target).split_at_mut(here.len() * cell_bytes);
            target = behind;
            if here.len() == end - first {
                self.pipeline.decode_chunk(chunk, encoded, part).map_err(self.in_tile(tile))?;
            } else {
                scratch.resize(cells.len(), 0);
                self.pipeline.decode_chunk(chunk, encoded, &mut scratch).map_err(self.in_tile(tile))?;
                copy_cells(part, &scratch, cell_bytes, here.iter().map(|&cell| cell as usize - first));
            }
            decoded += cells.len();
        }
        Ok(decoded)
    }

    pub(super) fn in_tile(&self, tile: u64) -> impl Fn(PipelineError) -> Error + '_ {
        move |source| Error::Tile { path: self.path.clone(), tile, source }
    }
}

/// Runs `decode` with so many bytes of memory, which this thread keeps for the next chunk.
fn with_scratch<T>(bytes: usize, decode: impl FnOnce(&mut [u8]) -> T) -> T {
    thread_local! {
        /// Holds nothing between two calls but its memory.
        static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    /// Chunks are of 64 KiB, but for those of whole tiles, which nobody should keep.
    const LARGEST_KEPT: usize = 1 << 20;
    // Taken, not borrowed: a filter that ran threads could come back here.
    let mut scratch = SCRATCH.take();
    if scratch.len() < bytes {
        scratch.resize(bytes, 0);
    }
    let done = decode(scratch.get_mut(..bytes).unwrap_or_default());
    if scratch.len() <= LARGEST_KEPT {
        SCRATCH.set(scratch);
    }
    done
}

/// Whether a fragment of this version may have been appended by a library that hands datatypes on although the version
/// does not, and a filter of the list would show it.
fn may_hand_on(version: FormatVersion, filters: &FilterList) -> bool {
    version.has_validity() && !version.hands_datatype_on() && filters.filters.len() > 1
}
