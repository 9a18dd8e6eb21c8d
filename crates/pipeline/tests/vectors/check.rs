//! What is checked about a vector.

use std::ops::Range;

use talavera_codec::Reader;
use talavera_filter::{FilterList, FilterSpec};
use talavera_pipeline::{ChunkTable, Pipeline, PipelineError, TileFormat, chunking, coordinates, is_empty_tile};
use talavera_types::Datatype;

use crate::Vector;
use crate::vector::Field;

/// How many tiles went which way.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) vectors: usize,
    /// Decoded to what was written.
    pub(crate) decoded: usize,
    /// Encoded again to the bytes of the file.
    pub(crate) identical: usize,
    /// Encoded again to bytes that differ only where the reference left memory as it found it.
    pub(crate) identical_but_for_filler: usize,
    /// Encoded to other bytes, which decode to the same cells: third-party codecs, encryption, rules of older releases.
    pub(crate) decoded_again: usize,
    /// Malformed files that are refused.
    pub(crate) refused: usize,
    /// Cells that are refused on the way to disk, as they would not come back.
    pub(crate) not_encoded: usize,
}

/// The tiles of one data file and what they hold.
struct DataFile<'a> {
    vector: &'a Vector,
    pipeline: Pipeline,
    filters: &'a FilterList,
    zipped_dimensions: Option<usize>,
    value_bytes: usize,
}

/// One tile: as it is on disk, as it was written, as it comes back.
struct Tile<'a> {
    bytes: &'a [u8],
    cells: &'a [u8],
    read_back: &'a [u8],
    /// Starts of cells and the end of the last, for data tiles of cells that differ in length.
    offsets: Option<&'a [u64]>,
    /// Whether the offsets are in this tile too.
    strings: bool,
}

pub(crate) fn check_vector(vector: &Vector, tally: &mut Tally) -> Result<(), String> {
    vector.fields.iter().try_for_each(|field| check_field(vector, field, tally))
}

fn check_field(vector: &Vector, field: &Field, tally: &mut Tally) -> Result<(), String> {
    let mut main_tiles = tiles(&field.main_file, field.tiles.len());
    let mut var_tiles = tiles(&field.var_file, field.tiles.len());
    let mut validity_tiles = tiles(&field.validity_file, field.tiles.len());
    let mut first = 0;
    for &cells in &field.tiles {
        let range = first..first + cells;
        first += cells;
        let main = main_tiles.next().expect("every tile is in the main file");
        if let Some(cell_bytes) = field.cell_bytes {
            let file = DataFile::new(vector, &field.filters, field.datatype, cell_bytes, field.zipped_dimensions)?;
            let bytes = range.start * cell_bytes..range.end * cell_bytes;
            let (written, read) = (&field.data[bytes.clone()], &field.read_back[bytes]);
            file.check(&Tile { bytes: main, cells: written, read_back: read, offsets: None, strings: false }, tally)?;
        } else {
            let var = var_tiles.next().expect("every tile is in the file of variable-length cells");
            check_var(vector, field, range.clone(), main, var, tally)?;
        }
        if !field.validity.is_empty() {
            let file = DataFile::new(vector, &field.validity_filters, Datatype::UInt8, 1, None)?;
            let bytes = validity_tiles.next().expect("every tile is in the validity file");
            let validity = &field.validity[range];
            file.check(&Tile { bytes, cells: validity, read_back: validity, offsets: None, strings: false }, tally)?;
        }
    }
    if main_tiles.next().or(var_tiles.next()).or(validity_tiles.next()).is_some() {
        return Err("tiles are left over".into());
    }
    Ok(())
}

fn check_var(
    vector: &Vector,
    field: &Field,
    cells: Range<usize>,
    offsets_tile: &[u8],
    values_tile: &[u8],
    tally: &mut Tally,
) -> Result<(), String> {
    let end = |cell: usize| field.offsets.get(cell).map_or(field.data.len(), |&offset| offset as usize);
    let (start, stop) = (end(cells.start), end(cells.end));
    let mut offsets: Vec<u64> = field.offsets[cells].iter().map(|offset| offset - start as u64).collect();
    let on_disk: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    offsets.push((stop - start) as u64);
    let strings = is_empty_tile(offsets_tile) && !on_disk.is_empty();
    if !strings {
        let file = DataFile::new(vector, &field.offsets_filters, Datatype::UInt64, 8, None)?;
        let tile = Tile { bytes: offsets_tile, cells: &on_disk, read_back: &on_disk, offsets: None, strings };
        file.check(&tile, tally)?;
    }
    let file = DataFile::new(vector, &field.filters, field.datatype, field.datatype.size(), None)?;
    if file.pipeline.writes_strings() != strings {
        return Err("the rule for strings disagrees with the file".into());
    }
    let values = &field.data[start..stop];
    file.check(&Tile { bytes: values_tile, cells: values, read_back: values, offsets: Some(&offsets), strings }, tally)
}

impl<'a> DataFile<'a> {
    fn new(
        vector: &'a Vector,
        filters: &'a FilterList,
        datatype: Datatype,
        cell_bytes: usize,
        zipped_dimensions: Option<usize>,
    ) -> Result<Self, String> {
        let format = TileFormat { datatype, cell_bytes, version: vector.version };
        let pipeline = Pipeline::new(filters, format, vector.key.as_ref()).map_err(|error| error.to_string())?;
        Ok(Self { vector, pipeline, filters, zipped_dimensions, value_bytes: datatype.size() })
    }

    fn check(&self, tile: &Tile<'_>, tally: &mut Tally) -> Result<(), String> {
        match self.decode(tile, tile.bytes) {
            Ok(cells) if cells == tile.read_back => tally.decoded += 1,
            Ok(_) => return Err("decodes to other cells".into()),
            Err(_) if self.vector.malformed => tally.refused += 1,
            Err(error) => return Err(error.to_string()),
        }
        match self.encode(tile) {
            Ok(bytes) => self.check_encoded(tile, &bytes, tally),
            Err(_) if self.vector.malformed => {
                tally.not_encoded += 1;
                Ok(())
            }
            Err(error) => Err(format!("is not encoded: {error}")),
        }
    }

    fn check_encoded(&self, tile: &Tile<'_>, bytes: &[u8], tally: &mut Tally) -> Result<(), String> {
        if bytes == tile.bytes {
            tally.identical += 1;
            return Ok(());
        }
        let decoded = self.decode(tile, bytes).map_err(|error| format!("what was encoded is refused: {error}"))?;
        if decoded != tile.read_back {
            return Err("what was encoded decodes to other cells".into());
        }
        if !self.has_one_encoding() {
            tally.decoded_again += 1;
        } else if self.leaves_filler() && data(bytes) == data(tile.bytes) {
            tally.identical_but_for_filler += 1;
        } else {
            return Err(format!("is encoded otherwise:\n  file {:02x?}\n  ours {bytes:02x?}", tile.bytes));
        }
        Ok(())
    }

    fn decode(&self, tile: &Tile<'_>, bytes: &[u8]) -> Result<Vec<u8>, PipelineError> {
        let mut cells = vec![0xa5; tile.cells.len()];
        if let (true, Some(expected)) = (tile.strings, tile.offsets) {
            let count = expected.len() - 1;
            let mut offsets = Vec::new();
            self.pipeline.decode_strings(bytes, count, &mut cells, &mut offsets)?;
            assert_eq!(offsets, expected[..count], "{}: offsets", self.vector.id);
            return Ok(cells);
        }
        self.pipeline.decode_tile(bytes, &mut cells)?;
        match self.zipped_dimensions {
            Some(dimensions) if coordinates::are_split(self.vector.version, self.filters) => {
                let mut tuples = vec![0; cells.len()];
                coordinates::zip(&cells, dimensions, self.value_bytes, &mut tuples)?;
                Ok(tuples)
            }
            _ => Ok(cells),
        }
    }

    /// Encodes the cells again, cut as the file is; where the file is cut by the rules of new files, by ours too.
    fn encode(&self, tile: &Tile<'_>) -> Result<Vec<u8>, PipelineError> {
        if let (true, Some(offsets)) = (tile.strings, tile.offsets) {
            return self.pipeline.encode_strings(tile.cells, offsets);
        }
        let file_chunks = chunks(tile.bytes);
        if let Some(dimensions) = self.zipped_dimensions {
            let mut split = vec![0; tile.cells.len()];
            coordinates::unzip(tile.cells, dimensions, self.value_bytes, &mut split)?;
            assert_eq!(coordinates::chunks(split.len(), dimensions, self.value_bytes), file_chunks, "{}", self.vector.id);
            return self.pipeline.encode_chunks(&split, &file_chunks);
        }
        let ours = match tile.offsets {
            Some(offsets) => self.pipeline.encode_var_tile(tile.cells, offsets)?,
            None => self.pipeline.encode_tile(tile.cells)?,
        };
        if tile.offsets.is_none() || self.vector.version.has_tile_statistics() {
            assert_eq!(chunks(&ours), without_empty_tail(&file_chunks), "{}: chunks", self.vector.id);
        }
        if file_chunks == chunks(&ours) { Ok(ours) } else { self.pipeline.encode_chunks(tile.cells, &file_chunks) }
    }

    /// Whether the bytes of a tile follow from its cells.
    fn has_one_encoding(&self) -> bool {
        use FilterSpec as F;
        let undefined = self.vector.undefined_values && !cfg!(target_arch = "x86_64");
        let other = self.filters.filters.iter().any(|filter| match filter {
            F::Gzip { .. } | F::Zstd { .. } | F::Lz4 { .. } | F::Bzip2 { .. } | F::Webp { .. } => true,
            // Releases before 2.29 did not count the first difference when they chose the number of bits.
            F::DoubleDelta { .. } => self.vector.library < (2, 29),
            // 2.16 wrote one element too many.
            F::Delta { .. } => self.vector.library == (2, 16),
            _ => false,
        });
        !other && !undefined && self.vector.key.is_none() && !self.vector.malformed
    }

    /// Whether the reference writes bytes that it never set: offsets of windows stored as they are.
    fn leaves_filler(&self) -> bool {
        self.filters.filters.iter().any(|filter| matches!(filter, FilterSpec::BitWidthReduction { .. }))
    }
}

/// Flips bits of every file and cuts it short; whatever comes out, nothing panics.
pub(crate) fn check_damaged_files(vector: &Vector) {
    for field in &vector.fields {
        let cell_bytes = field.cell_bytes.unwrap_or(field.datatype.size());
        damage(
            vector,
            &field.filters,
            field.datatype,
            cell_bytes,
            if field.cell_bytes.is_some() { &field.main_file } else { &field.var_file },
        );
        if field.cell_bytes.is_none() {
            damage(vector, &field.offsets_filters, Datatype::UInt64, 8, &field.main_file);
        }
        damage(vector, &field.validity_filters, Datatype::UInt8, 1, &field.validity_file);
    }
}

fn damage(vector: &Vector, filters: &FilterList, datatype: Datatype, cell_bytes: usize, file: &[u8]) {
    let Some(tile) = tiles(file, 1).next().filter(|tile| tile.len() < 5_000) else { return };
    let format = TileFormat { datatype, cell_bytes, version: vector.version };
    let pipeline = Pipeline::new(filters, format, vector.key.as_ref()).unwrap();
    let original = ChunkTable::decode(tile).unwrap().original_bytes();
    let mut cells = vec![0; original];
    let mut run = |tile: &[u8]| {
        drop(pipeline.decode_tile(tile, &mut cells));
        if pipeline.takes_strings() {
            drop(pipeline.decode_strings(tile, 50, &mut cells, &mut Vec::new()));
        }
    };
    // The front holds all lengths, so it is hit more often.
    let mut bytes = tile.to_vec();
    let step = tile.len() / 20 + 1;
    for at in (8..tile.len().min(60)).step_by(3).chain((60..tile.len()).step_by(step)) {
        let mask = 1 << (at % 8) | 0x80;
        bytes[at] ^= mask;
        run(&bytes);
        bytes[at] ^= mask;
        run(&bytes[..at]);
    }
}

/// The tiles of a data file, one after the other; none of an empty file.
fn tiles(file: &[u8], expected: usize) -> impl Iterator<Item = &[u8]> {
    let mut r = Reader::new(file);
    let mut left = expected + 1;
    std::iter::from_fn(move || {
        if r.is_empty() || left == 0 {
            return None;
        }
        left -= 1;
        let rest = r.rest();
        let table = ChunkTable::decode_next(&mut r).unwrap();
        Some(&rest[..table.tile_bytes()])
    })
}

/// How a tile is cut.
fn chunks(tile: &[u8]) -> Vec<Range<usize>> {
    ChunkTable::decode(tile).unwrap().iter().map(|chunk| chunk.cells()).collect()
}

/// The data of all chunks, without their metadata.
fn data(tile: &[u8]) -> Vec<&[u8]> {
    ChunkTable::decode(tile).unwrap().iter().map(|chunk| &tile[chunk.data.clone()]).collect()
}

/// The reference may end a tile of variable-length cells in an empty chunk, which is never written here.
fn without_empty_tail(chunks: &[Range<usize>]) -> Vec<Range<usize>> {
    match chunks {
        [front @ .., last] if last.is_empty() && !front.is_empty() => front.to_vec(),
        _ if chunks.is_empty() => chunking::one(0),
        _ => chunks.to_vec(),
    }
}
