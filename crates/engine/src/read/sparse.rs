//! Reads the cells of sparse arrays.
//!
//! The R-trees name the tiles that may hold cells of the selection. Their coordinates say which cells do; cells outside
//! the time window go. Then one cell per coordinate is chosen where the array wants that, the newest, and only after that
//! deletes and conditions apply, so that they never bring back an older cell. Attributes are decoded last, and only of tiles of which
//! cells are left.
//!
//! Source: 20-semantics §2.4 and §3; 21-semantics §7.

mod deletes;
mod gather;
mod plan;
mod prune;
mod scan;
mod select;
pub(crate) mod sort;
mod split;
pub(crate) mod tiles;

use rayon::prelude::*;
use talavera_condition::BoundCondition;
use talavera_fragment::FieldId;
use talavera_types::Layout;

use self::deletes::FragmentDeletes;
use self::gather::Picks;
use self::plan::{Plan, TilePlan};
use self::scan::FragmentScan;
pub(crate) use self::select::Selection;
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

    /// The fields of the cells of a selection, given its plan.
    pub(crate) fn read(&self, selection: &Selection, mut plan: Plan) -> Result<Vec<FieldBuffer>, Error> {
        let _reserved = self.job.reserve("the tiles of a read", self.memory_bytes(&plan)?)?;
        let array = self.array;
        let schema = array.schema();
        let duplicates = if schema.allows_dups { Duplicates::Keep } else { Duplicates::Newest };
        let consolidated: Vec<bool> = self.scans.iter().map(|scan| scan.fragment().footer().layout.has_timestamps()).collect();
        let one_per_coordinate = duplicates == Duplicates::Newest && plan.may_repeat_coordinates(&consolidated);
        if !one_per_coordinate {
            // Where cells hide each other, those of a tile without matches still hide older ones.
            plan.tiles.retain(|tile| self.scans.get(tile.fragment).is_none_or(|scan| scan.may_match(tile)));
        }
        let in_order = self.layout == Layout::Unordered;
        let needs_coordinates = one_per_coordinate || !in_order || self.asks_for_coordinates();
        let order = if one_per_coordinate || !in_order { Some(CellOrder::new(schema, self.layout)?) } else { None };
        let scan = |tile: &TilePlan| {
            let scan = self.scans.get(tile.fragment).ok_or_else(|| Error::invalid("a plan of another read"))?;
            scan.scan(tile, selection, needs_coordinates, self.job)
        };
        let mut tiles = plan.tiles.par_iter().map(scan).collect::<Result<Vec<_>, Error>>()?;
        let picks = match order {
            Some(order) => Picks::Cells(sort::sort(&tiles, &order, duplicates, &consolidated)),
            None => {
                tiles.par_iter_mut().for_each(tiles::SparseTile::drop_hidden);
                Picks::Tiles
            }
        };
        self.fields.iter().map(|&field| self.gather(&tiles, &picks, field)).collect()
    }

    /// Bytes that a field of a tile takes in memory.
    fn field_bytes(&self, scan: &FragmentScan<'_>, field: ReadField, tile: &TilePlan) -> Result<u64, Error> {
        let cells = u64::from(tile.cells);
        let schema = self.array.schema();
        match field {
            ReadField::Dimension(_) => scan.memory_bytes(tile.tile, cells),
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

    fn asks_for_coordinates(&self) -> bool {
        self.fields.iter().any(|field| matches!(field, ReadField::Dimension(_)))
    }
}
