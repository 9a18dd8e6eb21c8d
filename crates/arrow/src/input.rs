//! Record batches as cells to write: the inverse of [`Conversion`](crate::Conversion).

mod bytes;
mod enumerated;
mod target;
mod values;

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use talavera::{Array, ArraySchema, Attribute, CellBytes, Columns, Enumeration, FieldBuffer, Write};

use crate::{Error, metadata};

pub(crate) use target::Target;

/// How record batches become cells of an array: columns are matched with dimensions and attributes by name.
///
/// A column has the Arrow type of the field in the table of the crate's page, or one that holds the same: text and lists
/// with 32-bit offsets or as views, FixedSizeBinary and lists of equal length for cells of any length, Time32, Date64,
/// timestamps with a time zone (which is not kept). Nothing is rounded or cut off.
///
/// An enumerated attribute takes indices, a dictionary, or values; values must be in the enumeration. It is made once for an
/// array, touches no storage afterwards, and knows the enumerations as they were when the array was opened.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int64Array, RecordBatch, StringArray};
/// use talavera::{ArrayBuilder, MemoryStorage, ObjectPath};
/// use talavera_arrow::{Import, WriteExt};
///
/// let builder = ArrayBuilder::sparse().dimension("x", 0..=99_i64, 10).string_attribute("name");
/// let array = builder.create_in(Arc::new(MemoryStorage::new()), ObjectPath::root())?;
/// let x = Arc::new(Int64Array::from(vec![3, 1])) as _;
/// let batch = RecordBatch::try_from_iter([("x", x), ("name", Arc::new(StringArray::from(vec!["c", "a"])) as _)])?;
///
/// let import = Import::new(&array)?;
/// array.write().record_batch(&import, &batch)?.commit()?;
/// assert_eq!(array.reopen()?.read().cells()?.strings("name")?.flatten().collect::<Vec<_>>(), ["a", "c"]);
/// # Ok::<(), talavera_arrow::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Import {
    targets: Vec<Target>,
    /// The dimensions of a dense array, which no column may be for.
    coordinates: Vec<String>,
}

/// Record batches as the columns of a write.
pub trait WriteExt: sealed::Sealed + Sized {
    /// Adds the columns of a record batch.
    ///
    /// # Errors
    /// As [`Import::fields`].
    fn record_batch(self, import: &Import, batch: &RecordBatch) -> Result<Self, Error>;

    /// Adds the columns of several record batches, one behind the other, as those of one write.
    ///
    /// # Errors
    /// As [`Import::fields`], and what is wrong with the batches.
    fn record_batches<E: Into<Error>>(
        self,
        import: &Import,
        batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
    ) -> Result<Self, Error>;
}

mod sealed {
    pub trait Sealed: Sized {
        fn add(self, fields: Vec<(String, talavera::FieldBuffer)>) -> Self;
    }
}

impl Import {
    /// The import into an array, by the schema that it was opened with.
    ///
    /// # Errors
    /// When an enumeration cannot be read.
    pub fn new(array: &Array) -> Result<Self, Error> {
        let schema = array.schema();
        let mut targets = Vec::new();
        for attribute in &schema.attributes {
            let enumeration = attribute.enumeration.as_deref().map(|name| array.enumeration(name)).transpose()?;
            targets.push(Target::of_attribute(attribute, enumeration));
        }
        if !schema.is_dense() {
            targets.extend(schema.domain.dimensions.iter().map(Target::of_dimension));
        }
        Ok(Self { targets, coordinates: coordinates(schema) })
    }

    /// The import into columns that are no array's yet: each as the attribute of its name would have its cells, with the
    /// enumerations that the attributes refer to. See [`Attributes`](crate::Attributes).
    #[must_use]
    pub fn of_attributes(attributes: &[Attribute], enumerations: &[Enumeration]) -> Self {
        let named = |name: &str| enumerations.iter().find(|enumeration| enumeration.name() == name);
        let target = |attribute: &Attribute| {
            let enumeration = attribute.enumeration.as_deref().and_then(named);
            Target::of_attribute(attribute, enumeration.map(|enumeration| Arc::new(enumeration.clone())))
        };
        Self { targets: attributes.iter().map(target).collect(), coordinates: Vec::new() }
    }

    /// The columns of a record batch as fields to write. A column of times of cells, as reading makes it, is left out.
    ///
    /// # Errors
    /// [`Error::UnknownField`] for a column that the array has no field for; [`Error::Coordinates`] for a column of
    /// coordinates of a dense array; [`Error::ColumnType`], [`Error::NullCell`], [`Error::CellLength`],
    /// [`Error::UnknownValue`] and [`Error::Cells`] for cells that do not fit their fields.
    pub fn fields(&self, batch: &RecordBatch) -> Result<Vec<(String, FieldBuffer)>, Error> {
        let mut fields = Vec::with_capacity(batch.num_columns());
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if is_time_of_cells(field) {
                continue;
            }
            let name = field.name();
            if self.coordinates.contains(name) {
                return Err(Error::Coordinates { field: name.clone() });
            }
            let target = self.targets.iter().find(|target| target.name == *name);
            let target = target.ok_or_else(|| Error::UnknownField { field: name.clone() })?;
            fields.push((name.clone(), to_cells(target, column)?));
        }
        Ok(fields)
    }

    /// The columns of several record batches, one behind the other.
    ///
    /// # Errors
    /// As [`Import::fields`], what is wrong with the batches, and [`Error::Cells`] for batches of different columns.
    pub fn fields_of_all<E: Into<Error>>(
        &self,
        batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
    ) -> Result<Vec<(String, FieldBuffer)>, Error> {
        let mut all: Vec<(String, Vec<FieldBuffer>)> = Vec::new();
        for (index, batch) in batches.into_iter().enumerate() {
            let fields = self.fields(&batch.map_err(E::into)?)?;
            if index == 0 {
                all = fields.into_iter().map(|(name, cells)| (name, vec![cells])).collect();
                continue;
            }
            let names = || all.iter().map(|(name, _)| name);
            if !fields.iter().map(|(name, _)| name).eq(names()) {
                return Err(Error::cells("", "the batches have different columns"));
            }
            for ((_, parts), (_, cells)) in all.iter_mut().zip(fields) {
                parts.push(cells);
            }
        }
        all.into_iter().map(|(name, parts)| Ok((name, joined(&parts)?))).collect()
    }
}

impl sealed::Sealed for Write {
    fn add(self, fields: Vec<(String, FieldBuffer)>) -> Self {
        self.fields(fields)
    }
}

impl sealed::Sealed for Columns {
    fn add(self, fields: Vec<(String, FieldBuffer)>) -> Self {
        self.fields(fields)
    }
}

impl<T: sealed::Sealed> WriteExt for T {
    fn record_batch(self, import: &Import, batch: &RecordBatch) -> Result<Self, Error> {
        Ok(self.add(import.fields(batch)?))
    }

    fn record_batches<E: Into<Error>>(
        self,
        import: &Import,
        batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
    ) -> Result<Self, Error> {
        Ok(self.add(import.fields_of_all(batches)?))
    }
}

/// The cells of a column as those of a field.
pub(crate) fn to_cells(target: &Target, column: &ArrayRef) -> Result<FieldBuffer, Error> {
    match (&target.enumeration, column.data_type()) {
        (Some(enumeration), data_type) if !target.takes_indices(data_type) => enumerated::indices(target, enumeration, column),
        (_, DataType::Dictionary(..)) => enumerated::looked_up(target, column),
        _ => bytes::cells(target, column)?.finish(target),
    }
}

/// Whether a column holds what a read gives for the times of cells.
pub(crate) fn is_time_of_cells(field: &arrow_schema::Field) -> bool {
    field.metadata().get(metadata::ROLE).is_some_and(|role| role == "timestamps")
}

fn coordinates(schema: &ArraySchema) -> Vec<String> {
    let dimensions = schema.domain.dimensions.iter().filter(|_| schema.is_dense());
    let names = dimensions.map(|dimension| dimension.name.clone());
    names.filter(|name| schema.attribute(name).is_none()).collect()
}

/// The cells of all parts, one behind the other.
fn joined(parts: &[FieldBuffer]) -> Result<FieldBuffer, Error> {
    let Some((first, rest)) = parts.split_first() else { return Err(Error::cells("", "there are no batches")) };
    if rest.is_empty() {
        return Ok(first.clone());
    }
    let data: Vec<&[u8]> = parts.iter().map(FieldBuffer::data).collect();
    let mut end = 0;
    let mut offsets = first.offsets().map(|_| vec![0]);
    for part in parts {
        if let (Some(offsets), Some(more)) = (&mut offsets, part.offsets()) {
            offsets.extend(more.iter().skip(1).map(|offset| end + offset));
        }
        end += part.data().len() as u64;
    }
    let validity: Option<Vec<&[u8]>> = parts.iter().map(FieldBuffer::validity).collect();
    let validity = validity.map(|parts| parts.concat());
    let data = CellBytes::copied(&data.concat());
    let all = FieldBuffer::new(first.datatype(), first.cell_val_num(), data, offsets, validity);
    Ok(all.map_err(talavera::Error::from)?)
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// What a column could not become.
#[cold]
pub(crate) fn column_type(target: &Target, found: &DataType) -> Error {
    Error::ColumnType { field: target.name.clone(), found: found.to_string(), wanted: target.to_string() }
}
