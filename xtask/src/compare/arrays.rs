//! The arrays of the comparison, made by our engine on first use and kept in `.data/compare`.

use std::path::PathBuf;
use std::sync::Arc;

use talavera_engine::{
    ArrayWriter, CellBytes, CreateOptions, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
};
use talavera_schema::{ArraySchema, Attribute, Dimension, FilterList, FilterSpec, NdRange, Range, TileExtent};
use talavera_storage::{LocalStorage, ObjectPath, Storage};
use talavera_types::{ArrayType, CellValNum, Datatype, Layout};

use crate::Failure;

/// Which array a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrayKind {
    /// 8192 × 8192 FLOAT64 in tiles of 512 × 512, with the filters of row D1 to D4.
    Dense(u8),
    /// Sparse INT64 × INT64 with one FLOAT32, like single-cell expression.
    Sparse,
    /// 1,000 fragments of 1,000 cells.
    Fragments,
}

/// An array on disk, and its cells where a row writes them.
pub(crate) struct Data {
    pub(crate) kind: ArrayKind,
    pub(crate) folder: PathBuf,
    pub(crate) schema: ArraySchema,
    cells: usize,
}

/// Rows and columns of the dense array.
const SIDE: i64 = 8192;

impl Data {
    /// The array, made if it is not there yet.
    pub(crate) fn prepare(kind: ArrayKind, cells: usize) -> Result<Self, Failure> {
        let name = match kind {
            ArrayKind::Dense(number) => format!("d{number}"),
            ArrayKind::Sparse => format!("s1-{cells}"),
            ArrayKind::Fragments => "f1".to_owned(),
        };
        let folder = crate::root().join(".data/compare").join(name);
        let data = Self { kind, schema: schema(kind)?, folder, cells };
        if !data.folder.join("complete").exists() {
            drop(std::fs::remove_dir_all(&data.folder));
            data.create(&data.folder)?;
            std::fs::write(data.folder.join("complete"), b"")?;
        }
        Ok(data)
    }

    /// Where the array lies.
    pub(crate) fn array(&self) -> PathBuf {
        self.folder.join("array")
    }

    fn create(&self, folder: &std::path::Path) -> Result<(), Failure> {
        std::fs::create_dir_all(folder)?;
        let storage = self.create_empty(folder)?;
        let writer = ArrayWriter::open(storage, ObjectPath::root(), EngineOptions::default())?;
        match self.kind {
            ArrayKind::Dense(_) => {
                writer.write_dense(&whole(), Layout::RowMajor, self.dense_cells()?, WriteOptions::default())?;
            }
            ArrayKind::Sparse => {
                writer.write_sparse(self.sparse_cells(self.cells, 1)?, WriteOptions::default())?;
            }
            ArrayKind::Fragments => {
                for fragment in 1..=1000 {
                    let options = WriteOptions { timestamp: Some(fragment), ..WriteOptions::default() };
                    writer.write_sparse(self.sparse_cells(1000, fragment)?, options)?;
                }
            }
        }
        Ok(())
    }

    /// An empty array of the same schema, in `folder/array`.
    pub(crate) fn create_empty(&self, folder: &std::path::Path) -> Result<Arc<dyn Storage>, Failure> {
        let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder.join("array"))?);
        create_array(&*storage, &ObjectPath::root(), &self.schema, &[], &CreateOptions::default())?;
        Ok(storage)
    }

    pub(crate) fn open(&self) -> Result<OpenArray, Failure> {
        let storage = Arc::new(LocalStorage::new(self.array())?);
        Ok(OpenArray::open(storage, ObjectPath::root(), TimeWindow::until(u64::MAX - 1), EngineOptions::default())?)
    }

    /// All cells of the dense array, row-major: smooth along a row, with two decimals, as measurements are.
    pub(crate) fn dense_cells(&self) -> Result<Vec<(String, FieldBuffer)>, Failure> {
        let mut random = Random(7);
        let side = usize::try_from(SIDE)?;
        let mut bytes = CellBytes::zeroed(side * side * 8);
        let mut level = 0.0_f64;
        for target in bytes.as_chunks_mut::<8>().0 {
            level += random.unit() - 0.5;
            *target = ((level * 100.0).round() / 100.0).to_le_bytes();
        }
        Ok(vec![("a".to_owned(), FieldBuffer::new(Datatype::Float64, CellValNum::ONE, bytes, None, None)?)])
    }

    /// Cells of a sparse array in random order, no coordinate twice.
    pub(crate) fn sparse_cells(&self, cells: usize, seed: u64) -> Result<Vec<(String, FieldBuffer)>, Failure> {
        /// Coordinates are places in a walk through the whole domain by a step that has no factor in common with it.
        const STEP: u64 = 2_654_435_761;
        const DOMAIN: u64 = 131_072 * 32_768;
        let mut random = Random(seed);
        let [mut rows, mut columns, mut values] = [8, 8, 4].map(|bytes| CellBytes::zeroed(cells * bytes));
        let targets = rows.as_chunks_mut::<8>().0.iter_mut().zip(columns.as_chunks_mut::<8>().0);
        let mut place = random.next() % DOMAIN;
        for ((row, column), value) in targets.zip(values.as_chunks_mut::<4>().0) {
            place = (place + STEP) % DOMAIN;
            *row = (place / 32_768).to_le_bytes();
            *column = (place % 32_768).to_le_bytes();
            *value = f32::from_bits((f32::to_bits(1.0) | u32::try_from(random.next() >> 41)?) + (6 << 23)).to_le_bytes();
        }
        let field = |datatype, bytes| FieldBuffer::new(datatype, CellValNum::ONE, bytes, None, None);
        Ok(vec![
            ("soma_dim_0".to_owned(), field(Datatype::Int64, rows)?),
            ("soma_dim_1".to_owned(), field(Datatype::Int64, columns)?),
            ("soma_data".to_owned(), field(Datatype::Float32, values)?),
        ])
    }

    /// How many cells the sparse array has.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }
}

/// The whole of the dense array.
pub(crate) fn whole() -> NdRange {
    NdRange(vec![Range::Signed(0, SIDE - 1); 2])
}

fn schema(kind: ArrayKind) -> Result<ArraySchema, Failure> {
    let filtered = |mut attribute: Attribute, filters: Vec<FilterSpec>| {
        attribute.filters = FilterList::new(filters);
        attribute
    };
    let dimension = |name: &str, cells: i64, extent: u64, filters: Vec<FilterSpec>| {
        let mut dimension = Dimension::new(name, Datatype::Int64, Range::Signed(0, cells - 1), Some(TileExtent::Integer(extent)));
        dimension.filters = FilterList::new(filters);
        dimension
    };
    if let ArrayKind::Dense(number) = kind {
        let filters = match number {
            1 => vec![FilterSpec::Byteshuffle, FilterSpec::Zstd { level: 5 }],
            2 => Vec::new(),
            3 => vec![FilterSpec::Bitshuffle, FilterSpec::Lz4 { level: -1 }],
            _ => vec![FilterSpec::Gzip { level: 6 }],
        };
        let builder = ArraySchema::builder(ArrayType::Dense).dimension(dimension("y", SIDE, 512, Vec::new()));
        let builder = builder.dimension(dimension("x", SIDE, 512, Vec::new()));
        return Ok(builder.attribute(filtered(Attribute::new("a", Datatype::Float64), filters)).build()?);
    }
    let zstd = || vec![FilterSpec::Zstd { level: 3 }];
    let shuffled = || vec![FilterSpec::Byteshuffle, FilterSpec::Zstd { level: 3 }];
    let builder = ArraySchema::builder(ArrayType::Sparse).capacity(100_000);
    let builder = builder.dimension(dimension("soma_dim_0", 131_072, 2048, zstd()));
    let builder = builder.dimension(dimension("soma_dim_1", 32_768, 2048, shuffled()));
    Ok(builder.attribute(filtered(Attribute::new("soma_data", Datatype::Float32), shuffled())).build()?)
}

/// Numbers that look random and are the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to 1.
    fn unit(&mut self) -> f64 {
        f64::from_bits(f64::to_bits(1.0) | self.next() >> 12) - 1.0
    }
}
