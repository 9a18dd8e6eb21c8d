//! What a vector says about itself.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use talavera_filter::{FilterList, FilterSpec, WebpFormat};
use talavera_pipeline::EncryptionKey;
use talavera_types::{Datatype, FormatVersion};

/// A set of vectors.
pub(crate) struct Vectors(Vec<Vector>);

/// One array with one attribute, written by one release of the reference.
pub(crate) struct Vector {
    pub(crate) id: String,
    pub(crate) version: FormatVersion,
    /// Release of the library, comparable.
    pub(crate) library: (u32, u32),
    pub(crate) key: Option<EncryptionKey>,
    pub(crate) malformed: bool,
    pub(crate) undefined_values: bool,
    pub(crate) fields: Vec<Field>,
}

/// An attribute, a dimension, or all dimensions zipped.
pub(crate) struct Field {
    /// Of the attribute or dimension.
    pub(crate) datatype: Datatype,
    /// `None` where cells differ in length.
    pub(crate) cell_bytes: Option<usize>,
    pub(crate) filters: FilterList,
    pub(crate) offsets_filters: FilterList,
    pub(crate) validity_filters: FilterList,
    /// How many dimensions are zipped in this field, if they are.
    pub(crate) zipped_dimensions: Option<usize>,
    /// Cells of each tile.
    pub(crate) tiles: Vec<usize>,
    pub(crate) data: Vec<u8>,
    /// What comes back where a filter is lossy.
    pub(crate) read_back: Vec<u8>,
    /// Starts of cells, for cells that differ in length.
    pub(crate) offsets: Vec<u64>,
    pub(crate) validity: Vec<u8>,
    /// Data files: fixed or offsets, variable, validity.
    pub(crate) main_file: Vec<u8>,
    pub(crate) var_file: Vec<u8>,
    pub(crate) validity_file: Vec<u8>,
}

impl Vectors {
    /// The set in this repository: one JSON file, bytes in hexadecimal digits.
    pub(crate) fn from_hex(path: &Path) -> Self {
        let index = std::fs::read(path).unwrap();
        Self::new(&index, |_, value| {
            let digits = value.as_str().unwrap();
            (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
        })
    }

    /// The whole set: an index and two packs of bytes, `[offset, length]`.
    pub(crate) fn from_packs(folder: &Path) -> Self {
        let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
        let packs = BTreeMap::from([("input", read("inputs.bin")), ("files", read("tiles.bin"))]);
        Self::new(&read("index.json"), |pack, value| {
            let (offset, len) = (number(&value[0]), number(&value[1]));
            packs[pack][offset..offset + len].to_vec()
        })
    }

    fn new(index: &[u8], bytes: impl Fn(&str, &Value) -> Vec<u8>) -> Self {
        let index: Value = serde_json::from_slice(index).unwrap();
        Self(index["vectors"].as_array().unwrap().iter().map(|entry| Vector::new(entry, &bytes)).collect())
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Vector> {
        self.0.iter()
    }
}

impl Vector {
    fn new(entry: &Value, bytes: &dyn Fn(&str, &Value) -> Vec<u8>) -> Self {
        let map = |pack: &str| -> BTreeMap<String, Vec<u8>> {
            let object = entry[pack].as_object().unwrap();
            object.iter().map(|(name, value)| (name.clone(), bytes(pack, value))).collect()
        };
        let (inputs, files) = (map("input"), map("files"));
        let mut fields = vec![attribute(entry, &inputs, &files)];
        if let Some(zipped) = inputs.get("coords_zipped") {
            fields.push(zipped_coordinates(entry, zipped, &files));
        } else if let Some(dimensions) = entry["dims"].as_array() {
            let field = |(index, dimension)| dimension_field(entry, index, dimension, &inputs, &files);
            fields.extend(dimensions.iter().enumerate().map(field));
        }
        let mut library = entry["library"].as_str().unwrap().split('.').map(|part| part.parse().unwrap());
        Self {
            id: entry["id"].as_str().unwrap().to_owned(),
            version: FormatVersion::new(number(&entry["format_version"]) as u32).unwrap(),
            library: (library.next().unwrap(), library.next().unwrap()),
            key: entry["encryption"]["key_ascii"].as_str().map(|key| EncryptionKey::from_bytes(key.as_bytes()).unwrap()),
            malformed: entry.get("malformed").is_some(),
            undefined_values: entry.get("undefined_values").is_some(),
            fields,
        }
    }

    /// The numbers of the filters that its fields' own lists hold, and of encryption.
    pub(crate) fn filter_codes(&self) -> Vec<u8> {
        let filters = self.fields.iter().flat_map(|field| &field.filters.filters);
        filters.map(|filter| filter.filter_type().code()).chain(self.key.as_ref().map(|_| 11)).collect()
    }
}

fn attribute(entry: &Value, inputs: &BTreeMap<String, Vec<u8>>, files: &BTreeMap<String, Vec<u8>>) -> Field {
    let datatype = Datatype::from_code(number(&entry["datatype_code"]) as u8).unwrap();
    let values = entry["cell_val_num"].as_u64();
    let cells = number(&entry["cells"]);
    let file = |suffix: &str| {
        let name = if files.contains_key("a0.tdb") { "a0" } else { "a" };
        files.get(&format!("{name}{suffix}.tdb")).cloned().unwrap_or_default()
    };
    Field {
        datatype,
        cell_bytes: values.map(|values| values as usize * datatype.size()),
        filters: FilterList {
            max_chunk_bytes: entry["max_chunk_size"].as_u64().map_or(65536, |bytes| bytes as u32),
            ..filter_list(entry, "filters", vec![])
        },
        offsets_filters: offsets_filters(entry),
        validity_filters: filter_list(entry, "validity_filters", vec![FilterSpec::Rle { level: -1 }]),
        zipped_dimensions: None,
        tiles: match entry["extent"].as_u64() {
            Some(extent) => vec![extent as usize; cells / extent as usize],
            None => vec![cells],
        },
        read_back: inputs.get("read_back").unwrap_or(&inputs["data"]).clone(),
        data: inputs["data"].clone(),
        offsets: inputs.get("offsets").map(|bytes| u64s(bytes)).unwrap_or_default(),
        validity: inputs.get("validity").cloned().unwrap_or_default(),
        main_file: file(""),
        var_file: file("_var"),
        validity_file: file("_validity"),
    }
}

fn dimension_field(
    entry: &Value,
    index: usize,
    dimension: &Value,
    inputs: &BTreeMap<String, Vec<u8>>,
    files: &BTreeMap<String, Vec<u8>>,
) -> Field {
    let name = dimension["name"].as_str().unwrap();
    let datatype = Datatype::from_name(dimension["datatype"].as_str().unwrap()).unwrap();
    let own = filter_list(dimension, "filters", vec![]);
    let file = |suffix: &str| files.get(&format!("d{index}{suffix}.tdb")).cloned().unwrap_or_default();
    let data = inputs[&format!("dim:{name}")].clone();
    Field {
        datatype,
        cell_bytes: (datatype != Datatype::StringAscii).then(|| datatype.size()),
        // A dimension without filters of its own has those of the coordinates.
        filters: if own.is_empty() { coordinate_filters(entry) } else { own },
        offsets_filters: offsets_filters(entry),
        validity_filters: FilterList::new(vec![]),
        zipped_dimensions: None,
        tiles: vec![number(&entry["cells"])],
        read_back: data.clone(),
        data,
        offsets: inputs.get(&format!("dim_offsets:{name}")).map(|bytes| u64s(bytes)).unwrap_or_default(),
        validity: vec![],
        main_file: file(""),
        var_file: file("_var"),
        validity_file: vec![],
    }
}

fn zipped_coordinates(entry: &Value, zipped: &[u8], files: &BTreeMap<String, Vec<u8>>) -> Field {
    let dimensions = entry["dims"].as_array().unwrap();
    let datatype = Datatype::from_name(dimensions[0]["datatype"].as_str().unwrap()).unwrap();
    Field {
        datatype,
        cell_bytes: Some(dimensions.len() * datatype.size()),
        filters: coordinate_filters(entry),
        offsets_filters: FilterList::new(vec![]),
        validity_filters: FilterList::new(vec![]),
        zipped_dimensions: Some(dimensions.len()),
        tiles: vec![number(&entry["cells"])],
        read_back: zipped.to_vec(),
        data: zipped.to_vec(),
        offsets: vec![],
        validity: vec![],
        main_file: files["__coords.tdb"].clone(),
        var_file: vec![],
        validity_file: vec![],
    }
}

fn offsets_filters(entry: &Value) -> FilterList {
    filter_list(entry, "offsets_filters", vec![FilterSpec::Zstd { level: -1 }])
}

fn coordinate_filters(entry: &Value) -> FilterList {
    filter_list(entry, "coords_filters", vec![FilterSpec::Zstd { level: -1 }])
}

fn filter_list(entry: &Value, name: &str, default: Vec<FilterSpec>) -> FilterList {
    let image = entry["image"].as_array().map(|sides| (number(&sides[0]) as u16, number(&sides[1]) as u16));
    let filters = entry[name].as_array();
    FilterList::new(filters.map_or(default, |filters| filters.iter().map(|filter| filter_spec(filter, image)).collect()))
}

fn filter_spec(filter: &Value, image: Option<(u16, u16)>) -> FilterSpec {
    let level = filter["level"].as_i64().unwrap_or(-1) as i32;
    let reinterpret = filter["reinterpret"].as_str().map_or(Datatype::Any, |name| Datatype::from_name(name).unwrap());
    let window = |name: &str| filter[name].as_u64().unwrap() as u32;
    match filter["name"].as_str().unwrap() {
        "NONE" => FilterSpec::None,
        "GZIP" => FilterSpec::Gzip { level },
        "ZSTD" => FilterSpec::Zstd { level },
        "LZ4" => FilterSpec::Lz4 { level },
        "RLE" => FilterSpec::Rle { level },
        "BZIP2" => FilterSpec::Bzip2 { level },
        "DOUBLE_DELTA" => FilterSpec::DoubleDelta { level, reinterpret },
        "BIT_WIDTH_REDUCTION" => FilterSpec::BitWidthReduction { max_window_bytes: window("bit_width_max_window") },
        "BITSHUFFLE" => FilterSpec::Bitshuffle,
        "BYTESHUFFLE" => FilterSpec::Byteshuffle,
        "POSITIVE_DELTA" => FilterSpec::PositiveDelta { max_window_bytes: window("positive_delta_max_window") },
        "CHECKSUM_MD5" => FilterSpec::ChecksumMd5,
        "CHECKSUM_SHA256" => FilterSpec::ChecksumSha256,
        "DICTIONARY" => FilterSpec::Dictionary { level },
        "SCALE_FLOAT" => FilterSpec::FloatScale {
            scale: filter["factor"].as_f64().unwrap(),
            offset: filter["offset"].as_f64().unwrap(),
            byte_width: filter["bytewidth"].as_u64().unwrap(),
        },
        "XOR" => FilterSpec::Xor,
        "WEBP" => {
            let (y_extent, x_extent) = image.unwrap();
            let formats = [WebpFormat::None, WebpFormat::Rgb, WebpFormat::Bgr, WebpFormat::Rgba, WebpFormat::Bgra];
            FilterSpec::Webp {
                quality: filter["quality"].as_f64().unwrap() as f32,
                format: formats[number(&filter["input_format"])],
                lossless: number(&filter["lossless"]) != 0,
                y_extent,
                x_extent,
            }
        }
        "DELTA" => FilterSpec::Delta { level, reinterpret },
        name => panic!("no filter is called {name}"),
    }
}

fn u64s(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}
