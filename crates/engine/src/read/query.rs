//! The question: which array, which cells, which fields, in which order, with how much memory.

mod explain;
mod split;

use std::sync::Arc;

use talavera_condition::{BoundCondition, QueryCondition};
use talavera_schema::Range;
use talavera_types::Layout;

use super::dense::{CellRanges, DenseRead, Windows};
use super::field::ReadField;
use super::part::Extent;
use super::sparse::{Points, Selection, SparseRead, Splitter};
use crate::budget::Job;
use crate::{CancelToken, Error, FieldBuffer, OnProgress, OpenArray};

/// A read of an open array: built up, then run whole or in batches.
///
/// Without further word it reads all attributes (and, of a sparse array, the coordinates) of all cells: of a dense array
/// in row-major order, of a sparse one in no promised order.
#[derive(Clone)]
pub struct ReadQuery<'a> {
    array: &'a OpenArray,
    ranges: Vec<Vec<Range>>,
    points: Option<Arc<Points>>,
    /// The cells of a part, which stand for ranges and points.
    extent: Option<Extent>,
    fields: Option<Vec<String>>,
    layout: Option<Layout>,
    condition: Option<QueryCondition>,
    memory_bytes: Option<u64>,
    batch_bytes: Option<u64>,
    batch_rows: Option<usize>,
    cancel: CancelToken,
    on_progress: Option<OnProgress>,
}

/// Cells of a result, field by field.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// How many cells there are.
    pub cells: usize,
    /// The fields in the order asked for, each with its name; all have as many cells.
    pub fields: Vec<(String, FieldBuffer)>,
}

impl Batch {
    /// The cells of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&FieldBuffer> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, buffer)| buffer)
    }

    /// Bytes of memory that the cells take.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.fields.iter().map(|(_, buffer)| buffer.memory_bytes()).sum()
    }
}

impl OpenArray {
    /// A read of this array.
    #[must_use]
    pub fn query(&self) -> ReadQuery<'_> {
        ReadQuery {
            array: self,
            ranges: vec![Vec::new(); self.schema().domain.dimensions.len()],
            points: None,
            extent: None,
            fields: None,
            layout: None,
            condition: None,
            memory_bytes: None,
            batch_bytes: None,
            batch_rows: None,
            cancel: CancelToken::new(),
            on_progress: None,
        }
    }
}

impl<'a> ReadQuery<'a> {
    /// Adds a range, both ends in it, along the dimension with this index. Dimensions without a range are read whole.
    ///
    /// Several ranges of a dense array are read in the order added, and cells in two of them twice. Of a sparse array the
    /// union is read.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a range of another type, a reversed or NaN one (reversed strings mean no cells), and one
    /// that reaches out of the domain of a dense array or the current domain of any.
    pub fn range(mut self, dimension: usize, range: Range) -> Result<Self, Error> {
        self.check_range(dimension, &range)?;
        if let Some(ranges) = self.ranges.get_mut(dimension) {
            ranges.push(range);
        }
        Ok(self)
    }

    /// Adds ranges along a dimension, as [`ReadQuery::range`] does; there may be millions of them.
    ///
    /// The ranges of all dimensions together mean each combination of them. A sparse array is asked for their union, which
    /// is found by sorting, so time and memory grow with their number and not with that of the combinations.
    ///
    /// # Errors
    /// As [`ReadQuery::range`], for the first range that does not fit.
    pub fn ranges(mut self, dimension: usize, ranges: impl IntoIterator<Item = Range>) -> Result<Self, Error> {
        let mut added = self.ranges.get_mut(dimension).map(std::mem::take).unwrap_or_default();
        let ranges = ranges.into_iter();
        added.reserve(ranges.size_hint().0);
        for range in ranges {
            self.check_range(dimension, &range)?;
            added.push(range);
        }
        if let Some(target) = self.ranges.get_mut(dimension) {
            *target = added;
        }
        Ok(self)
    }

    /// Adds the range of those indices whose labels lie in a closed range of labels.
    ///
    /// # Errors
    /// As [`OpenArray::labels`] and [`Labels::indices_of`](crate::Labels::indices_of), among others when no label lies in
    /// the range; as [`ReadQuery::range`].
    pub fn label_range(self, label: &str, labels: &Range) -> Result<Self, Error> {
        let known = self.array.labels(label)?;
        self.range(known.dimension(), known.indices_of(labels)?)
    }

    /// Asks a sparse array only for the cells at these points: a column of coordinates for each dimension, in their order,
    /// the first cell of each being the first point.
    ///
    /// A point that has no cell is no mistake, nor is one that is named twice. With ranges as well, points outside of them
    /// are left out. The columns are not kept: a point takes 8 bytes for each dimension.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a dense array, for columns that are not those of the dimensions or not equally long, and for
    /// NaN.
    pub fn points(mut self, columns: &[FieldBuffer]) -> Result<Self, Error> {
        let schema = self.array.schema();
        if schema.is_dense() {
            return Err(Error::invalid("points are read of sparse arrays; ask a dense array for ranges"));
        }
        self.points = Some(Arc::new(self.array.options().run(|| Points::new(schema, columns))?));
        Ok(self)
    }

    /// The fields to read: attributes, dimensions, and `__timestamps` of sparse arrays.
    #[must_use]
    pub fn fields<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Self {
        self.fields = Some(fields.into_iter().map(Into::into).collect());
        self
    }

    /// The order of the cells: row-major, column-major, global or unordered.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// A condition that cells of the result fulfil.
    ///
    /// Of a sparse array, other cells are left out; where cells of equal coordinates were written, the newest decides. Of
    /// a dense array, the result keeps its shape, and the attributes of other cells are their fill values.
    #[must_use]
    pub fn condition(mut self, condition: QueryCondition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// The most memory that the read may hold at once, its results included, in bytes.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// About how many bytes of memory a batch takes, while it is read; without it, half of the memory limit or 64 MB.
    ///
    /// A batch is larger where a single tile, or a single coordinate, is. A whole result whose cells have to be sorted is put
    /// together from such batches as well.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = Some(bytes);
        self
    }

    /// The most cells that a batch has; it may have fewer.
    #[must_use]
    pub fn batch_rows(mut self, cells: usize) -> Self {
        self.batch_rows = Some(cells.max(1));
        self
    }

    /// Asks for the cells of a part of a read.
    pub(super) fn extent(mut self, extent: Extent) -> Self {
        self.extent = Some(extent);
        self
    }

    /// A token by which another thread may stop the read.
    #[must_use]
    pub fn cancel_token(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Whom to tell about progress.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }

    /// The whole result at once.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a question that does not fit the array, [`Error::Budget`] when the result does not fit into
    /// the memory limit, and whatever is wrong with the files.
    pub fn read(self) -> Result<Batch, Error> {
        let options = self.array.options();
        options.run(|| {
            let job = self.job();
            let (names, fields) = self.resolve_fields()?;
            let layout = self.resolve_layout()?;
            let condition = self.bind_condition()?;
            let buffers = if self.array.schema().is_dense() {
                let dense = DenseRead::new(self.array, &job)?;
                let ranges = self.dense_ranges(&dense)?;
                dense.read(&ranges, layout, &fields, condition.as_ref())?
            } else {
                let sparse = SparseRead::new(self.array, &job, &fields, layout, condition.as_ref())?;
                let selection = self.selection()?;
                sparse.read_whole(selection, self.batch_bytes.unwrap_or(DEFAULT_BATCH_BYTES))?
            };
            Ok(batch(&names, buffers))
        })
    }

    /// The result in batches that follow each other in its order, none of them empty.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a question that does not fit the array.
    pub fn batches(self) -> Result<Batches<'a>, Error> {
        let (names, fields) = self.resolve_fields()?;
        let layout = self.resolve_layout()?;
        let condition = self.bind_condition()?;
        let job = self.job();
        let batch_bytes = self.part_bytes();
        let parts = if self.array.schema().is_dense() {
            let dense = DenseRead::new(self.array, &job)?;
            let ranges = self.dense_ranges(&dense)?;
            let cell_bytes = cell_bytes(self.array, &fields, GUESSED_VAR_BYTES)?.max(1);
            let cells = (batch_bytes / cell_bytes).min(self.batch_rows.map_or(u64::MAX, |rows| rows as u64));
            Parts::Dense(Windows::new(ranges, layout, &dense.grid, cells))
        } else {
            let sparse = SparseRead::new(self.array, &job, &fields, layout, condition.as_ref())?;
            Parts::Sparse(Splitter::new(&sparse, self.selection()?, layout, batch_bytes)?)
        };
        let rows = self.batch_rows.unwrap_or(usize::MAX);
        Ok(Batches { array: self.array, job, names, fields, layout, condition, parts, rows, rest: None, failed: false })
    }

    pub(crate) fn array(&self) -> &'a OpenArray {
        self.array
    }

    pub(crate) fn job(&self) -> Job {
        Job::new(self.memory_bytes, self.cancel.clone(), self.on_progress.clone())
    }

    /// About how many bytes the parts take that a read is cut into.
    pub(crate) fn part_bytes(&self) -> u64 {
        let half = self.memory_bytes.map_or(DEFAULT_BATCH_BYTES, |bytes| bytes / 2);
        self.batch_bytes.unwrap_or(half).max(1)
    }

    fn check_range(&self, dimension: usize, range: &Range) -> Result<(), Error> {
        let schema = self.array.schema();
        let of_array = schema.domain.dimensions.get(dimension);
        let of_array = of_array.ok_or_else(|| Error::invalid(format!("the array has no dimension {dimension}")))?;
        let name = &of_array.name;
        if !range.is_of(of_array.datatype) {
            return Err(Error::invalid(format!("a range of dimension '{name}' has another type than {}", of_array.datatype)));
        }
        if matches!(range, Range::String(..)) {
            return Ok(());
        }
        if !range.is_valid() {
            return Err(Error::invalid(format!("the range {range} of dimension '{name}' ends before it starts, or is NaN")));
        }
        let current = schema.current_domain.as_ref().and_then(|domain| domain.0.get(dimension));
        let domain = of_array.domain.as_ref().filter(|_| schema.is_dense());
        match (current, domain) {
            (Some(current), _) if !current.contains(range) => Err(Error::invalid(format!(
                "the range {range} of dimension '{name}' reaches out of the current domain {current}"
            ))),
            (_, Some(domain)) if !domain.contains(range) => {
                Err(Error::invalid(format!("the range {range} of dimension '{name}' reaches out of the domain {domain}")))
            }
            _ => Ok(()),
        }
    }

    /// The condition with its fields looked up and its values in the fields' types.
    pub(crate) fn bind_condition(&self) -> Result<Option<BoundCondition>, Error> {
        let Some(condition) = &self.condition else { return Ok(None) };
        let schema = self.array.schema();
        let mut enumerations = Vec::new();
        for field in condition.fields() {
            let name = schema.attribute(field).and_then(|(_, attribute)| attribute.enumeration.as_deref());
            if let Some(name) = name {
                enumerations.push((name, self.array.enumeration(name)?));
            }
        }
        let find = |name: &str| enumerations.iter().find(|(known, _)| *known == name).map(|(_, enumeration)| &**enumeration);
        Ok(Some(condition.bind(schema, find)?))
    }

    fn resolve_fields(&self) -> Result<(Vec<String>, Vec<ReadField>), Error> {
        let schema = self.array.schema();
        let names = match &self.fields {
            Some(names) => names.clone(),
            None => {
                let dimensions = schema.domain.dimensions.iter().filter(|_| !schema.is_dense());
                let dimensions = dimensions.map(|dimension| dimension.name.clone());
                dimensions.chain(schema.attributes.iter().map(|attribute| attribute.name.clone())).collect()
            }
        };
        let fields = names.iter().map(|name| ReadField::named(schema, name)).collect::<Result<_, _>>()?;
        Ok((names, fields))
    }

    fn resolve_layout(&self) -> Result<Layout, Error> {
        let dense = self.array.schema().is_dense();
        match self.layout {
            None if dense => Ok(Layout::RowMajor),
            None => Ok(Layout::Unordered),
            Some(Layout::Unordered) if dense => Ok(Layout::RowMajor),
            Some(Layout::Hilbert) => Err(Error::invalid("results come row-major, column-major, in global order or unordered")),
            Some(layout) => Ok(layout),
        }
    }

    /// The ranges of a dense read: those asked for, else the current domain, else the domain.
    pub(crate) fn dense_ranges(&self, dense: &DenseRead<'_>) -> Result<CellRanges, Error> {
        if let Some(extent) = &self.extent {
            return extent.cell_ranges(self.array);
        }
        let schema = self.array.schema();
        let of_dimension = |(dimension, asked): (usize, &Vec<Range>)| {
            let of_array = schema.domain.dimensions.get(dimension);
            let current = schema.current_domain.as_ref().and_then(|domain| domain.0.get(dimension));
            let whole = current.or(of_array.and_then(|of_array| of_array.domain.as_ref()));
            let ranges: Vec<&Range> = if asked.is_empty() { whole.into_iter().collect() } else { asked.iter().collect() };
            let cells = ranges.into_iter().map(|range| dense.grid.cells_of(dimension, range)).collect::<Option<Vec<_>>>();
            cells.ok_or_else(|| Error::invalid("a range of a dense array is not one of integers"))
        };
        self.ranges.iter().enumerate().map(of_dimension).collect()
    }

    /// The cells of a sparse read; dimensions without ranges are bounded by the current domain, if there is one.
    pub(crate) fn selection(&self) -> Result<Selection, Error> {
        if let Some(extent) = &self.extent {
            return extent.selection(self.array);
        }
        let schema = self.array.schema();
        let bounded = self.ranges.iter().enumerate().map(|(dimension, ranges)| {
            let current = schema.current_domain.as_ref().and_then(|domain| domain.0.get(dimension));
            if ranges.is_empty() { current.map_or(&[][..], std::slice::from_ref) } else { ranges }
        });
        let selection = Selection::new(schema, bounded)?;
        Ok(match &self.points {
            Some(points) => selection.at_points(Arc::clone(points)),
            None => selection,
        })
    }
}

/// Bytes of a cell of variable length, offset included, as batches guess it.
const GUESSED_VAR_BYTES: u64 = 64;

/// Bytes of cells in a batch when nobody says how many.
const DEFAULT_BATCH_BYTES: u64 = 64 << 20;

/// Bytes that a cell of a result takes, with a guess for each field of variable length.
pub(super) fn cell_bytes(array: &OpenArray, fields: &[ReadField], var_bytes: u64) -> Result<u64, Error> {
    let mut bytes = 0_u64;
    for field in fields {
        let shape = field.shape(array.schema())?;
        let values = shape.cell_val_num.fixed().map(|values| u64::from(values) * shape.datatype.size() as u64);
        bytes = bytes.saturating_add(values.unwrap_or(var_bytes)).saturating_add(u64::from(shape.nullable));
    }
    Ok(bytes)
}

fn batch(names: &[String], buffers: Vec<FieldBuffer>) -> Batch {
    let cells = buffers.first().map_or(0, FieldBuffer::len);
    Batch { cells, fields: names.iter().cloned().zip(buffers).collect() }
}

/// The batches of a read.
pub struct Batches<'a> {
    array: &'a OpenArray,
    job: Job,
    names: Vec<String>,
    fields: Vec<ReadField>,
    layout: Layout,
    condition: Option<BoundCondition>,
    parts: Parts,
    /// The most cells of a batch.
    rows: usize,
    /// What was read and not given out yet: from this cell on.
    rest: Option<(Vec<FieldBuffer>, usize)>,
    failed: bool,
}

enum Parts {
    Dense(Windows),
    Sparse(Splitter),
}

impl Batches<'_> {
    fn next_batch(&mut self) -> Result<Option<Batch>, Error> {
        let (buffers, start) = match self.rest.take() {
            Some(rest) => rest,
            None => match self.next_part()? {
                Some(buffers) => (buffers, 0),
                None => return Ok(None),
            },
        };
        let cells = buffers.first().map_or(0, FieldBuffer::len);
        if start == 0 && cells <= self.rows {
            return Ok(Some(batch(&self.names, buffers)));
        }
        let end = cells.min(start.saturating_add(self.rows));
        let slices = buffers.iter().map(|buffer| buffer.slice(start..end)).collect();
        self.rest = (end < cells).then_some((buffers, end));
        Ok(Some(batch(&self.names, slices)))
    }

    fn next_part(&mut self) -> Result<Option<Vec<FieldBuffer>>, Error> {
        let (array, job, fields, layout) = (self.array, &self.job, &self.fields, self.layout);
        let condition = self.condition.as_ref();
        let buffers = match &mut self.parts {
            Parts::Dense(windows) => {
                let Some(window) = windows.next() else { return Ok(None) };
                array.options().run(|| DenseRead::new(array, job)?.read(&window, layout, fields, condition))?
            }
            Parts::Sparse(splitter) => loop {
                let part = || -> Result<Option<Vec<FieldBuffer>>, Error> {
                    let sparse = SparseRead::new(array, job, fields, layout, condition)?;
                    match splitter.next(&sparse)? {
                        Some((selection, plan)) => sparse.read(&selection, plan).map(Some),
                        None => Ok(None),
                    }
                };
                let Some(buffers) = array.options().run(part)? else { return Ok(None) };
                if buffers.first().is_some_and(|buffer| !buffer.is_empty()) {
                    break buffers;
                }
            },
        };
        Ok(Some(buffers))
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_batch();
        self.failed = next.is_err();
        next.transpose()
    }
}

impl std::fmt::Debug for Batches<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("array", self.array.root()).field("fields", &self.names).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ReadQuery<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadQuery").field("ranges", &self.ranges).field("fields", &self.fields).finish_non_exhaustive()
    }
}
