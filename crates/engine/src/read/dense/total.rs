//! Totals of the fields of a dense read.
//!
//! Only tiles that a fragment reaches are looked at, and only cells that were written count. A tile that one fragment
//! wrote whole, with nothing over it, is answered by its statistics; the others are read a group at a time and folded.
//!
//! Source: 21-semantics §6.4.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use talavera_codec::DecodeErrorKind;
use talavera_condition::BoundCondition;
use talavera_fragment::{FieldId, exact_statistics};

use super::fixed::{FixedField, Stream};
use super::layout::{Axis, Piece, ResultShape};
use super::overlay::{DenseFragment, Share, layers};
use super::{CellRanges, DenseRead};
use crate::aggregate::{Chosen, TileStatistics, TotalField, Totals, fold};
use crate::read::field::{ReadField, attribute_in_fragment};
use crate::read::tile::FieldReader;
use crate::{Error, FieldBuffer};

/// The number of cells, and the totals of each field.
type Answer = (u64, Vec<Totals>);

/// The ranges of one dimension in each tile along it.
type TileRanges = BTreeMap<u64, Vec<(u64, u64)>>;

/// A field as the fragments have it.
struct FieldInFragments<'f> {
    field: &'f TotalField,
    /// Whether each fragment has it.
    present: Vec<bool>,
    /// The statistics of each fragment, where they are to be asked.
    statistics: Vec<Option<TileStatistics>>,
}

impl<'r> DenseRead<'r> {
    /// The number of cells in `ranges`, if `counted`, and the totals of `fields`; groups of tiles take about `group_bytes`.
    pub(crate) fn total(
        &self,
        ranges: &CellRanges,
        fields: &[TotalField],
        condition: Option<&BoundCondition>,
        counted: bool,
        group_bytes: u64,
    ) -> Result<Answer, Error> {
        let mut answer = (0, vec![Totals::default(); fields.len()]);
        if condition.is_none() {
            if counted {
                answer.0 = count(ranges)?;
            }
            if fields.is_empty() {
                return Ok(answer);
            }
        }
        let shapes = self.touched_tiles(ranges)?;
        if condition.is_some() {
            for group in self.groups(&shapes, fields, condition, group_bytes)? {
                self.total_group(group, fields, condition, &mut answer)?;
            }
            return Ok(answer);
        }
        for (field, totals) in fields.iter().zip(&mut answer.1) {
            let in_fragments = self.in_fragments(field)?;
            let known: Vec<Option<Totals>> = shapes.par_iter().map(|shape| self.by_statistics(&in_fragments, shape)).collect();
            let unknown = shapes.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(shape, _)| shape.clone());
            let unknown: Vec<ResultShape> = unknown.collect();
            known.into_iter().flatten().for_each(|known| totals.add(known));
            let field = std::slice::from_ref(field);
            for group in self.groups(&unknown, field, None, group_bytes)? {
                let mut part = (0, vec![Totals::default()]);
                self.total_group(group, field, None, &mut part)?;
                part.1.into_iter().for_each(|part| totals.add(part));
            }
        }
        Ok(answer)
    }

    /// The cells of the ranges in each tile that a fragment reaches, in the order of the tiles' places.
    fn touched_tiles(&self, ranges: &CellRanges) -> Result<Vec<ResultShape>, Error> {
        let mut tiles: BTreeSet<Vec<u64>> = BTreeSet::new();
        for fragment in &self.fragments {
            self.check_tiles(fragment)?;
            tiles.extend(fragment.tiles());
        }
        let mut axes: Vec<TileRanges> = vec![TileRanges::new(); ranges.len()];
        for tile in &tiles {
            for (((axis, &tile), ranges), &extent) in axes.iter_mut().zip(tile).zip(ranges).zip(&self.grid.extents) {
                axis.entry(tile).or_insert_with(|| clip(ranges, tile, extent));
            }
        }
        let shape = |tile: &Vec<u64>| {
            let of_tile = axes.iter().zip(tile).map(|(axis, tile)| axis.get(tile).map_or(&[][..], Vec::as_slice));
            if of_tile.clone().any(<[_]>::is_empty) {
                return None;
            }
            let axes = of_tile.zip(&self.grid.extents).map(|(ranges, &extent)| Axis::new(ranges, extent));
            Some(axes.collect::<Result<Vec<_>, _>>().and_then(|axes| ResultShape::new(axes, self.grid.cells_row_major())))
        };
        tiles.iter().filter_map(shape).collect()
    }

    /// Refuses a fragment that claims more tiles than it stores, before they are all gone through.
    fn check_tiles(&self, overlaid: &DenseFragment<'_>) -> Result<(), Error> {
        let fragment = overlaid.fragment;
        if !fragment.footer().dense {
            return Ok(());
        }
        let lists = fragment.lists(FieldId::Attribute(0), self.array.storage(), self.options)?;
        let claimed = overlaid.tile_count();
        if claimed > lists.offsets.len() as u64 {
            let kind = DecodeErrorKind::Mismatch { found: lists.offsets.len() as u64, expected: claimed };
            return Err(Error::Corrupt { path: fragment.path.clone(), source: kind.at("tile offsets", 0) });
        }
        Ok(())
    }

    fn in_fragments<'f>(&self, field: &'f TotalField) -> Result<FieldInFragments<'f>, Error> {
        let mut known = FieldInFragments { field, present: Vec::new(), statistics: Vec::new() };
        for fragment in &self.fragments {
            let (fragment, schema) = (fragment.fragment, fragment.fragment.schema());
            let index = self.index_in(schema, field.field);
            known.present.push(index.is_some() || !matches!(field.field, ReadField::Attribute(_)));
            // Statistics of an attribute whose bytes are taken for another datatype are about something else.
            let id = index.map(FieldId::Attribute);
            let id = id.filter(|id| id.shape(schema).is_some_and(|shape| shape.datatype == field.shape.datatype));
            let exact = id.map(|id| exact_statistics(fragment.footer().version, schema, id, fragment.footer().dense));
            known.statistics.push(match id.zip(exact).filter(|(_, exact)| exact.min_max || exact.sum || exact.null_count) {
                Some((id, exact)) => {
                    let lists = fragment.statistics_lists(id, self.array.storage(), self.options)?;
                    Some(TileStatistics { lists, exact })
                }
                None => None,
            });
        }
        Ok(known)
    }

    /// The place of an attribute in the schema of a fragment.
    fn index_in(&self, schema: &talavera_schema::ArraySchema, field: ReadField) -> Option<usize> {
        let ReadField::Attribute(index) = field else { return None };
        attribute_in_fragment(schema, self.array.schema().attributes.get(index)?, self.options)
    }

    /// The totals of a tile, if all of it is asked for and shows a tile that one fragment wrote whole.
    fn by_statistics(&self, field: &FieldInFragments<'_>, shape: &ResultShape) -> Option<Totals> {
        let pieces = shape.pieces();
        let [piece] = pieces.as_slice() else { return None };
        if piece.source.len != self.grid.extents {
            return None;
        }
        let layers = layers(piece, &self.fragments, |number| field.present.get(number) == Some(&true), &self.grid);
        let ([number], true) = (layers.fragments.as_slice(), layers.complete) else { return None };
        let Some(Share::Tile { number: tile, part }) = self.fragments.get(*number)?.share(piece, &self.grid) else { return None };
        let needs_cells = field.field.wanted.sum || field.field.wanted.bounds || field.field.shape.nullable;
        match field.statistics.get(*number)? {
            _ if part != piece.source => None,
            _ if !needs_cells => Some(Totals { values: self.grid.tile_cells, ..Totals::default() }),
            Some(statistics) => statistics.totals(tile, self.grid.tile_cells, field.field),
            None => None,
        }
    }

    /// Tiles that are read together.
    fn groups<'s>(
        &self,
        shapes: &'s [ResultShape],
        fields: &[TotalField],
        condition: Option<&BoundCondition>,
        group_bytes: u64,
    ) -> Result<Vec<&'s [ResultShape]>, Error> {
        /// Bytes of a cell for which a mask says that it was written, and another that it fulfils the condition.
        const MASK_BYTES: u64 = 3;
        let mut read: Vec<ReadField> = fields.iter().map(|field| field.field).collect();
        for name in condition.into_iter().flat_map(BoundCondition::fields) {
            read.push(ReadField::named(self.array.schema(), name)?);
        }
        let cell_bytes = crate::read::query::cell_bytes(self.array, &read, GUESSED_VAR_BYTES)?.saturating_add(MASK_BYTES);
        let (mut groups, mut rest, mut start) = (Vec::new(), shapes, 0);
        let mut bytes = 0_u64;
        for (index, shape) in shapes.iter().enumerate() {
            let needed = (shape.cells as u64).saturating_mul(cell_bytes);
            if index > start && bytes.saturating_add(needed) > group_bytes {
                let (group, behind) = rest.split_at(index - start);
                groups.push(group);
                (rest, start, bytes) = (behind, index, 0);
            }
            bytes = bytes.saturating_add(needed);
        }
        if !rest.is_empty() {
            groups.push(rest);
        }
        Ok(groups)
    }

    fn total_group(
        &self,
        shapes: &[ResultShape],
        fields: &[TotalField],
        condition: Option<&BoundCondition>,
        answer: &mut Answer,
    ) -> Result<(), Error> {
        self.job.check_cancelled()?;
        let cells = shapes.iter().try_fold(0_usize, |cells, shape| cells.checked_add(shape.cells));
        let cells = cells.ok_or_else(|| Error::invalid("a group of tiles has more cells than memory can hold"))?;
        let matches = match condition {
            Some(condition) => {
                let mut written = self.written(shapes, cells, None)?.unwrap_or_else(|| vec![1; cells]);
                let matches = self.evaluate(condition, shapes, cells)?;
                written.iter_mut().enumerate().filter(|(cell, _)| !matches.get(*cell)).for_each(|(_, written)| *written = 0);
                answer.0 += written.iter().filter(|&&matches| matches != 0).count() as u64;
                Some(written)
            }
            None => None,
        };
        for (field, totals) in fields.iter().zip(&mut answer.1) {
            let written = self.written(shapes, cells, Some(field.field))?;
            let mask = match (&matches, written) {
                (Some(matches), Some(mut written)) => {
                    written.iter_mut().zip(matches).for_each(|(written, &matches)| *written &= matches);
                    Some(std::borrow::Cow::Owned(written))
                }
                (Some(matches), None) => Some(std::borrow::Cow::Borrowed(matches)),
                (None, written) => written.map(std::borrow::Cow::Owned),
            };
            let buffer = self.read_field(shapes, cells, field.field)?;
            fold_shapes(shapes, &buffer, mask.as_deref().map(Vec::as_slice), field).into_iter().for_each(|part| totals.add(part));
        }
        Ok(())
    }

    /// For each cell whether a fragment wrote the field, or, without one, any field; none when all were written.
    fn written(&self, shapes: &[ResultShape], cells: usize, field: Option<ReadField>) -> Result<Option<Vec<u8>>, Error> {
        let has_field = |number: usize| match (field, self.fragments.get(number)) {
            (Some(field @ ReadField::Attribute(_)), Some(fragment)) => self.index_in(fragment.fragment.schema(), field).is_some(),
            (_, fragment) => fragment.is_some(),
        };
        let present: Vec<bool> = (0..self.fragments.len()).map(has_field).collect();
        let complete =
            |piece: &Piece| layers(piece, &self.fragments, |number| present.get(number) == Some(&true), &self.grid).complete;
        if shapes.iter().all(|shape| shape.pieces().iter().all(complete)) {
            return Ok(None);
        }
        let reader = |(fragment, &present): (&DenseFragment<'r>, &bool)| -> Result<Option<FieldReader<'r>>, Error> {
            // Which attribute it is does not matter: of its tiles only the place is asked for.
            let open = || FieldReader::new(fragment.fragment, FieldId::Attribute(0), self.array.storage(), self.options);
            present.then(open).transpose()
        };
        let readers = self.fragments.iter().zip(&present).map(reader).collect::<Result<Vec<_>, _>>()?;
        let mut written = vec![0; cells];
        let stream = FixedField { readers: &readers, stream: Stream::Presence, cell_bytes: 1, fill: &[0] };
        self.read_shapes(shapes, &stream, &mut written)?;
        Ok(Some(written))
    }
}

/// Bytes of a cell of variable length, offset included, as groups guess it.
const GUESSED_VAR_BYTES: u64 = 64;

/// The cells in the ranges.
fn count(ranges: &CellRanges) -> Result<u64, Error> {
    let along = |ranges: &Vec<(u64, u64)>| {
        ranges.iter().try_fold(0_u64, |cells, (first, last)| cells.checked_add((last - first).checked_add(1)?))
    };
    let cells = ranges.iter().try_fold(1_u64, |cells, ranges| cells.checked_mul(along(ranges)?));
    cells.ok_or_else(|| Error::invalid("the ranges of a dense array hold more cells than 64 bits can count"))
}

/// The parts of ranges that lie in a tile.
fn clip(ranges: &[(u64, u64)], tile: u64, extent: u64) -> Vec<(u64, u64)> {
    let start = tile.saturating_mul(extent);
    let end = start.saturating_add(extent - 1);
    let clipped = ranges.iter().map(|&(first, last)| (first.max(start), last.min(end)));
    clipped.filter(|(first, last)| first <= last).collect()
}

/// The totals of each shape, whose cells stand in `buffer` one behind the other.
fn fold_shapes(shapes: &[ResultShape], buffer: &FieldBuffer, mask: Option<&[u8]>, field: &TotalField) -> Vec<Totals> {
    let mut end = 0;
    let ranges: Vec<_> = shapes
        .iter()
        .map(|shape| {
            let start = end;
            end += shape.cells;
            start..end
        })
        .collect();
    let fold_one = |range: &std::ops::Range<usize>| {
        let mask = mask.and_then(|mask| mask.get(range.clone()));
        fold(buffer, range.clone(), mask.map_or(Chosen::All, Chosen::Mask), field)
    };
    ranges.par_iter().map(fold_one).collect()
}
