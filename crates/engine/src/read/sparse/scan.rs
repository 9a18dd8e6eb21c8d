//! Looks at one tile of a sparse read: coordinates, write times, deletes.

use std::collections::HashMap;

use talavera_condition::{Bitmap, FieldView};
use talavera_fragment::FieldId;

use super::deletes::FragmentDeletes;
use super::plan::TilePlan;
use super::select::Selection;
use super::tiles::{Kept, SparseTile, WriteTimes};
use crate::budget::Job;
use crate::read::coordinates::CoordinateReader;
use crate::read::tile::FieldReader;
use crate::{Error, FieldBuffer, Fragment, OpenArray};

/// A fragment of a sparse read, with what is needed to look at its tiles.
pub(crate) struct FragmentScan<'r> {
    array: &'r OpenArray,
    fragment: &'r Fragment,
    /// Whether cells may lie outside the time window although the fragment is visible.
    filters_times: bool,
    deletes: FragmentDeletes,
}

impl<'r> FragmentScan<'r> {
    pub(crate) fn new(array: &'r OpenArray, fragment: &'r Fragment, deletes: FragmentDeletes) -> Result<Self, Error> {
        let filters_times = fragment.footer().layout.has_timestamps() && !all_times_in_window(array, fragment)?;
        Ok(Self { array, fragment, filters_times, deletes })
    }

    pub(crate) fn fragment(&self) -> &'r Fragment {
        self.fragment
    }

    pub(crate) fn reader(&self, field: FieldId) -> Result<FieldReader<'r>, Error> {
        FieldReader::new(self.fragment, field, self.array.storage(), self.array.options())
    }

    /// Bytes that the coordinates and times of a tile take in memory while it is looked at.
    pub(crate) fn memory_bytes(&self, tile: u64, cells: u64) -> Result<u64, Error> {
        let coordinates = CoordinateReader::new(self.fragment, self.array.storage(), self.array.options())?;
        Ok(coordinates.memory_bytes(tile, cells).saturating_add(cells.saturating_mul(8)))
    }

    /// The kept cells of a tile, with their coordinates where those are needed.
    pub(crate) fn scan(&self, plan: &TilePlan, selection: &Selection, coordinates: bool, job: &Job) -> Result<SparseTile, Error> {
        job.check_cancelled()?;
        let deletes_by_coordinate = self
            .deletes
            .deletes
            .iter()
            .any(|delete| delete.keeps.fields().any(|field| self.fragment.schema().dimension(field).is_some()));
        let coordinates = if coordinates || !plan.whole || deletes_by_coordinate {
            CoordinateReader::new(self.fragment, self.array.storage(), self.array.options())?.read(plan.tile, job)?
        } else {
            Vec::new()
        };
        let mut kept = if plan.whole { Kept::All } else { selection.kept(&coordinates, plan.cells) };
        let times = self.times(plan, job)?;
        if self.filters_times {
            let window = self.array.window();
            kept.retain(plan.cells, |cell| (window.start..=window.end).contains(&times.of(cell as usize)));
        }
        let visible = self.visible(plan, &coordinates, &times, job)?;
        Ok(SparseTile { fragment: plan.fragment, tile: plan.tile, cells: plan.cells, coordinates, kept, visible, times })
    }

    /// When the cells of a tile were written.
    fn times(&self, plan: &TilePlan, job: &Job) -> Result<WriteTimes, Error> {
        if !self.fragment.footer().layout.has_timestamps() {
            return Ok(WriteTimes::Same(self.fragment.timestamps().0));
        }
        Ok(WriteTimes::Each(self.numbers(FieldId::Timestamps, plan, job)?))
    }

    fn numbers(&self, field: FieldId, plan: &TilePlan, job: &Job) -> Result<Vec<u64>, Error> {
        Ok(self.reader(field)?.read(plan.tile, plan.cells.into(), job)?.values::<u64>()?.to_vec())
    }

    /// The cells that no delete hides; none when deletes hide none.
    fn visible(
        &self,
        plan: &TilePlan,
        coordinates: &[FieldBuffer],
        times: &WriteTimes,
        job: &Job,
    ) -> Result<Option<Bitmap>, Error> {
        let cells = plan.cells as usize;
        let mut visible = Bitmap::new(cells, true);
        if self.fragment.footer().layout.has_delete_metadata() {
            let end = self.array.window().end;
            for (cell, deleted_at) in self.numbers(FieldId::DeleteTimestamps, plan, job)?.into_iter().enumerate() {
                // The largest number stands for a cell that was not deleted.
                if deleted_at <= end && deleted_at != u64::MAX {
                    visible.set(cell, false);
                }
            }
        }
        let mut columns = HashMap::new();
        for delete in &self.deletes.deletes {
            for field in delete.keeps.fields() {
                if !columns.contains_key(field) {
                    columns.insert(field.to_owned(), self.column(field, plan, coordinates, times, job)?);
                }
            }
            let view = |field: &str| columns.get(field).and_then(Option::as_ref).map(view);
            let mut keeps = Bitmap::new(cells, true);
            let evaluated = delete.keeps.evaluate(cells, view, &mut keeps);
            evaluated.map_err(|source| Error::DeleteCondition { path: self.fragment.path.clone(), source })?;
            if let Some(until) = delete.until {
                (0..cells).filter(|&cell| times.of(cell) > until).for_each(|cell| keeps.set(cell, true));
            }
            visible.and(&keeps);
        }
        Ok((!visible.all()).then_some(visible))
    }

    /// The cells of a field that a condition names; none where the fragment does not have it.
    fn column(
        &self,
        field: &str,
        plan: &TilePlan,
        coordinates: &[FieldBuffer],
        times: &WriteTimes,
        job: &Job,
    ) -> Result<Option<FieldBuffer>, Error> {
        let schema = self.fragment.schema();
        if field == crate::TIMESTAMPS_FIELD {
            return Ok(Some(times.to_field(plan.cells)?));
        }
        if let Some((index, _)) = schema.dimension(field) {
            return Ok(coordinates.get(index).cloned());
        }
        let Some((index, attribute)) = schema.attribute(field) else { return Ok(None) };
        let expected = self.array.schema().attribute(field).map(|(_, attribute)| attribute);
        let same = expected
            .is_none_or(|expected| expected.datatype == attribute.datatype && expected.cell_val_num == attribute.cell_val_num);
        if !same {
            return Ok(None);
        }
        self.reader(FieldId::Attribute(index))?.read(plan.tile, plan.cells.into(), job).map(Some)
    }
}

fn view(buffer: &FieldBuffer) -> FieldView<'_> {
    FieldView { data: buffer.data(), offsets: buffer.offsets(), validity: buffer.validity() }
}

/// Whether the fragment's statistics prove that all its cells were written inside the window.
///
/// The name does not: libraries name a consolidated fragment by the end of the last fragment in it, which need not be the
/// latest (decision 3 of 22-semantics).
fn all_times_in_window(array: &OpenArray, fragment: &Fragment) -> Result<bool, Error> {
    let Some(statistics) = fragment.statistics(array.storage(), array.options())? else { return Ok(false) };
    let field = fragment.footer().layout.index(FieldId::Timestamps).and_then(|index| statistics.fields.get(index));
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
    let bounds = field.and_then(|field| Some((number(&field.min)?, number(&field.max)?)));
    let window = array.window();
    Ok(bounds.is_some_and(|(min, max)| window.start <= min && max <= window.end))
}
