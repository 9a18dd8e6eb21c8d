//! An open array.

use std::path::Path;
use std::sync::Arc;

use talavera_condition::QueryCondition;
use talavera_engine::{
    ArrayMetadata, CellBytes, FieldBuffer, Labels, OpenArray, ReadPart, TimeWindow, WriteOptions, write_labels,
};
use talavera_schema::{ArraySchema, Enumeration, NdRange};
use talavera_storage::Storage;
use talavera_types::{CellValNum, Datatype};

use crate::range::along_dimension;
use crate::{
    CreateOptions, Delete, Error, Evolve, FragmentInfo, MetadataEdit, OpenOptions, RangeEnd, Read, Value, Write, Writer,
};

/// An array, opened at a moment in time.
///
/// It is a snapshot: what is written later, through this value too, is not noticed before it is opened again, see
/// [`Array::reopen`]; and reading fragments that somebody has vacuumed since fails. Clones share everything, and any
/// number of threads may read and write at once.
///
/// ```
/// use talavera::Array;
///
/// let array = Array::open("tests/data/dense_2d_overlap")?;
/// let names: Vec<_> = array.schema().attributes.iter().map(|attribute| &attribute.name).collect();
/// assert_eq!(names, ["temp", "count"]);
/// assert_eq!(array.non_empty_domain().unwrap().0[0].to_string(), "[1, 6]");
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Array {
    open: Arc<OpenArray>,
    storage: Arc<dyn Storage>,
}

impl Array {
    pub(crate) fn new(open: OpenArray, storage: Arc<dyn Storage>) -> Self {
        Self { open: Arc::new(open), storage }
    }

    /// Creates an array in a local folder by a schema, and opens it. [`Array::create_options`] creates it otherwise: with
    /// a key, with enumerations, in another storage; [`ArrayBuilder`](crate::ArrayBuilder) makes the schema as well.
    ///
    /// ```
    /// use talavera::{Array, ArraySchema, ArrayType, Attribute, Datatype, Dimension, Range, TileExtent};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("array");
    /// let days = Dimension::new("day", Datatype::DateTimeDay, Range::Signed(0, 364), Some(TileExtent::Integer(30)));
    /// let schema = ArraySchema::builder(ArrayType::Dense).dimension(days).attribute(Attribute::new("rain", Datatype::Float32));
    /// let array = Array::create(&path, &schema.build()?)?;
    /// array.write().range("day", 0..=2).column("rain", &[1.5_f32, 0.0, 7.25]).commit()?;
    /// assert_eq!(array.reopen()?.read().range("day", 1..=2).values::<f32>("rain")?, [0.0, 7.25]);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CreateOptions::create`].
    pub fn create(path: impl AsRef<Path>, schema: &ArraySchema) -> Result<Self, Error> {
        CreateOptions::new().create(path, schema)
    }

    /// How to create: key, time, enumerations, storage.
    #[must_use]
    pub fn create_options() -> CreateOptions {
        CreateOptions::new()
    }

    /// Opens the array in a local folder as it is now. [`Array::options`] opens it otherwise: at another time, with a key.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        OpenOptions::new().open(path)
    }

    /// How to open: time, key, threads, limits, storage.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// A question to the array: which cells, which fields, in which order.
    pub fn read(&self) -> Read<'_> {
        Read::new(&self.open)
    }

    /// The read of a part, of the array that [`OpenOptions::open_part`] gives.
    ///
    /// # Errors
    /// When the array was opened otherwise, and for a part that was damaged on its way.
    pub fn read_part(&self, part: &ReadPart) -> Result<Read<'_>, Error> {
        Read::of_part(&self.open, part)
    }

    /// The labels of a dimension, by the name of the dimension label.
    ///
    /// # Errors
    /// When the schema has no such label, when there are no labels yet or some are missing in between, and when they cannot
    /// be read.
    pub fn labels(&self, name: &str) -> Result<Labels, Error> {
        Ok(self.open.labels(name)?)
    }

    /// Writes labels of a dimension, for the indices from `first` on, and gives the name of the new fragment of the labels'
    /// own array.
    ///
    /// ```
    /// use talavera::{Array, ArrayBuilder, DataOrder, Datatype, DimensionLabel};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("array");
    /// let heights = DimensionLabel::internal(0, 0, "height", DataOrder::Increasing, Datatype::Float64);
    /// let schema = ArrayBuilder::dense().dimension("level", 0..=9_i32, 5).attribute::<i64>("wind");
    /// let array = schema.with(|schema| schema.label(heights)).create(&path)?;
    /// array.write_labels("height", 0, &[0.5, 10.0, 80.0, 120.0])?;
    /// array.write().range("level", 0..=3).column("wind", &[2_i64, 3, 5, 8]).commit()?;
    ///
    /// let array = array.reopen()?;
    /// assert_eq!(array.read().label_range("height", 5.0..=100.0).values::<i64>("wind")?, [3, 5]);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the schema has no such label, when the values are not of its datatype or not strictly in its order, and when
    /// storage fails.
    pub fn write_labels<T: Value>(&self, name: &str, first: impl RangeEnd, values: &[T]) -> Result<String, Error> {
        let label = self.schema().label(name);
        let datatype = label.map_or(T::DATATYPE, |label| label.datatype);
        if !T::holds(datatype) {
            return Err(Error::ValueType { field: name.to_owned(), datatype, wanted: std::any::type_name::<T>() });
        }
        let values = FieldBuffer::new(datatype, CellValNum::ONE, T::to_cell_bytes(values), None, None)?;
        self.write_label_cells(name, first, values)
    }

    /// As [`Array::write_labels`], for labels of text.
    ///
    /// # Errors
    /// As [`Array::write_labels`].
    pub fn write_text_labels<S: AsRef<str>>(&self, name: &str, first: impl RangeEnd, values: &[S]) -> Result<String, Error> {
        let text: String = values.iter().map(AsRef::as_ref).collect();
        let mut end = 0;
        let ends = values.iter().map(|value| {
            end += value.as_ref().len() as u64;
            end
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        let bytes = CellBytes::copied(text.as_bytes());
        let values = FieldBuffer::new(Datatype::StringAscii, CellValNum::Var, bytes, Some(offsets), None)?;
        self.write_label_cells(name, first, values)
    }

    fn write_label_cells(&self, name: &str, first: impl RangeEnd, values: FieldBuffer) -> Result<String, Error> {
        let (storage, root, options) = (Arc::clone(&self.storage), self.open.root(), self.open.options().clone());
        let index = self.schema().label(name).and_then(|label| usize::try_from(label.dimension).ok()).unwrap_or(0);
        let (_, first) = along_dimension(self.schema(), index.into(), first.into_value())?;
        Ok(write_labels(storage, root, options, name, &first, values, WriteOptions::default())?)
    }

    /// The array as it is now, with the key, the threads and the limits that this one was opened with.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn reopen(&self) -> Result<Self, Error> {
        OpenOptions::of(self.open.options()).open_in(Arc::clone(&self.storage), self.open.root().clone())
    }

    /// A write of cells, as one new fragment. It goes by the newest schema of the array, whenever this was opened.
    pub fn write(&self) -> Write {
        Write::new(self.writer())
    }

    /// A writer, for several writes by one schema and for cells that come in global order over many calls.
    ///
    /// # Errors
    /// When the newest schema cannot be read.
    pub fn writer(&self) -> Result<Writer, Error> {
        OpenOptions::of(self.open.options()).open_writer_in(Arc::clone(&self.storage), self.open.root().clone())
    }

    /// A deletion of the cells for which a condition holds; sparse arrays only.
    pub fn delete(&self, condition: QueryCondition) -> Delete<'_> {
        Delete::new(&self.open, condition)
    }

    /// A change of the array's metadata.
    pub fn edit_metadata(&self) -> MetadataEdit<'_> {
        MetadataEdit::of_array(&self.open)
    }

    /// A change of the newest schema: attributes and enumerations come and go, the current domain grows.
    pub fn evolve(&self) -> Evolve<'_> {
        Evolve::new(self)
    }

    /// Stores the newest schema once more, in the format version of new arrays, so that what is written from now on has
    /// that version. Returns the name of the new schema; none when the array was of that version already.
    ///
    /// # Errors
    /// When schemas cannot be read or written.
    pub fn upgrade(&self) -> Result<Option<String>, Error> {
        let options = talavera_engine::EvolveOptions { engine: self.open.options().clone(), timestamp: None };
        Ok(talavera_engine::upgrade_array(&*self.storage, self.open.root(), &options)?)
    }

    /// The schema that readers go by: the newest at the time of opening.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        self.open.schema()
    }

    /// All schemas that the array ever had, oldest first, with their file names.
    ///
    /// # Errors
    /// When a schema file cannot be read.
    pub fn all_schemas(&self) -> Result<Vec<(String, Arc<ArraySchema>)>, Error> {
        Ok(self.open.all_schemas()?)
    }

    /// The fragments that are visible, older ones first.
    pub fn fragments(&self) -> impl ExactSizeIterator<Item = FragmentInfo> {
        self.open.fragments().iter().map(FragmentInfo::new)
    }

    /// Names of the fragments that consolidation has replaced and vacuuming has not removed yet.
    pub fn fragments_to_vacuum(&self) -> impl ExactSizeIterator<Item = &str> {
        self.open.fragments_to_vacuum()
    }

    /// The ranges that hold all cells of the visible fragments, one for each dimension; none when there are no fragments.
    #[must_use]
    pub fn non_empty_domain(&self) -> Option<NdRange> {
        self.open.non_empty_domain()
    }

    /// Keys and values that users keep with the array. Read from storage when first asked for.
    ///
    /// # Errors
    /// When a metadata file cannot be read.
    pub fn metadata(&self) -> Result<&ArrayMetadata, Error> {
        Ok(self.open.metadata()?)
    }

    /// The values of an enumeration, by its name; see [`Attribute::enumeration`](crate::Attribute::enumeration). Read
    /// from storage when first asked for.
    ///
    /// # Errors
    /// When the schema has no such enumeration, and when its file cannot be read.
    pub fn enumeration(&self, name: &str) -> Result<Arc<Enumeration>, Error> {
        Ok(self.open.enumeration(name)?)
    }

    /// The times that the array was opened at.
    #[must_use]
    pub fn window(&self) -> TimeWindow {
        self.open.window()
    }

    /// The array as the engine has it, with everything that this type leaves out.
    #[must_use]
    pub fn engine(&self) -> &OpenArray {
        &self.open
    }
}
