//! The write: which cells, which time, what of duplicates.

use std::sync::Arc;

use talavera_directory::ArrayDirectory;
use talavera_schema::{ArraySchema, NdRange};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::Layout;

use super::check::Cells;
use super::dense::DenseWrite;
use super::fragment::FragmentWriter;
use super::sparse;
use super::stream::{DenseStream, SparseStream};
use crate::names::next_name;
use crate::{EngineOptions, Error, FieldBuffer, metadata_file};

/// What becomes of cells of equal coordinates in one sparse write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// The write fails. The default for arrays that do not allow duplicates.
    #[default]
    Refuse,
    /// The cell given last stays.
    KeepLast,
    /// All stay; only for arrays that allow it.
    Allow,
}

/// How cells are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteOptions {
    /// The time of the write in milliseconds since 1970; now without one.
    pub timestamp: Option<u64>,
    /// What becomes of cells of equal coordinates; without an answer they are refused, or allowed where the array allows
    /// them.
    pub duplicates: Option<Duplicates>,
}

/// Writes cells into an array.
///
/// It goes by the newest schema of the array, whatever the time of the write. Each write makes one fragment, which is
/// there as a whole once the call returns. Several writers need no lock.
#[derive(Debug, Clone)]
pub struct ArrayWriter {
    storage: Arc<dyn Storage>,
    root: ObjectPath,
    options: EngineOptions,
    schema: Arc<ArraySchema>,
    schema_name: String,
}

impl ArrayWriter {
    /// Opens an array for writing.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no array; when its schema cannot be read.
    pub fn open(storage: Arc<dyn Storage>, root: ObjectPath, options: EngineOptions) -> Result<Self, Error> {
        let directory = ArrayDirectory::read(&*storage, &root)?;
        let not_found = || Error::NotFound { path: root.clone(), wanted: "array" };
        let file = directory.newest_schema().ok_or_else(not_found)?;
        let payload = metadata_file::read_file(&*storage, &file.path, &options)?;
        let schema = ArraySchema::decode(&payload).map_err(Error::corrupt(&file.path))?;
        let schema_name = file.path.name().to_owned();
        Ok(Self { storage, root, options, schema: Arc::new(schema), schema_name })
    }

    /// The schema that cells have to fit.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// Writes a subarray of a dense array; gives the name of the new fragment.
    ///
    /// `fields` holds every attribute with as many cells as the subarray, in `layout` (row-major or column-major).
    ///
    /// # Errors
    /// [`Error::Invalid`] for a sparse array, a subarray out of the domain or current domain, missing, unknown or
    /// mismatched fields; [`Error::Encode`] for cells that a filter refuses; what storage says.
    pub fn write_dense(
        &self,
        subarray: &NdRange,
        layout: Layout,
        fields: &[(String, FieldBuffer)],
        options: WriteOptions,
    ) -> Result<String, Error> {
        if !self.schema.is_dense() {
            return Err(Error::invalid("a subarray is written to dense arrays; cells of sparse arrays bring their coordinates"));
        }
        let cells = Cells::new(&self.schema, fields)?;
        let write = DenseWrite::new(&self.schema, subarray, layout)?;
        if cells.count != write.count {
            let (found, expected) = (cells.count, write.count);
            return Err(Error::invalid(format!("the subarray has {expected} cells, {found} were given")));
        }
        self.options.run(|| {
            let mut writer = self.fragment(options)?;
            write.append(&mut writer, &cells)?;
            writer.commit(subarray.clone())
        })
    }

    /// Writes cells of a sparse array, in any order; gives the name of the new fragment, none when there are no cells.
    ///
    /// `fields` holds every dimension and every attribute, with as many cells each.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a dense array, coordinates out of the domain or current domain, duplicates that are not
    /// allowed, missing, unknown or mismatched fields; [`Error::Encode`] for cells that a filter refuses; what storage
    /// says.
    pub fn write_sparse(&self, fields: &[(String, FieldBuffer)], options: WriteOptions) -> Result<Option<String>, Error> {
        self.check_sparse()?;
        let cells = Cells::new(&self.schema, fields)?;
        if cells.count == 0 {
            return Ok(None);
        }
        let duplicates = self.duplicates(options)?;
        self.options.run(|| {
            let places = sparse::ordered(&self.schema, &cells, duplicates)?;
            let mut writer = self.fragment(options)?;
            sparse::append(&mut writer, &self.schema, &cells, &places)?;
            sparse::commit(writer, &self.schema).map(Some)
        })
    }

    /// Begins a fragment of a dense array whose cells come in global order, over as many calls as it takes: tile by tile in
    /// the order of tiles, in each tile in the order of cells.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a sparse array, and for a subarray out of the domain or current domain or not of whole
    /// tiles.
    pub fn stream_dense(&self, subarray: &NdRange, options: WriteOptions) -> Result<DenseStream<'_>, Error> {
        if !self.schema.is_dense() {
            return Err(Error::invalid("a subarray is written to dense arrays; cells of sparse arrays bring their coordinates"));
        }
        DenseStream::new(self, subarray.clone(), options)
    }

    /// Begins a fragment of a sparse array whose cells come in global order, over as many calls as it takes.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a dense array.
    pub fn stream_sparse(&self, options: WriteOptions) -> Result<SparseStream<'_>, Error> {
        self.check_sparse()?;
        let duplicates = self.duplicates(options)?;
        Ok(SparseStream::new(self, options, duplicates))
    }

    pub(super) fn options(&self) -> &EngineOptions {
        &self.options
    }

    pub(super) fn root(&self) -> &ObjectPath {
        &self.root
    }

    fn check_sparse(&self) -> Result<(), Error> {
        if self.schema.is_dense() {
            return Err(Error::invalid("cells with coordinates are written to sparse arrays; a dense array takes a subarray"));
        }
        Ok(())
    }

    fn duplicates(&self, options: WriteOptions) -> Result<Duplicates, Error> {
        match options.duplicates {
            None if self.schema.allows_dups => Ok(Duplicates::Allow),
            Some(Duplicates::Allow) if !self.schema.allows_dups => {
                Err(Error::invalid("the array does not allow cells of equal coordinates"))
            }
            asked => Ok(asked.unwrap_or_default()),
        }
    }

    pub(super) fn fragment(&self, options: WriteOptions) -> Result<FragmentWriter, Error> {
        let times = options.timestamp.map(|time| (time, time));
        let name = next_name(times, Some(self.schema.version.for_new_fragments()))?;
        let schema = (Arc::clone(&self.schema), self.schema_name.clone());
        FragmentWriter::new(Arc::clone(&self.storage), self.options.clone(), &self.root, schema, name)
    }
}
