//! What goes in and out of the library, as bytes.

use std::ops::RangeInclusive;

use crate::PeerError;

/// A number as the library holds it in memory: its little-endian bytes.
pub trait Scalar: Copy {
    /// Appends the value's bytes.
    fn append_to(self, bytes: &mut Vec<u8>);
    /// The value of exactly as many bytes as it has, or `None`.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        impl Scalar for $ty {
            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }

            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_ne_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

scalars! { i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 }

pub(crate) fn bytes_of<T: Scalar>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    for &value in values {
        value.append_to(&mut bytes);
    }
    bytes
}

/// The cells of one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    /// The values of all cells, one after the other.
    pub data: Vec<u8>,
    /// For variable-length fields, where in `data` each cell starts, in bytes: as many as cells.
    pub offsets: Option<Vec<u64>>,
    /// For nullable fields, one byte per cell: 0 is null.
    pub validity: Option<Vec<u8>>,
}

impl Column {
    /// A column of cells of fixed length.
    #[must_use]
    pub fn fixed<T: Scalar>(values: &[T]) -> Self {
        Self { data: bytes_of(values), ..Self::default() }
    }

    /// A column of cells of variable length, from each cell's bytes.
    #[must_use]
    pub fn var<B: AsRef<[u8]>>(cells: &[B]) -> Self {
        let mut column = Self { offsets: Some(Vec::with_capacity(cells.len())), ..Self::default() };
        for cell in cells {
            column.offsets.get_or_insert_default().push(column.data.len() as u64);
            column.data.extend_from_slice(cell.as_ref());
        }
        column
    }

    /// The same column, nullable; `validity` holds one byte per cell and 0 is null.
    #[must_use]
    pub fn nullable(self, validity: &[u8]) -> Self {
        Self { validity: Some(validity.to_vec()), ..self }
    }

    /// All values of a column with cells of fixed length, or `None` when the data is no whole number of them.
    #[must_use]
    pub fn values<T: Scalar>(&self) -> Option<Vec<T>> {
        let chunks = self.data.chunks_exact(size_of::<T>());
        if !chunks.remainder().is_empty() {
            return None;
        }
        chunks.map(T::from_bytes).collect()
    }

    /// The bytes of each cell of a column with cells of variable length, or `None` when it has no offsets or they do
    /// not ascend within the data.
    #[must_use]
    pub fn cells(&self) -> Option<Vec<&[u8]>> {
        let offsets = self.offsets.as_ref()?;
        let ends = offsets.iter().skip(1).copied().chain([self.data.len() as u64]);
        let slice = |(&start, end): (&u64, u64)| self.data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
        offsets.iter().zip(ends).map(slice).collect()
    }

    /// Appends what a further part of a read brought.
    pub(crate) fn append(&mut self, data: &[u8], offsets: Option<&[u64]>, validity: Option<&[u8]>) {
        if let Some(offsets) = offsets {
            let base = self.data.len() as u64;
            self.offsets.get_or_insert_default().extend(offsets.iter().map(|offset| base + offset));
        }
        if let Some(validity) = validity {
            self.validity.get_or_insert_default().extend_from_slice(validity);
        }
        self.data.extend_from_slice(data);
    }
}

/// Both ends of a closed range along one dimension, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The lowest coordinate.
    pub low: Vec<u8>,
    /// The highest coordinate, included.
    pub high: Vec<u8>,
}

impl Range {
    /// The range of text from `low` to `high`, both included.
    #[must_use]
    pub fn text(low: &str, high: &str) -> Self {
        Self { low: low.as_bytes().to_vec(), high: high.as_bytes().to_vec() }
    }

    /// Both ends one after the other, as calls for dimensions of fixed length want them.
    pub(crate) fn joined(&self) -> Vec<u8> {
        [self.low.as_slice(), self.high.as_slice()].concat()
    }

    /// Splits what `joined` has put together.
    pub(crate) fn split(bytes: &[u8]) -> Self {
        let (low, high) = bytes.split_at(bytes.len() / 2);
        Self { low: low.to_vec(), high: high.to_vec() }
    }
}

impl<T: Scalar> From<RangeInclusive<T>> for Range {
    fn from(range: RangeInclusive<T>) -> Self {
        Self { low: bytes_of(&[*range.start()]), high: bytes_of(&[*range.end()]) }
    }
}

/// One column per dimension into the one field that releases before 2.0 write: all coordinates of a cell together.
pub(crate) fn zip_coordinates(columns: &[&Column], value_bytes: usize) -> Result<Column, PeerError> {
    let cells = columns.first().map_or(0, |column| column.data.len() / value_bytes);
    if columns.iter().any(|column| column.data.len() != cells * value_bytes) {
        return Err(PeerError::invalid("the columns of the dimensions differ in length"));
    }
    let mut zipped = Column::default();
    for cell in 0..cells {
        for column in columns {
            zipped.data.extend(column.data.iter().skip(cell * value_bytes).take(value_bytes));
        }
    }
    Ok(zipped)
}

/// The reverse of `zip_coordinates`: one column per dimension.
pub(crate) fn unzip_coordinates(zipped: &Column, dimensions: usize, value_bytes: usize) -> Vec<Column> {
    let mut columns = vec![Column::default(); dimensions];
    for cell in zipped.data.chunks_exact(dimensions * value_bytes) {
        for (column, value) in columns.iter_mut().zip(cell.chunks_exact(value_bytes)) {
            column.data.extend_from_slice(value);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_survive_zipping() {
        let (x, y) = (Column::fixed(&[1i16, 2, 3]), Column::fixed(&[-1i16, -2, -3]));
        let zipped = zip_coordinates(&[&x, &y], 2).unwrap();
        assert_eq!(zipped.values::<i16>().unwrap(), [1, -1, 2, -2, 3, -3]);
        assert_eq!(unzip_coordinates(&zipped, 2, 2), [x, y]);
    }

    #[test]
    fn parts_of_a_read_join_into_one_column() {
        let mut column = Column::default();
        column.append(b"abc", Some(&[0, 1]), Some(&[1, 1]));
        column.append(b"d", Some(&[0, 1]), Some(&[1, 0]));
        assert_eq!(column.cells().unwrap(), [&b"a"[..], b"bc", b"d", b""]);
        assert_eq!(column.validity.unwrap(), [1, 1, 1, 0]);
    }
}
