//! Cuts a sparse read into disjoint parts that are read apart from each other.
//!
//! Where no cell can hide another one, parts are runs of tiles, so that no tile is read twice. Where cells may hide older
//! ones, all that share coordinates have to be in one part: then the parts are regions of the domain.

use std::sync::Arc;

use talavera_schema::NdRange;
use talavera_types::Layout;

use super::SparseRead;
use super::plan::{Plan, TilePlan};
use super::prune::Pruner;
use super::select::{AxisSelection, Selection, TileIntervals};
use super::split::{Middle, cut};
use crate::Error;
use crate::order::{CellOrder, range_keys};
use crate::read::part::{CellCount, FieldStatistics, SplitBy};
use crate::read::summary::Summary;

/// One part of a sparse read.
#[derive(Debug)]
pub(crate) struct SparsePart {
    pub(crate) selection: Selection,
    /// The numbers of the fragments that it takes cells of, ascending.
    pub(crate) fragments: Vec<usize>,
    pub(crate) cells: CellCount,
    pub(crate) statistics: Vec<FieldStatistics>,
}

impl SparseRead<'_> {
    /// Disjoint parts of a selection that together are all of it, in the order of the result if it has one. Parts without
    /// cells are left out, if that is known.
    pub(crate) fn split(&self, selection: Selection, by: SplitBy, fields: &[String]) -> Result<Vec<SparsePart>, Error> {
        let mut plan = self.plan(&selection)?;
        let one_per_coordinate = self.drop_unmatched(&mut plan);
        let parts = match by {
            SplitBy::Parts(parts) => parts,
            SplitBy::Bytes(bytes) => usize::try_from(self.memory_bytes(&plan)?.div_ceil(bytes.max(1))).unwrap_or(usize::MAX),
        };
        if plan.tiles.is_empty() {
            return Ok(Vec::new());
        }
        let parts = if self.layout == Layout::Unordered && !one_per_coordinate {
            self.runs_of_tiles(&selection, plan, parts)
        } else {
            self.regions(selection, plan, parts)?
        };
        let pruners = self.scans.iter().map(|scan| Pruner::new(self.array, scan.fragment(), fields.iter().map(String::as_str)));
        let pruners = pruners.collect::<Result<Vec<_>, _>>()?;
        let part = |(selection, plan): (Selection, Plan)| {
            let mut fragments: Vec<usize> = plan.tiles.iter().map(|tile| tile.fragment).collect();
            fragments.dedup();
            let cells = self.count(&plan, one_per_coordinate);
            let statistics = fields.iter().map(|field| self.statistics(field, &plan, &pruners, cells.exact)).collect();
            SparsePart { selection, fragments, cells, statistics }
        };
        Ok(parts.into_iter().map(part).collect())
    }

    /// Parts of about as many cells each, tile after tile.
    fn runs_of_tiles(&self, selection: &Selection, plan: Plan, parts: usize) -> Vec<(Selection, Plan)> {
        let total: u128 = plan.tiles.iter().map(|tile| u128::from(tile.cells)).sum();
        let parts = u128::try_from(parts.max(1)).unwrap_or(u128::MAX);
        let mut before = 0_u128;
        // The part that the middle of a tile falls into.
        let mut part_of = |tile: &TilePlan| {
            let middle = 2 * before + u128::from(tile.cells);
            before += u128::from(tile.cells);
            middle.saturating_mul(parts) / (2 * total).max(1)
        };
        let mut runs: Vec<(u128, Vec<TilePlan>)> = Vec::new();
        for tile in plan.tiles {
            let part = part_of(&tile);
            match runs.last_mut() {
                Some((last, tiles)) if *last == part => tiles.push(tile),
                _ => runs.push((part, vec![tile])),
            }
        }
        let run = |(_, tiles): (u128, Vec<TilePlan>)| {
            let mut selection = selection.within(&tiles);
            selection.tiles = Some(Arc::new(intervals(&tiles, self.scans.len())));
            (selection, Plan { tiles })
        };
        runs.into_iter().map(run).collect()
    }

    /// Regions of about as many cells each, as far as the coordinates let themselves be cut.
    fn regions(&self, selection: Selection, plan: Plan, parts: usize) -> Result<Vec<(Selection, Plan)>, Error> {
        let schema = self.array.schema();
        // Along the Hilbert curve no cut of the coordinates keeps the order; the parts then are in none.
        let in_order = self.layout != Layout::Unordered && !(schema.is_hilbert() && self.layout == Layout::GlobalOrder);
        let order = CellOrder::new(schema, if in_order { self.layout } else { Layout::RowMajor })?;
        let cells = |plan: &Plan| plan.tiles.iter().map(|tile| u64::from(tile.cells)).sum::<u64>();
        let mut regions = vec![(cells(&plan), selection, plan)];
        while regions.len() < parts {
            let largest = regions.iter().enumerate().filter(|(_, region)| region.0 > 0).max_by_key(|(_, region)| region.0);
            let Some(largest) = largest.map(|(at, _)| at) else { break };
            let Some((weight, selection, plan)) = regions.get_mut(largest) else { break };
            let Some((low, high)) = cut(selection, plan, &order, Middle::OfCells) else {
                // What cannot be cut is not looked at again.
                *weight = 0;
                continue;
            };
            let (mut low_plan, mut high_plan) = (self.plan(&low)?, self.plan(&high)?);
            self.drop_unmatched(&mut low_plan);
            self.drop_unmatched(&mut high_plan);
            // Where all tiles reach into a half, it has about half of their cells.
            let vain = |half: &Plan| half.tiles.len() == plan.tiles.len();
            let of = |half: &Plan| if vain(half) { *weight / 2 } else { cells(half).min(*weight - 1) };
            let halves = [(of(&low_plan), low, low_plan), (of(&high_plan), high, high_plan)];
            regions.splice(largest..=largest, halves.into_iter().filter(|(_, _, plan)| !plan.tiles.is_empty()));
        }
        Ok(regions.into_iter().map(|(_, selection, plan)| (selection.within(&plan.tiles), plan)).collect())
    }

    fn count(&self, plan: &Plan, one_per_coordinate: bool) -> CellCount {
        let shows_all = |tile: &TilePlan| self.scans.get(tile.fragment).is_some_and(|scan| scan.shows_all(tile));
        CellCount {
            cells: plan.tiles.iter().map(|tile| u64::from(tile.cells)).sum(),
            exact: !one_per_coordinate && plan.tiles.iter().all(shows_all),
        }
    }

    /// What the statistics of the tiles say about a field, as far as all of them can be believed.
    fn statistics(&self, field: &str, plan: &Plan, pruners: &[Pruner], exact: bool) -> FieldStatistics {
        let schema = self.array.schema();
        let datatype = schema.attribute(field).map(|(_, attribute)| attribute.datatype);
        let datatype = datatype.or_else(|| schema.dimension(field).map(|(_, dimension)| dimension.datatype));
        let nullable = schema.attribute(field).is_some_and(|(_, attribute)| attribute.nullable);
        let Some(datatype) = datatype else { return FieldStatistics::unknown(field) };
        let mut summary = Summary::new(datatype, nullable);
        for tile in &plan.tiles {
            match pruners.get(tile.fragment).and_then(|pruner| pruner.bounds(field, tile)) {
                Some(known) => summary.add(known, tile.cells.into()),
                None => summary.forget(),
            }
        }
        let statistics = summary.finish(field);
        FieldStatistics { null_count: statistics.null_count.filter(|_| exact), ..statistics }
    }
}

fn intervals(tiles: &[TilePlan], fragments: usize) -> TileIntervals {
    let mut intervals: TileIntervals = vec![Vec::new(); fragments];
    for tile in tiles {
        let Some(own) = intervals.get_mut(tile.fragment) else { continue };
        match own.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(tile.tile) => *last = tile.tile,
            _ => own.push((tile.tile, tile.tile)),
        }
    }
    intervals
}

impl Selection {
    /// The same cells of these tiles, without the ranges that none of them reaches.
    fn within(&self, tiles: &[TilePlan]) -> Self {
        let mut hull: Option<NdRange> = None;
        for tile in tiles {
            match &mut hull {
                _ if !tile.mbr.is_valid() => return self.clone(),
                Some(hull) => hull.union_with(&tile.mbr),
                None => hull = Some(tile.mbr.clone()),
            }
        }
        let mut selection = self.clone();
        for (axis, range) in selection.axes.iter_mut().zip(hull.iter().flat_map(|hull| &hull.0)) {
            let (AxisSelection::Keys(ranges), Some((low, high))) = (&**axis, range_keys(range)) else { continue };
            // One range stays as it is, so that all its cells are known to be meant.
            if ranges.len() > 1 {
                let near = ranges.iter().filter(|(start, end)| *start <= high && low <= *end).copied().collect();
                *axis = Arc::new(AxisSelection::Keys(near));
            }
        }
        selection
    }
}
