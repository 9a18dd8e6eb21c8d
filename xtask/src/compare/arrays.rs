//! The arrays of the comparison, made by our engine on first use and kept in `.data/compare`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use talavera_engine::{
    ArrayWriter, CreateOptions, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
};
use talavera_schema::{ArraySchema, NdRange};
use talavera_storage::{LocalStorage, ObjectPath, Storage};
use talavera_types::Layout;

use crate::Failure;

/// The cells of one write, field by field.
pub(crate) type Fields = Vec<(String, FieldBuffer)>;

/// An array of the comparison.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    /// Its folder's name; another one when schema or cells change.
    pub(crate) name: &'static str,
    pub(crate) schema: fn() -> Result<ArraySchema, Failure>,
    /// The cells of one of its writes, counted from 1; the same each time.
    pub(crate) cells: fn(u64) -> Result<Fields, Failure>,
    /// How many writes make it.
    pub(crate) writes: u64,
}

impl Subject {
    pub(crate) fn folder(&self) -> PathBuf {
        crate::root().join(".data/compare").join(self.name)
    }

    /// Makes the array if it is not there yet.
    pub(crate) fn make(&self) -> Result<(), Failure> {
        let folder = self.folder();
        if folder.join("complete").exists() {
            return Ok(());
        }
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder)?;
        let writer = self.create_empty(&folder)?;
        for write in 1..=self.writes {
            write_cells(&writer, &(self.cells)(write)?, WriteOptions { timestamp: Some(write), ..WriteOptions::default() })?;
        }
        Ok(std::fs::write(folder.join("complete"), b"")?)
    }

    /// An empty array of the same schema, in `folder/array`.
    pub(crate) fn create_empty(&self, folder: &Path) -> Result<ArrayWriter, Failure> {
        let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder.join("array"))?);
        create_array(&*storage, &ObjectPath::root(), &(self.schema)()?, &[], &CreateOptions::default())?;
        Ok(ArrayWriter::open(storage, ObjectPath::root(), EngineOptions::default())?)
    }

    pub(crate) fn open(&self) -> Result<OpenArray, Failure> {
        let storage = Arc::new(LocalStorage::new(self.folder().join("array"))?);
        Ok(OpenArray::open(storage, ObjectPath::root(), TimeWindow::until(u64::MAX - 1), EngineOptions::default())?)
    }
}

/// Writes cells as one fragment: the whole of a dense array, or cells of a sparse one.
pub(crate) fn write_cells(writer: &ArrayWriter, fields: &Fields, options: WriteOptions) -> Result<(), Failure> {
    if writer.schema().is_dense() {
        writer.write_dense(&whole(writer.schema()), Layout::RowMajor, fields, options)?;
    } else {
        writer.write_sparse(fields, options)?;
    }
    Ok(())
}

/// The whole domain.
pub(crate) fn whole(schema: &ArraySchema) -> NdRange {
    NdRange(schema.domain.dimensions.iter().filter_map(|dimension| dimension.domain.clone()).collect())
}
