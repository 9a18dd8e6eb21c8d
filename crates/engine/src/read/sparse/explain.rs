//! What a sparse read will do.

use talavera_fragment::{Cover, FieldId};

use super::SparseRead;
use super::plan::TilePlan;
use super::select::Selection;
use crate::read::explain::{Cost, Draft, SkipReason};
use crate::read::field::{ReadField, attribute_in_fragment};
use crate::{Error, Fragment};

impl SparseRead<'_> {
    /// Adds to a plan what reading the cells of a selection takes.
    pub(crate) fn explain(&self, selection: &Selection, part_bytes: u64, draft: &mut Draft) -> Result<(), Error> {
        let mut plan = self.plan(selection)?;
        let mut touched = vec![0_u64; self.scans.len()];
        for tile in &plan.tiles {
            if let Some(tiles) = touched.get_mut(tile.fragment) {
                *tiles += 1;
            }
        }
        let one_per_coordinate = self.drop_unmatched(&mut plan);
        let sorts = self.sorts_if(one_per_coordinate, &plan);
        // What has to be sorted and is large is read in parts, which may share tiles.
        draft.exact &= !self.sorts(&plan) || self.memory_bytes(&plan)? <= part_bytes;
        for tile in &plan.tiles {
            if let Some(fragment) = draft.fragments.get_mut(tile.fragment) {
                fragment.read += 1;
            }
            self.explain_tile(tile, selection, one_per_coordinate, sorts, draft)?;
        }
        for ((fragment, scan), touched) in draft.fragments.iter_mut().zip(&self.scans).zip(touched) {
            fragment.ruled_out = touched - fragment.read;
            let domain = scan.fragment().footer().non_empty_domain.as_ref();
            fragment.skipped = match (fragment.read, touched) {
                (1.., _) => None,
                (_, 1..) => Some(SkipReason::Condition),
                _ if domain.is_some_and(|domain| selection.cover(domain) == Cover::None) => Some(SkipReason::NonEmptyDomain),
                _ => Some(SkipReason::NoTile),
            };
        }
        Ok(())
    }

    fn explain_tile(
        &self,
        tile: &TilePlan,
        selection: &Selection,
        one_per_coordinate: bool,
        sorts: bool,
        draft: &mut Draft,
    ) -> Result<(), Error> {
        let Some(scan) = self.scans.get(tile.fragment) else { return Ok(()) };
        let fragment = scan.fragment();
        let cost = |field: FieldId| -> Result<Cost, Error> { scan.reader(field)?.cost(tile.tile, tile.cells.into()) };
        let scanned = scan.reads(tile, selection, sorts || self.asks_for_zipped(scan));
        // Of a tile that lies partly in the selection, coordinates may be decoded near the cells that are kept only.
        draft.exact &= tile.whole;
        for &field in &scanned {
            draft.add(&name_of(fragment, field), cost(field)?);
        }
        if !scan.may_match(tile) {
            // It is looked at only because its cells may hide older ones.
            return Ok(());
        }
        for &field in self.fields {
            let own = match field {
                ReadField::Attribute(index) => {
                    let attribute = self.array.schema().attributes.get(index);
                    let options = self.array.options();
                    attribute
                        .and_then(|attribute| attribute_in_fragment(fragment.schema(), attribute, options))
                        .map(FieldId::Attribute)
                }
                // Those that were needed to look at the tile stay.
                ReadField::Dimension(index) => Some(FieldId::Dimension(index))
                    .filter(|id| fragment.footer().version.has_dimension_fields() && !scanned.contains(id)),
                ReadField::Timestamps => None,
            };
            let Some(own) = own else { continue };
            draft.exact &= !one_per_coordinate && scan.shows_all(tile);
            draft.add(&name_of(fragment, own), cost(own)?);
        }
        Ok(())
    }
}

/// The name of a field of a fragment.
fn name_of(fragment: &Fragment, field: FieldId) -> String {
    let schema = fragment.schema();
    let name = match field {
        FieldId::Attribute(index) => schema.attributes.get(index).map(|attribute| attribute.name.as_str()),
        FieldId::Dimension(index) => schema.domain.dimensions.get(index).map(|dimension| dimension.name.as_str()),
        FieldId::Coordinates => Some("__coords"),
        FieldId::Timestamps => Some(crate::TIMESTAMPS_FIELD),
        _ => Some("__delete_timestamps"),
    };
    name.unwrap_or_default().to_owned()
}
