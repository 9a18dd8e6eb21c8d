//! Cuts a sparse read into parts that follow each other in the order of the result and fit into a memory budget.

use std::ops::Bound;
use std::sync::Arc;

use talavera_fragment::Cover;
use talavera_schema::Range;
use talavera_types::Layout;

use super::SparseRead;
use super::plan::{Plan, TilePlan};
use super::select::{AxisSelection, Selection, TextRange};
use crate::Error;
use crate::order::{CellOrder, Component, range_keys};

/// How often a tile may be decoded on average: where tiles overlap, a cut leaves many of them in both halves, and smaller
/// and smaller selections would only decode them again and again.
const DECODES: u64 = 8;
/// What a tile that is decoded once counts in [`Part::decodes`].
const ONCE: u64 = 1 << 16;

/// The parts of a sparse read.
#[derive(Debug)]
pub(crate) struct Splitter {
    /// Parts still to be looked at, the next one last.
    pending: Vec<Part>,
    order: Option<CellOrder>,
    target_bytes: u64,
    /// Tiles of the part last cut whose cells need not be compared, the next one last.
    tiles: Option<(Selection, Vec<TilePlan>)>,
}

#[derive(Debug)]
struct Part {
    selection: Selection,
    /// How often a tile is decoded if all parts are cut as this one was: the product, over the cuts that led here, of the
    /// tiles in both halves over those before, in units of [`ONCE`].
    decodes: u64,
}

impl Splitter {
    /// The parts of a selection, each of about so many bytes of memory.
    pub(crate) fn new(read: &SparseRead<'_>, selection: Selection, layout: Layout, target_bytes: u64) -> Result<Self, Error> {
        let schema = read.array.schema();
        // Along the Hilbert curve no cut of the coordinates keeps the order, so such a read has one part.
        let along_curve = schema.is_hilbert() && layout == Layout::GlobalOrder;
        // Without an order any cut will do; along the first dimension is one.
        let order = if layout == Layout::Unordered { Layout::RowMajor } else { layout };
        let order = if along_curve { None } else { Some(CellOrder::new(schema, order)?) };
        Ok(Self { pending: vec![Part { selection, decodes: ONCE }], order, target_bytes, tiles: None })
    }

    /// The next part that has tiles, with its plan.
    pub(crate) fn next(&mut self, read: &SparseRead<'_>) -> Result<Option<(Selection, Plan)>, Error> {
        if let Some(next) = self.next_tiles(read)? {
            return Ok(Some(next));
        }
        while let Some(part) = self.pending.pop() {
            let mut plan = read.plan(&part.selection)?;
            if plan.tiles.is_empty() {
                continue;
            }
            if !read.sorts(&plan) {
                plan.tiles.reverse();
                self.tiles = Some((part.selection, plan.tiles));
                return self.next_tiles(read);
            }
            if plan.tiles.len() == 1 || read.memory_bytes(&plan)? <= self.target_bytes {
                return Ok(Some((part.selection, plan)));
            }
            match self.order.as_ref().and_then(|order| cut(&part.selection, &plan, order, Middle::OfKeys)) {
                Some((low, high)) if part.decodes < DECODES * ONCE => {
                    let tiles = |half: &Selection| plan.tiles.iter().filter(|tile| half.cover(&tile.mbr) != Cover::None).count();
                    let after = (tiles(&low) + tiles(&high)) as u64;
                    let decodes = part.decodes.saturating_mul(after) / plan.tiles.len() as u64;
                    self.pending.push(Part { selection: high, decodes });
                    self.pending.push(Part { selection: low, decodes });
                }
                _ => return Ok(Some((part.selection, plan))),
            }
        }
        Ok(None)
    }

    /// The next of the tiles that may come in any order, as many as fit.
    fn next_tiles(&mut self, read: &SparseRead<'_>) -> Result<Option<(Selection, Plan)>, Error> {
        let Some((selection, tiles)) = &mut self.tiles else { return Ok(None) };
        let (mut plan, mut memory) = (Plan::default(), TileMemory::default());
        while let Some(tile) = tiles.pop() {
            memory.add(read.tile_memory(&tile, false)?);
            if memory.bytes() > self.target_bytes && !plan.tiles.is_empty() {
                tiles.push(tile);
                break;
            }
            plan.tiles.push(tile);
        }
        if plan.tiles.is_empty() {
            self.tiles = None;
            return Ok(None);
        }
        Ok(Some((selection.clone(), plan)))
    }
}

/// Where a selection is cut along a dimension of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Middle {
    /// Halfway between its ends.
    OfKeys,
    /// Where about as many cells lie on both sides.
    OfCells,
}

/// Two selections, the first wholly before the second in the order, that together are the one given.
pub(crate) fn cut(selection: &Selection, plan: &Plan, order: &CellOrder, middle: Middle) -> Option<(Selection, Selection)> {
    for &component in &order.components {
        let (dimension, by_tile) = match component {
            Component::Tile(dimension) => (dimension, true),
            Component::Value(dimension) => (dimension, false),
            Component::Hilbert => return None,
        };
        let axis = selection.axes.get(dimension)?;
        // In the upper half, so that a selection of two keys is cut between them.
        let middle_of = |low: u64, high: u64| match middle {
            Middle::OfKeys => low + (high - low) / 2 + 1,
            Middle::OfCells => median(&plan.tiles, dimension, low, high).clamp(low + 1, high),
        };
        let halves = match Hull::of(axis, &plan.tiles, dimension)? {
            Hull::Keys(low, high) if by_tile => {
                let tiles = (*order.tiles.get(dimension)?)?;
                let middle = tiles.first_key_of(tiles.tile(middle_of(low, high) - 1))?;
                // The middle may share its tile with the low end; then the tile behind it is where to cut.
                let middle = if middle > low { middle } else { tiles.first_key_of(tiles.tile(low).checked_add(1)?)? };
                (low < middle && middle <= high).then(|| axis.cut_keys(middle))
            }
            Hull::Keys(low, high) => Some(axis.cut_keys(middle_of(low, high))),
            Hull::Text(_) if by_tile => None,
            Hull::Text(middle) => middle.map(|middle| axis.cut_text(&middle)),
            Hull::Single => None,
        };
        if let Some((low, high)) = halves {
            let with = |axis: AxisSelection| {
                let mut half = selection.clone();
                if let Some(target) = half.axes.get_mut(dimension) {
                    *target = Arc::new(axis);
                }
                half
            };
            return Some((with(low), with(high)));
        }
        if !by_tile && matches!(Hull::of(axis, &plan.tiles, dimension)?, Hull::Text(None)) {
            // Strings between which nothing is known to lie: what follows in the order cannot be cut first.
            return None;
        }
    }
    None
}

/// The key below which about half of the cells of some tiles lie, each tile taken to lie in its middle.
fn median(tiles: &[TilePlan], dimension: usize, low: u64, high: u64) -> u64 {
    let middle = |tile: &TilePlan| {
        let (start, end) = tile.mbr.0.get(dimension).and_then(range_keys).unwrap_or((low, high));
        let (start, end) = (start.clamp(low, high), end.clamp(low, high));
        (start + end.saturating_sub(start) / 2, u64::from(tile.cells))
    };
    let mut middles: Vec<(u64, u64)> = tiles.iter().map(middle).collect();
    middles.sort_unstable();
    let half = middles.iter().map(|(_, cells)| cells).sum::<u64>() / 2;
    let mut before = 0;
    let found = middles.iter().find(|(_, cells)| {
        before += cells;
        before > half
    });
    found.map_or(low, |(key, _)| *key)
}

/// What the tiles of a plan span along one dimension, within a selection.
enum Hull {
    Keys(u64, u64),
    /// A string with coordinates before and behind it, if one is known.
    Text(Option<Box<[u8]>>),
    Single,
}

impl Hull {
    fn of(axis: &AxisSelection, tiles: &[TilePlan], dimension: usize) -> Option<Self> {
        let ranges = || tiles.iter().filter_map(|tile| tile.mbr.0.get(dimension));
        if let Some(Range::String(..)) = ranges().next() {
            return Some(Self::of_text(axis, ranges()));
        }
        let (mut low, mut high) = (0, u64::MAX);
        // One MBR that tells nothing may hold any coordinate.
        if ranges().all(Range::is_valid) {
            let keys: Vec<(u64, u64)> = ranges().map(range_keys).collect::<Option<_>>()?;
            (low, high) = (keys.iter().map(|keys| keys.0).min()?, keys.iter().map(|keys| keys.1).max()?);
        }
        if let AxisSelection::Keys(selected) = axis {
            low = low.max(selected.first()?.0);
            high = high.min(selected.last()?.1);
        }
        Some(if low < high { Self::Keys(low, high) } else { Self::Single })
    }

    fn of_text<'t>(axis: &AxisSelection, ranges: impl Iterator<Item = &'t Range>) -> Self {
        let mut ends: Vec<&[u8]> = Vec::new();
        for range in ranges {
            if let Range::String(low, high) = range {
                ends.extend([&**low, &**high]);
            }
        }
        ends.sort_unstable();
        ends.dedup();
        if ends.len() <= 1 {
            return Self::Single;
        }
        // An end of a rectangle is a coordinate; all but the first have one before them.
        let inside: Vec<&[u8]> = ends.into_iter().skip(1).filter(|end| axis.splits_at(end)).collect();
        Self::Text(inside.get(inside.len() / 2).map(|&end| end.into()))
    }
}

impl AxisSelection {
    /// The keys below `middle`, and those from it on.
    fn cut_keys(&self, middle: u64) -> (Self, Self) {
        let ranges = match self {
            Self::Keys(ranges) => ranges.as_slice(),
            _ => &[(0, u64::MAX)],
        };
        let low = ranges.iter().filter(|range| range.0 < middle).map(|&(start, end)| (start, end.min(middle - 1)));
        let high = ranges.iter().filter(|range| range.1 >= middle).map(|&(start, end)| (start.max(middle), end));
        (Self::Keys(low.collect()), Self::Keys(high.collect()))
    }

    /// Whether the selection may hold strings both below `middle` and from it on.
    fn splits_at(&self, middle: &[u8]) -> bool {
        match self {
            Self::Text(ranges) => {
                ranges.first().is_some_and(|first| *first.low < *middle) && ranges.last().is_some_and(|last| last.reaches(middle))
            }
            _ => true,
        }
    }

    /// The strings below `middle`, and those from it on.
    fn cut_text(&self, middle: &[u8]) -> (Self, Self) {
        let whole = [TextRange { low: Box::default(), high: Bound::Unbounded }];
        let ranges = match self {
            Self::Text(ranges) => ranges.as_slice(),
            _ => &whole,
        };
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for range in ranges {
            if *range.low < *middle {
                let end = if range.reaches(middle) { Bound::Excluded(middle.into()) } else { range.high.clone() };
                low.push(TextRange { low: range.low.clone(), high: end });
            }
            if range.reaches(middle) {
                let start = if *range.low < *middle { middle.into() } else { range.low.clone() };
                high.push(TextRange { low: start, high: range.high.clone() });
            }
        }
        (Self::Text(low), Self::Text(high))
    }
}

impl SparseRead<'_> {
    /// About how many bytes of memory the tiles of a plan and their part of the result take at once.
    pub(crate) fn memory_bytes(&self, plan: &Plan) -> Result<u64, Error> {
        let sorts = self.sorts(plan);
        let mut sum = TileMemory::default();
        for tile in &plan.tiles {
            sum.add(self.tile_memory(tile, sorts)?);
        }
        Ok(sum.bytes())
    }

    /// Bytes of memory that the result of a plan takes at most.
    pub(super) fn result_bytes(&self, plan: &Plan) -> Result<u64, Error> {
        let mut bytes = 0_u64;
        for tile in &plan.tiles {
            let Some(scan) = self.scans.get(tile.fragment) else { continue };
            for &field in self.fields {
                bytes = bytes.saturating_add(self.field_bytes(scan, field, tile)?);
            }
        }
        Ok(bytes)
    }

    fn tile_memory(&self, tile: &TilePlan, sorts: bool) -> Result<TileMemory, Error> {
        /// A cell's place in the order, and the cell itself.
        const PLACE_BYTES: u64 = 16;
        let Some(scan) = self.scans.get(tile.fragment) else { return Ok(TileMemory::default()) };
        let cells = u64::from(tile.cells);
        let mut memory = TileMemory::default();
        if sorts || !tile.whole || scan.looks_at_cells() {
            memory.held = scan.memory_bytes(tile.tile, cells)?;
        }
        if sorts {
            memory.held = memory.held.saturating_add(cells.saturating_mul(PLACE_BYTES));
        }
        for &field in self.fields {
            let bytes = self.field_bytes(scan, field, tile)?;
            memory.held = memory.held.saturating_add(bytes);
            memory.field = memory.field.max(bytes);
        }
        // Whole tiles are decoded into the result; the others, and those to be sorted, field by field beside it.
        memory.beside = if sorts { memory.field } else { 0 };
        Ok(memory)
    }
}

/// Bytes of memory that tiles take while they are read.
#[derive(Debug, Clone, Copy, Default)]
struct TileMemory {
    /// From the beginning to the end: coordinates, places, the result.
    held: u64,
    /// For one field after the other.
    beside: u64,
    /// The largest field of the largest tile.
    field: u64,
    tiles: u64,
}

impl TileMemory {
    fn add(&mut self, tile: Self) {
        self.held = self.held.saturating_add(tile.held);
        self.beside = self.beside.saturating_add(tile.beside);
        self.field = self.field.max(tile.field);
        self.tiles += 1;
    }

    /// All of it, and what a tile is decoded from for each thread.
    fn bytes(self) -> u64 {
        let threads = self.tiles.min(rayon::current_num_threads() as u64);
        self.held.saturating_add(self.beside).saturating_add(self.field.saturating_mul(threads))
    }
}
