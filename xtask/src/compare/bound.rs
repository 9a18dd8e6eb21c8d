//! What no engine can go below: the codec alone on the same chunks, or the file read and copied.

use std::path::PathBuf;

use rayon::prelude::*;
use talavera_codec::Reader;
use talavera_filter::FilterSpec;
use talavera_pipeline::ChunkTable;
use talavera_schema::ArraySchema;

use super::arrays::Subject;
use crate::Failure;

/// A bound of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The codecs alone, each on what its filter was given, on all cores.
    Encode,
    /// The codecs alone on the chunks of the files, on all cores.
    Decode,
    /// The data files read into memory, and copied once.
    ReadAndCopy,
}

/// Does once what bounds a row.
pub(crate) type BoundTurn = Box<dyn FnMut() -> Result<(), Failure>>;

/// A codec that ends a pipeline.
type Codec = FilterSpec;

/// What a codec was given, and what it made of it.
struct Part {
    codec: Codec,
    original: Vec<u8>,
    encoded: Vec<u8>,
}

impl Bound {
    /// What is to be timed, as often as the engines are; nothing for codecs of an array that has none.
    pub(crate) fn prepare(self, subject: &Subject) -> Result<Option<BoundTurn>, Failure> {
        let files = data_files(subject)?;
        if self == Self::ReadAndCopy {
            return Ok(Some(Box::new(move || {
                for (path, _) in &files {
                    let bytes = std::fs::read(path)?;
                    std::hint::black_box(bytes.clone());
                }
                Ok(())
            })));
        }
        let mut parts = Vec::new();
        for (path, codec) in files {
            parts_of(&std::fs::read(path)?, codec, &mut parts)?;
        }
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(move || match self {
            Self::Encode => Ok(parts.par_iter().try_for_each(encode)?),
            _ => Ok(parts.par_iter_mut().try_for_each(|part| decode(&part.codec, &part.encoded, &mut part.original))?),
        })))
    }
}

/// The data files of an array with one fragment, each with the last filter of its cells.
fn data_files(subject: &Subject) -> Result<Vec<(PathBuf, Codec)>, Failure> {
    let schema = (subject.schema)()?;
    let fragments = std::fs::read_dir(subject.folder().join("array/__fragments"))?;
    let fragment = fragments.flatten().next().ok_or("the array has no fragment")?.path();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(fragment)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        files.extend(last_filter(&schema, &name).map(|filter| (entry.path(), filter)));
    }
    Ok(files)
}

/// The last filter of a data file by its name, as `a0.tdb`, `d1_var.tdb` or `a2_validity.tdb`.
fn last_filter(schema: &ArraySchema, name: &str) -> Option<Codec> {
    let stem = name.strip_suffix(".tdb")?;
    let (field, part) = stem.split_once('_').unwrap_or((stem, ""));
    let (kind, index) = field.split_at_checked(1)?;
    let index: usize = index.parse().ok()?;
    let (filters, var) = match kind {
        "a" => schema.attributes.get(index).map(|attribute| (&attribute.filters, attribute.cell_bytes().is_none()))?,
        _ => (schema.dimension_filters(index)?, schema.domain.dimensions.get(index)?.is_var()),
    };
    let filters = match part {
        "validity" => &schema.validity_filters,
        "" if var => &schema.offsets_filters,
        _ => filters,
    };
    Some(filters.filters.last().cloned().unwrap_or(FilterSpec::None))
}

/// What a codec made of a file's chunks: in each, counts of parts of metadata and data, and the lengths of each part.
fn parts_of(file: &[u8], codec: Codec, parts: &mut Vec<Part>) -> Result<(), Failure> {
    if !matches!(codec, FilterSpec::Zstd { .. } | FilterSpec::Lz4 { .. } | FilterSpec::Gzip { .. }) {
        return Ok(());
    }
    let mut tiles = Reader::new(file);
    while tiles.remaining() > 0 {
        let start = file.len() - tiles.remaining();
        let table = ChunkTable::decode_next(&mut tiles)?;
        let tile = file.get(start..).unwrap_or_default();
        for chunk in &table {
            let mut metadata = Reader::new(tile.get(chunk.metadata.clone()).unwrap_or_default());
            let mut data = tile.get(chunk.data.clone()).unwrap_or_default();
            let count = metadata.u32("metadata parts")? + metadata.u32("data parts")?;
            for _ in 0..count {
                let original = metadata.u32("original length")?;
                let encoded = metadata.u32("encoded length")?;
                let (encoded, rest) = data.split_at_checked(usize::try_from(encoded)?).ok_or("a part longer than its chunk")?;
                data = rest;
                let mut original = vec![0; usize::try_from(original)?];
                decode(&codec, encoded, &mut original)?;
                parts.push(Part { codec: codec.clone(), original, encoded: encoded.to_vec() });
            }
        }
    }
    Ok(())
}

fn encode(part: &Part) -> Result<(), String> {
    let mut encoded = Vec::new();
    let done = match part.codec {
        FilterSpec::Zstd { level } => talavera_filter_zstd::compress(&part.original, level, &mut encoded),
        FilterSpec::Lz4 { .. } => talavera_filter_lz4::compress(&part.original, &mut encoded),
        FilterSpec::Gzip { level } => talavera_filter_gzip::compress(&part.original, level, &mut encoded),
        _ => Ok(()),
    };
    done.map_err(|error| error.to_string())
}

fn decode(codec: &Codec, encoded: &[u8], original: &mut [u8]) -> Result<(), String> {
    let done = match codec {
        FilterSpec::Zstd { .. } => talavera_filter_zstd::decompress(encoded, original),
        FilterSpec::Lz4 { .. } => talavera_filter_lz4::decompress(encoded, original),
        FilterSpec::Gzip { .. } => talavera_filter_gzip::decompress(encoded, original),
        _ => Ok(()),
    };
    done.map_err(|error| error.to_string())
}
