//! Looks at one tile of a sparse read: coordinates, write times, deletes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use talavera_condition::{Bitmap, BoundCondition, FieldView, Tri};
use talavera_fragment::FieldId;

use super::deletes::FragmentDeletes;
use super::plan::TilePlan;
use super::prune::Pruner;
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
    condition: Option<(&'r BoundCondition, Pruner)>,
    coordinates: OnceLock<CoordinateReader<'r>>,
    /// What reads fields, made by the first who asks.
    readers: Mutex<Vec<(FieldId, Arc<FieldReader<'r>>)>>,
}

impl<'r> FragmentScan<'r> {
    pub(crate) fn new(
        array: &'r OpenArray,
        fragment: &'r Fragment,
        deletes: FragmentDeletes,
        condition: Option<&'r BoundCondition>,
    ) -> Result<Self, Error> {
        let filters_times = fragment.footer().layout.has_timestamps() && !all_times_in_window(array, fragment)?;
        let prune = |condition: &'r BoundCondition| -> Result<_, Error> {
            // A single tile is read as quickly as its statistics.
            let worthwhile = fragment.footer().sparse_tile_count > 1;
            let pruner = if worthwhile { Pruner::new(array, fragment, condition.fields())? } else { Pruner::default() };
            Ok((condition, pruner))
        };
        let condition = condition.map(prune).transpose()?;
        Ok(Self { array, fragment, filters_times, deletes, condition, coordinates: OnceLock::new(), readers: Mutex::default() })
    }

    pub(crate) fn fragment(&self) -> &'r Fragment {
        self.fragment
    }

    /// What reads the coordinates, made by the first who asks.
    fn coordinates(&self) -> Result<&CoordinateReader<'r>, Error> {
        if let Some(reader) = self.coordinates.get() {
            return Ok(reader);
        }
        let reader = CoordinateReader::new(self.fragment, self.array.storage(), self.array.options())?;
        Ok(self.coordinates.get_or_init(|| reader))
    }

    pub(crate) fn reader(&self, field: FieldId) -> Result<Arc<FieldReader<'r>>, Error> {
        // Nobody leaves the list half changed, so one that somebody panicked with is as good.
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reader)) = readers.iter().find(|(known, _)| *known == field) {
            return Ok(Arc::clone(reader));
        }
        let reader = Arc::new(FieldReader::new(self.fragment, field, self.array.storage(), self.array.options())?);
        readers.push((field, Arc::clone(&reader)));
        Ok(reader)
    }

    /// Whether cells may be left out although the selection holds all of their tile.
    pub(crate) fn looks_at_cells(&self) -> bool {
        let footer = self.fragment.footer();
        let coordinates_apart = footer.version.has_dimension_fields();
        footer.layout.has_timestamps() || self.condition.is_some() || !self.deletes.deletes.is_empty() || !coordinates_apart
    }

    /// Bytes that the coordinates and times of a tile take in memory while it is looked at.
    pub(crate) fn memory_bytes(&self, tile: u64, cells: u64) -> Result<u64, Error> {
        let coordinates = self.coordinates()?;
        let times = if self.fragment.footer().layout.has_timestamps() { 8 } else { 0 };
        Ok(coordinates.memory_bytes(tile, cells).saturating_add(cells.saturating_mul(times)))
    }

    /// The kept cells of a tile, with their coordinates where those are needed.
    pub(crate) fn scan(
        &self,
        plan: &TilePlan,
        selection: &Selection,
        coordinates: bool,
        job: &Job,
    ) -> Result<SparseTile<'static>, Error> {
        job.check_cancelled()?;
        let verdict = self.verdict(plan);
        let condition = self.undecided(verdict);
        let by_coordinate = self.by_coordinate(condition);
        // Where only ranges look at coordinates, those along dimensions without ranges are decoded near the cells kept.
        let some = !plan.whole && !by_coordinate && selection.looks_along_each();
        let mut columns = match coordinates || !plan.whole || by_coordinate {
            true if some => self.coordinates()?.read_some(plan.tile, |dimension| selection.looks_along(dimension), job)?,
            true => self.coordinates()?.read(plan.tile, job)?,
            false => Vec::new(),
        };
        let mut kept = if plan.whole { Kept::All } else { selection.kept(&columns, plan.cells, &plan.mbr) };
        if some && coordinates {
            self.coordinates()?.complete(&mut columns, plan.tile, &kept, job)?;
        }
        let coordinates = columns;
        let times = self.times(plan, job)?;
        if self.filters_times {
            let window = self.array.window();
            kept.retain(plan.cells, |cell| (window.start..=window.end).contains(&times.of(cell as usize)));
        }
        let mut columns = Columns { scan: self, plan, coordinates: &coordinates, times: &times, job, loaded: HashMap::new() };
        let visible = match verdict {
            Tri::NoneMatch => Bitmap::new(plan.cells as usize, false),
            Tri::AllMatch | Tri::Unknown => {
                let mut visible = self.not_deleted(&mut columns)?;
                if let Some(condition) = condition {
                    visible.and(&columns.evaluate(condition)?);
                }
                visible
            }
        };
        let visible = (!visible.all()).then_some(visible);
        let coordinates = coordinates.into_iter().map(Cow::Owned).collect();
        Ok(SparseTile { fragment: plan.fragment, tile: plan.tile, cells: plan.cells, coordinates, kept, visible, times })
    }

    /// The condition of the read, where statistics do not decide it.
    fn undecided(&self, verdict: Tri) -> Option<&'r BoundCondition> {
        self.condition.as_ref().map(|(condition, _)| *condition).filter(|_| verdict == Tri::Unknown)
    }

    /// The conditions that cells have to be compared with.
    fn conditions<'c>(&'c self, condition: Option<&'c BoundCondition>) -> impl Iterator<Item = &'c BoundCondition> {
        self.deletes.deletes.iter().map(|delete| &*delete.keeps).chain(condition)
    }

    fn by_coordinate(&self, condition: Option<&BoundCondition>) -> bool {
        let is_dimension = |field| self.fragment.schema().dimension(field).is_some();
        self.conditions(condition).any(|condition| condition.fields().any(is_dimension))
    }

    /// The fields that [`FragmentScan::scan`] decodes of a tile.
    pub(crate) fn reads(&self, plan: &TilePlan, selection: &Selection, coordinates: bool) -> Vec<FieldId> {
        let (schema, layout) = (self.fragment.schema(), self.fragment.footer().layout);
        let verdict = self.verdict(plan);
        let condition = self.undecided(verdict);
        let mut fields = Vec::new();
        let by_coordinate = self.by_coordinate(condition);
        if coordinates || !plan.whole || by_coordinate {
            if self.fragment.footer().version.has_dimension_fields() {
                let all = coordinates || by_coordinate || !selection.looks_along_each();
                let dimensions = (0..schema.domain.dimensions.len()).filter(|&dimension| all || selection.looks_along(dimension));
                fields.extend(dimensions.map(FieldId::Dimension));
            } else {
                fields.push(FieldId::Coordinates);
            }
        }
        fields.extend(layout.has_timestamps().then_some(FieldId::Timestamps));
        if verdict == Tri::NoneMatch {
            return fields;
        }
        fields.extend(layout.has_delete_metadata().then_some(FieldId::DeleteTimestamps));
        let mut names: Vec<&str> = self.conditions(condition).flat_map(BoundCondition::fields).collect();
        names.sort_unstable();
        names.dedup();
        fields.extend(names.into_iter().filter_map(|name| self.attribute(name)).map(FieldId::Attribute));
        fields
    }

    /// The attribute of the fragment that a condition means.
    fn attribute(&self, field: &str) -> Option<usize> {
        let (index, attribute) = self.fragment.schema().attribute(field).filter(|_| field != crate::TIMESTAMPS_FIELD)?;
        let expected = self.array.schema().attribute(field).map(|(_, attribute)| attribute);
        let same = expected
            .is_none_or(|expected| expected.datatype == attribute.datatype && expected.cell_val_num == attribute.cell_val_num);
        same.then_some(index)
    }

    /// Whether the condition of the read holds in a tile, as far as its statistics tell; without one it holds.
    fn verdict(&self, plan: &TilePlan) -> Tri {
        self.condition.as_ref().map_or(Tri::AllMatch, |(condition, pruner)| pruner.verdict(condition, plan))
    }

    /// Whether a tile may hold cells for which the condition of the read holds.
    pub(crate) fn may_match(&self, plan: &TilePlan) -> bool {
        self.verdict(plan) != Tri::NoneMatch
    }

    /// Whether every cell of a tile is in the result: no range, time, delete or condition leaves one out.
    pub(crate) fn shows_all(&self, plan: &TilePlan) -> bool {
        let deletes = !self.deletes.deletes.is_empty() || self.fragment.footer().layout.has_delete_metadata();
        plan.whole && !self.filters_times && !deletes && self.verdict(plan) == Tri::AllMatch
    }

    /// When the cells of a tile were written.
    pub(super) fn times(&self, plan: &TilePlan, job: &Job) -> Result<WriteTimes, Error> {
        if !self.fragment.footer().layout.has_timestamps() {
            return Ok(WriteTimes::Same(self.fragment.timestamps().0));
        }
        Ok(WriteTimes::Each(self.numbers(FieldId::Timestamps, plan, job)?))
    }

    fn numbers(&self, field: FieldId, plan: &TilePlan, job: &Job) -> Result<Vec<u64>, Error> {
        Ok(self.reader(field)?.read(plan.tile, plan.cells.into(), job)?.values::<u64>()?.to_vec())
    }

    /// The cells that no delete hides.
    fn not_deleted(&self, columns: &mut Columns<'_, '_>) -> Result<Bitmap, Error> {
        let cells = columns.plan.cells as usize;
        let mut alive = Bitmap::new(cells, true);
        if self.fragment.footer().layout.has_delete_metadata() {
            let end = self.array.window().end;
            let deleted_at = self.numbers(FieldId::DeleteTimestamps, columns.plan, columns.job)?;
            // The largest number stands for a cell that was not deleted.
            let deleted = deleted_at.into_iter().map(|time| time <= end && time != u64::MAX).enumerate();
            deleted.filter(|(_, deleted)| *deleted).for_each(|(cell, _)| alive.set(cell, false));
        }
        for delete in &self.deletes.deletes {
            let mut keeps = columns.evaluate(&delete.keeps)?;
            if let Some(until) = delete.until {
                (0..cells).filter(|&cell| columns.times.of(cell) > until).for_each(|cell| keeps.set(cell, true));
            }
            alive.and(&keeps);
        }
        Ok(alive)
    }
}

/// The fields of a tile that conditions name, each decoded when the first condition asks for it.
struct Columns<'t, 'r> {
    scan: &'t FragmentScan<'r>,
    plan: &'t TilePlan,
    coordinates: &'t [FieldBuffer],
    times: &'t WriteTimes,
    job: &'t Job,
    loaded: HashMap<String, Option<FieldBuffer>>,
}

impl Columns<'_, '_> {
    /// The cells of the tile for which a condition holds.
    fn evaluate(&mut self, condition: &BoundCondition) -> Result<Bitmap, Error> {
        let cells = self.plan.cells as usize;
        for field in condition.fields() {
            if !self.loaded.contains_key(field) {
                let column = self.load(field)?;
                self.loaded.insert(field.to_owned(), column);
            }
        }
        let view = |field: &str| self.loaded.get(field).and_then(Option::as_ref).map(view);
        let mut holds = Bitmap::new(cells, true);
        let evaluated = condition.evaluate(cells, view, &mut holds);
        let path = || self.scan.fragment.path.clone();
        evaluated.map_err(|source| Error::DeleteCondition { path: path(), source })?;
        Ok(holds)
    }

    /// The cells of a field; none where the fragment does not have it.
    fn load(&self, field: &str) -> Result<Option<FieldBuffer>, Error> {
        let schema = self.scan.fragment.schema();
        if field == crate::TIMESTAMPS_FIELD {
            return Ok(Some(self.times.to_field(self.plan.cells)?));
        }
        if let Some((index, _)) = schema.dimension(field) {
            return Ok(self.coordinates.get(index).cloned());
        }
        let Some(index) = self.scan.attribute(field) else { return Ok(None) };
        let reader = self.scan.reader(FieldId::Attribute(index))?;
        reader.read(self.plan.tile, self.plan.cells.into(), self.job).map(Some)
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
