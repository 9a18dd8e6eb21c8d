//! Which fragments reach into a piece of a dense read, and in which order they lie over each other.

use std::collections::HashMap;

use talavera_codec::DecodeErrorKind;
use talavera_schema::{ArraySchema, Dimension, NdRange, Range, TileExtent};
use talavera_types::Layout;

use super::layout::{CellBox, Piece, TileLayout};
use crate::{Error, FieldBuffer, Fragment};

/// The tiles of a dense array: their extents in cells, their order, and the order of cells in them.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    pub(crate) extents: Vec<u64>,
    /// The low corner of the domain, as the bits of the coordinates; coordinates are counted from it.
    lows: Vec<u64>,
    tiles_row_major: bool,
    cells_row_major: bool,
    /// Cells of a tile.
    pub(crate) tile_cells: u64,
}

impl Grid {
    pub(crate) fn new(schema: &ArraySchema) -> Result<Self, Error> {
        let dimensions = &schema.domain.dimensions;
        let extents = dimensions.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
        let lows = dimensions.iter().map(low).collect::<Result<Vec<_>, _>>()?;
        let tile_cells = extents.iter().try_fold(1_u64, |cells, &extent| cells.checked_mul(extent));
        Ok(Self {
            extents,
            lows,
            tiles_row_major: schema.tile_order == Layout::RowMajor,
            cells_row_major: schema.cell_order == Layout::RowMajor,
            tile_cells: tile_cells.ok_or_else(|| Error::invalid("a tile of the array has more cells than a number can say"))?,
        })
    }

    /// A row-major grid from 0 on, for tests of what lies above.
    #[cfg(test)]
    pub(crate) fn of_extents(extents: &[u64]) -> Self {
        let (lows, tile_cells) = (vec![0; extents.len()], extents.iter().product());
        Self { extents: extents.to_vec(), lows, tiles_row_major: true, cells_row_major: true, tile_cells }
    }

    /// The first and last cell of a range, counted from the low corner of the domain.
    pub(crate) fn cells_of(&self, dimension: usize, range: &Range) -> Option<(u64, u64)> {
        let low = *self.lows.get(dimension)?;
        let (first, last) = integer_ends(range)?;
        Some((first.wrapping_sub(low), last.wrapping_sub(low)))
    }

    /// A box from ranges.
    pub(crate) fn box_of(&self, ranges: &NdRange) -> Option<CellBox> {
        let cells = ranges.0.iter().enumerate().map(|(dimension, range)| self.cells_of(dimension, range));
        let cells = cells.collect::<Option<Vec<_>>>()?;
        let lens = cells.iter().map(|&(first, last)| last.checked_sub(first)?.checked_add(1)).collect::<Option<Vec<_>>>()?;
        Some(CellBox { start: cells.iter().map(|&(first, _)| first).collect(), len: lens })
    }

    /// How the cells of this tile lie.
    pub(crate) fn tile_layout(&self, tile: &[u64]) -> TileLayout {
        TileLayout::new(tile, &self.extents, self.cells_row_major)
    }

    /// The dimensions from the slowest to the fastest in the order of tiles.
    pub(crate) fn tiles_row_major(&self) -> bool {
        self.tiles_row_major
    }

    /// The order of cells in a tile.
    pub(crate) fn cells_row_major(&self) -> bool {
        self.cells_row_major
    }

    /// The coordinate of a cell along one dimension, as the bits of the dimension's type.
    pub(crate) fn coordinate(&self, dimension: usize, cell: u64) -> u64 {
        self.lows.get(dimension).copied().unwrap_or(0).wrapping_add(cell)
    }
}

fn integer_ends(range: &Range) -> Option<(u64, u64)> {
    match *range {
        Range::Signed(low, high) => Some((low.cast_unsigned(), high.cast_unsigned())),
        Range::Unsigned(low, high) => Some((low, high)),
        _ => None,
    }
}

fn low(dimension: &Dimension) -> Result<u64, Error> {
    let ends = dimension.domain.as_ref().and_then(integer_ends);
    ends.map(|(low, _)| low)
        .ok_or_else(|| Error::invalid(format!("dimension '{}' of a dense array has no integer domain", dimension.name)))
}

fn extent(dimension: &Dimension) -> Result<u64, Error> {
    match (&dimension.tile_extent, dimension.domain.as_ref().and_then(integer_ends)) {
        (Some(TileExtent::Integer(extent)), _) if *extent > 0 => Ok(*extent),
        (None, Some((low, high))) => Ok(high.wrapping_sub(low).saturating_add(1)),
        _ => Err(Error::invalid(format!("dimension '{}' of a dense array has no tile extent", dimension.name))),
    }
}

/// A fragment as a dense read sees it.
#[derive(Debug)]
pub(crate) struct DenseFragment<'f> {
    pub(crate) fragment: &'f Fragment,
    /// The cells that it holds.
    cells: CellBox,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Dense {
        first_tile: Vec<u64>,
        tile_counts: Vec<u64>,
    },
    /// Cells written one by one, as libraries before version 10 could; by the tile that each falls into.
    Sparse(HashMap<Vec<u64>, Vec<SparseCell>>),
}

/// A cell of a sparse fragment in a dense array.
#[derive(Debug, Clone)]
pub(crate) struct SparseCell {
    /// Its coordinates, counted from the low corner of the domain.
    pub(crate) cell: Vec<u64>,
    /// The tile of the fragment that holds it.
    pub(crate) tile: u64,
    /// Which cell of that tile it is.
    pub(crate) index: usize,
}

impl SparseCell {
    /// The box that holds just this cell.
    pub(crate) fn as_box(&self) -> CellBox {
        CellBox { start: self.cell.clone(), len: vec![1; self.cell.len()] }
    }
}

/// What a fragment has for a piece.
#[derive(Debug)]
pub(crate) enum Share<'s> {
    /// A tile, of which these cells count.
    Tile { number: u64, part: CellBox },
    /// Single cells.
    Cells(Vec<&'s SparseCell>),
}

impl<'f> DenseFragment<'f> {
    /// A dense fragment, or a sparse one with the coordinates of all its cells.
    pub(crate) fn new(
        fragment: &'f Fragment,
        grid: &Grid,
        coordinates: impl FnOnce() -> Result<Vec<(u64, Vec<FieldBuffer>)>, Error>,
    ) -> Result<Self, Error> {
        let damaged = |field: &'static str| {
            let kind = DecodeErrorKind::Refused { reason: "does not lie in the domain of the array".into() };
            Error::Corrupt { path: fragment.path.clone(), source: kind.at(field, 0) }
        };
        let own = Grid::new(&fragment.schema)?;
        if own.extents != grid.extents || own.lows != grid.lows {
            return Err(damaged("domain of the fragment's schema"));
        }
        let cells = fragment.footer.non_empty_domain.as_ref().and_then(|domain| grid.box_of(domain));
        let cells = cells.ok_or_else(|| damaged("non-empty domain"))?;
        let tile = |at: u64, extent: &u64| at / extent;
        let kind = if fragment.footer.dense {
            let first_tile: Vec<u64> =
                cells.start.iter().zip(&grid.extents).map(|(&start, extent)| tile(start, extent)).collect();
            let lasts = cells.start.iter().zip(&cells.len).map(|(&start, &len)| start + (len - 1));
            let counts = lasts.zip(&grid.extents).zip(&first_tile).map(|((last, extent), first)| tile(last, extent) - first + 1);
            let tile_counts: Vec<u64> = counts.collect();
            let total = tile_counts.iter().try_fold(1_u64, |total, &count| total.checked_mul(count));
            total.ok_or_else(|| damaged("number of tiles"))?;
            Kind::Dense { first_tile, tile_counts }
        } else {
            Kind::Sparse(sparse_cells(coordinates()?, grid))
        };
        Ok(Self { fragment, cells, kind })
    }

    /// Whether the fragment may have cells between these, first and last along each dimension.
    pub(crate) fn meets(&self, hull: &[(u64, u64)]) -> bool {
        let cells = self.cells.start.iter().zip(&self.cells.len).zip(hull);
        cells.into_iter().all(|((&start, &len), &(first, last))| start <= last && first <= start + (len - 1))
    }

    /// What the fragment has for a piece; none when it does not reach into it.
    pub(crate) fn share(&self, piece: &Piece, grid: &Grid) -> Option<Share<'_>> {
        let part = self.cells.intersection(&piece.source)?;
        match &self.kind {
            Kind::Dense { first_tile, tile_counts } => {
                let at = piece.tile.iter().zip(first_tile).map(|(&tile, &first)| tile - first);
                let number = if grid.tiles_row_major {
                    at.zip(tile_counts).fold(0, |number, (at, &count)| number * count + at)
                } else {
                    at.rev().zip(tile_counts.iter().rev()).fold(0, |number, (at, &count)| number * count + at)
                };
                Some(Share::Tile { number, part })
            }
            Kind::Sparse(cells) => {
                let cells: Vec<&SparseCell> =
                    cells.get(&piece.tile)?.iter().filter(|cell| piece.source.contains_cell(&cell.cell)).collect();
                (!cells.is_empty()).then_some(Share::Cells(cells))
            }
        }
    }

    /// How many tiles it claims to have.
    pub(crate) fn tile_count(&self) -> u64 {
        match &self.kind {
            Kind::Dense { tile_counts, .. } => tile_counts.iter().fold(1, |count, &along| count.saturating_mul(along)),
            Kind::Sparse(cells) => cells.len() as u64,
        }
    }

    /// The tiles of the array that it reaches, [`DenseFragment::tile_count`] of them.
    pub(crate) fn tiles(&self) -> Vec<Vec<u64>> {
        match &self.kind {
            Kind::Dense { first_tile, tile_counts } => {
                let mut tiles = vec![Vec::new()];
                for (&first, &count) in first_tile.iter().zip(tile_counts) {
                    let longer = |tile: Vec<u64>| (first..first.saturating_add(count)).map(move |at| [&*tile, &[at]].concat());
                    tiles = tiles.into_iter().flat_map(longer).collect();
                }
                tiles
            }
            Kind::Sparse(cells) => cells.keys().cloned().collect(),
        }
    }

    /// Whether the fragment leaves nothing of older ones to see in a piece.
    pub(crate) fn hides_all(&self, piece: &Piece) -> bool {
        matches!(self.kind, Kind::Dense { .. }) && self.cells.contains(&piece.source)
    }
}

fn sparse_cells(tiles: Vec<(u64, Vec<FieldBuffer>)>, grid: &Grid) -> HashMap<Vec<u64>, Vec<SparseCell>> {
    let mut cells: HashMap<Vec<u64>, Vec<SparseCell>> = HashMap::new();
    for (tile, coordinates) in tiles {
        let columns: Vec<Vec<u64>> = coordinates.iter().map(crate::order::integer_bits).collect();
        for index in 0..columns.first().map_or(0, Vec::len) {
            let cell: Vec<u64> = columns
                .iter()
                .zip(&grid.lows)
                .map(|(column, low)| column.get(index).copied().unwrap_or(0).wrapping_sub(*low))
                .collect();
            let at = cell.iter().zip(&grid.extents).map(|(&cell, extent)| cell / extent).collect();
            cells.entry(at).or_default().push(SparseCell { cell, tile, index });
        }
    }
    cells
}

/// The fragments that show in a piece, older ones first.
///
/// Only fragments count that have the field at hand: one that was written while an attribute was dropped leaves the values
/// of older ones to see, should the attribute be there again. (The format's pages do not say so; libtiledb 2.30 does it,
/// except where the newer fragment covers all of a tile that is asked for: what one cell holds depends on its neighbours then.)
pub(crate) fn layers(piece: &Piece, fragments: &[DenseFragment<'_>], has_field: impl Fn(usize) -> bool, grid: &Grid) -> Layers {
    let mut layers = Layers { fragments: Vec::new(), complete: false };
    for (number, fragment) in fragments.iter().enumerate().rev().filter(|(number, _)| has_field(*number)) {
        if fragment.share(piece, grid).is_some() {
            layers.fragments.push(number);
        }
        if fragment.hides_all(piece) {
            layers.complete = true;
            break;
        }
    }
    layers.fragments.reverse();
    layers
}

/// The fragments that show in a piece.
#[derive(Debug)]
pub(crate) struct Layers {
    /// Their numbers, older ones first.
    pub(crate) fragments: Vec<usize>,
    /// Whether they leave no cell to the fill value.
    pub(crate) complete: bool,
}
