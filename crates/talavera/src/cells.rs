//! A result, or one batch of it.

use talavera_engine::{Batch, FieldBuffer};
use talavera_types::Datatype;

use crate::{Error, Value};

/// Cells of a result: fields of equal length, in the order asked for.
///
/// ```
/// use talavera::{Array, Order};
///
/// let array = Array::open("tests/data/sparse_string_dim")?;
/// let cells = array.read().fields(["id", "v"]).range("id", "i"..="k").order(Order::RowMajor).cells()?;
/// let found: Vec<_> = cells.strings("id")?.flatten().zip(cells.values::<i32>("v")?).collect();
/// assert_eq!(found, [("idg", &-600661589), ("je2", &1355528040), ("k", &-1340946405)]);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    batch: Batch,
}

impl Cells {
    pub(crate) fn new(batch: Batch) -> Self {
        Self { batch }
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.cells
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.cells == 0
    }

    /// The names of the fields.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.batch.fields.iter().map(|(name, _)| name.as_str())
    }

    /// The fields with their names.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &FieldBuffer)> {
        self.batch.fields.iter().map(|(name, buffer)| (name.as_str(), buffer))
    }

    /// The cells of a field as they lie in memory: data, offsets, validity.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&FieldBuffer> {
        self.batch.field(name)
    }

    /// The values of a field, those of all its cells one behind the other. Nothing is copied.
    ///
    /// What stands under a null is anything; see [`Cells::nullable_values`].
    ///
    /// # Errors
    /// [`Error::UnknownField`], and [`Error::ValueType`] when `T` does not hold the field's datatype.
    pub fn values<T: Value>(&self, name: &str) -> Result<&[T], Error> {
        let buffer = self.known(name)?;
        T::of(buffer).ok_or_else(|| Error::ValueType {
            field: name.to_owned(),
            datatype: buffer.datatype(),
            wanted: std::any::type_name::<T>(),
        })
    }

    /// The values of a field with one value in a cell, nulls as `None`.
    ///
    /// # Errors
    /// As [`Cells::values`], and [`Error::CellShape`] when cells hold another number of values than one.
    pub fn nullable_values<T: Value>(&self, name: &str) -> Result<impl ExactSizeIterator<Item = Option<T>>, Error> {
        let buffer = self.known(name)?;
        single(name, buffer.cell_val_num())?;
        let values = self.values::<T>(name)?;
        Ok(values.iter().enumerate().map(|(cell, &value)| (!buffer.is_null(cell)).then_some(value)))
    }

    /// The cells of a text field, nulls as `None`: STRING_ASCII, STRING_UTF8, CHAR or GEOM_WKT, of fixed or variable
    /// length.
    ///
    /// # Errors
    /// [`Error::UnknownField`], [`Error::ValueType`] for a field of another datatype, and [`Error::NotUtf8`] when some
    /// cell is not text; see [`Cells::bytes`].
    pub fn strings(&self, name: &str) -> Result<impl ExactSizeIterator<Item = Option<&str>>, Error> {
        let datatype = self.known(name)?.datatype();
        if !is_text(datatype) {
            return Err(Error::ValueType { field: name.to_owned(), datatype, wanted: "text" });
        }
        let mut cells = Vec::with_capacity(self.len());
        for (cell, bytes) in self.bytes(name)?.enumerate() {
            let text = bytes.map(std::str::from_utf8).transpose();
            cells.push(text.map_err(|_| Error::NotUtf8 { field: name.to_owned(), cell })?);
        }
        Ok(cells.into_iter())
    }

    /// The bytes of each cell of any field, nulls as `None`.
    ///
    /// # Errors
    /// [`Error::UnknownField`].
    pub fn bytes(&self, name: &str) -> Result<impl ExactSizeIterator<Item = Option<&[u8]>>, Error> {
        let buffer = self.known(name)?;
        let cell = |cell| if buffer.is_null(cell) { None } else { buffer.cell(cell) };
        Ok((0..buffer.len()).map(cell))
    }

    /// Bytes of memory that the cells take.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.batch.memory_bytes()
    }

    /// The fields with their names, for those who take the memory over.
    #[must_use]
    pub fn into_fields(self) -> Vec<(String, FieldBuffer)> {
        self.batch.fields
    }

    fn known(&self, name: &str) -> Result<&FieldBuffer, Error> {
        self.field(name).ok_or_else(|| Error::UnknownField { field: name.to_owned() })
    }
}

/// Whether cells are text of one byte a character, or UTF-8.
pub(crate) fn is_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char | Datatype::GeomWkt)
}

/// Refuses cells with another number of values than one.
pub(crate) fn single(field: &str, cell_val_num: talavera_types::CellValNum) -> Result<(), Error> {
    let reason = match cell_val_num.fixed() {
        Some(1) => return Ok(()),
        Some(_) => "has several values in a cell",
        None => "has cells of variable length",
    };
    Err(Error::CellShape { field: field.to_owned(), reason })
}
