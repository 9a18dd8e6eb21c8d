//! What a dense read will do.

use std::collections::HashSet;

use talavera_condition::BoundCondition;
use talavera_types::Layout;

use super::fixed::group_by_tile;
use super::layout::{Piece, ResultShape};
use super::overlay::{Share, layers};
use super::{CellRanges, DenseRead};
use crate::Error;
use crate::read::explain::{Draft, SkipReason};
use crate::read::field::ReadField;
use crate::read::tile::FieldReader;

impl DenseRead<'_> {
    /// Adds to a plan what reading these ranges takes.
    pub(crate) fn explain(
        &self,
        ranges: &CellRanges,
        layout: Layout,
        fields: &[ReadField],
        condition: Option<&BoundCondition>,
        draft: &mut Draft,
    ) -> Result<(), Error> {
        let shapes = self.shapes(ranges, layout)?;
        let of_condition = condition.into_iter().flat_map(BoundCondition::fields);
        let of_condition = of_condition.map(|name| ReadField::named(self.array.schema(), name));
        let mut read = HashSet::new();
        for field in fields.iter().copied().map(Ok).chain(of_condition) {
            let ReadField::Attribute(index) = field? else { continue };
            let Some(attribute) = self.array.schema().attributes.get(index) else { continue };
            let readers = self.readers(attribute)?;
            for (fragment, tile) in shapes.iter().flat_map(|shape| self.tiles_of(shape, &readers, draft)).collect::<Vec<_>>() {
                let Some(reader) = readers.get(fragment).and_then(Option::as_ref) else { continue };
                draft.add(&attribute.name, reader.cost(tile, self.grid.tile_cells)?);
                if attribute.cell_val_num.is_var() {
                    // The validity of cells of variable length is decoded once by itself and once with them.
                    draft.add(&attribute.name, reader.validity_cost(tile, self.grid.tile_cells)?);
                }
                read.insert((fragment, tile));
            }
        }
        let near = self.fragments_in(ranges);
        for (number, fragment) in draft.fragments.iter_mut().enumerate() {
            fragment.read = read.iter().filter(|(of, _)| *of == number).count() as u64;
            fragment.skipped = match fragment.read {
                1.. => None,
                _ if near.contains(&number) => Some(SkipReason::Hidden),
                _ => Some(SkipReason::NonEmptyDomain),
            };
        }
        Ok(())
    }

    /// The fragments and tiles that are decoded for one field of one shape.
    fn tiles_of(&self, shape: &ResultShape, readers: &[Option<FieldReader<'_>>], draft: &mut Draft) -> Vec<(usize, u64)> {
        let has_field = |number: usize| readers.get(number).is_some_and(Option::is_some);
        let mut tiles = Vec::new();
        for group in group_by_tile(shape.pieces(), |piece: &Piece| &piece.tile) {
            let first = tiles.len();
            for piece in &group {
                for number in layers(piece, &self.fragments, has_field, &self.grid).fragments {
                    match self.fragments.get(number).and_then(|fragment| fragment.share(piece, &self.grid)) {
                        Some(Share::Tile { number: tile, .. }) => tiles.push((number, tile)),
                        Some(Share::Cells(cells)) => {
                            // Decoded anew for each cell, and with their own numbers of cells.
                            draft.exact = false;
                            tiles.extend(cells.iter().map(|cell| (number, cell.tile)));
                        }
                        None => {}
                    }
                }
            }
            // All pieces of a group lie in one tile, which is decoded once for each fragment that shows in it.
            let mut own = tiles.split_off(first);
            own.sort_unstable();
            own.dedup();
            tiles.append(&mut own);
        }
        tiles
    }
}
