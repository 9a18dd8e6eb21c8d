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
use crate::names::next_name;
use crate::order::CellOrder;
use crate::read::sparse::sort::first_out_of_order;
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
        fields: Vec<(String, FieldBuffer)>,
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
    pub fn write_sparse(&self, fields: Vec<(String, FieldBuffer)>, options: WriteOptions) -> Result<Option<String>, Error> {
        self.check_sparse()?;
        let mut cells = Cells::new(&self.schema, fields)?;
        if cells.count == 0 {
            return Ok(None);
        }
        let duplicates = self.duplicates(options)?;
        self.options.run(|| {
            let places = sparse::ordered(&self.schema, &mut cells, duplicates)?;
            let mut writer = self.fragment(options)?;
            sparse::append(&mut writer, &self.schema, &cells, &places)?;
            sparse::commit(writer, &self.schema).map(Some)
        })
    }

    /// Begins a fragment of a sparse array whose cells come in global order, over as many calls as it takes.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a dense array.
    pub fn stream_sparse(&self, options: WriteOptions) -> Result<SparseStream<'_>, Error> {
        self.check_sparse()?;
        let duplicates = self.duplicates(options)?;
        Ok(SparseStream { writer: self, options, duplicates, fragment: None, pending: None, last: None })
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

    fn fragment(&self, options: WriteOptions) -> Result<FragmentWriter, Error> {
        let times = options.timestamp.map(|time| (time, time));
        let name = next_name(times, Some(self.schema.version.for_new_fragments()))?;
        let schema = (Arc::clone(&self.schema), self.schema_name.clone());
        FragmentWriter::new(Arc::clone(&self.storage), self.options.clone(), &self.root, schema, name)
    }
}

/// A fragment of a sparse array that takes cells in global order, call by call.
///
/// Nothing of it is seen before [`SparseStream::finish`]; dropped before, nothing of it stays.
pub struct SparseStream<'w> {
    writer: &'w ArrayWriter,
    options: WriteOptions,
    duplicates: Duplicates,
    fragment: Option<FragmentWriter>,
    /// Cells that do not fill a tile yet.
    pending: Option<Cells>,
    /// The coordinates of the last cell taken.
    last: Option<Vec<FieldBuffer>>,
}

impl SparseStream<'_> {
    /// Takes more cells, which follow those before in the array's global order.
    ///
    /// # Errors
    /// As [`ArrayWriter::write_sparse`], and for cells that are not in order.
    pub fn append(&mut self, fields: Vec<(String, FieldBuffer)>) -> Result<(), Error> {
        let schema = &self.writer.schema;
        let cells = Cells::new(schema, fields)?;
        if cells.count == 0 {
            return Ok(());
        }
        self.check_order(&cells)?;
        let first = schema.attributes.len();
        let last = cells.count - 1;
        self.last = Some(cells.buffers.iter().skip(first).map(|column| column.pick(std::iter::once(last))).collect());
        let cells = match self.pending.take() {
            Some(pending) => Cells {
                buffers: pending.buffers.iter().zip(&cells.buffers).map(|(pending, more)| pending.joined(more)).collect(),
                count: pending.count + cells.count,
            },
            None => cells,
        };
        let capacity = usize::try_from(schema.capacity).unwrap_or(usize::MAX).max(1);
        let whole = cells.count - cells.count % capacity;
        if whole > 0 {
            self.write(&cells, 0..whole)?;
        }
        if whole < cells.count {
            let pick = |buffer: &FieldBuffer| buffer.pick(whole..cells.count);
            self.pending = Some(Cells { buffers: cells.buffers.iter().map(pick).collect(), count: cells.count - whole });
        }
        Ok(())
    }

    /// Makes the cells visible; gives the name of the new fragment, none when there were no cells.
    ///
    /// # Errors
    /// As [`ArrayWriter::write_sparse`].
    pub fn finish(mut self) -> Result<Option<String>, Error> {
        if let Some(pending) = self.pending.take() {
            self.write(&pending, 0..pending.count)?;
        }
        match self.fragment.take() {
            Some(fragment) => sparse::commit(fragment, &self.writer.schema).map(Some),
            None => Ok(None),
        }
    }

    /// Leaves nothing of the cells behind, as dropping does.
    pub fn abort(self) {}

    fn write(&mut self, cells: &Cells, range: std::ops::Range<usize>) -> Result<(), Error> {
        let fragment = match &mut self.fragment {
            Some(fragment) => fragment,
            None => self.fragment.insert(self.writer.fragment(self.options)?),
        };
        let places = range.map(|place| u32::try_from(place).map_err(|_| Error::invalid("a call takes at most 2^32 cells")));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        self.writer.options.run(|| sparse::append(fragment, &self.writer.schema, cells, &places))
    }

    fn check_order(&self, cells: &Cells) -> Result<(), Error> {
        let schema = &self.writer.schema;
        let coordinates = cells.buffers.get(schema.attributes.len()..).unwrap_or_default();
        super::check::check_in_domain(schema, coordinates)?;
        let mut columns = coordinates.to_vec();
        if let Some(last) = &self.last {
            columns = last.iter().zip(&columns).map(|(last, column)| last.joined(column)).collect();
        }
        let count = columns.first().map_or(0, FieldBuffer::len);
        let count = u32::try_from(count).map_err(|_| Error::invalid("a call takes at most 2^32 cells"))?;
        let order = CellOrder::new(schema, Layout::GlobalOrder)?;
        let tile = sparse::as_tile(columns, count);
        if let Some(cell) = first_out_of_order(&tile, &order, self.duplicates == Duplicates::Allow) {
            let text = |cell| sparse::coordinates_text(schema, &tile.coordinates, cell);
            let (cell, before) = (text(cell), text(cell.saturating_sub(1)));
            return Err(Error::invalid(format!("cells are not in global order: {cell} comes behind {before}")));
        }
        Ok(())
    }
}

impl std::fmt::Debug for SparseStream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseStream").field("array", &self.writer.root).finish_non_exhaustive()
    }
}
