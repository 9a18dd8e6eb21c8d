//! Reads the files of `tests/data`; `make_data.py` there says what is in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use talavera_codec::Reader;
use talavera_schema::ArraySchema;
use talavera_types::FormatVersion;

/// A real fragment, its generic tiles unwrapped.
pub(crate) struct RealFragment {
    pub(crate) name: String,
    pub(crate) schema: ArraySchema,
    /// The whole metadata file as it was.
    pub(crate) file: Vec<u8>,
    pub(crate) footer_offset: u64,
    /// Payloads by the offset of their generic tile.
    pub(crate) tiles: BTreeMap<u64, Vec<u8>>,
    /// Sizes of data files by name.
    pub(crate) data_files: BTreeMap<String, u64>,
}

impl RealFragment {
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let mut r = Reader::new(&bytes);
        let name = r.string_u32("name").unwrap();
        let schema = ArraySchema::decode(r.bytes_u32("schema").unwrap()).unwrap();
        let file = r.bytes_u32("file").unwrap().to_vec();
        let footer_offset = r.u64("footer offset").unwrap();
        let tiles = (0..r.u32("tiles").unwrap()).map(|_| (r.u64("at").unwrap(), r.bytes_u32("tile").unwrap().to_vec())).collect();
        let files = (0..r.u32("files").unwrap()).map(|_| (r.string_u32("file").unwrap(), r.u64("size").unwrap())).collect();
        r.finish("fragment").unwrap();
        Self { name, schema, file, footer_offset, tiles, data_files: files }
    }

    /// The version that the folder's name tells.
    pub(crate) fn name_version(&self) -> FormatVersion {
        name_version(&self.name)
    }

    /// The footer without the length behind it; empty for versions 1 and 2.
    pub(crate) fn footer_bytes(&self) -> &[u8] {
        let has_length = self.name_version().has_footer_length() || self.schema.domain.has_var_dimension();
        let end = self.file.len() - if has_length { 8 } else { 0 };
        &self.file[usize::try_from(self.footer_offset).unwrap()..end]
    }
}

/// A real file of consolidated footers, with the fragments of its array.
pub(crate) struct RealConsolidated {
    pub(crate) payload: Vec<u8>,
    /// Schema and footer (with the length behind it, if any) by the name of the fragment's folder.
    pub(crate) fragments: BTreeMap<String, (ArraySchema, Vec<u8>)>,
}

impl RealConsolidated {
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let mut r = Reader::new(&bytes);
        let payload = r.bytes_u32("payload").unwrap().to_vec();
        let mut fragments = BTreeMap::new();
        for _ in 0..r.u32("fragments").unwrap() {
            let name = r.string_u32("name").unwrap();
            let schema = ArraySchema::decode(r.bytes_u32("schema").unwrap()).unwrap();
            fragments.insert(name, (schema, r.bytes_u32("footer").unwrap().to_vec()));
        }
        r.finish("consolidated footers").unwrap();
        Self { payload, fragments }
    }
}

pub(crate) fn name_version(name: &str) -> FormatVersion {
    let last = name.rsplit('_').next().unwrap();
    let number = match name.matches('_').count() {
        5 => last.parse().unwrap(),
        _ if last.len() == 32 => 4,
        _ => 2,
    };
    FormatVersion::new(number).unwrap()
}

/// All files in a folder whose names end like this, sorted.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}
