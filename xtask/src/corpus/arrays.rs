//! The small files of whole arrays and groups, sorted by where they lie and what they are called.

use std::fs;
use std::path::Path;

use talavera_codec::{Limits, Writer};
use talavera_pipeline::{EncryptionKey, GenericTile};
use talavera_schema::ArraySchema;

use super::{Corpus, MAX_SEED_BYTES};
use crate::Failure;
use crate::fixtures::files_below;

/// The key of the encrypted arrays among the fixtures.
const KEY: [u8; 32] = *b"0123456789abcdeF0123456789abcdeF";
/// Files of an array that hold no cells are smaller than this.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Seeds from all files below a folder; none if it is not there.
pub(super) fn seeds(folder: &Path, corpus: &mut Corpus) -> Result<(), Failure> {
    if !folder.is_dir() {
        return Ok(());
    }
    for path in files_below(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        corpus.add("timestamped_name", &[name.as_bytes()]);
        corpus.add("timestamped_name", &[folder.as_bytes()]);
        if fs::metadata(&path)?.len() > MAX_FILE_BYTES {
            continue;
        }
        let kind = Kind::of(&folder, &name);
        if let Some(kind) = kind {
            kind.seeds(&fs::read(&path)?, corpus);
        }
    }
    Ok(())
}

/// What a file is.
#[derive(Clone, Copy)]
enum Kind {
    /// A file that is what the target takes.
    Plain(&'static str),
    /// A generic tile whose payload the target takes.
    Tile(&'static str),
    /// A file that begins with generic tiles.
    Tiles,
}

impl Kind {
    fn of(folder: &str, name: &str) -> Option<Self> {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        Some(match (folder, name, extension) {
            (_, _, Some("con")) => Self::Plain("consolidated_commits"),
            (_, _, Some("ign")) => Self::Plain("ignore_list"),
            (_, _, Some("vac")) => Self::Plain("vacuum_list"),
            (_, _, Some("del")) => Self::Tile("delete_condition"),
            (_, _, Some("upd")) => Self::Tile("update_commit"),
            (_, _, Some("meta")) => Self::Tile("consolidated_footers"),
            ("__schema", _, _) | (_, "__array_schema.tdb", _) => Self::Tile("schema"),
            ("__enumerations", _, _) => Self::Tile("enumeration"),
            ("__meta", _, _) => Self::Tile("array_metadata"),
            ("__group", _, _) => Self::Tile("group_details"),
            (_, "__fragment_metadata.tdb", _) => Self::Tiles,
            _ => return None,
        })
    }

    fn seeds(self, file: &[u8], corpus: &mut Corpus) {
        let target = match self {
            Self::Plain(target) => return corpus.add(target, &[file]),
            Self::Tile(target) => Some(target),
            Self::Tiles => None,
        };
        let decode = |key: Option<&EncryptionKey>| GenericTile::decode(file, key, &Limits::new(MAX_FILE_BYTES << 2)).ok();
        let (encrypted, (payload, len)) = match (decode(None), decode(Some(&EncryptionKey::new(KEY)))) {
            (Some(tile), _) => (0, tile),
            (None, Some(tile)) => (1, tile),
            (None, None) => return,
        };
        corpus.add("generic_tile", &[&[encrypted], file.get(..len).unwrap_or_default()]);
        match target {
            Some(target @ ("delete_condition" | "update_commit")) => condition(target, &payload, corpus),
            Some(target) => {
                corpus.add(target, &[&payload]);
                filter_lists(&payload, corpus);
            }
            None => {}
        }
    }
}

/// The condition, as one on fields of several datatypes: what the fields were, it does not say.
fn condition(target: &'static str, payload: &[u8], corpus: &mut Corpus) {
    const INT32: [u8; 2] = [0, 0];
    const INT64_NULLABLE: [u8; 2] = [1, 4];
    const FLOAT64: [u8; 2] = [3, 0];
    const ASCII: [u8; 2] = [11, 1];
    for field in [INT32, INT64_NULLABLE, FLOAT64, ASCII] {
        corpus.add(target, &[&field, payload]);
        // No release writes update commits; one is a delete condition and then a count of values.
        corpus.add("update_commit", &[&field, payload, &[0; 8]]);
    }
}

fn filter_lists(payload: &[u8], corpus: &mut Corpus) {
    let Ok(schema) = ArraySchema::decode(payload) else { return };
    let version = u8::try_from(schema.version.number()).unwrap_or(0);
    let attributes = schema.attributes.iter().map(|attribute| &attribute.filters);
    for list in attributes.chain([&schema.coords_filters, &schema.offsets_filters, &schema.validity_filters]) {
        let mut w = Writer::new();
        list.encode(&mut w, schema.version);
        corpus.add("filter_list", &[&[version], w.as_slice()]);
    }
}

/// One edit of each kind for each file of each array that the target `array` knows.
pub(super) fn edits(folder: &Path, corpus: &mut Corpus) -> Result<(), Failure> {
    let mut arrays: Vec<_> = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    arrays.retain(|path| path.is_dir());
    arrays.sort();
    for (array, path) in (0u8..).zip(&arrays) {
        for way in 0..6 {
            corpus.add("array", &[&[array, way]]);
        }
        for (file, path) in (0u8..).zip(files_below(path)?) {
            let bytes = fs::metadata(path)?.len().min(MAX_SEED_BYTES as u64);
            for (kind, tail) in
                [(0, &[2, 0xff, 0xff][..]), (1, &[]), (3, &[]), (4, &[0, 1, 0xff]), (4, &[5, 8, 0, 0, 0, 0, 0, 0, 0, 0])]
            {
                let offset = u32::try_from(bytes / 2).unwrap_or(0).to_le_bytes();
                corpus.add("array", &[&[array, file % 6, file, kind], &offset, tail]);
            }
        }
    }
    Ok(())
}
