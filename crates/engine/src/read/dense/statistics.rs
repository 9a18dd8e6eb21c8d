//! What is known about the cells of a dense read before they are read.

use super::layout::{Axis, Piece, ResultShape};
use super::overlay::{Share, layers};
use super::{CellRanges, DenseRead};
use crate::Error;
use crate::read::field::ReadField;
use crate::read::part::FieldStatistics;
use crate::read::sparse::prune::Pruner;
use crate::read::summary::Summary;

/// Tiles of which statistics are put together; of more, nobody waits for them.
const MOST_TILES: u64 = 1 << 16;

impl DenseRead<'_> {
    /// What each fragment stores about fields.
    pub(crate) fn pruners(&self, fields: &[String]) -> Result<Vec<Pruner>, Error> {
        let names = || fields.iter().map(String::as_str);
        self.fragments.iter().map(|fragment| Pruner::new(self.array, fragment.fragment, names())).collect()
    }

    /// What is known about a field in these ranges. Where a read has a condition, cells that it does not hold for have the
    /// fill value.
    pub(crate) fn statistics(
        &self,
        (name, field): (&str, ReadField),
        ranges: &CellRanges,
        pruners: &[Pruner],
        has_condition: bool,
    ) -> Result<FieldStatistics, Error> {
        let schema = self.array.schema();
        let attribute = match field {
            ReadField::Dimension(dimension) => return Ok(self.dimension_statistics(name, dimension, ranges)),
            ReadField::Timestamps => None,
            ReadField::Attribute(index) => schema.attributes.get(index),
        };
        let Some(attribute) = attribute.filter(|_| self.tile_count(ranges) <= MOST_TILES) else {
            return Ok(FieldStatistics::unknown(name));
        };
        let mut summary = Summary::new(attribute.datatype, attribute.nullable);
        let fill = |summary: &mut Summary| {
            summary.add_fill(&attribute.fill_value, attribute.nullable && !attribute.fill_validity);
        };
        if has_condition {
            fill(&mut summary);
        }
        let axes = ranges.iter().zip(&self.grid.extents).map(|(ranges, &extent)| Axis::new(ranges, extent));
        let shape = ResultShape::new(axes.collect::<Result<_, _>>()?, self.grid.cells_row_major())?;
        let has_field = |number: usize| pruners.get(number).is_some_and(|pruner| pruner.stored(name, 0).is_some());
        for piece in shape.pieces() {
            let layers = layers(&piece, &self.fragments, has_field, &self.grid);
            if !layers.complete {
                fill(&mut summary);
            }
            // Nulls are counted for whole tiles, and may be hidden by what was written later.
            if layers.fragments.len() > 1 || piece.source.len != self.grid.extents {
                summary.forget_nulls();
            }
            for number in layers.fragments {
                self.add_tile(&mut summary, name, &piece, number, pruners);
            }
        }
        Ok(summary.finish(name))
    }

    /// Adds the tile that a fragment has for a piece.
    fn add_tile(&self, summary: &mut Summary, name: &str, piece: &Piece, number: usize, pruners: &[Pruner]) {
        let share = self.fragments.get(number).and_then(|fragment| fragment.share(piece, &self.grid));
        match (share, pruners.get(number)) {
            (Some(Share::Tile { number: tile, .. }), Some(pruner)) => {
                summary.add(pruner.stored(name, tile).unwrap_or_default(), self.grid.tile_cells);
            }
            _ => summary.forget(),
        }
    }

    fn dimension_statistics(&self, name: &str, dimension: usize, ranges: &CellRanges) -> FieldStatistics {
        let size = self.array.schema().domain.dimensions.get(dimension).map_or(0, |dimension| dimension.datatype.size());
        let bytes = |cell: u64| self.grid.coordinate(dimension, cell).to_le_bytes().get(..size).map(<[u8]>::to_vec);
        let ranges = ranges.get(dimension).map_or(&[][..], Vec::as_slice);
        FieldStatistics {
            field: name.to_owned(),
            min: ranges.first().and_then(|range| bytes(range.0)),
            max: ranges.last().and_then(|range| bytes(range.1)),
            null_count: Some(0),
        }
    }

    fn tile_count(&self, ranges: &CellRanges) -> u64 {
        let along = |(ranges, &extent): (&Vec<(u64, u64)>, &u64)| {
            let tiles = |&(first, last): &(u64, u64)| (last / extent - first / extent).saturating_add(1);
            ranges.iter().map(tiles).fold(0, u64::saturating_add)
        };
        ranges.iter().zip(&self.grid.extents).map(along).fold(1, u64::saturating_mul)
    }
}
