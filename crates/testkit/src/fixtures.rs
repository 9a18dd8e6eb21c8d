//! Arrays that real libraries wrote, with the content that they read back.
//!
//! A fixture is a folder with an `array` or a `group` and an `expected.json`. The values in there become the bytes of
//! cells here, so that a test compares what the library stored with what was decoded, byte for byte.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use talavera_types::{Datatype, DatatypeClass};

/// A fixture.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its folder.
    pub folder: PathBuf,
    /// What the library says of it.
    pub expected: Value,
}

/// The bytes of a cell; none for a null.
pub type Cell = Option<Vec<u8>>;

impl Case {
    /// Every fixture below a folder, in the order of their paths. None when the folder does not exist.
    ///
    /// # Panics
    /// When an `expected.json` is not JSON; that is how a test fails.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test helper fails by panicking")]
    pub fn all_below(folder: &Path) -> Vec<Self> {
        let mut cases = Vec::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            if let Ok(text) = std::fs::read(folder.join("expected.json")) {
                let expected = serde_json::from_slice(&text).expect("expected.json is JSON");
                cases.push(Self { folder, expected });
                continue;
            }
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
        }
        cases.sort_by(|a, b| a.folder.cmp(&b.folder));
        cases
    }

    /// Its last two folder names, as in `v12/sparse_dups`.
    #[must_use]
    pub fn name(&self) -> String {
        let parts: Vec<_> = self.folder.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
        parts.into_iter().rev().collect::<Vec<_>>().join("/")
    }

    /// Where the array lies.
    #[must_use]
    pub fn array(&self) -> PathBuf {
        self.folder.join("array")
    }

    /// The format version, where the fixture says one.
    #[must_use]
    pub fn format_version(&self) -> Option<u64> {
        self.expected.get("format_version").and_then(Value::as_u64)
    }

    /// The encryption key's 32 bytes, for an encrypted array.
    #[must_use]
    pub fn key(&self) -> Option<Vec<u8>> {
        let key = self.expected.get("encryption")?.get("key")?.as_str()?;
        Some(key.bytes().collect())
    }
}

/// The larger set of fixtures beside a checkout whose crate lies at `manifest_folder`, if it is there.
///
/// # Panics
/// When the shared folder is there without fixtures, as then a test would pass by comparing nothing.
#[must_use]
pub fn shared_fixtures(manifest_folder: &str) -> Option<PathBuf> {
    let shared = Path::new(manifest_folder).join("../../../shared");
    if !shared.is_dir() {
        return None;
    }
    let fixtures = shared.join("fixtures");
    assert!(fixtures.is_dir(), "{} has no fixtures", shared.display());
    Some(fixtures)
}

/// The bytes of a cell from its JSON form.
///
/// # Panics
/// When the value is none of the datatype; that is how a test fails.
#[must_use]
#[expect(clippy::panic, reason = "a test helper fails by panicking")]
pub fn cell(datatype: Datatype, value: &Value) -> Cell {
    match value {
        Value::Null => None,
        Value::Array(values) => Some(values.iter().flat_map(|value| number(datatype, value)).collect()),
        Value::Object(object) => Some(hex(object.get("hex").and_then(Value::as_str).unwrap_or_default())),
        Value::String(text) if !datatype.is_float() => Some(string(datatype, text)),
        Value::Number(_) | Value::String(_) => Some(number(datatype, value)),
        Value::Bool(_) => panic!("{value} is no cell"),
    }
}

/// Bytes that are equal exactly for cells that a test should take for equal: every NaN is the same one.
#[must_use]
pub fn canonical(datatype: Datatype, bytes: &[u8]) -> Vec<u8> {
    match datatype {
        Datatype::Float32 => bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .flat_map(|value| if value.is_nan() { f32::NAN.to_le_bytes() } else { value.to_le_bytes() })
            .collect(),
        Datatype::Float64 => bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| f64::from_le_bytes(*bytes))
            .flat_map(|value| if value.is_nan() { f64::NAN.to_le_bytes() } else { value.to_le_bytes() })
            .collect(),
        _ => bytes.to_vec(),
    }
}

#[expect(clippy::panic, reason = "a test helper fails by panicking")]
#[expect(clippy::cast_possible_truncation, reason = "the decimal is that of a 32-bit float")]
fn number(datatype: Datatype, value: &Value) -> Vec<u8> {
    let float = || match value {
        Value::String(text) => match text.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => panic!("{text:?} is no number"),
        },
        _ => value.as_f64().unwrap_or_else(|| panic!("{value} is no number")),
    };
    let bytes = match datatype {
        Datatype::Float32 => return (float() as f32).to_le_bytes().to_vec(),
        Datatype::Float64 => return float().to_le_bytes().to_vec(),
        _ if datatype.class() == DatatypeClass::Signed => {
            value.as_i64().unwrap_or_else(|| panic!("{value} is no {datatype}")).to_le_bytes()
        }
        _ => value.as_u64().unwrap_or_else(|| panic!("{value} is no {datatype}")).to_le_bytes(),
    };
    bytes.iter().copied().take(datatype.size()).collect()
}

#[expect(clippy::panic, reason = "a test helper fails by panicking")]
fn string(datatype: Datatype, text: &str) -> Vec<u8> {
    use Datatype as D;
    match datatype {
        D::Char | D::StringAscii => text
            .chars()
            .map(|character| u8::try_from(u32::from(character)).unwrap_or_else(|_| panic!("{text:?} is not Latin-1")))
            .collect(),
        D::StringUtf16 | D::StringUcs2 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        D::StringUtf32 | D::StringUcs4 => text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect(),
        D::Blob | D::GeomWkb => hex(text),
        _ => text.as_bytes().to_vec(),
    }
}

#[expect(clippy::panic, reason = "a test helper fails by panicking")]
fn hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_else(|| panic!("{text:?} is not hexadecimal"));
    let pair = |pair: &[u8; 2]| u8::try_from(digit(pair[0]) * 16 + digit(pair[1])).unwrap_or_default();
    text.as_bytes().as_chunks::<2>().0.iter().map(pair).collect()
}

/// One read of a fixture: columns of cells, in the order of the file.
#[derive(Debug, Clone)]
pub struct ExpectedRead<'c> {
    /// The read as it stands in the file.
    pub json: &'c Value,
    /// The number of cells.
    pub count: usize,
}

impl<'c> ExpectedRead<'c> {
    /// A read, or what was written in the form of a read.
    #[must_use]
    pub fn new(json: &'c Value) -> Self {
        let count = json.get("count").and_then(Value::as_u64).unwrap_or_default();
        Self { json, count: usize::try_from(count).unwrap_or_default() }
    }

    /// The time at which the array is to be opened; none for now.
    #[must_use]
    pub fn at(&self) -> Option<u64> {
        self.json.get("at").and_then(Value::as_u64)
    }

    /// The closed range of each dimension; none for no restriction.
    #[must_use]
    pub fn subarray(&self) -> Option<&'c Vec<Value>> {
        self.json.get("subarray").and_then(Value::as_array)
    }

    /// Whether cells come in column-major order.
    #[must_use]
    pub fn is_col_major(&self) -> bool {
        self.json.get("layout").and_then(Value::as_str) == Some("col-major")
    }

    /// The columns with their names: dimensions first, then attributes.
    pub fn columns(&self) -> impl Iterator<Item = (&'c str, &'c Vec<Value>)> + use<'c> {
        let of = |section: &str| self.json.get(section).and_then(Value::as_object);
        let columns = |section: &'c Map<String, Value>| section.iter();
        let both = [of("dims"), of("attrs")].into_iter().flatten().flat_map(columns);
        both.filter_map(|(name, cells)| Some((name.as_str(), cells.as_array()?)))
    }
}
