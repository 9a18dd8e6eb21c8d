//! A read cut into parts that are plain data.

use talavera_types::Layout;

use super::ReadQuery;
use crate::Error;
use crate::read::dense::{CellRanges, DenseRead, Windows};
use crate::read::field::ReadField;
use crate::read::part::{CellCount, Extent, PartOf, ReadPart, SplitBy};
use crate::read::sparse::{SparsePart, SparseRead};

impl ReadQuery<'_> {
    /// Cuts the read into disjoint parts that together are all of it.
    ///
    /// One behind the other they are in the order of the result, where the read asks for one; along a Hilbert curve, and
    /// where a dense array is read in global order, each is in that order for itself. Memory limits, batches, progress and
    /// cancellation are not part of the data: they are set where a part is read.
    ///
    /// # Errors
    /// As [`ReadQuery::batches`].
    pub fn split(&self, by: SplitBy) -> Result<Vec<ReadPart>, Error> {
        let array = self.array;
        array.options().run(|| {
            let (names, fields) = self.resolve_fields()?;
            let layout = self.resolve_layout()?;
            let condition = self.bind_condition()?;
            let job = self.job();
            let of = PartOf { array, fields: &names, layout, condition: self.condition.as_ref() };
            if array.schema().is_dense() {
                let dense = DenseRead::new(array, &job)?;
                let ranges = self.dense_ranges(&dense)?;
                let cell_bytes = super::cell_bytes(array, &fields, super::GUESSED_VAR_BYTES)?;
                return dense_parts(&of, &dense, &fields, ranges, by, cell_bytes);
            }
            let sparse = SparseRead::new(array, &job, &fields, layout, condition.as_ref())?;
            let parts = sparse.split(self.selection()?, by, &names)?;
            let part = |part: SparsePart| {
                let extent = Extent::of_selection(&part.selection, &part.fragments);
                of.part(&part.fragments, extent, part.cells, part.statistics)
            };
            Ok(parts.into_iter().map(part).collect())
        })
    }
}

fn cell_count(ranges: &CellRanges) -> u64 {
    let along = |ranges: &Vec<(u64, u64)>| {
        ranges.iter().fold(0_u64, |cells, (first, last)| cells.saturating_add((last - first).saturating_add(1)))
    };
    ranges.iter().map(along).fold(1, u64::saturating_mul)
}

fn dense_parts(
    of: &PartOf<'_>,
    dense: &DenseRead<'_>,
    fields: &[ReadField],
    ranges: CellRanges,
    by: SplitBy,
    cell_bytes: u64,
) -> Result<Vec<ReadPart>, Error> {
    let cells = cell_count(&ranges);
    let cells_of_part = match by {
        SplitBy::Parts(parts) => cells.div_ceil(u64::try_from(parts.max(1)).unwrap_or(u64::MAX)),
        SplitBy::Bytes(bytes) => bytes / cell_bytes.max(1),
    };
    let layout = if of.layout == Layout::ColMajor { Layout::ColMajor } else { Layout::RowMajor };
    let pruners = dense.pruners(of.fields)?;
    let part = |ranges: CellRanges| {
        let fragments = dense.fragments_in(&ranges);
        let cells = CellCount { cells: cell_count(&ranges), exact: true };
        let names = of.fields.iter().map(String::as_str).zip(fields.iter().copied());
        let statistics = names.map(|field| dense.statistics(field, &ranges, &pruners, of.condition.is_some()));
        let statistics = statistics.collect::<Result<_, _>>()?;
        Ok(of.part(&fragments, Extent::Dense(ranges), cells, statistics))
    };
    Windows::new(ranges, layout, &dense.grid, cells_of_part).map(part).collect()
}
