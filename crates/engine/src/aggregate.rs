//! Aggregates: count, sum, minimum, maximum, mean and null count of the cells that a read means.
//!
//! Tiles of which every cell counts are answered from their statistics, where those say the truth; the others are
//! decoded tile by tile and folded, so that memory follows a tile and not the result.
//!
//! Source: 21-semantics §6.4; docs/correctness.md says where the reference answers something else.

mod fold;
mod totals;

use talavera_types::{CellValNum, Datatype, DatatypeClass};

pub(crate) use self::fold::{Chosen, fold, repeat};
pub(crate) use self::totals::{Bounds, TileStatistics, Totals, Wanted};
use crate::read::dense::DenseRead;
use crate::read::field::{ReadField, ResultShape};
use crate::read::sparse::SparseRead;
use crate::{Error, ReadQuery};

/// A number, or text, that says something about all cells of a read together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Aggregate {
    /// How many cells there are, nulls included. Of a dense array these are all cells of the ranges, written or not; with a
    /// condition those that were written and fulfil it.
    Count,
    /// The sum of the values of a field of numbers, dates or times.
    Sum(String),
    /// The least value of a field of numbers, dates, times or text. NaN only where all values are.
    Min(String),
    /// The greatest value of a field of numbers, dates, times or text. NaN only where all values are.
    Max(String),
    /// The sum of the values of a field divided by their number.
    Mean(String),
    /// How many cells of a field are null; 0 for fields that are not nullable.
    NullCount(String),
}

/// The answer to an [`Aggregate`].
///
/// Nulls never count as values, and of a dense array only cells that were written do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AggregateValue {
    /// There was no value: of minimum, maximum and mean, and of the sum of a nullable field.
    ///
    /// The library's buffers then hold 0, an empty string or NaN, and for nullable fields validity 0.
    Null,
    /// A count, or a sum, minimum or maximum of unsigned integers. A sum that does not fit is the greatest number.
    Unsigned(u64),
    /// A sum, minimum or maximum of signed integers, dates or times. A sum that does not fit is the nearest number.
    Signed(i64),
    /// A mean, or a sum, minimum or maximum of floats.
    Float(f64),
    /// A minimum or maximum of text, ordered by unsigned bytes.
    Text(Box<[u8]>),
}

/// A field of which totals are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TotalField {
    pub(crate) field: ReadField,
    pub(crate) shape: ResultShape,
    pub(crate) wanted: Wanted,
}

impl Aggregate {
    /// The field it is about; none for the count of cells.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Sum(field) | Self::Min(field) | Self::Max(field) | Self::Mean(field) | Self::NullCount(field) => Some(field),
        }
    }

    fn wanted(&self) -> Wanted {
        Wanted { sum: matches!(self, Self::Sum(_) | Self::Mean(_)), bounds: matches!(self, Self::Min(_) | Self::Max(_)) }
    }

    /// Whether cells of this kind have such an aggregate: sums and means single numbers, dates and times; minimum and
    /// maximum these and text.
    #[must_use]
    pub fn applies_to(&self, datatype: Datatype, cell_val_num: CellValNum) -> bool {
        match self {
            Self::Count | Self::NullCount(_) => true,
            Self::Sum(_) | Self::Mean(_) => is_number(datatype, cell_val_num),
            Self::Min(_) | Self::Max(_) => is_number(datatype, cell_val_num) || is_text(datatype),
        }
    }

    fn value(&self, cells: u64, totals: &Totals, shape: ResultShape) -> AggregateValue {
        match self {
            Self::Count => AggregateValue::Unsigned(cells),
            Self::NullCount(_) => AggregateValue::Unsigned(totals.nulls),
            Self::Sum(_) if shape.nullable && totals.values == 0 => AggregateValue::Null,
            Self::Sum(_) => totals.sum(shape.datatype),
            Self::Mean(_) => totals.mean(),
            Self::Min(_) => totals.min(),
            Self::Max(_) => totals.max(),
        }
    }
}

impl ReadQuery<'_> {
    /// Aggregates of the cells that the read means, in the order asked for; which fields and which order it has does not
    /// matter.
    ///
    /// Under a memory limit, tiles are read a few at a time. Sums of integers are exact until they are told; those of floats
    /// are rounded as their tiles follow each other, whatever the number of threads.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a question that does not fit the array: an unknown field, a sum of text, a minimum of cells
    /// with several numbers. [`Error::Budget`] when a single tile does not fit into the memory limit, and whatever is wrong
    /// with the files.
    pub fn aggregate(self, aggregates: impl IntoIterator<Item = Aggregate>) -> Result<Vec<AggregateValue>, Error> {
        let aggregates: Vec<Aggregate> = aggregates.into_iter().collect();
        let array = self.array();
        let mut fields: Vec<TotalField> = Vec::new();
        let mut places = Vec::with_capacity(aggregates.len());
        for aggregate in &aggregates {
            places.push(aggregate.field().map(|name| place_of(array, aggregate, name, &mut fields)).transpose()?);
        }
        let counted = aggregates.iter().any(|aggregate| aggregate.field().is_none());
        let (cells, totals) = array.options().run(|| self.totals(&fields, counted))?;
        let of = |(aggregate, place): (&Aggregate, &Option<usize>)| {
            let totals = place.and_then(|place| totals.get(place).zip(fields.get(place)));
            match totals {
                Some((totals, field)) => aggregate.value(cells, totals, field.shape),
                None => AggregateValue::Unsigned(cells),
            }
        };
        Ok(aggregates.iter().zip(&places).map(of).collect())
    }

    /// The number of cells, and the totals of each field.
    fn totals(&self, fields: &[TotalField], counted: bool) -> Result<(u64, Vec<Totals>), Error> {
        let job = self.job();
        let condition = self.bind_condition()?;
        let group_bytes = self.part_bytes();
        if self.array().schema().is_dense() {
            let dense = DenseRead::new(self.array(), &job)?;
            let ranges = self.dense_ranges(&dense)?;
            return dense.total(&ranges, fields, condition.as_ref(), counted, group_bytes);
        }
        // Where no field is asked for, cells are counted by the cheapest.
        let names = fields.iter().map(|field| field.field).chain(fields.is_empty().then_some(ReadField::Timestamps));
        let names: Vec<ReadField> = names.collect();
        let layout = talavera_types::Layout::Unordered;
        let sparse = SparseRead::new(self.array(), &job, &names, layout, condition.as_ref())?;
        sparse.total(self.selection()?, fields, group_bytes)
    }
}

/// The place of an aggregate's field among those whose totals are wanted.
fn place_of(array: &crate::OpenArray, aggregate: &Aggregate, name: &str, fields: &mut Vec<TotalField>) -> Result<usize, Error> {
    let field = ReadField::named(array.schema(), name)?;
    let shape = field.shape(array.schema())?;
    if !aggregate.applies_to(shape.datatype, shape.cell_val_num) {
        let values = match shape.cell_val_num {
            CellValNum::ONE => "",
            _ => ", several in a cell,",
        };
        return Err(Error::invalid(format!("{aggregate:?}: {}{values} has no such aggregate", shape.datatype)));
    }
    let place = fields.iter().position(|known| known.field == field).unwrap_or_else(|| {
        fields.push(TotalField { field, shape, wanted: Wanted::default() });
        fields.len() - 1
    });
    if let Some(field) = fields.get_mut(place) {
        field.wanted.add(aggregate.wanted());
    }
    Ok(place)
}

/// Whether cells are single values that can be added.
fn is_number(datatype: Datatype, cell_val_num: CellValNum) -> bool {
    let arithmetic = matches!(datatype.class(), DatatypeClass::Signed | DatatypeClass::Unsigned | DatatypeClass::Float);
    arithmetic && cell_val_num == CellValNum::ONE
}

/// Whether cells are text that is ordered by its bytes.
fn is_text(datatype: Datatype) -> bool {
    datatype.class() == DatatypeClass::Text || datatype == Datatype::StringUtf8
}
