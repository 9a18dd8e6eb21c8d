//! Reading cells: which, of which fields, in which order, with how much memory.

use std::sync::Arc;

use talavera_condition::QueryCondition;
use talavera_engine::{
    Aggregate, AggregateValue, CancelToken, Explanation, FieldBuffer, OpenArray, Progress, ReadPart, ReadQuery, SplitBy,
    TIMESTAMPS_FIELD,
};
use talavera_schema::{ArraySchema, Field, NdRange, Range};
use talavera_types::{CellValNum, Datatype, Layout};

use crate::cells::single;
use crate::range;
use crate::{Cells, DimensionKey, Error, IntoPoint, IntoRange, Value};

/// A read of an array: built up, then run.
///
/// Without further word it reads all attributes (and, of a sparse array, the coordinates) of all cells. What does not fit
/// the array is reported when the read is run.
///
/// ```
/// use talavera::{Array, Order};
///
/// let array = Array::open("tests/data/dense_2d_overlap")?;
/// let read = array.read().range("y", 2..=3).range("x", 3..5).order(Order::ColMajor);
/// assert_eq!(read.values::<i32>("count")?, [-688574576, -1174728087, -2104063334, 972920282]);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a read does nothing until it is run"]
pub struct Read<'a> {
    pub(crate) array: &'a OpenArray,
    /// The ranges added, for each dimension of a dense array.
    pub(crate) ranges: Vec<Vec<Range>>,
    pub(crate) order: Order,
    /// The question, or what went wrong first in asking it; so building needs no question marks.
    query: Result<ReadQuery<'a>, Error>,
}

/// The order of the cells of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// The last dimension varies fastest.
    RowMajor,
    /// The first dimension varies fastest.
    ColMajor,
    /// Tile by tile as they are stored: tiles in tile order, the cells of each in cell order.
    Global,
    /// As is fastest. Of a dense array this is row-major.
    #[default]
    Unordered,
}

impl From<Order> for Layout {
    fn from(order: Order) -> Self {
        match order {
            Order::RowMajor => Self::RowMajor,
            Order::ColMajor => Self::ColMajor,
            Order::Global => Self::GlobalOrder,
            Order::Unordered => Self::Unordered,
        }
    }
}

impl<'a> Read<'a> {
    pub(crate) fn new(array: &'a OpenArray) -> Self {
        let ranges = vec![Vec::new(); array.schema().domain.dimensions.len()];
        Self { array, ranges, order: Order::default(), query: Ok(array.query()) }
    }

    pub(crate) fn of_part(array: &'a OpenArray, part: &ReadPart) -> Result<Self, Error> {
        Ok(Self { query: Ok(part.query(array)?), ..Self::new(array) })
    }

    /// Adds a range along a dimension, named or by index; see [`IntoRange`] for what ranges can be. A dimension without
    /// ranges is read whole.
    ///
    /// Several ranges of a dense array are read in the order added, cells in two of them twice. Of a sparse array the
    /// union is read.
    ///
    /// The read fails when the range is empty, has values that the dimension cannot have, or reaches out of the domain of
    /// a dense array or the current domain of any.
    pub fn range<'n>(mut self, dimension: impl Into<DimensionKey<'n>>, range: impl IntoRange) -> Self {
        let schema = self.array.schema();
        let found = range::along_dimension(schema, dimension.into(), range);
        self.query = self.query.and_then(|query| {
            let (index, range) = found?;
            let query = query.range(index, range.clone())?;
            if let Some(ranges) = self.ranges.get_mut(index).filter(|_| schema.is_dense()) {
                ranges.push(range);
            }
            Ok(query)
        });
        self
    }

    /// Adds ranges along a dimension, one after the other; single values are ranges, too.
    ///
    /// ```
    /// # let array = talavera::Array::open("tests/data/dense_2d_overlap")?;
    /// let count = array.read().ranges("y", [2, 6]).range("x", 4).values::<i32>("count")?;
    /// assert_eq!(count, [-2104063334, -102885132]);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// There may be millions of them: time and memory grow with their number, and not with that of the combinations that
    /// the ranges of several dimensions make.
    pub fn ranges<'n, R: IntoRange>(
        mut self,
        dimension: impl Into<DimensionKey<'n>>,
        ranges: impl IntoIterator<Item = R>,
    ) -> Self {
        let schema = self.array.schema();
        let found = range::dimension(schema, dimension.into()).and_then(|(index, dimension)| {
            let whole = range::whole(schema, index);
            let ranges = ranges.into_iter().map(|range| range.into_range().along(dimension, whole));
            Ok((index, ranges.collect::<Result<Vec<_>, _>>()?))
        });
        self.query = self.query.and_then(|query| {
            let (index, ranges) = found?;
            if let Some(known) = self.ranges.get_mut(index).filter(|_| schema.is_dense()) {
                known.extend_from_slice(&ranges);
            }
            Ok(query.ranges(index, ranges)?)
        });
        self
    }

    /// Only the cells of a sparse array at these points, each with a coordinate for each dimension.
    ///
    /// A point that has no cell is no mistake, nor is one that is named twice. [`Read::ranges`] along several dimensions
    /// mean each combination of coordinates; points do not.
    ///
    /// ```
    /// let array = talavera::Array::open("tests/data/sparse_overwrite")?;
    /// let cells = array.read().points([(7, 47), (13, 12)]).cells()?;
    /// assert_eq!(cells.values::<i64>("v")?, [-281691458051296472]);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    pub fn points<P: IntoPoint>(self, points: impl IntoIterator<Item = P>) -> Self {
        match range::point_columns(self.array.schema(), points) {
            Ok(columns) => self.point_columns(&columns),
            Err(error) => Self { query: self.query.and(Err(error)), ..self },
        }
    }

    /// As [`Read::points`], given by a column of coordinates for each dimension, such as another read gives them.
    pub fn point_columns(mut self, columns: &[FieldBuffer]) -> Self {
        self.query = self.query.and_then(|query| Ok(query.points(columns)?));
        self
    }

    /// Adds the range of those indices of a dimension whose labels lie in a range of labels; `label` is the name of the
    /// dimension label.
    ///
    /// The read fails when the array has no such label, and when none of its values lies in the range. See
    /// [`Array::write_labels`](crate::Array::write_labels) for an example.
    pub fn label_range(mut self, label: &str, range: impl IntoRange) -> Self {
        let found = range::of_labels(self.array, label, range);
        self.query = self.query.and_then(|query| {
            let (index, range) = found?;
            if let Some(known) = self.ranges.get_mut(index).filter(|_| self.array.schema().is_dense()) {
                known.push(range.clone());
            }
            Ok(query.range(index, range)?)
        });
        self
    }

    /// Adds a range along each dimension: those of a fragment's or array's non-empty domain, for example.
    pub fn within(self, ranges: &NdRange) -> Self {
        ranges.0.iter().enumerate().fold(self, |read, (dimension, range)| read.range(dimension, range))
    }

    /// The fields to read: attributes, dimensions, and [`TIMESTAMPS_FIELD`] of sparse arrays.
    pub fn fields<S: Into<String>>(self, fields: impl IntoIterator<Item = S>) -> Self {
        self.with(|query| query.fields(fields))
    }

    /// The order of the cells.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self.with(|query| query.layout(order.into()))
    }

    /// What cells have to fulfil.
    ///
    /// Of a sparse array, other cells are left out; where cells of equal coordinates were written, the newest decides. Of
    /// a dense array, the result keeps its shape, and the attributes of other cells are their fill values. The read fails
    /// when the condition names unknown fields, or values that they cannot have.
    ///
    /// ```
    /// # let array = talavera::Array::open("tests/data/sparse_string_dim")?;
    /// let condition = talavera::field("v").gt(0) & talavera::field("id").ge("j");
    /// let cells = array.read().condition(condition).cells()?;
    /// assert!(cells.values::<i32>("v")?.iter().all(|value| *value > 0));
    /// # Ok::<(), talavera::Error>(())
    /// ```
    pub fn condition(self, condition: QueryCondition) -> Self {
        self.with(|query| query.condition(condition))
    }

    /// The most memory that the read may hold at once, its result included, in bytes.
    pub fn memory_limit(self, bytes: u64) -> Self {
        self.with(|query| query.memory_limit(bytes))
    }

    /// About how many bytes of memory a batch takes while it is read; without it half of the memory limit, or 64 MB.
    pub fn batch_bytes(self, bytes: u64) -> Self {
        self.with(|query| query.batch_bytes(bytes))
    }

    /// The most cells that a batch has.
    pub fn batch_rows(self, cells: usize) -> Self {
        self.with(|query| query.batch_rows(cells))
    }

    /// A token by which another thread may stop the read.
    pub fn cancel(self, token: CancelToken) -> Self {
        self.with(|query| query.cancel_token(token))
    }

    /// Whom to tell about progress, after each tile. It is called from the threads that decode, so it should return at
    /// once.
    pub fn on_progress(self, tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.with(|query| query.on_progress(Arc::new(tell)))
    }

    /// The whole result.
    ///
    /// # Errors
    /// When the question does not fit the array; [`Error::is_over_budget`] when the result does not fit into the memory
    /// limit; [`Error::is_cancelled`]; whatever is wrong with storage and files.
    pub fn cells(self) -> Result<Cells, Error> {
        Ok(Cells::new(self.query?.read()?))
    }

    /// The result in batches that follow each other in its order, none of them empty. Each has about half of the memory
    /// limit, or 64 MB without one. After an error there are no more batches.
    ///
    /// ```
    /// # let array = talavera::Array::open("tests/data/dense_2d_overlap")?;
    /// let mut cells = 0;
    /// for batch in array.read().fields(["count"]).memory_limit(1 << 20).batches()? {
    ///     cells += batch?.len();
    /// }
    /// assert_eq!(cells, 63);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the question does not fit the array.
    pub fn batches(self) -> Result<impl Iterator<Item = Result<Cells, Error>> + use<'a>, Error> {
        let batches = self.query?.batches()?;
        Ok(batches.map(|batch| Ok(Cells::new(batch?))))
    }

    /// Aggregates of the cells, in the order asked for; fields and order of the read do not matter.
    ///
    /// Tiles are answered by their statistics where those say the truth, else read a few at a time.
    ///
    /// ```
    /// use talavera::{Aggregate, AggregateValue};
    ///
    /// # let array = talavera::Array::open("tests/data/dense_2d_overlap")?;
    /// let asked = [Aggregate::Count, Aggregate::Min("count".into())];
    /// let found = array.read().range("y", 2..=3).range("x", 3..5).aggregate(asked)?;
    /// assert_eq!(found, [AggregateValue::Unsigned(4), AggregateValue::Signed(-2104063334)]);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the question does not fit the array: an unknown field, a sum of text; [`Error::is_over_budget`] when a tile does
    /// not fit into the memory limit; [`Error::is_cancelled`]; whatever is wrong with storage and files.
    pub fn aggregate(self, aggregates: impl IntoIterator<Item = Aggregate>) -> Result<Vec<AggregateValue>, Error> {
        Ok(self.query?.aggregate(aggregates)?)
    }

    /// How many cells there are: of a dense array all of the ranges, or, with a condition, those written that fulfil it.
    ///
    /// # Errors
    /// As [`Read::aggregate`].
    pub fn count(self) -> Result<u64, Error> {
        match self.aggregate([Aggregate::Count])?.as_slice() {
            [AggregateValue::Unsigned(cells)] => Ok(*cells),
            _ => Ok(0),
        }
    }

    /// What the read would do: which fragments and tiles it needs, and why not the others; bytes and requests. Metadata are
    /// read for it, cells are not.
    ///
    /// ```
    /// # let array = talavera::Array::open("tests/data/dense_2d_overlap")?;
    /// let plan = array.read().range("y", 2).fields(["count"]).explain()?;
    /// assert!(plan.exact && plan.total.tiles > 0);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the question does not fit the array; whatever is wrong with metadata.
    pub fn explain(self) -> Result<Explanation, Error> {
        Ok(self.query?.explain()?)
    }

    /// The read in disjoint parts, plain data that other processes read alone; see
    /// [`OpenOptions::open_part`](crate::OpenOptions::open_part).
    ///
    /// ```
    /// use talavera::{Array, OpenOptions, SplitBy};
    ///
    /// let path = "tests/data/dense_2d_overlap";
    /// let parts = Array::open(path)?.read().fields(["count"]).split(SplitBy::Parts(3))?;
    /// let mut cells = 0;
    /// for part in parts {
    ///     let array = OpenOptions::new().open_part(&part, path)?;
    ///     cells += array.read_part(&part)?.cells()?.len();
    /// }
    /// assert_eq!(cells, 63);
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Read::explain`].
    pub fn split(self, by: SplitBy) -> Result<Vec<ReadPart>, Error> {
        Ok(self.query?.split(by)?)
    }

    /// The values of one field, which must have one value in each cell, and no nulls.
    ///
    /// The values are copied once; [`Read::cells`] and [`Cells::values`] spare that.
    ///
    /// # Errors
    /// As [`Read::cells`]; [`Error::ValueType`] when `T` does not hold the field's datatype; [`Error::CellShape`] when
    /// cells are nullable or hold another number of values than one.
    pub fn values<T: Value>(self, field: &str) -> Result<Vec<T>, Error> {
        if self.check_single::<T>(field)? {
            return Err(Error::CellShape { field: field.to_owned(), reason: "may hold nulls; read nullable values" });
        }
        Ok(self.fields([field]).cells()?.values::<T>(field)?.to_vec())
    }

    /// The values of one field, which must have one value in each cell, nulls as `None`.
    ///
    /// # Errors
    /// As [`Read::values`], but for nullable cells.
    pub fn nullable_values<T: Value>(self, field: &str) -> Result<Vec<Option<T>>, Error> {
        self.check_single::<T>(field)?;
        Ok(self.fields([field]).cells()?.nullable_values::<T>(field)?.collect())
    }

    /// Asks before anything is read whether a field has single values of `T`; says whether it is nullable.
    fn check_single<T: Value>(&self, field: &str) -> Result<bool, Error> {
        let (_, cell_val_num, nullable) = self.check_values::<T>(field)?;
        single(field, cell_val_num)?;
        Ok(nullable)
    }

    /// Datatype, values per cell and nullability of a field whose values `T` holds.
    pub(crate) fn check_values<T: Value>(&self, field: &str) -> Result<(Datatype, CellValNum, bool), Error> {
        let shape = self.shape(field)?;
        if T::holds(shape.0) {
            return Ok(shape);
        }
        let wanted = std::any::type_name::<T>();
        Err(Error::ValueType { field: field.to_owned(), datatype: shape.0, wanted })
    }

    fn shape(&self, field: &str) -> Result<(Datatype, CellValNum, bool), Error> {
        let times = (field == TIMESTAMPS_FIELD).then_some((Datatype::UInt64, CellValNum::ONE, false));
        let found = field_shape(self.array.schema(), field).or(times);
        found.ok_or_else(|| Error::UnknownField { field: field.to_owned() })
    }

    fn with(mut self, change: impl FnOnce(ReadQuery<'a>) -> ReadQuery<'a>) -> Self {
        self.query = self.query.map(change);
        self
    }
}

/// Datatype, values per cell and nullability of an attribute or dimension.
pub(crate) fn field_shape(schema: &ArraySchema, field: &str) -> Option<(Datatype, CellValNum, bool)> {
    match schema.field(field)? {
        Field::Attribute(index) => schema.attributes.get(index).map(|a| (a.datatype, a.cell_val_num, a.nullable)),
        Field::Dimension(index) => schema.domain.dimensions.get(index).map(|d| (d.datatype, d.cell_val_num(), false)),
    }
}
