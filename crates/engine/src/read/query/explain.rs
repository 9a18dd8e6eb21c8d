//! The plan of a read as data.

use super::ReadQuery;
use crate::Error;
use crate::read::dense::DenseRead;
use crate::read::explain::{Draft, Explanation};
use crate::read::sparse::SparseRead;

impl ReadQuery<'_> {
    /// What [`ReadQuery::read`] would do: the fragments and tiles it needs and why it does not need others, the bytes to
    /// read and to decode, the requests to storage.
    ///
    /// Metadata are read for it, cells are not. (Before format version 10 dense arrays could have sparse fragments; of those
    /// the coordinates are read.) In batches, and where a large result has to be sorted, tiles on the
    /// border of two parts are read twice.
    ///
    /// # Errors
    /// As [`ReadQuery::read`], but for what is wrong with cells.
    pub fn explain(&self) -> Result<Explanation, Error> {
        let array = self.array;
        array.options().run(|| {
            let (_, fields) = self.resolve_fields()?;
            let layout = self.resolve_layout()?;
            let condition = self.bind_condition()?;
            let job = self.job();
            let mut draft = Draft::new(array);
            if array.schema().is_dense() {
                let dense = DenseRead::new(array, &job)?;
                dense.explain(&self.dense_ranges(&dense)?, layout, &fields, condition.as_ref(), &mut draft)?;
            } else {
                let sparse = SparseRead::new(array, &job, &fields, layout, condition.as_ref())?;
                let part_bytes = self.batch_bytes.unwrap_or(super::DEFAULT_BATCH_BYTES);
                sparse.explain(&self.selection()?, part_bytes, &mut draft)?;
            }
            Ok(draft.finish(array))
        })
    }
}
