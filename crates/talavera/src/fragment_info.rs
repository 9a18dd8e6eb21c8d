//! What there is to know about a fragment without reading its cells.

use talavera_engine::Fragment;
use talavera_schema::{NdRange, TileGrid};
use talavera_types::FormatVersion;

/// A fragment of an array: what one write, or one consolidation, has left.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FragmentInfo {
    /// The name of its folder.
    pub name: String,
    /// The format version that it was written in.
    pub version: FormatVersion,
    /// When its first and last cells were written, in milliseconds since 1970.
    pub timestamps: (u64, u64),
    /// Whether it holds all cells of a rectangle, or cells with coordinates.
    pub dense: bool,
    /// How many cells are stored. A dense fragment stores whole tiles, so this counts cells outside of its non-empty
    /// domain, too. None when 64 bits cannot count them.
    pub cell_count: Option<u64>,
    /// Bytes of its data files; metadata come on top.
    pub data_bytes: u64,
    /// The ranges that hold all its cells, one for each dimension.
    pub non_empty_domain: NdRange,
}

impl FragmentInfo {
    pub(crate) fn new(fragment: &Fragment) -> Self {
        let footer = fragment.footer();
        let non_empty_domain: NdRange = fragment.non_empty_domain().iter().cloned().collect();
        let cell_count = if footer.dense {
            let grid = TileGrid::new(fragment.schema(), &non_empty_domain).ok();
            grid.and_then(|grid| grid.tile_count().checked_mul(grid.cells_per_tile()))
        } else {
            let whole_tiles = footer.sparse_tile_count.saturating_sub(1);
            let cells = whole_tiles.checked_mul(fragment.schema().capacity);
            cells.and_then(|cells| cells.checked_add(footer.last_tile_cells))
        };
        Self {
            name: fragment.name().to_owned(),
            version: footer.version,
            timestamps: fragment.timestamps(),
            dense: footer.dense,
            cell_count,
            data_bytes: footer.data_files().fold(0, |sum, (_, bytes)| sum.saturating_add(bytes)),
            non_empty_domain,
        }
    }
}
