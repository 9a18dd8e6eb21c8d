//! The grid of space tiles of a dense fragment (04-fragment-metadata §6, 20-semantics §1.1).

use talavera_types::Layout;

use crate::{ArraySchema, Coordinate, Dimension, NdRange, Range, Rule, SchemaError, TileExtent};

/// The space tiles along one dimension that a range of cells needs.
///
/// Cells are counted from the low end of the domain (*offsets*), and so are tiles, so that signs do not matter and every
/// number is a `u64`. The last tile may reach beyond the domain, even beyond the datatype.
#[derive(Debug, Clone, PartialEq)]
pub struct TileAxis {
    low: Coordinate<'static>,
    extent: u64,
    first_tile: u64,
    tile_count: u64,
}

/// The space tiles of a dense fragment: those that its non-empty domain touches, numbered in tile order.
///
/// All counts fit into 64 bits; a grid for which they would not cannot be made.
#[derive(Debug, Clone, PartialEq)]
pub struct TileGrid {
    axes: Vec<TileAxis>,
    tile_strides: Vec<u64>,
    cell_strides: Vec<u64>,
    tile_count: u64,
    cells_per_tile: u64,
    expanded_domain: NdRange,
}

impl TileAxis {
    /// The tiles along an integer dimension that `range` touches. Without an extent, the domain is one tile.
    ///
    /// # Errors
    /// [`SchemaError`] for dimensions that are not integers, dates or times, for a range that is not valid or starts
    /// below the domain, and for tiles whose cells 64 bits cannot count.
    pub fn new(dimension: &Dimension, range: &Range) -> Result<Self, SchemaError> {
        let field = || format!("dimension {:?}", dimension.name);
        let low = match dimension.domain {
            Some(Range::Signed(low, _)) => Coordinate::Signed(low),
            Some(Range::Unsigned(low, _)) => Coordinate::Unsigned(low),
            _ => return Err(Rule::DenseDimensions.broken_by(field())),
        };
        let extent = match dimension.tile_extent {
            Some(TileExtent::Integer(extent)) => Some(extent),
            None => dimension.domain.as_ref().and_then(Range::cell_count),
            Some(_) => return Err(Rule::TileExtentDatatype.broken_by(field())),
        };
        let overflow = || SchemaError::Overflow { field: field() };
        let extent = extent.filter(|extent| *extent > 0).ok_or_else(overflow)?;
        let mut axis = Self { low, extent, first_tile: 0, tile_count: 0 };
        let offsets = (axis.offset(range.low()), axis.offset(range.high()));
        let (Some(first_cell), Some(last_cell), true) = (offsets.0, offsets.1, range.is_valid()) else {
            return Err(SchemaError::OutOfDomain { field: field() });
        };
        axis.first_tile = first_cell / extent;
        let last_tile = last_cell / extent;
        axis.tile_count = (last_tile - axis.first_tile).checked_add(1).ok_or_else(overflow)?;
        axis.tile_cells(last_tile).ok_or_else(overflow)?;
        Ok(axis)
    }

    /// Cells of a tile along this dimension, at least 1.
    #[must_use]
    pub fn extent(&self) -> u64 {
        self.extent
    }

    /// The first tile of the grid, counted from the low end of the domain.
    #[must_use]
    pub fn first_tile(&self) -> u64 {
        self.first_tile
    }

    /// The number of tiles along this dimension.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.tile_count
    }

    /// The offset of a coordinate from the low end of the domain; `None` below it and for another kind.
    #[must_use]
    #[inline]
    pub fn offset(&self, coordinate: Coordinate<'_>) -> Option<u64> {
        if self.low <= coordinate { Some(coordinate.integer_bits()?.wrapping_sub(self.low.integer_bits()?)) } else { None }
    }

    /// The coordinate at an offset from the low end of the domain; `None` where 64 bits do not reach.
    #[must_use]
    #[inline]
    pub fn coordinate(&self, offset: u64) -> Option<Coordinate<'static>> {
        match self.low {
            Coordinate::Signed(low) => low.checked_add_unsigned(offset).map(Coordinate::Signed),
            Coordinate::Unsigned(low) => low.checked_add(offset).map(Coordinate::Unsigned),
            _ => None,
        }
    }

    /// The tile that the cell at an offset is in, counted from the low end of the domain.
    #[must_use]
    #[inline]
    pub fn tile_of(&self, offset: u64) -> u64 {
        offset / self.extent
    }

    /// The offsets of the first and last cell of a tile, counted from the low end of the domain; `None` where 64 bits
    /// do not reach.
    #[must_use]
    #[inline]
    pub fn tile_cells(&self, tile: u64) -> Option<(u64, u64)> {
        let first = tile.checked_mul(self.extent)?;
        Some((first, first.checked_add(self.extent - 1)?))
    }

    /// The first and last tile of the grid with cells from offset `first` to offset `last`, if there are any.
    #[must_use]
    pub fn tiles_of(&self, first: u64, last: u64) -> Option<(u64, u64)> {
        let low = self.tile_of(first).max(self.first_tile);
        let high = self.tile_of(last).min(self.last_tile());
        (first <= last && low <= high).then_some((low, high))
    }

    fn last_tile(&self) -> u64 {
        self.first_tile + (self.tile_count - 1)
    }

    fn contains_tile(&self, tile: u64) -> bool {
        (self.first_tile..=self.last_tile()).contains(&tile)
    }

    /// From the first cell of the first tile to the last cell of the last.
    fn expanded(&self) -> Option<Range> {
        let (first, _) = self.tile_cells(self.first_tile)?;
        let (_, last) = self.tile_cells(self.last_tile())?;
        Range::new(self.coordinate(first)?, self.coordinate(last)?)
    }
}

impl TileGrid {
    /// The tiles of a fragment with this schema and non-empty domain.
    ///
    /// # Errors
    /// As [`TileAxis::new`], and when the tiles, or the cells of a tile, are more than 64 bits can count.
    pub fn new(schema: &ArraySchema, non_empty_domain: &NdRange) -> Result<Self, SchemaError> {
        let dimensions = &schema.domain.dimensions;
        if dimensions.len() != non_empty_domain.0.len() {
            return Err(SchemaError::OutOfDomain { field: "non-empty domain".to_owned() });
        }
        let axes = dimensions.iter().zip(&non_empty_domain.0).map(|(dimension, range)| TileAxis::new(dimension, range));
        let axes = axes.collect::<Result<Vec<_>, _>>()?;
        let counts = axes.iter().map(TileAxis::tile_count).collect::<Vec<_>>();
        let extents = axes.iter().map(TileAxis::extent).collect::<Vec<_>>();
        let overflow = |field: &str| SchemaError::Overflow { field: field.to_owned() };
        let (tile_strides, tile_count) = strides(&counts, schema.tile_order).ok_or_else(|| overflow("tiles"))?;
        let (cell_strides, cells_per_tile) = strides(&extents, schema.cell_order).ok_or_else(|| overflow("cells of a tile"))?;
        let expanded = axes.iter().map(TileAxis::expanded).collect::<Option<NdRange>>();
        let mut expanded_domain = expanded.ok_or_else(|| overflow("expanded domain"))?;
        if let Some(current_domain) = &schema.current_domain {
            let clipped = expanded_domain.intersection(current_domain);
            expanded_domain = clipped.ok_or_else(|| SchemaError::OutOfDomain { field: "current domain".to_owned() })?;
        }
        Ok(Self { axes, tile_strides, cell_strides, tile_count, cells_per_tile, expanded_domain })
    }

    /// The tiles along each dimension.
    #[must_use]
    pub fn axes(&self) -> &[TileAxis] {
        &self.axes
    }

    /// The number of tiles.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.tile_count
    }

    /// The number of cells that each tile holds on disk, those outside of the domain included.
    #[must_use]
    pub fn cells_per_tile(&self) -> u64 {
        self.cells_per_tile
    }

    /// By how much the tile number grows with the tile's index along each dimension.
    #[must_use]
    pub fn tile_strides(&self) -> &[u64] {
        &self.tile_strides
    }

    /// By how much the position of a cell in its tile grows with its coordinate along each dimension.
    #[must_use]
    pub fn cell_strides(&self) -> &[u64] {
        &self.cell_strides
    }

    /// All cells of all tiles, in coordinates, clipped to the current domain. A narrow datatype may not reach as far.
    #[must_use]
    pub fn expanded_domain(&self) -> &NdRange {
        &self.expanded_domain
    }

    /// The number of the tile with these indices, one for each dimension, counted from the low end of the domain;
    /// `None` outside of the grid.
    #[must_use]
    pub fn tile_number(&self, tile: &[u64]) -> Option<u64> {
        if tile.len() != self.axes.len() {
            return None;
        }
        let axes = self.axes.iter().zip(&self.tile_strides).zip(tile);
        let mut number = 0;
        for ((axis, stride), &index) in axes {
            if !axis.contains_tile(index) {
                return None;
            }
            number += (index - axis.first_tile) * stride;
        }
        Some(number)
    }

    /// The indices of a tile along each dimension, counted from the low end of the domain; `None` for a number outside
    /// of the grid.
    #[must_use]
    pub fn tile_coordinates(&self, number: u64) -> Option<impl ExactSizeIterator<Item = u64> + '_> {
        let axes = self.axes.iter().zip(&self.tile_strides);
        let indices = axes.map(move |(axis, stride)| axis.first_tile + number / stride % axis.tile_count);
        (number < self.tile_count).then_some(indices)
    }

    /// The offsets of the first and last cell of a tile along each dimension; `None` for a number outside of the grid.
    #[must_use]
    pub fn tile_cells(&self, number: u64) -> Option<impl ExactSizeIterator<Item = (u64, u64)> + '_> {
        let indices = self.tile_coordinates(number)?;
        // The last tile was checked when the grid was made, so that no other can overflow.
        Some(indices.zip(&self.axes).map(|(index, axis)| (index * axis.extent, index * axis.extent + (axis.extent - 1))))
    }

    /// The position of a cell in its tile, given by its offsets along each dimension; `None` for another number of
    /// them.
    #[must_use]
    pub fn cell_position(&self, offsets: &[u64]) -> Option<u64> {
        let axes = self.axes.iter().zip(&self.cell_strides).zip(offsets);
        (offsets.len() == self.axes.len()).then(|| axes.map(|((axis, stride), offset)| offset % axis.extent * stride).sum())
    }
}

/// The strides of a box of `counts` in an order, and its volume; `None` when that overflows.
///
/// Orders other than row-major and column-major do not occur in dense arrays and count as row-major.
fn strides(counts: &[u64], order: Layout) -> Option<(Vec<u64>, u64)> {
    let mut volume = 1u64;
    let mut stride = |count: &u64| {
        let stride = volume;
        volume = volume.checked_mul(*count)?;
        Some(stride)
    };
    let strides = if order == Layout::ColMajor {
        counts.iter().map(stride).collect::<Option<Vec<_>>>()?
    } else {
        let mut strides = counts.iter().rev().map(&mut stride).collect::<Option<Vec<_>>>()?;
        strides.reverse();
        strides
    };
    Some((strides, volume))
}

#[cfg(test)]
mod tests;
