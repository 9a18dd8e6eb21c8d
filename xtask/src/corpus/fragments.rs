//! Fragment metadata, from the unwrapped files of the fragment crate.

use std::path::Path;

use talavera_codec::{DecodeError, Reader};
use talavera_fragment::{FieldId, FieldSection, Footer, OptionalSection, ValueSize};
use talavera_schema::ArraySchema;

use super::{Corpus, counted};
use crate::Failure;
use crate::fixtures::files_below;

pub(super) fn seeds(folder: &Path, corpus: &mut Corpus) -> Result<(), Failure> {
    for path in files_below(folder)? {
        let bytes = std::fs::read(&path)?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("fragment") => fragment(&bytes, corpus)?,
            Some("consolidated") => corpus.add("consolidated_footers", &[Reader::new(&bytes).bytes_u32("payload")?]),
            _ => {}
        }
    }
    Ok(())
}

/// A fragment's metadata: its generic tiles by offset, and its footer.
struct Fragment<'a> {
    schema: ArraySchema,
    schema_payload: &'a [u8],
    tiles: Vec<(u64, &'a [u8])>,
}

/// A file as `make_data.py` beside it describes them.
fn fragment(bytes: &[u8], corpus: &mut Corpus) -> Result<(), DecodeError> {
    let mut r = Reader::new(bytes);
    let name = r.string_u32("name")?;
    let schema_payload = r.bytes_u32("schema")?;
    let file = r.bytes_u32("file")?;
    let footer_offset = r.u64("footer offset")?;
    let tiles =
        (0..r.u32("tiles")?).map(|_| Ok((r.u64("offset")?, r.bytes_u32("payload")?))).collect::<Result<_, DecodeError>>()?;
    let fragment = Fragment { schema: ArraySchema::decode(schema_payload)?, schema_payload, tiles };
    if name.matches('_').count() < 4 {
        // Versions 1 and 2 are one tile; which fragments are dense, their files tell.
        for dense in [0, 1] {
            corpus.add("legacy_metadata", &[&[dense], &counted(schema_payload), fragment.tile(0).unwrap_or_default()]);
        }
        return Ok(());
    }
    let offset = usize::try_from(footer_offset).unwrap_or(usize::MAX);
    let with_length = file.get(offset..).unwrap_or_default();
    let without_length = with_length.get(..with_length.len().saturating_sub(8)).unwrap_or_default();
    for bytes in [without_length, with_length] {
        if let Ok(footer) = Footer::decode_all(bytes, &fragment.schema) {
            corpus.add("footer_peek", &[bytes]);
            corpus.add("footer", &[&counted(schema_payload), bytes]);
            fragment.sections(&footer, corpus);
            break;
        }
    }
    Ok(())
}

impl<'a> Fragment<'a> {
    fn tile(&self, offset: u64) -> Option<&'a [u8]> {
        self.tiles.iter().find(|(at, _)| *at == offset).map(|(_, payload)| *payload)
    }

    fn sections(&self, footer: &Footer, corpus: &mut Corpus) {
        let version = u8::try_from(footer.version.number()).unwrap_or(0);
        let schema = counted(self.schema_payload);
        if let Some(payload) = self.tile(footer.rtree) {
            corpus.add("rtree", &[&[version], &schema, payload]);
        }
        for field in footer.layout.fields() {
            self.lists(footer, field, corpus);
            self.statistics(footer, field, corpus);
        }
        if let Some(payload) = footer.fragment_statistics.and_then(|offset| self.tile(offset)) {
            let flags = u8::from(footer.layout.has_timestamps()) | u8::from(footer.layout.has_delete_metadata()) << 1;
            corpus.add("fragment_statistics", &[&[version, flags], &schema, payload]);
        }
        if let Some(payload) = footer.processed_conditions.and_then(|offset| self.tile(offset)) {
            corpus.add("processed_conditions", &[payload]);
        }
        for section in &footer.optional_sections {
            let OptionalSection::GlobalOrderBounds { mins, maxes } = section else { continue };
            for (dimension, offset) in mins.iter().enumerate().chain(maxes.iter().enumerate()) {
                self.bounds(FieldId::Dimension(dimension), Some(*offset), corpus);
            }
        }
    }

    fn lists(&self, footer: &Footer, field: FieldId, corpus: &mut Corpus) {
        let Some(entry) = footer.field(field) else { return };
        let offsets = [
            (FieldSection::TileOffsets, entry.file_bytes),
            (FieldSection::TileVarOffsets, entry.var_file_bytes),
            (FieldSection::TileValidityOffsets, entry.validity_file_bytes),
        ];
        for (section, file_bytes) in offsets {
            if let Some(payload) = footer.section(section, field).and_then(|offset| self.tile(offset)) {
                corpus.add("tile_offsets", &[&file_bytes.to_le_bytes(), payload]);
            }
        }
        let lists = [
            (FieldSection::TileVarSizes, "tile_sizes"),
            (FieldSection::Sums, "tile_sums"),
            (FieldSection::NullCounts, "tile_null_counts"),
        ];
        for (section, target) in lists {
            if let Some(payload) = footer.section(section, field).and_then(|offset| self.tile(offset)) {
                corpus.add(target, &[payload]);
            }
        }
    }

    fn statistics(&self, footer: &Footer, field: FieldId, corpus: &mut Corpus) {
        for section in [FieldSection::Mins, FieldSection::Maxes] {
            self.bounds(field, footer.section(section, field), corpus);
        }
    }

    fn bounds(&self, field: FieldId, offset: Option<u64>, corpus: &mut Corpus) {
        let (Some(payload), Some(shape)) = (offset.and_then(|offset| self.tile(offset)), field.shape(&self.schema)) else {
            return;
        };
        let size = match ValueSize::of(shape) {
            ValueSize::Var => 0,
            ValueSize::Fixed(bytes) => u8::try_from(bytes).unwrap_or(0),
        };
        corpus.add("tile_min_max", &[&[size], payload]);
    }
}
