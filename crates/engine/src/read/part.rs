//! Parts of a read as plain data: cut here, sent elsewhere, read there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use talavera_condition::QueryCondition;
use talavera_directory::TimeWindow;
use talavera_storage::{ObjectPath, Storage};
use talavera_types::Layout;

use super::dense::CellRanges;
use super::sparse::{AxisSelection, PointColumn, Points, Selection};
use crate::open::Snapshot;
use crate::{Batch, EngineOptions, Error, OpenArray, ReadQuery};

/// How a read is cut into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitBy {
    /// Into so many parts, or fewer where there is not as much to cut.
    Parts(usize),
    /// Into parts whose reading takes about so many bytes of memory.
    Bytes(u64),
}

/// How many cells a part has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellCount {
    /// The number, or the most that it can be.
    pub cells: u64,
    /// Whether it is the number.
    pub exact: bool,
}

/// What is known about the cells of a field before they are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldStatistics {
    /// The field's name.
    pub field: String,
    /// No value is less: the little-endian bytes of a value of the field. None where nothing can be relied on.
    pub min: Option<Vec<u8>>,
    /// No value is greater.
    pub max: Option<Vec<u8>>,
    /// How many cells are null, where that is known exactly.
    pub null_count: Option<u64>,
}

/// A part of a read: plain data that another process, on another machine, reads alone.
///
/// The parts of a read are disjoint, and together they are all of it. A part is pinned to the schema, fragments and deletes
/// that the read saw, so that writes in between change nothing; it holds no key. It can be made into text and back by
/// whatever `serde` knows; that it was sent by a stranger does no harm beyond a wrong answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadPart {
    array: String,
    window: (u64, u64),
    snapshot: Snapshot,
    fields: Vec<String>,
    layout: String,
    condition: Option<QueryCondition>,
    extent: Extent,
    cells: CellCount,
    statistics: Vec<FieldStatistics>,
}

/// The cells of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Extent {
    /// For each dimension ranges of cells, counted from the low corner of the domain.
    Dense(CellRanges),
    /// Cells of a sparse array.
    Sparse {
        /// For each dimension order keys, or strings.
        axes: Vec<AxisSelection>,
        /// The only points that count, where not all do: a column for each dimension.
        points: Option<Vec<PointColumn>>,
        /// The only tiles that count, where not all do: the first and last of intervals, for each fragment of the snapshot.
        tiles: Option<Vec<Vec<(u64, u64)>>>,
    },
}

/// What a part of a read has in common with the others.
pub(crate) struct PartOf<'a> {
    pub(crate) array: &'a OpenArray,
    pub(crate) fields: &'a [String],
    pub(crate) layout: Layout,
    pub(crate) condition: Option<&'a QueryCondition>,
}

impl PartOf<'_> {
    /// A part of the read that takes cells of these fragments.
    pub(crate) fn part(
        &self,
        fragments: &[usize],
        extent: Extent,
        cells: CellCount,
        statistics: Vec<FieldStatistics>,
    ) -> ReadPart {
        let window = self.array.window();
        ReadPart {
            array: self.array.root().as_str().to_owned(),
            window: (window.start, window.end),
            snapshot: self.array.snapshot(fragments),
            fields: self.fields.to_vec(),
            layout: self.layout.to_string(),
            condition: self.condition.cloned(),
            extent,
            cells,
            statistics,
        }
    }
}

impl FieldStatistics {
    /// Nothing is known.
    pub(crate) fn unknown(field: &str) -> Self {
        Self { field: field.to_owned(), min: None, max: None, null_count: None }
    }
}

impl Extent {
    /// The cells of a selection, of which only these fragments are kept.
    pub(crate) fn of_selection(selection: &Selection, fragments: &[usize]) -> Self {
        let of_fragments = |tiles: &Vec<Vec<(u64, u64)>>| {
            fragments.iter().map(|&fragment| tiles.get(fragment).cloned().unwrap_or_default()).collect()
        };
        Self::Sparse {
            axes: selection.axes.iter().map(|axis| (**axis).clone()).collect(),
            points: selection.points.as_ref().map(|points| points.to_columns(&selection.axes)),
            tiles: selection.tiles.as_deref().map(of_fragments),
        }
    }

    /// The selection of a part of a sparse array.
    pub(crate) fn selection(&self, array: &OpenArray) -> Result<Selection, Error> {
        let schema = array.schema();
        let Self::Sparse { axes, points, tiles } = self else {
            return Err(Error::invalid("the part is one of a dense array, the array is sparse"));
        };
        if axes.len() != schema.domain.dimensions.len() {
            return Err(Error::invalid("the part does not have the dimensions of the array"));
        }
        let points = points.clone().map(|columns| Points::from_columns(schema, columns)).transpose()?;
        let in_order = |mut intervals: Vec<(u64, u64)>| {
            intervals.sort_unstable();
            intervals
        };
        let tiles = tiles.clone().map(|tiles| Arc::new(tiles.into_iter().map(in_order).collect()));
        Ok(Selection {
            axes: axes.iter().map(|axis| Arc::new(axis.clone().put_in_order())).collect(),
            points: points.map(Arc::new),
            tiles,
        })
    }

    /// The ranges of a part of a dense array.
    pub(crate) fn cell_ranges(&self, array: &OpenArray) -> Result<CellRanges, Error> {
        let Self::Dense(ranges) = self else {
            return Err(Error::invalid("the part is one of a sparse array, the array is dense"));
        };
        let dimensions = &array.schema().domain.dimensions;
        let fits = |(ranges, dimension): (&Vec<(u64, u64)>, &talavera_schema::Dimension)| {
            // All 2⁶⁴ values have no count.
            let last = dimension.domain.as_ref().map(|domain| domain.cell_count().map_or(u64::MAX, |cells| cells - 1));
            ranges.iter().all(|&(first, end)| first <= end && last.is_some_and(|last| end <= last))
        };
        if ranges.len() != dimensions.len() || !ranges.iter().zip(dimensions).all(fits) {
            return Err(Error::invalid("the part does not lie in the domain of the array"));
        }
        Ok(ranges.clone())
    }
}

impl ReadPart {
    /// Where the array lies in its storage.
    #[must_use]
    pub fn array(&self) -> &str {
        &self.array
    }

    /// How many cells it has.
    #[must_use]
    pub fn cells(&self) -> CellCount {
        self.cells
    }

    /// What is known about its fields, in the order of the read.
    #[must_use]
    pub fn statistics(&self) -> &[FieldStatistics] {
        &self.statistics
    }

    /// The fields that it gives.
    #[must_use]
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The names of the fragments that it takes cells of.
    #[must_use]
    pub fn fragments(&self) -> &[String] {
        &self.snapshot.fragments
    }

    /// Opens the array as the read saw it. Storage and options, with the key if there is one, are those of the place where
    /// the part is read.
    ///
    /// # Errors
    /// As [`OpenArray::open`]; [`Error::Invalid`] when a fragment has been vacuumed since.
    pub fn open(&self, storage: Arc<dyn Storage>, options: EngineOptions) -> Result<OpenArray, Error> {
        let root = if self.array.is_empty() { ObjectPath::root() } else { ObjectPath::new(&self.array)? };
        self.open_at(storage, root, options)
    }

    /// As [`ReadPart::open`], for an array that lies elsewhere than it did.
    ///
    /// # Errors
    /// As [`ReadPart::open`].
    pub fn open_at(&self, storage: Arc<dyn Storage>, root: ObjectPath, options: EngineOptions) -> Result<OpenArray, Error> {
        let (start, end) = self.window;
        OpenArray::open_snapshot(storage, root, TimeWindow { start, end }, options, &self.snapshot)
    }

    /// The read of this part, of the array that [`ReadPart::open`] gives.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another array, and for a part that was damaged on its way.
    pub fn query<'a>(&self, array: &'a OpenArray) -> Result<ReadQuery<'a>, Error> {
        let fragments = array.fragments().iter().map(crate::Fragment::name);
        if !fragments.eq(self.snapshot.fragments.iter().map(String::as_str)) {
            return Err(Error::invalid("the array is not open at the fragments of the part; open it by the part"));
        }
        let layout = Layout::ALL.iter().find(|layout| layout.to_string() == self.layout);
        let layout = *layout.ok_or_else(|| Error::invalid(format!("'{}' is no order of cells", self.layout)))?;
        let query = array.query().fields(&self.fields).layout(layout).extent(self.extent.clone());
        Ok(match &self.condition {
            Some(condition) => query.condition(condition.clone()),
            None => query,
        })
    }

    /// Opens the array and reads the whole part.
    ///
    /// # Errors
    /// As [`ReadPart::open`] and [`ReadQuery::read`].
    pub fn run(&self, storage: Arc<dyn Storage>, options: EngineOptions) -> Result<Batch, Error> {
        let array = self.open(storage, options)?;
        self.query(&array)?.read()
    }
}
