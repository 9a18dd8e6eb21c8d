//! The cells of a write, field by field, from Rust values.

use talavera_engine::{ArrayWriter, CellBytes, FieldBuffer};
use talavera_schema::ArraySchema;
use talavera_types::{CellValNum, Datatype};

use crate::cells::{is_text, single};
use crate::read::field_shape;
use crate::{Error, Value};

/// Cells to be written: one column for each attribute and, of a sparse array, for each dimension.
///
/// Made by [`Writer::columns`](crate::Writer::columns) for [`Stream::append`](crate::Stream::append);
/// [`Write`](crate::Write) has the same methods. The first mistake is reported when the cells are written.
///
/// Values may be of any Rust type that holds the field's datatype: `i64` for dates, `u8` for booleans, see [`Value`].
#[derive(Debug)]
#[must_use = "columns do nothing until they are written"]
pub struct Columns {
    inner: Result<Inner, Error>,
}

#[derive(Debug)]
struct Inner {
    writer: ArrayWriter,
    fields: Vec<(String, FieldBuffer)>,
}

/// Text as a cell: `&str`, `String`, and options of them, none being a null.
pub trait TextCell {
    /// The text; none for a null.
    fn text(&self) -> Option<&str>;
}

/// Bytes as a cell: `&[u8]`, `Vec<u8>`, `[u8; N]`, those of `&str` and `String`, and options of them, none being a null.
pub trait BinaryCell {
    /// The bytes, those of numbers little-endian; none for a null.
    fn binary(&self) -> Option<&[u8]>;
}

/// A field that is written.
struct Target<'a> {
    field: &'a str,
    datatype: Datatype,
    cell_val_num: CellValNum,
    nullable: bool,
}

impl Columns {
    pub(crate) fn new(writer: Result<ArrayWriter, Error>) -> Self {
        Self { inner: writer.map(|writer| Inner { writer, fields: Vec::new() }) }
    }

    /// The values of a field; those of one cell after the other where cells hold several. No cell is null.
    pub fn column<T: Value>(self, field: &str, values: &[T]) -> Self {
        self.add(field, |target| {
            target.check_value::<T>()?;
            let wanted = target.cell_val_num.fixed().ok_or_else(|| target.shape("has cells of variable length; give lists"))?;
            if !usize::try_from(wanted).is_ok_and(|wanted| values.len().is_multiple_of(wanted)) {
                return Err(target.shape("takes several values in a cell, and the last cell lacks some"));
            }
            let cells = usize::try_from(wanted).map_or(0, |wanted| values.len() / wanted);
            target.buffer(T::to_cell_bytes(values), None, vec![1; cells])
        })
    }

    /// The values of a field with one value in a cell; none is a null, which only nullable fields take.
    pub fn nullable<T: Value>(self, field: &str, values: &[Option<T>]) -> Self {
        self.add(field, |target| {
            target.check_value::<T>()?;
            single(target.field, target.cell_val_num)?;
            let validity = values.iter().map(|value| u8::from(value.is_some())).collect();
            let values: Vec<T> = values.iter().map(|value| value.unwrap_or_default()).collect();
            target.buffer(T::to_cell_bytes(&values), None, validity)
        })
    }

    /// The cells of a field, each a list of values.
    pub fn lists<T: Value, C: AsRef<[T]>>(self, field: &str, cells: impl IntoIterator<Item = C>) -> Self {
        self.nullable_lists(field, cells.into_iter().map(Some))
    }

    /// The cells of a field, each a list of values, or none for a null.
    pub fn nullable_lists<T: Value, C: AsRef<[T]>>(self, field: &str, cells: impl IntoIterator<Item = Option<C>>) -> Self {
        self.add(field, |target| {
            target.check_value::<T>()?;
            let cells = cells.into_iter().map(|cell| cell.map(|cell| T::to_cell_bytes(cell.as_ref()).to_vec()));
            target.collect(cells)
        })
    }

    /// The cells of a text field: STRING_ASCII, STRING_UTF8, CHAR or GEOM_WKT, of variable length or of so many bytes.
    pub fn strings<C: TextCell>(self, field: &str, cells: impl IntoIterator<Item = C>) -> Self {
        self.add(field, |target| {
            if !is_text(target.datatype) {
                return Err(target.given("text"));
            }
            target.collect(cells.into_iter().map(Text))
        })
    }

    /// The cells of any field as bytes, those of numbers little-endian.
    pub fn bytes<C: BinaryCell>(self, field: &str, cells: impl IntoIterator<Item = C>) -> Self {
        self.add(field, |target| target.collect(cells))
    }

    /// The cells of a field as they lie in memory.
    pub fn field(mut self, field: impl Into<String>, cells: FieldBuffer) -> Self {
        if let Ok(inner) = &mut self.inner {
            inner.fields.push((field.into(), cells));
        }
        self
    }

    /// The cells of several fields as they lie in memory: those of a read, for example.
    pub fn fields(self, fields: impl IntoIterator<Item = (String, FieldBuffer)>) -> Self {
        fields.into_iter().fold(self, |columns, (field, cells)| columns.field(field, cells))
    }

    pub(crate) fn schema(&self) -> Option<&ArraySchema> {
        self.inner.as_ref().ok().map(|inner| inner.writer.schema())
    }

    /// Remembers the first mistake.
    pub(crate) fn check<T>(&mut self, found: Result<T, Error>) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(error) => {
                if self.inner.is_ok() {
                    self.inner = Err(error);
                }
                None
            }
        }
    }

    pub(crate) fn finish(self) -> Result<(ArrayWriter, Vec<(String, FieldBuffer)>), Error> {
        self.inner.map(|inner| (inner.writer, inner.fields))
    }

    fn add(mut self, field: &str, make: impl FnOnce(Target<'_>) -> Result<FieldBuffer, Error>) -> Self {
        let Ok(inner) = &self.inner else { return self };
        let target = Target::named(inner.writer.schema(), field);
        let made = target.and_then(make);
        match self.check(made) {
            Some(cells) => self.field(field, cells),
            None => self,
        }
    }
}

impl<'a> Target<'a> {
    fn named(schema: &ArraySchema, field: &'a str) -> Result<Self, Error> {
        let found = field_shape(schema, field);
        let (datatype, cell_val_num, nullable) = found.ok_or_else(|| Error::UnknownField { field: field.to_owned() })?;
        Ok(Self { field, datatype, cell_val_num, nullable })
    }

    fn check_value<T: Value>(&self) -> Result<(), Error> {
        if T::holds(self.datatype) { Ok(()) } else { Err(self.given(std::any::type_name::<T>())) }
    }

    fn collect<C: BinaryCell>(&self, cells: impl IntoIterator<Item = C>) -> Result<FieldBuffer, Error> {
        let fixed = self.cell_val_num.fixed().and_then(|values| usize::try_from(values).ok());
        let bytes = fixed.map(|values| values.saturating_mul(self.datatype.size()));
        let (mut data, mut offsets, mut validity) = (Vec::new(), vec![0], Vec::new());
        for (index, cell) in cells.into_iter().enumerate() {
            let cell = cell.binary();
            validity.push(u8::from(cell.is_some()));
            match (cell, bytes) {
                (None, Some(bytes)) => data.resize(data.len().saturating_add(bytes), 0),
                (None, None) => {}
                (Some(cell), Some(expected)) if cell.len() != expected => return Err(self.size(index, cell.len(), expected)),
                (Some(cell), _) if !cell.len().is_multiple_of(self.datatype.size()) => {
                    return Err(self.size(index, cell.len(), self.datatype.size()));
                }
                (Some(cell), _) => data.extend_from_slice(cell),
            }
            offsets.push(data.len() as u64);
        }
        self.buffer(CellBytes::copied(&data), bytes.is_none().then_some(offsets), validity)
    }

    /// The cells, with validity only where the field takes it.
    fn buffer(&self, data: CellBytes, offsets: Option<Vec<u64>>, validity: Vec<u8>) -> Result<FieldBuffer, Error> {
        if let (false, Some(cell)) = (self.nullable, validity.iter().position(|&valid| valid == 0)) {
            return Err(Error::Null { field: self.field.to_owned(), cell });
        }
        let validity = self.nullable.then_some(validity);
        Ok(FieldBuffer::new(self.datatype, self.cell_val_num, data, offsets, validity)?)
    }

    #[cold]
    fn given(&self, found: &'static str) -> Error {
        Error::GivenType { field: self.field.to_owned(), datatype: self.datatype, found }
    }

    #[cold]
    fn shape(&self, reason: &'static str) -> Error {
        Error::CellShape { field: self.field.to_owned(), reason }
    }

    #[cold]
    fn size(&self, cell: usize, found: usize, expected: usize) -> Error {
        Error::CellSize { field: self.field.to_owned(), cell, found, expected }
    }
}

/// Text as bytes.
struct Text<C>(C);

impl<C: TextCell> BinaryCell for Text<C> {
    fn binary(&self) -> Option<&[u8]> {
        self.0.text().map(str::as_bytes)
    }
}

macro_rules! text_cell {
    ($($type:ty)*) => {$(
        impl TextCell for $type {
            fn text(&self) -> Option<&str> {
                Some(self)
            }
        }
    )*};
}

text_cell! { &str String &String &&str std::borrow::Cow<'_, str> }

impl<C: TextCell> TextCell for Option<C> {
    fn text(&self) -> Option<&str> {
        self.as_ref().and_then(C::text)
    }
}

macro_rules! binary_cell {
    ($($type:ty)*) => {$(
        impl BinaryCell for $type {
            fn binary(&self) -> Option<&[u8]> {
                Some(self)
            }
        }
    )*};
}

binary_cell! { &[u8] Vec<u8> &Vec<u8> }

impl BinaryCell for &str {
    fn binary(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

impl BinaryCell for String {
    fn binary(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

impl<const N: usize> BinaryCell for [u8; N] {
    fn binary(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl<const N: usize> BinaryCell for &[u8; N] {
    fn binary(&self) -> Option<&[u8]> {
        Some(self.as_slice())
    }
}

impl<C: BinaryCell> BinaryCell for Option<C> {
    fn binary(&self) -> Option<&[u8]> {
        self.as_ref().and_then(C::binary)
    }
}
