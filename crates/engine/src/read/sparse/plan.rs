//! Which tiles a sparse read needs: what the R-trees answer.

use talavera_codec::DecodeErrorKind;
use talavera_fragment::Cover;
use talavera_schema::NdRange;

use super::{FragmentScan, Selection};
use crate::{Error, OpenArray};

/// The tiles of a sparse read, fragment by fragment, older ones first.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) tiles: Vec<TilePlan>,
}

/// One tile of a sparse read.
#[derive(Debug, Clone)]
pub(crate) struct TilePlan {
    /// The fragment's number in the array.
    pub(crate) fragment: usize,
    /// The tile's number in the fragment.
    pub(crate) tile: u64,
    pub(crate) cells: u32,
    /// Whether all its cells are in the selection.
    pub(crate) whole: bool,
    /// The ranges of its coordinates.
    pub(crate) mbr: NdRange,
}

impl Plan {
    pub(crate) fn new(array: &OpenArray, scans: &[FragmentScan<'_>], selection: &Selection) -> Result<Self, Error> {
        let mut tiles = Vec::new();
        for (number, scan) in scans.iter().enumerate() {
            let fragment = scan.fragment();
            let domain = fragment.footer().non_empty_domain.as_ref();
            if domain.is_some_and(|domain| selection.cover(domain) == Cover::None) {
                continue;
            }
            let rtree = fragment.rtree(array.storage(), array.options())?;
            if rtree.leaves().len() as u64 != fragment.footer().sparse_tile_count {
                let kind = DecodeErrorKind::Mismatch {
                    found: rtree.leaves().len() as u64,
                    expected: fragment.footer().sparse_tile_count,
                };
                return Err(Error::Corrupt { path: fragment.path.clone(), source: kind.at("R-tree leaves", 0) });
            }
            for found in rtree.search(|mbr| selection.cover(mbr)) {
                let tile = found.tile as u64;
                if !selection.has_tile(number, tile) {
                    continue;
                }
                let Some(mbr) = rtree.leaves().get(found.tile) else { continue };
                let cells = fragment.tile_cells(tile);
                let cells = u32::try_from(cells).map_err(|_| too_many_cells(fragment, cells))?;
                // Found under a larger rectangle, an MBR that itself tells nothing is no proof that all cells are meant.
                let whole = selection.cover(mbr) == Cover::Full;
                tiles.push(TilePlan { fragment: number, tile, cells, whole, mbr: mbr.clone() });
            }
        }
        Ok(Self { tiles })
    }

    /// Whether two cells of the plan may have the same coordinates: where tiles of different fragments meet, or a
    /// consolidated fragment holds several versions of a cell.
    pub(crate) fn may_repeat_coordinates(&self, consolidated: &[bool]) -> bool {
        let unknown = |tile: &TilePlan| tile.mbr.0.iter().any(|range| !range.is_valid());
        if self.tiles.iter().any(|tile| unknown(tile) || consolidated.get(tile.fragment).copied().unwrap_or(true)) {
            return true;
        }
        let mut domains: Vec<(usize, NdRange)> = Vec::new();
        for tile in &self.tiles {
            match domains.last_mut() {
                Some((fragment, domain)) if *fragment == tile.fragment => domain.union_with(&tile.mbr),
                _ => domains.push((tile.fragment, tile.mbr.clone())),
            }
        }
        let meets = |at: usize, one: &NdRange| domains.iter().skip(at + 1).any(|(_, other)| one.intersects(other));
        domains.iter().enumerate().any(|(at, (_, domain))| meets(at, domain))
    }
}

fn too_many_cells(fragment: &crate::Fragment, cells: u64) -> Error {
    let kind = DecodeErrorKind::Limit { needed: cells, limit: u32::MAX.into() };
    Error::Corrupt { path: fragment.path.clone(), source: kind.at("cells of a tile", 0) }
}
