//! The tiles of a sparse read: their coordinates, which of their cells are kept, and when those were written.

use std::borrow::Cow;

use talavera_condition::Bitmap;
use talavera_types::{CellValNum, Datatype};

use crate::{CellBytes, Error, FieldBuffer};

/// A cell of one of the tiles of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellRef(u64);

impl CellRef {
    #[inline]
    pub(crate) fn new(tile: u32, cell: u32) -> Self {
        Self(u64::from(tile) << 32 | u64::from(cell))
    }

    /// The tile's number in the read.
    #[inline]
    pub(crate) fn tile(self) -> usize {
        (self.0 >> 32) as usize
    }

    /// The cell's number in the tile.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half is the cell")]
    pub(crate) fn cell(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Some of the cells of a tile, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Every cell.
    All,
    /// These.
    Some(Vec<u32>),
}

impl Kept {
    /// The cells for which `keep` holds, out of those already kept.
    pub(crate) fn retain(&mut self, cells: u32, keep: impl Fn(u32) -> bool) {
        match self {
            Self::All => {
                let kept: Vec<u32> = (0..cells).filter(|&cell| keep(cell)).collect();
                if kept.len() < cells as usize {
                    *self = Self::Some(kept);
                }
            }
            Self::Some(kept) => kept.retain(|&cell| keep(cell)),
        }
    }

    /// How many of `cells` cells are kept.
    pub(crate) fn count(&self, cells: u32) -> usize {
        match self {
            Self::All => cells as usize,
            Self::Some(kept) => kept.len(),
        }
    }
}

/// When the cells of a tile were written.
#[derive(Debug, Clone)]
pub(crate) enum WriteTimes {
    /// All at once.
    Same(u64),
    /// Each at its own time: the tile comes from a consolidated fragment.
    Each(Vec<u64>),
}

impl WriteTimes {
    pub(crate) fn of(&self, cell: usize) -> u64 {
        match self {
            Self::Same(time) => *time,
            Self::Each(times) => times.get(cell).copied().unwrap_or(0),
        }
    }

    /// As a field of `cells` cells.
    pub(crate) fn to_field(&self, cells: u32) -> Result<FieldBuffer, Error> {
        let times: Vec<u8> = (0..cells as usize).flat_map(|cell| self.of(cell).to_le_bytes()).collect();
        FieldBuffer::new(Datatype::UInt64, CellValNum::ONE, CellBytes::copied(&times), None, None)
    }
}

/// One tile of a sparse read.
#[derive(Debug)]
pub(crate) struct SparseTile<'c> {
    /// The fragment's number in the array, later ones newer.
    pub(crate) fragment: usize,
    /// The tile's number in the fragment.
    pub(crate) tile: u64,
    /// Cells of the tile.
    pub(crate) cells: u32,
    /// The coordinates, dimension by dimension; none when nobody asked for them.
    pub(crate) coordinates: Vec<Cow<'c, FieldBuffer>>,
    /// The cells inside the ranges and the time window.
    pub(crate) kept: Kept,
    /// The cells that no delete and no condition hides; none when nothing is hidden. Hidden cells still hide older ones of the same
    /// coordinates.
    pub(crate) visible: Option<Bitmap>,
    /// When the cells were written.
    pub(crate) times: WriteTimes,
}

impl SparseTile<'_> {
    /// The coordinates along a dimension.
    pub(crate) fn column(&self, dimension: usize) -> Option<&FieldBuffer> {
        self.coordinates.get(dimension).map(AsRef::as_ref)
    }

    pub(crate) fn is_hidden(&self, cell: usize) -> bool {
        self.visible.as_ref().is_some_and(|visible| !visible.get(cell))
    }

    /// Lets go of the memory of the coordinates of a dimension.
    pub(crate) fn forget_coordinates(&mut self, dimension: usize) {
        if let Some(column) = self.coordinates.get_mut(dimension) {
            *column = Cow::Owned(FieldBuffer::empty(column.datatype(), column.cell_val_num(), false));
        }
    }

    /// Drops hidden cells, where nothing older can show instead.
    pub(crate) fn drop_hidden(&mut self) {
        if let Some(visible) = self.visible.take() {
            self.kept.retain(self.cells, |cell| visible.get(cell as usize));
        }
    }
}
