//! Dense results as arrays of the `ndarray` crate.

use ndarray::{ArrayD, IxDyn, ShapeBuilder};

use crate::{Error, Order, Read, Value};

impl Read<'_> {
    /// One field of a dense array as an n-dimensional array: an axis for each dimension, as long as its ranges together,
    /// and one more behind them when cells hold several values.
    ///
    /// Row-major results lie in memory as `ndarray` likes them best; column-major ones the other way around, with the same
    /// indices.
    ///
    /// ```
    /// # let array = talavera::Array::open("tests/data/dense_2d_overlap")?;
    /// let count = array.read().range("y", 2..=3).range("x", 3..=4).ndarray::<i32>("count")?;
    /// assert_eq!(count, ndarray::array![[-688574576, -2104063334], [-1174728087, 972920282]].into_dyn());
    /// # Ok::<(), talavera::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Read::values`]; [`Error::NotRectangular`] for sparse arrays and for global order.
    pub fn ndarray<T: Value>(self, field: &str) -> Result<ArrayD<T>, Error> {
        let (_, cell_val_num, nullable) = self.check_values::<T>(field)?;
        let refused = |reason| Error::CellShape { field: field.to_owned(), reason };
        let values = cell_val_num.fixed().ok_or_else(|| refused("has cells of variable length"))?;
        if nullable {
            return Err(refused("may hold nulls"));
        }
        let order = self.order;
        let mut shape = self.dense_shape()?;
        let several = usize::try_from(values).ok().filter(|&values| values > 1);
        let cells = self.fields([field]).cells()?;
        let data = cells.values::<T>(field)?.to_vec();
        let uneven = |_| Error::NotRectangular { reason: "of another number of cells than its ranges" };
        if order == Order::ColMajor {
            // The values of a cell lie together, so they are the axis that varies fastest, and then the last one.
            shape.splice(0..0, several);
            let array = ArrayD::from_shape_vec(IxDyn(&shape).f(), data).map_err(uneven)?;
            let axes = usize::from(several.is_some())..shape.len();
            let axes: Vec<usize> = axes.chain(several.map(|_| 0)).collect();
            return Ok(array.permuted_axes(axes));
        }
        shape.extend(several);
        ArrayD::from_shape_vec(IxDyn(&shape), data).map_err(uneven)
    }

    /// Cells along each dimension.
    fn dense_shape(&self) -> Result<Vec<usize>, Error> {
        if !self.array.schema().is_dense() {
            return Err(Error::NotRectangular { reason: "of a sparse array" });
        }
        if self.order == Order::Global {
            return Err(Error::NotRectangular { reason: "in global order" });
        }
        let length = |(dimension, ranges): (usize, &Vec<talavera_schema::Range>)| {
            let whole = if ranges.is_empty() { crate::range::whole(self.array.schema(), dimension) } else { None };
            let cells = ranges.iter().chain(whole).try_fold(0_u64, |sum, range| sum.checked_add(range.cell_count()?));
            cells.and_then(|cells| usize::try_from(cells).ok())
        };
        let lengths: Option<Vec<usize>> = self.ranges.iter().enumerate().map(length).collect();
        lengths.ok_or(Error::NotRectangular { reason: "with more cells than fit into memory" })
    }
}
