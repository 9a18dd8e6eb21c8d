//! Writing cells: a write makes one fragment; a stream makes one over many calls.

use std::path::Path;

use talavera_engine::{ArrayWriter, Duplicates, FieldBuffer, SparseStream, WriteOptions};
use talavera_schema::{ArraySchema, NdRange, Range};
use talavera_types::Layout;

use crate::columns::{BinaryCell, Columns, TextCell};
use crate::range::{along_dimension, whole};
use crate::{DimensionKey, Error, IntoRange, OpenOptions, Order, Value};

/// Writes cells into an array, as often as asked, by the schema that was the newest when it was opened.
///
/// Several writers, in other processes too, need no lock. Clones are cheap.
///
/// ```
/// use talavera::{ArrayBuilder, Writer};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// ArrayBuilder::sparse().dimension("x", 0..=999_i64, 100).string_attribute("name").create(&path)?;
/// let writer = Writer::open(&path)?;
/// writer.write().column("x", &[7_i64, 3]).strings("name", ["seven", "three"]).at(1).commit()?;
/// writer.write().column("x", &[3_i64]).strings("name", ["THREE"]).at(2).commit()?;
///
/// let cells = talavera::Array::open(&path)?.read().order(talavera::Order::RowMajor).cells()?;
/// assert_eq!(cells.strings("name")?.flatten().collect::<Vec<_>>(), ["THREE", "seven"]);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Writer {
    writer: ArrayWriter,
}

impl Writer {
    pub(crate) fn new(writer: ArrayWriter) -> Self {
        Self { writer }
    }

    /// Opens the array in a local folder for writing. [`OpenOptions::open_writer`] does so with a key, or on other
    /// threads; [`OpenOptions::open_writer_in`] in another storage.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        OpenOptions::new().open_writer(path)
    }

    /// The schema that cells have to fit.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        self.writer.schema()
    }

    /// A write of cells, as one new fragment.
    pub fn write(&self) -> Write {
        Write::new(Ok(self.clone()))
    }

    /// A new fragment of a sparse array, whose cells come in global order over as many calls as it takes.
    pub fn stream(&self) -> Stream<'_> {
        Stream { writer: &self.writer, options: WriteOptions::default(), open: None }
    }

    /// A new fragment of a dense array, whose cells come in global order over as many calls as it takes: tile by tile of the
    /// rectangle that these ranges span, which consists of whole tiles. Dimensions without a range are written whole.
    ///
    /// ```
    /// use talavera::{ArrayBuilder, Writer};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("array");
    /// ArrayBuilder::dense().dimension("x", 0..=999_i64, 100).attribute::<f32>("v").create(&path)?;
    /// let writer = Writer::open(&path)?;
    /// let mut stream = writer.dense_stream().range("x", 0..300);
    /// for _ in 0..3 {
    ///     stream.append(writer.columns().column("v", &[0.5_f32; 100]))?;
    /// }
    /// stream.finish()?;
    /// assert_eq!(talavera::Array::open(&path)?.read().range("x", 0..300).values::<f32>("v")?, [0.5; 300]);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    pub fn dense_stream(&self) -> DenseStream<'_> {
        DenseStream { writer: &self.writer, ranges: Ok(Vec::new()), options: WriteOptions::default(), open: None }
    }

    /// Cells for [`Stream::append`].
    pub fn columns(&self) -> Columns {
        Columns::new(Ok(self.writer.clone()))
    }

    /// The writer as the engine has it.
    #[must_use]
    pub fn engine(&self) -> &ArrayWriter {
        &self.writer
    }
}

/// A write of cells: built up, then committed as one fragment, which is there as a whole or not at all.
///
/// A dense array takes cells of a rectangle, the whole current domain or domain unless told otherwise, with a column for
/// each attribute. A sparse array takes cells in any order, with a column for each dimension, too. What does not fit the
/// array is reported by [`Write::commit`].
///
/// ```
/// use talavera::{ArrayBuilder, Order};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// let schema = ArrayBuilder::dense().dimension("y", 1..=4_i32, 2).dimension("x", 1..=4_i32, 2);
/// let array = schema.attribute::<f64>("temp").nullable_attribute::<u8>("class").create(&path)?;
/// array
///     .write()
///     .range("y", 2..=3)
///     .range("x", 1..3)
///     .order(Order::ColMajor)
///     .column("temp", &[0.5, 1.5, 2.5, 3.5])
///     .nullable("class", &[Some(1_u8), None, Some(3), None])
///     .commit()?;
///
/// let array = array.reopen()?;
/// assert_eq!(array.read().range("y", 2).range("x", 1..=2).values::<f64>("temp")?, [0.5, 2.5]);
/// assert_eq!(array.read().range("y", 3).range("x", 1..=2).nullable_values::<u8>("class")?, [None, None]);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a write does nothing until it is committed"]
pub struct Write {
    columns: Columns,
    /// The dimensions that have a range, and the ranges.
    ranges: Vec<(usize, Range)>,
    order: Order,
    options: WriteOptions,
}

impl Write {
    pub(crate) fn new(writer: Result<Writer, Error>) -> Self {
        let columns = Columns::new(writer.map(|writer| writer.writer));
        Self { columns, ranges: Vec::new(), order: Order::default(), options: WriteOptions::default() }
    }

    /// The cells of a dense array to write along a dimension, named or by index; all without this.
    pub fn range<'n>(mut self, dimension: impl Into<DimensionKey<'n>>, range: impl IntoRange) -> Self {
        let Some(schema) = self.columns.schema() else { return self };
        let found = along_dimension(schema, dimension.into(), range);
        if let Some((index, range)) = self.columns.check(found) {
            if self.ranges.iter().any(|(known, _)| *known == index) {
                let twice = Error::WriteRanges { reason: "one range along a dimension" };
                self.columns.check::<()>(Err(twice));
            }
            self.ranges.push((index, range));
        }
        self
    }

    /// The cells of a dense array to write, by a range along each dimension.
    pub fn within(self, ranges: &NdRange) -> Self {
        ranges.0.iter().enumerate().fold(self, |write, (dimension, range)| write.range(dimension, range))
    }

    /// The order that the cells given are in: of a dense array row-major or column-major, row-major without this.
    ///
    /// Cells of a sparse array are sorted, whatever their order; told that they are in global order, the write only checks
    /// it.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// The time of the write in milliseconds since 1970; now without this. Readers of an earlier time do not see it, and
    /// where two writes have the same cell, the later one counts.
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.options.timestamp = Some(timestamp_ms);
        self
    }

    /// What becomes of cells of equal coordinates in a sparse array. Without this they are refused, or all written where
    /// the array allows that.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.options.duplicates = Some(duplicates);
        self
    }

    /// Writes the cells and gives the name of the new fragment; none when there were no cells, and nothing was written.
    ///
    /// # Errors
    /// [`Error::UnknownField`], [`Error::GivenType`], [`Error::CellShape`], [`Error::CellSize`] and [`Error::Null`] for
    /// columns that do not fit their fields; the errors of ranges, and [`Error::WriteRanges`]; [`Error::Engine`] for
    /// missing columns, columns of unequal length, coordinates out of the domain or current domain, duplicates, and what
    /// storage says.
    pub fn commit(self) -> Result<Option<String>, Error> {
        let Self { columns, ranges, order, options } = self;
        let (writer, fields) = columns.finish()?;
        if writer.schema().is_dense() {
            let subarray = subarray(writer.schema(), &ranges)?;
            let layout = if order == Order::Unordered { Layout::RowMajor } else { order.into() };
            return Ok(Some(writer.write_dense(&subarray, layout, &fields, options)?));
        }
        if !ranges.is_empty() {
            return Err(Error::WriteRanges { reason: "no ranges of a sparse array, whose cells have coordinates" });
        }
        if order == Order::Global {
            let mut stream = writer.stream_sparse(options)?;
            stream.append(&fields)?;
            return Ok(stream.finish()?);
        }
        Ok(writer.write_sparse(&fields, options)?)
    }

    /// As [`Columns::column`].
    pub fn column<T: Value>(self, field: &str, values: &[T]) -> Self {
        self.with(|columns| columns.column(field, values))
    }

    /// As [`Columns::nullable`].
    pub fn nullable<T: Value>(self, field: &str, values: &[Option<T>]) -> Self {
        self.with(|columns| columns.nullable(field, values))
    }

    /// As [`Columns::lists`].
    pub fn lists<T: Value, C: AsRef<[T]>>(self, field: &str, cells: impl IntoIterator<Item = C>) -> Self {
        self.with(|columns| columns.lists(field, cells))
    }

    /// As [`Columns::nullable_lists`].
    pub fn nullable_lists<T: Value, C: AsRef<[T]>>(self, field: &str, cells: impl IntoIterator<Item = Option<C>>) -> Self {
        self.with(|columns| columns.nullable_lists(field, cells))
    }

    /// As [`Columns::strings`].
    pub fn strings<C: TextCell>(self, field: &str, cells: impl IntoIterator<Item = C>) -> Self {
        self.with(|columns| columns.strings(field, cells))
    }

    /// As [`Columns::bytes`].
    pub fn bytes<C: BinaryCell>(self, field: &str, cells: impl IntoIterator<Item = C>) -> Self {
        self.with(|columns| columns.bytes(field, cells))
    }

    /// As [`Columns::field`].
    pub fn field(self, field: impl Into<String>, cells: FieldBuffer) -> Self {
        self.with(|columns| columns.field(field, cells))
    }

    /// As [`Columns::fields`].
    pub fn fields(self, fields: impl IntoIterator<Item = (String, FieldBuffer)>) -> Self {
        self.with(|columns| columns.fields(fields))
    }

    fn with(mut self, change: impl FnOnce(Columns) -> Columns) -> Self {
        self.columns = change(self.columns);
        self
    }
}

/// The rectangle that a dense write covers.
fn subarray(schema: &ArraySchema, ranges: &[(usize, Range)]) -> Result<NdRange, Error> {
    let along = |dimension: usize| {
        let given = ranges.iter().find(|(known, _)| *known == dimension).map(|(_, range)| range);
        let range = given.or_else(|| whole(schema, dimension)).cloned();
        range.ok_or_else(|| Error::UnknownDimension { dimension: dimension.to_string() })
    };
    (0..schema.domain.dimensions.len()).map(along).collect()
}

/// A new fragment of a sparse array, whose cells come in global order over as many calls as it takes.
///
/// Nothing of it is seen before [`Stream::finish`]; aborted or dropped before, nothing of it stays.
///
/// ```
/// use talavera::{ArrayBuilder, Writer};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// ArrayBuilder::sparse().dimension("x", 0..=999_i64, 100).attribute::<f32>("v").create(&path)?;
/// let writer = Writer::open(&path)?;
/// let mut stream = writer.stream();
/// for start in [0, 100, 200] {
///     let x: Vec<i64> = (start..start + 100).collect();
///     stream.append(writer.columns().column("x", &x).column("v", &[0.5_f32; 100]))?;
/// }
/// assert!(stream.finish()?.is_some());
/// assert_eq!(talavera::Array::open(&path)?.read().cells()?.len(), 300);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a stream does nothing until it is finished"]
pub struct Stream<'w> {
    writer: &'w ArrayWriter,
    options: WriteOptions,
    /// Begun by the first cells.
    open: Option<SparseStream<'w>>,
}

impl Stream<'_> {
    /// The time of the write, as [`Write::at`]. Without effect once there are cells.
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.options.timestamp = Some(timestamp_ms);
        self
    }

    /// Takes more cells, which follow those before in the array's global order.
    ///
    /// # Errors
    /// As [`Write::commit`], and for cells that are not in order.
    pub fn append(&mut self, columns: Columns) -> Result<(), Error> {
        let (_, fields) = columns.finish()?;
        let stream = match &mut self.open {
            Some(stream) => stream,
            None => self.open.insert(self.writer.stream_sparse(self.options)?),
        };
        Ok(stream.append(&fields)?)
    }

    /// Makes the cells visible and gives the name of the new fragment; none when there were no cells.
    ///
    /// # Errors
    /// As [`Write::commit`].
    pub fn finish(self) -> Result<Option<String>, Error> {
        match self.open {
            Some(stream) => Ok(stream.finish()?),
            None => Ok(None),
        }
    }

    /// Leaves nothing of the cells behind, as dropping does.
    pub fn abort(self) {}
}

/// A new fragment of a dense array, whose cells come in global order over as many calls as it takes.
///
/// Nothing of it is seen before [`DenseStream::finish`]; aborted or dropped before, nothing of it stays.
#[derive(Debug)]
#[must_use = "a stream does nothing until it is finished"]
pub struct DenseStream<'w> {
    writer: &'w ArrayWriter,
    ranges: Result<Vec<(usize, Range)>, Error>,
    options: WriteOptions,
    /// Begun by the first cells.
    open: Option<talavera_engine::DenseStream<'w>>,
}

impl<'w> DenseStream<'w> {
    /// The range along a dimension; the last one counts. Without effect once there are cells.
    pub fn range<'n>(mut self, dimension: impl Into<DimensionKey<'n>>, range: impl IntoRange) -> Self {
        let found = along_dimension(self.writer.schema(), dimension.into(), range);
        self.ranges = self.ranges.and_then(|mut ranges| {
            // The first range of a dimension is the one that is taken.
            ranges.insert(0, found?);
            Ok(ranges)
        });
        self
    }

    /// The time of the write, as [`Write::at`]. Without effect once there are cells.
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.options.timestamp = Some(timestamp_ms);
        self
    }

    /// Takes more cells, which follow those before in the array's global order.
    ///
    /// # Errors
    /// As [`Write::commit`]; for a sparse array, for ranges that are not whole tiles, and for more cells than they have.
    pub fn append(&mut self, columns: Columns) -> Result<(), Error> {
        let (_, fields) = columns.finish()?;
        if self.open.is_none() {
            self.open = Some(self.begin()?);
        }
        if let Some(stream) = &mut self.open {
            stream.append(&fields)?;
        }
        Ok(())
    }

    /// Makes the cells visible and gives the name of the new fragment.
    ///
    /// # Errors
    /// As [`Write::commit`]; when cells are missing.
    pub fn finish(mut self) -> Result<String, Error> {
        let stream = match self.open.take() {
            Some(stream) => stream,
            None => self.begin()?,
        };
        Ok(stream.finish()?)
    }

    /// Leaves nothing of the cells behind, as dropping does.
    pub fn abort(self) {}

    fn begin(&mut self) -> Result<talavera_engine::DenseStream<'w>, Error> {
        let ranges = std::mem::replace(&mut self.ranges, Ok(Vec::new()))?;
        let subarray = subarray(self.writer.schema(), &ranges)?;
        Ok(self.writer.stream_dense(&subarray, self.options)?)
    }
}
