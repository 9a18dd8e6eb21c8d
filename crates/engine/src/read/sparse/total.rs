//! Totals of the fields of a sparse read.
//!
//! A tile that shares coordinates with no tile of another fragment stands alone: it is answered by its statistics where
//! all its cells are in the result, else decoded and folded. Of the other tiles the cells are read, the newest of each
//! coordinate, part by part.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;
use talavera_fragment::{FieldId, exact_statistics};
use talavera_schema::{NdRange, Range};
use talavera_types::Layout;

use super::plan::{Plan, TilePlan};
use super::scan::FragmentScan;
use super::tiles::Kept;
use super::{Selection, SparseRead, Splitter};
use crate::aggregate::{Chosen, TileStatistics, TotalField, Totals, fold, repeat};
use crate::read::coordinates::CoordinateReader;
use crate::read::field::{ReadField, attribute_in_fragment};
use crate::read::tile::FieldReader;
use crate::{Error, FieldBuffer};

/// The number of cells, and the totals of each field.
type Answer = (u64, Vec<Totals>);

/// The tiles of a plan.
struct Parted {
    /// Those whose cells no other fragment hides.
    alone: Vec<TilePlan>,
    /// Fragment and number of the others.
    contested: HashSet<(usize, u64)>,
}

/// A field in one of the fragments.
struct FragmentField<'r> {
    scan: &'r FragmentScan<'r>,
    field: &'r TotalField,
    /// The index of an attribute in the fragment; none where it is missing, and for other fields.
    attribute: Option<usize>,
    /// Statistics, where tiles may be answered by them.
    statistics: Option<TileStatistics>,
}

impl<'r> SparseRead<'r> {
    /// The number of cells of a selection and the totals of `fields`; parts of the read take about `part_bytes` each.
    pub(crate) fn total(&'r self, selection: Selection, fields: &'r [TotalField], part_bytes: u64) -> Result<Answer, Error> {
        let Parted { alone, contested } = self.part(self.plan(&selection)?);
        let mut answer = (0, vec![Totals::default(); fields.len()]);
        self.total_alone(&alone, &selection, fields, part_bytes, &mut answer)?;
        if !contested.is_empty() {
            self.total_contested(&contested, selection, fields, part_bytes, &mut answer)?;
        }
        Ok(answer)
    }

    fn part(&self, plan: Plan) -> Parted {
        let mut parted = Parted { alone: Vec::new(), contested: HashSet::new() };
        if self.array.schema().allows_dups {
            parted.alone = plan.tiles;
        } else {
            let mut domains: Vec<Option<NdRange>> = vec![None; self.scans.len()];
            for tile in &plan.tiles {
                match domains.get_mut(tile.fragment) {
                    Some(Some(domain)) => domain.union_with(&tile.mbr),
                    Some(domain) => *domain = Some(tile.mbr.clone()),
                    None => {}
                }
            }
            // A rectangle that bounds nothing may hold any coordinate.
            let bounded = |mbr: &NdRange| mbr.0.iter().all(Range::is_valid);
            let all_bounded = plan.tiles.iter().all(|tile| bounded(&tile.mbr));
            let meets = |tile: &TilePlan| {
                let others = domains.iter().enumerate().filter(|(fragment, _)| *fragment != tile.fragment);
                others.filter_map(|(_, domain)| domain.as_ref()).any(|domain| domain.intersects(&tile.mbr))
            };
            for tile in plan.tiles {
                let consolidated =
                    self.scans.get(tile.fragment).is_none_or(|scan| scan.fragment().footer().layout.has_timestamps());
                if consolidated || !all_bounded || meets(&tile) {
                    parted.contested.insert((tile.fragment, tile.tile));
                } else {
                    parted.alone.push(tile);
                }
            }
        }
        parted.alone.retain(|tile| self.scans.get(tile.fragment).is_some_and(|scan| scan.may_match(tile)));
        parted
    }

    fn total_alone(
        &'r self,
        tiles: &[TilePlan],
        selection: &Selection,
        fields: &'r [TotalField],
        part_bytes: u64,
        answer: &mut Answer,
    ) -> Result<(), Error> {
        let mut by_statistics = vec![false; self.scans.len()];
        for tile in tiles {
            if let (Some(by_statistics), Some(scan)) = (by_statistics.get_mut(tile.fragment), self.scans.get(tile.fragment)) {
                *by_statistics |= scan.shows_all(tile);
            }
        }
        let of_fragment = |(scan, &by_statistics): (&'r FragmentScan<'r>, &bool)| -> Result<Vec<FragmentField<'r>>, Error> {
            fields.iter().map(|field| FragmentField::new(self, scan, field, by_statistics)).collect()
        };
        let fragments = self.scans.par_iter().zip(&by_statistics).map(of_fragment).collect::<Result<Vec<_>, Error>>()?;
        let mut rest = tiles;
        while !rest.is_empty() {
            let (group, behind, bytes) = self.next_group(rest, fields, part_bytes)?;
            rest = behind;
            let _reserved = self.job.reserve("the tiles of an aggregate", bytes)?;
            let total = |tile: &TilePlan| self.total_tile(tile, fragments.get(tile.fragment), selection, fields.len());
            let totals = group.par_iter().map(total).collect::<Result<Vec<_>, Error>>()?;
            totals.into_iter().for_each(|total| add(answer, total));
        }
        Ok(())
    }

    /// The tiles that are looked at next, at least one, and the bytes that they take in memory when all are at once.
    fn next_group<'t>(
        &self,
        tiles: &'t [TilePlan],
        fields: &[TotalField],
        part_bytes: u64,
    ) -> Result<(&'t [TilePlan], &'t [TilePlan], u64), Error> {
        let mut bytes = 0_u64;
        for (index, tile) in tiles.iter().enumerate() {
            let Some(scan) = self.scans.get(tile.fragment) else { continue };
            let mut needed = scan.memory_bytes(tile.tile, tile.cells.into())?;
            for field in fields {
                needed = needed.saturating_add(self.field_bytes(scan, field.field, tile)?);
            }
            if index > 0 && bytes.saturating_add(needed) > part_bytes {
                let (group, behind) = tiles.split_at(index);
                return Ok((group, behind, bytes));
            }
            bytes = bytes.saturating_add(needed);
        }
        Ok((tiles, &[], bytes))
    }

    fn total_tile(
        &self,
        tile: &TilePlan,
        fields: Option<&Vec<FragmentField<'_>>>,
        selection: &Selection,
        count: usize,
    ) -> Result<Answer, Error> {
        self.job.check_cancelled()?;
        let (Some(fields), Some(scan)) = (fields, self.scans.get(tile.fragment)) else {
            return Err(Error::invalid("a plan of another read"));
        };
        if scan.shows_all(tile) {
            let totals = fields.iter().map(|field| match field.by_statistics(tile) {
                Some(totals) => Ok(totals),
                None => field.fold(self, tile, None),
            });
            return Ok((tile.cells.into(), totals.collect::<Result<_, _>>()?));
        }
        let coordinates = self.asks_for_coordinates();
        let mut seen = scan.scan(tile, selection, coordinates, self.job)?;
        seen.drop_hidden();
        let cells = seen.kept.count(seen.cells) as u64;
        if cells == 0 {
            return Ok((0, vec![Totals::default(); count]));
        }
        let totals = fields.iter().map(|field| field.fold(self, tile, Some(&seen)));
        Ok((cells, totals.collect::<Result<_, _>>()?))
    }

    /// The cells that others may hide, put together part by part as any read does it.
    fn total_contested(
        &self,
        contested: &HashSet<(usize, u64)>,
        selection: Selection,
        fields: &[TotalField],
        part_bytes: u64,
        answer: &mut Answer,
    ) -> Result<(), Error> {
        let mut splitter = Splitter::new(self, selection, Layout::Unordered, part_bytes)?;
        while let Some((selection, mut plan)) = splitter.next(self)? {
            plan.tiles.retain(|tile| contested.contains(&(tile.fragment, tile.tile)));
            let buffers = self.read(&selection, plan)?;
            let cells = buffers.first().map_or(0, FieldBuffer::len);
            let fold = |(buffer, field): (&FieldBuffer, &TotalField)| fold(buffer, 0..cells, Chosen::All, field);
            add(answer, (cells as u64, buffers.iter().zip(fields).map(fold).collect()));
        }
        Ok(())
    }
}

fn add(answer: &mut Answer, other: Answer) {
    answer.0 += other.0;
    answer.1.iter_mut().zip(other.1).for_each(|(totals, other)| totals.add(other));
}

impl<'r> FragmentField<'r> {
    fn new(read: &SparseRead<'r>, scan: &'r FragmentScan<'r>, field: &'r TotalField, by_statistics: bool) -> Result<Self, Error> {
        let fragment = scan.fragment();
        let schema = fragment.schema();
        let opened = match field.field {
            ReadField::Attribute(index) => read.array.schema().attributes.get(index),
            _ => None,
        };
        let attribute = opened.and_then(|opened| attribute_in_fragment(schema, opened, read.array.options()));
        let id = match field.field {
            ReadField::Attribute(_) => attribute.map(FieldId::Attribute),
            ReadField::Dimension(index) => Some(FieldId::Dimension(index)),
            ReadField::Timestamps => None,
        };
        // Statistics of an attribute whose bytes are taken for another datatype are about something else.
        let same = |id: &FieldId| id.shape(schema).is_some_and(|shape| shape.datatype == field.shape.datatype);
        let statistics = match id.filter(same).filter(|_| by_statistics) {
            Some(id) => Some(TileStatistics {
                exact: exact_statistics(fragment.footer().version, schema, id, fragment.footer().dense),
                lists: fragment.statistics_lists(id, read.array.storage(), read.array.options())?,
            }),
            None => None,
        };
        Ok(Self { scan, field, attribute, statistics })
    }

    /// The totals of a whole tile, where they are known without its cells.
    fn by_statistics(&self, tile: &TilePlan) -> Option<Totals> {
        let cells = u64::from(tile.cells);
        let statistics = self.statistics.as_ref();
        match self.field.field {
            _ if !self.field.wanted.sum && !self.field.wanted.bounds && !self.field.shape.nullable => {
                Some(Totals { values: cells, ..Totals::default() })
            }
            ReadField::Attribute(_) => statistics?.totals(tile.tile, cells, self.field),
            ReadField::Dimension(index) => {
                // Coordinates have no minimum and maximum of their own: those are the MBR.
                let mut sums = *self.field;
                sums.wanted.bounds = false;
                let mut totals = match self.field.wanted.sum {
                    true => statistics?.totals(tile.tile, cells, &sums)?,
                    false => Totals { values: cells, ..Totals::default() },
                };
                if self.field.wanted.bounds {
                    totals.bounds = crate::aggregate::Bounds::of_integers(tile.mbr.0.get(index)?)?;
                }
                Some(totals)
            }
            ReadField::Timestamps => None,
        }
    }

    /// The totals of the cells of a tile that were kept; without a look at it, of all.
    fn fold(&self, read: &SparseRead<'_>, tile: &TilePlan, seen: Option<&super::tiles::SparseTile<'_>>) -> Result<Totals, Error> {
        let all = Kept::All;
        let kept = seen.map_or(&all, |seen| &seen.kept);
        let chosen = match kept {
            Kept::All => Chosen::All,
            Kept::Some(cells) => Chosen::List(cells),
        };
        let cells = tile.cells as usize;
        let options = (read.array.storage(), read.array.options());
        match self.field.field {
            ReadField::Attribute(index) => match self.attribute {
                Some(_) => Ok(fold(&self.reader()?.read(tile.tile, tile.cells.into(), read.job)?, 0..cells, chosen, self.field)),
                None => {
                    let fill = read.array.schema().attributes.get(index);
                    let (value, validity) = fill.map_or((&[][..], 1), |fill| (&*fill.fill_value, fill.fill_validity.into()));
                    Ok(repeat(value, validity, kept.count(tile.cells) as u64, self.field))
                }
            },
            ReadField::Dimension(index) => {
                if let Some(column) = seen.and_then(|seen| seen.column(index)) {
                    return Ok(fold(column, 0..cells, chosen, self.field));
                }
                let columns = CoordinateReader::new(self.scan.fragment(), options.0, options.1)?.read(tile.tile, read.job)?;
                let column = columns.get(index).ok_or_else(|| Error::invalid("a dimension of another array"))?;
                Ok(fold(column, 0..cells, chosen, self.field))
            }
            ReadField::Timestamps => {
                let times = match seen {
                    Some(seen) => seen.times.to_field(tile.cells)?,
                    None => self.scan.times(tile, read.job)?.to_field(tile.cells)?,
                };
                Ok(fold(&times, 0..cells, chosen, self.field))
            }
        }
    }

    /// What decodes the attribute.
    fn reader(&self) -> Result<Arc<FieldReader<'r>>, Error> {
        let index = self.attribute.ok_or_else(|| Error::invalid("the fragment does not have the attribute"))?;
        self.scan.reader(FieldId::Attribute(index))
    }
}
