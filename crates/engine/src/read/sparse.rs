//! Reads the cells of sparse arrays.
//!
//! The R-trees name the tiles that may hold cells of the selection. Their coordinates say which cells do; cells outside
//! the time window go. Then one cell per coordinate is chosen where the array wants that, the newest, and only after that
//! deletes and conditions apply, so that they never bring back an older cell. Attributes are decoded last, and only of tiles of which
//! cells are left.
//!
//! Source: 20-semantics §2.4 and §3; 21-semantics §7.

mod concat;
mod deletes;
mod explain;
mod gather;
mod keys;
mod partition;
mod plan;
mod points;
pub(crate) mod prune;
mod scan;
mod select;
pub(crate) mod sort;
mod split;
pub(crate) mod tiles;
mod total;

use rayon::prelude::*;
use talavera_condition::BoundCondition;
use talavera_fragment::FieldId;
use talavera_schema::Dimension;
use talavera_types::Layout;

use self::deletes::FragmentDeletes;
use self::gather::Picks;
pub(crate) use self::partition::SparsePart;
use self::plan::{Plan, TilePlan};
pub(crate) use self::points::{PointColumn, Points};
use self::scan::FragmentScan;
pub(crate) use self::select::{AxisSelection, Selection};
use self::sort::Duplicates;
pub(crate) use self::split::Splitter;
use super::field::{ReadField, attribute_in_fragment};
use crate::budget::Job;
use crate::order::CellOrder;
use crate::{Error, FieldBuffer, OpenArray};

/// A read of a sparse array.
pub(crate) struct SparseRead<'r> {
    array: &'r OpenArray,
    job: &'r Job,
    fields: &'r [ReadField],
    layout: Layout,
    scans: Vec<FragmentScan<'r>>,
}

impl<'r> SparseRead<'r> {
    pub(crate) fn new(
        array: &'r OpenArray,
        job: &'r Job,
        fields: &'r [ReadField],
        layout: Layout,
        condition: Option<&'r BoundCondition>,
    ) -> Result<Self, Error> {
        let deletes = FragmentDeletes::of_array(array)?;
        let scan = |(fragment, deletes)| FragmentScan::new(array, fragment, deletes, condition);
        let scans = array.fragments().iter().zip(deletes).map(scan);
        Ok(Self { array, job, fields, layout, scans: scans.collect::<Result<_, _>>()? })
    }

    /// The tiles that may hold cells of a selection.
    pub(crate) fn plan(&self, selection: &Selection) -> Result<Plan, Error> {
        Plan::new(self.array, &self.scans, selection)
    }

    /// The fields of the cells of a selection.
    ///
    /// Cells that have to be sorted or chosen are read in parts of about so many bytes of memory: what is looked at then
    /// stays in caches, and memory follows the result.
    pub(crate) fn read_whole(&self, selection: Selection, part_bytes: u64) -> Result<Vec<FieldBuffer>, Error> {
        let plan = self.plan(&selection)?;
        if self.decodes_into_result(&selection, &plan)? || self.memory_bytes(&plan)? <= part_bytes {
            return self.read(&selection, plan);
        }
        let _reserved = self.job.reserve("the result of a read", self.result_bytes(&plan)?)?;
        let cells = plan.tiles.iter().fold(0_usize, |sum, tile| sum.saturating_add(tile.cells as usize));
        // Of a part of the array fewer cells come, nobody knows how many.
        let cells = if selection.is_all() { cells } else { 0 };
        let mut result: Option<Vec<FieldBuffer>> = None;
        let mut parts = Splitter::new(self, selection, self.layout, part_bytes)?;
        while let Some((selection, plan)) = parts.next(self)? {
            let mut part = self.read(&selection, plan)?;
            match &mut result {
                Some(result) => result.iter_mut().zip(&part).for_each(|(result, part)| result.append(part)),
                None => {
                    part.iter_mut().try_for_each(|field| field.try_reserve(cells))?;
                    result = Some(part);
                }
            }
        }
        match result {
            Some(result) => Ok(result),
            None => self.read(&Selection::new(self.array.schema(), [])?, Plan::default()),
        }
    }

    /// The fields of the cells of a selection, given its plan.
    pub(crate) fn read(&self, selection: &Selection, mut plan: Plan) -> Result<Vec<FieldBuffer>, Error> {
        let bytes = if self.job.has_limit() { self.memory_bytes(&plan)? } else { 0 };
        let _reserved = self.job.reserve("the tiles of a read", bytes)?;
        let schema = self.array.schema();
        let duplicates = if schema.allows_dups { Duplicates::Keep } else { Duplicates::Newest };
        let consolidated = self.consolidated();
        let one_per_coordinate = self.drop_unmatched(&mut plan);
        let order = if self.sorts_if(one_per_coordinate, &plan) { Some(CellOrder::new(schema, self.layout)?) } else { None };
        let scan = |tile: &TilePlan| {
            let scan = self.scans.get(tile.fragment).ok_or_else(|| Error::invalid("a plan of another read"))?;
            scan.scan(tile, selection, order.is_some() || self.asks_for_zipped(scan), self.job)
        };
        let mut tiles = plan.tiles.par_iter().map(scan).collect::<Result<Vec<_>, Error>>()?;
        let picks = match order {
            Some(order) => sort::sort(&tiles, &order, duplicates, &consolidated),
            None => {
                tiles.par_iter_mut().for_each(tiles::SparseTile::drop_hidden);
                Picks::Tiles
            }
        };
        self.gather_all(tiles, &picks)
    }

    /// All fields of the result. Coordinates go once they are in it, so dimensions come first; where there are none, all
    /// fields are decoded at the same time.
    fn gather_all(&self, mut tiles: Vec<tiles::SparseTile<'_>>, picks: &Picks) -> Result<Vec<FieldBuffer>, Error> {
        if tiles.iter().all(|tile| tile.coordinates.is_empty()) {
            return self.fields.par_iter().map(|&field| self.gather(&tiles, picks, field)).collect();
        }
        let mut order: Vec<(usize, ReadField)> = self.fields.iter().copied().enumerate().collect();
        order.sort_by_key(|(_, field)| !matches!(field, ReadField::Dimension(_)));
        let mut gathered = Vec::with_capacity(order.len());
        while !order.is_empty() {
            let (position, field) = order.remove(0);
            let is_needed = |dimension| order.iter().any(|(_, field)| *field == ReadField::Dimension(dimension));
            gathered.push((position, self.gather(&tiles, picks, field)?));
            for (dimension, _) in self.array.schema().domain.dimensions.iter().enumerate() {
                if !is_needed(dimension) {
                    tiles.iter_mut().for_each(|tile| tile.forget_coordinates(dimension));
                }
            }
        }
        gathered.sort_by_key(|(position, _)| *position);
        Ok(gathered.into_iter().map(|(_, buffer)| buffer).collect())
    }

    /// For each fragment whether it may itself hold several versions of a cell.
    fn consolidated(&self) -> Vec<bool> {
        self.scans.iter().map(|scan| scan.fragment().footer().layout.has_timestamps()).collect()
    }

    /// Whether some cells of a plan may hide others.
    fn chooses_cells(&self, plan: &Plan) -> bool {
        !self.array.schema().allows_dups && plan.may_repeat_coordinates(&self.consolidated())
    }

    /// Whether cells of a plan go from their tiles straight into the result, so that little is held beside it: all of them
    /// do, and of those that a condition chooses the ones of fixed size.
    fn decodes_into_result(&self, selection: &Selection, plan: &Plan) -> Result<bool, Error> {
        if !selection.is_all() || self.sorts(plan) {
            return Ok(false);
        }
        let shapes = self.fields.iter().map(|field| field.shape(self.array.schema())).collect::<Result<Vec<_>, _>>()?;
        let shows_all = |tile: &TilePlan| self.scans.get(tile.fragment).is_some_and(|scan| scan.shows_all(tile));
        Ok(shapes.iter().all(|shape| !shape.cell_val_num.is_var()) || plan.tiles.iter().all(shows_all))
    }

    /// Whether the cells of a plan have to be compared.
    fn sorts(&self, plan: &Plan) -> bool {
        self.sorts_if(self.chooses_cells(plan), plan)
    }

    /// As [`Self::sorts`], where it is known whether cells may hide older ones.
    fn sorts_if(&self, one_per_coordinate: bool, plan: &Plan) -> bool {
        one_per_coordinate || !self.lie_in_order(plan)
    }

    /// Whether the cells of a plan, tile by tile, are in the order asked for.
    fn lie_in_order(&self, plan: &Plan) -> bool {
        self.layout == Layout::Unordered || (self.layout == Layout::GlobalOrder && self.come_from_one_in_order(plan))
    }

    /// Whether a plan is of one fragment that surely keeps its cells in the array's own order (20-semantics §2.2).
    ///
    /// Strings may be in the order of signed characters. Of consolidated fragments the times tell which of several cells of
    /// a coordinate comes first.
    fn come_from_one_in_order(&self, plan: &Plan) -> bool {
        let Some(first) = plan.tiles.first() else { return true };
        let Some(scan) = self.scans.get(first.fragment) else { return false };
        let footer = scan.fragment().footer();
        let strings = self.array.schema().domain.dimensions.iter().any(Dimension::is_var);
        let in_order = !strings && footer.version.keeps_numbers_in_order() && !footer.layout.has_timestamps();
        in_order && plan.tiles.iter().all(|tile| tile.fragment == first.fragment)
    }

    /// Drops tiles that cannot hold cells for which the condition holds; says whether cells may hide older ones of the same
    /// coordinates. Then all tiles stay: cells without a match hide older ones all the same.
    fn drop_unmatched(&self, plan: &mut Plan) -> bool {
        let one_per_coordinate = self.chooses_cells(plan);
        if !one_per_coordinate {
            plan.tiles.retain(|tile| self.scans.get(tile.fragment).is_none_or(|scan| scan.may_match(tile)));
        }
        one_per_coordinate
    }

    /// Bytes that a field of a tile takes in memory.
    fn field_bytes(&self, scan: &FragmentScan<'_>, field: ReadField, tile: &TilePlan) -> Result<u64, Error> {
        let cells = u64::from(tile.cells);
        let schema = self.array.schema();
        match field {
            ReadField::Dimension(index) => match scan.fragment().footer().version.has_dimension_fields() {
                true => Ok(scan.reader(FieldId::Dimension(index))?.memory_bytes(tile.tile, cells)),
                false => scan.memory_bytes(tile.tile, cells),
            },
            ReadField::Timestamps => Ok(cells.saturating_mul(8)),
            ReadField::Attribute(index) => {
                let Some(attribute) = schema.attributes.get(index) else { return Ok(0) };
                match attribute_in_fragment(scan.fragment().schema(), attribute, self.array.options()) {
                    Some(index) => Ok(scan.reader(FieldId::Attribute(index))?.memory_bytes(tile.tile, cells)),
                    None => Ok(cells.saturating_mul(attribute.fill_value.len() as u64)),
                }
            }
        }
    }

    /// Whether the coordinates of a fragment have to be decoded together: old versions store all of a cell so, while those
    /// of others are decoded as any field.
    fn asks_for_zipped(&self, scan: &FragmentScan<'_>) -> bool {
        self.asks_for_coordinates() && !scan.fragment().footer().version.has_dimension_fields()
    }

    fn asks_for_coordinates(&self) -> bool {
        self.fields.iter().any(|field| matches!(field, ReadField::Dimension(_)))
    }
}
