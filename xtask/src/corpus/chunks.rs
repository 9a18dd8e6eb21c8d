//! Chunks and tiles of every filter, from the vectors of the pipeline's tests.

use std::path::Path;

use talavera_codec::Writer;
use talavera_filter::FilterSpec;
use talavera_pipeline::{ChunkEntry, ChunkTable};
use talavera_types::FilterType;

use super::{Corpus, counted};

#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    dead_code,
    reason = "the vectors are read as the pipeline's tests read them"
)]
#[path = "../../../crates/pipeline/tests/vectors/vector.rs"]
mod vector;

use vector::{Field, Vector, Vectors};

/// Seeds from the set in this repository and, where it lies beside the checkout, from the whole set.
pub(super) fn seeds(root: &Path, corpus: &mut Corpus) {
    let mut sets = vec![Vectors::from_hex(&root.join("crates/pipeline/tests/data/vectors.json"))];
    let whole = root.join("../shared/vectors/filters");
    if whole.join("index.json").exists() {
        sets.push(Vectors::from_packs(&whole));
    }
    for vector in sets.iter().flat_map(Vectors::iter) {
        for field in vector.fields.iter().filter(|field| field.tiles.len() == 1) {
            let tile = if field.cell_bytes.is_some() { &field.main_file } else { &field.var_file };
            let seed = Seed { vector, field, tile };
            seed.tile(corpus);
            seed.chunk(corpus);
            seed.cells(corpus);
        }
    }
}

struct Seed<'v> {
    vector: &'v Vector,
    field: &'v Field,
    tile: &'v [u8],
}

impl Seed<'_> {
    fn version(&self) -> u8 {
        u8::try_from(self.vector.version.number()).unwrap_or(0)
    }

    /// Whether offsets are stored with the values.
    fn is_strings(&self) -> bool {
        let first = self.field.filters.filters.first().map(FilterSpec::filter_type);
        let takes_strings = matches!(first, Some(FilterType::Rle | FilterType::Dictionary));
        takes_strings && self.field.cell_bytes.is_none() && talavera_pipeline::is_empty_tile(&self.field.main_file)
    }

    fn tile(&self, corpus: &mut Corpus) {
        let mut list = Writer::new();
        self.field.filters.encode(&mut list, self.vector.version);
        let flags = u8::from(self.vector.key.is_some()) | u8::from(self.is_strings()) << 1;
        corpus.add(
            "tile",
            &[
                &[self.version(), self.field.datatype.code()],
                &short(self.field.cell_bytes.unwrap_or(self.field.datatype.size())),
                &[flags],
                &short(self.field.tiles.iter().sum()),
                &counted(list.as_slice()),
                self.tile,
            ],
        );
        corpus.add("filter_list", &[&[self.version()], list.as_slice()]);
    }

    /// The first chunk, for the filter that wrote it last.
    fn chunk(&self, corpus: &mut Corpus) {
        let list = &self.field.filters.filters;
        let last = if self.vector.key.is_some() { Some(&FilterSpec::Aes256Gcm) } else { list.last() };
        let (Some(last), Ok(table)) = (last, ChunkTable::decode(self.tile)) else { return };
        let (Some((target, options)), Some(chunk)) = (target(last), table.iter().next()) else { return };
        let (Some(metadata), Some(data)) = (self.tile.get(chunk.metadata.clone()), self.tile.get(chunk.data.clone())) else {
            return;
        };
        let strings = u8::from(self.is_strings() && list.len() == 1) << 1;
        let head = self.head(strings, metadata.len(), chunk);
        corpus.add(target, &[&head, &options, metadata, data]);
    }

    /// The cells, to be encoded.
    fn cells(&self, corpus: &mut Corpus) {
        let first_cells = self.field.data.get(..self.field.data.len().min(960)).unwrap_or_default();
        let chunk = ChunkEntry { index: 0, original_bytes: 64, original_offset: 0, metadata: 0..0, data: 0..0 };
        for spec in &self.field.filters.filters {
            let Some((target, options)) = target(spec) else { continue };
            for flags in [1, 1 | 2, 1 | 4, 1 | 4 | 8] {
                corpus.add(target, &[&self.head(flags, 16, &chunk), &options, first_cells]);
            }
        }
    }

    /// What stands in front of the options in the input of a filter.
    fn head(&self, flags: u8, split: usize, chunk: &ChunkEntry) -> Vec<u8> {
        let cell_bytes = self.field.cell_bytes.unwrap_or(self.field.datatype.size());
        let mut head = vec![flags, self.field.datatype.code(), self.version(), u8::try_from(cell_bytes).unwrap_or(1)];
        head.extend(short(split));
        head.extend(short(self.field.tiles.iter().sum()));
        head.extend(short(chunk.original_bytes));
        head
    }
}

fn short(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()
}

/// The target of a filter and its options as that target takes them.
fn target(spec: &FilterSpec) -> Option<(&'static str, Vec<u8>)> {
    let level = |level: i32| level.to_le_bytes().to_vec();
    Some(match *spec {
        FilterSpec::None | FilterSpec::Bitsort => return None,
        FilterSpec::Gzip { level: l } => ("filter_gzip", level(l)),
        FilterSpec::Zstd { level: l } => ("filter_zstd", level(l)),
        FilterSpec::Lz4 { .. } => ("filter_lz4", vec![]),
        FilterSpec::Rle { .. } => ("filter_rle", vec![]),
        FilterSpec::Bzip2 { level: l } => ("filter_bzip2", level(l)),
        FilterSpec::DoubleDelta { reinterpret, .. } => ("filter_double_delta", vec![reinterpret.code()]),
        FilterSpec::BitWidthReduction { max_window_bytes } => {
            ("filter_bit_width_reduction", max_window_bytes.to_le_bytes().to_vec())
        }
        FilterSpec::Bitshuffle => ("filter_bitshuffle", vec![]),
        FilterSpec::Byteshuffle => ("filter_byteshuffle", vec![]),
        FilterSpec::PositiveDelta { max_window_bytes } => ("filter_positive_delta", max_window_bytes.to_le_bytes().to_vec()),
        FilterSpec::Aes256Gcm => ("filter_aes_256_gcm", vec![]),
        FilterSpec::ChecksumMd5 => ("filter_md5", vec![]),
        FilterSpec::ChecksumSha256 => ("filter_sha256", vec![]),
        FilterSpec::Dictionary { .. } => ("filter_dictionary", vec![]),
        FilterSpec::FloatScale { scale, offset, byte_width } => {
            let width = u8::try_from(byte_width).unwrap_or(0);
            ("filter_float_scale", [scale.to_le_bytes().as_slice(), &offset.to_le_bytes(), &[width]].concat())
        }
        FilterSpec::Xor => ("filter_xor", vec![]),
        FilterSpec::Webp { quality, format, lossless, y_extent, x_extent } => {
            let (y, x) = (y_extent.to_le_bytes(), x_extent.to_le_bytes());
            ("filter_webp", [quality.to_le_bytes().as_slice(), &[format as u8, u8::from(lossless)], &y, &x].concat())
        }
        FilterSpec::Delta { reinterpret, .. } => ("filter_delta", vec![reinterpret.code()]),
    })
}
