//! Points as Rust writes them: tuples and arrays of coordinates.

use talavera_engine::{CellBytes, FieldBuffer};
use talavera_schema::{ArraySchema, Coordinate, Dimension};
use talavera_types::Datatype;

use super::{IntoRange, RangeEnd, RangeValue, whole};
use crate::Error;

/// One coordinate for each dimension, in the order of the dimensions: `(2, "b")`, `[1.5, 2.5]`.
///
/// Coordinates are what ranges can start and end with, see [`RangeEnd`].
pub trait IntoPoint {
    /// Calls `each` with one coordinate after the other.
    fn into_point(self, each: &mut dyn FnMut(RangeValue));
}

impl<T: RangeEnd, const N: usize> IntoPoint for [T; N] {
    fn into_point(self, each: &mut dyn FnMut(RangeValue)) {
        self.into_iter().map(RangeEnd::into_value).for_each(each);
    }
}

impl<T: RangeEnd> IntoPoint for Vec<T> {
    fn into_point(self, each: &mut dyn FnMut(RangeValue)) {
        self.into_iter().map(RangeEnd::into_value).for_each(each);
    }
}

macro_rules! tuple_point {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: RangeEnd),*> IntoPoint for ($($name,)*) {
            #[expect(non_snake_case, reason = "the names of types serve as those of values")]
            fn into_point(self, each: &mut dyn FnMut(RangeValue)) {
                let ($($name,)*) = self;
                $(each($name.into_value());)*
            }
        }
    )*};
}

tuple_point! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}

/// The coordinates of one dimension.
#[derive(Default)]
struct Column {
    data: Vec<u8>,
    ends: Vec<u64>,
}

impl Column {
    fn push(&mut self, value: RangeValue, dimension: &Dimension, along: Option<&talavera_schema::Range>) -> Result<(), Error> {
        let range = value.into_range().along(dimension, along)?;
        let size = dimension.datatype.size();
        let number = |bytes: [u8; 8]| bytes.into_iter().take(size);
        match range.low() {
            Coordinate::Signed(value) => self.data.extend(number(value.to_le_bytes())),
            Coordinate::Unsigned(value) => self.data.extend(number(value.to_le_bytes())),
            Coordinate::Float32(value) => self.data.extend(value.to_le_bytes()),
            Coordinate::Float64(value) => self.data.extend(value.to_le_bytes()),
            Coordinate::String(bytes) => self.data.extend_from_slice(bytes),
        }
        if dimension.datatype == Datatype::StringAscii {
            self.ends.push(self.data.len() as u64);
        }
        Ok(())
    }

    fn finish(self, dimension: &Dimension) -> Result<FieldBuffer, Error> {
        let cell_val_num = dimension.cell_val_num();
        let offsets = cell_val_num.is_var().then(|| std::iter::once(0).chain(self.ends).collect());
        Ok(FieldBuffer::new(dimension.datatype, cell_val_num, CellBytes::copied(&self.data), offsets, None)?)
    }
}

/// The coordinates of points, a column for each dimension.
pub(crate) fn columns<P: IntoPoint>(
    schema: &ArraySchema,
    points: impl IntoIterator<Item = P>,
) -> Result<Vec<FieldBuffer>, Error> {
    let dimensions = &schema.domain.dimensions;
    let mut columns: Vec<Column> = dimensions.iter().map(|_| Column::default()).collect();
    for point in points {
        let mut at = 0;
        let mut pushed = Ok(());
        point.into_point(&mut |value| {
            if let (Ok(()), Some(dimension), Some(column)) = (&pushed, dimensions.get(at), columns.get_mut(at)) {
                pushed = column.push(value, dimension, whole(schema, at));
            }
            at += 1;
        });
        pushed?;
        if at != dimensions.len() {
            return Err(Error::PointLength { found: at, expected: dimensions.len() });
        }
    }
    columns.into_iter().zip(dimensions).map(|(column, dimension)| column.finish(dimension)).collect()
}
