//! The places of cells in an order as numbers: the higher bits say where a cell stands, as far as there is room, the lower
//! ones which cell it is.
//!
//! Sorted, such numbers are the cells in their order. Of coordinates that leave no room for all of a place, only its
//! beginning is packed; cells that begin alike are compared by what follows.

mod parts;

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;
use talavera_types::with_datatype;

use super::tiles::{CellRef, Kept, SparseTile};
use crate::FieldBuffer;
use crate::order::{CellOrder, Component, HilbertOrder, OrderKey, TileAxis, key_bounds};

/// How the cells of some tiles become numbers.
#[derive(Clone)]
pub(crate) struct Keys<'t> {
    tiles: &'t [SparseTile<'t>],
    order: &'t CellOrder,
    fields: Vec<Field>,
    /// Bits of a cell's number in its tile.
    cell_bits: u32,
    /// Bits of a cell's number and its tile's.
    index_bits: u32,
    /// Components of the order that are packed whole.
    whole: usize,
}

/// A component, and how much of it is packed.
#[derive(Debug, Clone, Copy)]
struct Field {
    part: Part,
    /// Bits of its values.
    bits: u32,
    /// How many of them are packed, the highest.
    taken: u32,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    /// Keys of a dimension less the least one.
    Number { dimension: usize, low: u64 },
    /// Keys counted from the start of their tile, whose index goes before them.
    InTile { dimension: usize, low_key: u64, extent: u64 },
    /// Tile indices less the least one.
    Tile { dimension: usize, axis: TileAxis, low: u64 },
    /// Strings of up to seven bytes behind what all have in common, then their length.
    Text { dimension: usize, skipped: usize, bytes: u32, length_bits: u32 },
    /// The first eight bytes behind what all have in common.
    TextHead { dimension: usize, skipped: usize },
    /// Positions on the Hilbert curve less the least one, known only once all are calculated.
    Curve { low: u64 },
}

/// Cells of a tile that follow each other among those kept.
enum Run<'t> {
    All(Range<u32>),
    Listed(&'t [u32]),
}

/// A run, with its tile and that tile's number.
type RunOf<'t> = (usize, &'t SparseTile<'t>, Run<'t>);

/// Cells of a run, so that what is calculated about them stays in a cache.
const RUN_CELLS: usize = 1 << 13;

impl<'t> Keys<'t> {
    /// The numbers of the kept cells of all tiles, one tile behind the other, and how to take them apart.
    pub(crate) fn new(tiles: &'t [SparseTile<'t>], order: &'t CellOrder) -> (Self, Vec<u64>) {
        let mut keys = Self::without_fields(tiles, order);
        let mut words = vec![0; tiles.iter().map(|tile| tile.kept.count(tile.cells)).sum()];
        let mut bounds = None;
        if let (Some(Component::Hilbert), Some(curve)) = (order.components.first(), &order.curve) {
            keys.for_each_run(&mut words, |_, tile, run, words| curve.positions(tile, run, words));
            bounds = bounds_of(&words);
        }
        keys.choose_fields(bounds);
        keys.for_each_run(&mut words, |number, tile, run, words| keys.fill(number, tile, run, words));
        (keys, words)
    }

    /// How cells become numbers, without any of them; not along a curve, whose positions are calculated only once.
    pub(crate) fn alone(tiles: &'t [SparseTile<'t>], order: &'t CellOrder) -> Option<Self> {
        let mut keys = Self::without_fields(tiles, order);
        keys.choose_fields(None);
        order.curve.is_none().then_some(keys)
    }

    fn without_fields(tiles: &'t [SparseTile<'t>], order: &'t CellOrder) -> Self {
        let most = tiles.iter().map(|tile| tile.cells).max().unwrap_or(0);
        let cell_bits = (u32::BITS - most.saturating_sub(1).leading_zeros()).max(1);
        let tile_bits = usize::BITS - tiles.len().saturating_sub(1).leading_zeros();
        // Tiles that there are no numbers for do not fit into memory.
        let index_bits = (cell_bits + tile_bits).min(u64::BITS - 1);
        Self { tiles, order, fields: Vec::new(), cell_bits, index_bits, whole: 0 }
    }

    /// The cell that a number stands for.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a cell's number has 32 bits, and so has that of a tile")]
    pub(crate) fn cell(&self, word: u64) -> CellRef {
        let index = word & ((1 << self.index_bits) - 1);
        CellRef::new((index >> self.cell_bits) as u32, (index & ((1 << self.cell_bits) - 1)) as u32)
    }

    /// Which cell a number stands for, as a number that ascends as cells do.
    #[inline]
    pub(crate) fn index(&self, word: u64) -> u64 {
        word & ((1 << self.index_bits) - 1)
    }

    /// Whether the places of two cells begin alike; where places are packed whole, whether they are the same.
    #[inline]
    pub(crate) fn begin_alike(&self, a: u64, b: u64) -> bool {
        (a ^ b) >> self.index_bits == 0
    }

    /// Whether places are packed whole.
    pub(crate) fn are_whole(&self) -> bool {
        self.whole == self.order.components.len()
    }

    /// Whether two cells stand in the same place.
    #[inline]
    pub(crate) fn same(&self, a: u64, b: u64) -> bool {
        self.begin_alike(a, b) && (self.are_whole() || self.compare_rest(a, b).is_eq())
    }

    /// How two cells compare whose places begin alike.
    pub(crate) fn compare_rest(&self, a: u64, b: u64) -> Ordering {
        let components = self.order.components.get(self.whole..).unwrap_or_default();
        compare(self.tiles, self.order, components, self.cell(a), self.cell(b))
    }

    /// Puts cells in order whose places begin alike.
    pub(crate) fn sort_alike(&self, words: &mut [u64]) {
        let curve = self.order.curve.as_ref().filter(|_| self.whole == 0);
        let Some(curve) = curve else {
            words.par_sort_unstable_by(|&a, &b| self.compare_rest(a, b).then(a.cmp(&b)));
            return;
        };
        let values = self.order.components.get(1..).unwrap_or_default();
        let position = |word: u64| {
            let cell = self.cell(word);
            self.tiles.get(cell.tile()).map_or(0, |tile| curve.position(tile, cell.cell()))
        };
        let mut placed: Vec<(u64, u64)> = words.iter().map(|&word| (position(word), word)).collect();
        placed.par_sort_unstable_by(|a, b| {
            let by_values = || compare(self.tiles, self.order, values, self.cell(a.1), self.cell(b.1));
            a.0.cmp(&b.0).then_with(by_values).then(a.1.cmp(&b.1))
        });
        words.iter_mut().zip(placed).for_each(|(word, (_, placed))| *word = placed);
    }

    /// The kept cells of all tiles.
    fn runs(&self) -> Vec<RunOf<'t>> {
        let of_tile = |(number, tile): (usize, &'t SparseTile<'t>)| {
            let kept = tile.kept.count(tile.cells);
            let runs = (0..kept).step_by(RUN_CELLS).map(move |start| start..kept.min(start + RUN_CELLS));
            runs.map(move |cells| (number, tile, Run::new(&tile.kept, cells)))
        };
        self.tiles.iter().enumerate().flat_map(of_tile).collect()
    }

    /// Calls `each` in parallel with the number of a tile, the tile, some of its kept cells, and their words.
    fn for_each_run(&self, words: &mut [u64], each: impl Fn(usize, &SparseTile<'_>, &Run<'_>, &mut [u64]) + Sync) {
        let mut rest = words;
        let mut runs = Vec::new();
        for (number, tile, run) in self.runs() {
            let (words, behind) = std::mem::take(&mut rest).split_at_mut(run.len());
            runs.push((number, tile, run, words));
            rest = behind;
        }
        runs.into_par_iter().for_each(|(number, tile, run, words)| each(number, tile, &run, words));
    }

    /// Packs components until one leaves no room.
    fn choose_fields(&mut self, curve_bounds: Option<(u64, u64)>) {
        let mut room = u64::BITS - self.index_bits;
        for &component in &self.order.components {
            let Some((part, bits, is_whole)) = self.part(component, curve_bounds) else { break };
            let taken = bits.min(room).min(u64::BITS - 1);
            room -= taken;
            self.fields.push(Field { part, bits, taken });
            // What follows in the order decides only between cells that are the same up to here.
            if taken < bits || !is_whole {
                break;
            }
            self.whole += 1;
        }
    }

    /// How a component becomes a number, its bits, and whether it is the whole of the component.
    fn part(&self, component: Component, curve_bounds: Option<(u64, u64)>) -> Option<(Part, u32, bool)> {
        let width = |low: u64, high: u64| u64::BITS - high.wrapping_sub(low).leading_zeros();
        match component {
            Component::Hilbert => {
                let (low, high) = curve_bounds.unwrap_or((0, 0));
                Some((Part::Curve { low }, width(low, high), true))
            }
            Component::Tile(dimension) => {
                let axis = (*self.order.tiles.get(dimension)?)?;
                let bounds = self.bounds(dimension)?;
                let (low, high) = bounds.map_or(Some((0, 0)), |(low, high)| axis.tiles_of(low, high)).unwrap_or((0, u64::MAX));
                Some((Part::Tile { dimension, axis, low }, width(low, high), true))
            }
            Component::Value(dimension) => {
                let is_text = |tile: &SparseTile<'_>| tile.column(dimension).is_some_and(|column| column.offsets().is_some());
                if self.tiles.iter().any(is_text) {
                    return Some(self.text_part(dimension));
                }
                let (low, high) = self.bounds(dimension)?.unwrap_or((0, 0));
                let whole = (Part::Number { dimension, low }, width(low, high), true);
                match self.order.tiles.get(dimension)? {
                    Some(TileAxis::Integer { low_key, extent })
                        if self.order.components.contains(&Component::Tile(dimension)) =>
                    {
                        let extent = (*extent).max(1);
                        let bits = width(0, extent - 1);
                        let in_tile = Part::InTile { dimension, low_key: *low_key, extent };
                        Some(if bits < whole.1 { (in_tile, bits, true) } else { whole })
                    }
                    _ => Some(whole),
                }
            }
        }
    }

    fn text_part(&self, dimension: usize) -> (Part, u32, bool) {
        let columns = || self.tiles.iter().filter_map(|tile| tile.column(dimension));
        let first = columns().find_map(|column| column.cell(0)).unwrap_or_default();
        let (mut skipped, mut longest) = (first.len(), 0);
        for column in columns() {
            let cells = (0..column.len()).into_par_iter().with_min_len(RUN_CELLS);
            let of_cell = |cell| {
                let text = column.cell(cell).unwrap_or_default();
                (text.iter().zip(first).take_while(|(a, b)| a == b).count(), text.len())
            };
            let merged = cells.map(of_cell).reduce(|| (usize::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
            (skipped, longest) = (skipped.min(merged.0), longest.max(merged.1));
        }
        match u32::try_from(longest.saturating_sub(skipped)) {
            Ok(bytes @ 0..=7) => {
                let length_bits = u32::BITS - bytes.leading_zeros();
                (Part::Text { dimension, skipped, bytes, length_bits }, 8 * bytes + length_bits, true)
            }
            _ => (Part::TextHead { dimension, skipped }, u64::BITS, false),
        }
    }

    /// The least and greatest key of a dimension over all tiles: none for no cells; nothing for strings.
    fn bounds(&self, dimension: usize) -> Option<Option<(u64, u64)>> {
        let mut all: Option<(u64, u64)> = None;
        for tile in self.tiles {
            let column = tile.column(dimension).filter(|column| column.offsets().is_none())?;
            if let Some((low, high)) = key_bounds(column.datatype(), column.bytes()) {
                all = Some(all.map_or((low, high), |(least, greatest)| (least.min(low), greatest.max(high))));
            }
        }
        Some(all)
    }

    /// The words of some cells of a tile.
    fn fill(&self, number: usize, tile: &SparseTile<'_>, run: &Run<'_>, words: &mut [u64]) {
        for field in &self.fields {
            field.push(tile, run, words);
        }
        let tile_index = (number as u64) << self.cell_bits;
        let index_bits = self.index_bits;
        let finish = |(word, cell): (&mut u64, u32)| *word = *word << index_bits | tile_index | u64::from(cell);
        match run {
            Run::All(cells) => words.iter_mut().zip(cells.clone()).for_each(finish),
            Run::Listed(cells) => words.iter_mut().zip(cells.iter().copied()).for_each(finish),
        }
    }
}

impl Field {
    /// Appends the bits of this field to the words of some cells.
    fn push(&self, tile: &SparseTile<'_>, run: &Run<'_>, words: &mut [u64]) {
        let (taken, dropped) = (self.taken, self.bits - self.taken);
        if taken == 0 {
            // A position on the curve is in place already, and would stay.
            if let Part::Curve { .. } = self.part {
                words.fill(0);
            }
            return;
        }
        let column = |dimension: usize| tile.column(dimension);
        let push = |word: &mut u64, value: u64| *word = *word << taken | value >> dropped;
        match self.part {
            Part::Curve { low } => words.iter_mut().for_each(|word| *word = (*word - low) >> dropped),
            Part::Number { dimension, low } => run.keys(column(dimension), words, |word, key| push(word, key.wrapping_sub(low))),
            Part::InTile { dimension, low_key, extent } if extent.is_power_of_two() => {
                run.keys(column(dimension), words, |word, key| push(word, key.wrapping_sub(low_key) & (extent - 1)));
            }
            Part::InTile { dimension, low_key, extent } => {
                run.keys(column(dimension), words, |word, key| push(word, key.wrapping_sub(low_key) % extent));
            }
            Part::Tile { dimension, axis: TileAxis::Integer { low_key, extent }, low } if extent.is_power_of_two() => {
                let shift = extent.trailing_zeros();
                let tile = |key: u64| (key.wrapping_sub(low_key) >> shift).wrapping_sub(low);
                run.keys(column(dimension), words, |word, key| push(word, tile(key)));
            }
            Part::Tile { dimension, axis, low } => {
                run.keys(column(dimension), words, |word, key| push(word, axis.tile(key).wrapping_sub(low)));
            }
            Part::Text { dimension, skipped, bytes, length_bits } => run.texts(column(dimension), words, |word, text| {
                let text = text.get(skipped..).unwrap_or_default();
                let head = head(text).checked_shr(u64::BITS - 8 * bytes).unwrap_or(0);
                push(word, head << length_bits | text.len() as u64);
            }),
            Part::TextHead { dimension, skipped } => run.texts(column(dimension), words, |word, text| {
                push(word, head(text.get(skipped..).unwrap_or_default()));
            }),
        }
    }
}

impl<'t> Run<'t> {
    #[expect(clippy::cast_possible_truncation, reason = "a tile has fewer than 2^32 cells")]
    fn new(kept: &'t Kept, range: Range<usize>) -> Self {
        match kept {
            Kept::All => Self::All(range.start as u32..range.end as u32),
            Kept::Some(cells) => Self::Listed(cells.get(range).unwrap_or_default()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::All(cells) => cells.len(),
            Self::Listed(cells) => cells.len(),
        }
    }

    /// Calls `each` with the word and the key of every cell.
    fn keys(&self, column: Option<&FieldBuffer>, words: &mut [u64], each: impl Fn(&mut u64, u64)) {
        let Some(column) = column else { return };
        with_datatype!(column.datatype(), T => {
            let values = column.bytes().as_values::<T>();
            match self {
                Self::All(cells) => {
                    let values = values.get(cells.start as usize..cells.end as usize).unwrap_or_default();
                    words.iter_mut().zip(values).for_each(|(word, value)| each(word, value.order_key()));
                }
                Self::Listed(cells) => {
                    let value = |cell: &u32| values.get(*cell as usize).map_or(0, |value| value.order_key());
                    words.iter_mut().zip(*cells).for_each(|(word, cell)| each(word, value(cell)));
                }
            }
        });
    }

    /// Calls `each` with the word and the string of every cell.
    fn texts(&self, column: Option<&FieldBuffer>, words: &mut [u64], each: impl Fn(&mut u64, &[u8])) {
        let Some(column) = column else { return };
        let text = |cell: u32| column.cell(cell as usize).unwrap_or_default();
        match self {
            Self::All(cells) => words.iter_mut().zip(cells.clone()).for_each(|(word, cell)| each(word, text(cell))),
            Self::Listed(cells) => words.iter_mut().zip(*cells).for_each(|(word, &cell)| each(word, text(cell))),
        }
    }

    fn for_each(&self, mut each: impl FnMut(u32)) {
        match self {
            Self::All(cells) => cells.clone().for_each(each),
            Self::Listed(cells) => cells.iter().for_each(|&cell| each(cell)),
        }
    }
}

/// The first eight bytes of a string as a number that orders as they do.
#[inline]
fn head(text: &[u8]) -> u64 {
    let mut head = [0; 8];
    head.iter_mut().zip(text).for_each(|(target, &byte)| *target = byte);
    u64::from_be_bytes(head)
}

fn bounds_of(words: &[u64]) -> Option<(u64, u64)> {
    let both = words.par_iter().map(|&word| (word, word));
    both.reduce_with(|(a_low, a_high), (b_low, b_high)| (a_low.min(b_low), a_high.max(b_high)))
}

/// How two cells compare by some components of an order.
pub(crate) fn compare(tiles: &[SparseTile<'_>], order: &CellOrder, components: &[Component], a: CellRef, b: CellRef) -> Ordering {
    let (Some(a_tile), Some(b_tile)) = (tiles.get(a.tile()), tiles.get(b.tile())) else { return Ordering::Equal };
    let key = |tile: &SparseTile<'_>, dimension: usize, cell: CellRef| {
        let Some(column) = tile.column(dimension) else { return 0 };
        with_datatype!(column.datatype(), T => {
            column.bytes().as_values::<T>().get(cell.cell()).map_or(0, |value| value.order_key())
        })
    };
    let by = |component: &Component| match *component {
        Component::Hilbert => order
            .curve
            .as_ref()
            .map_or(Ordering::Equal, |curve| curve.position(a_tile, a.cell()).cmp(&curve.position(b_tile, b.cell()))),
        Component::Tile(dimension) => order
            .tiles
            .get(dimension)
            .copied()
            .flatten()
            .map_or(Ordering::Equal, |axis| axis.tile(key(a_tile, dimension, a)).cmp(&axis.tile(key(b_tile, dimension, b)))),
        Component::Value(dimension) => match (a_tile.column(dimension), b_tile.column(dimension)) {
            // Strings order as unsigned bytes, whatever the writer did (20-semantics §2.2).
            (Some(a_text), Some(b_text)) if a_text.offsets().is_some() => a_text.cell(a.cell()).cmp(&b_text.cell(b.cell())),
            _ => key(a_tile, dimension, a).cmp(&key(b_tile, dimension, b)),
        },
    };
    components.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

impl HilbertOrder {
    /// The positions on the curve of some cells of a tile.
    fn positions(&self, tile: &SparseTile<'_>, run: &Run<'_>, positions: &mut [u64]) {
        let dimensions = tile.coordinates.len().max(1);
        let mut points = vec![0_u64; positions.len() * dimensions];
        for (dimension, (column, domain)) in tile.coordinates.iter().zip(&self.domains).enumerate() {
            let mut targets = points.iter_mut().skip(dimension).step_by(dimensions);
            match *domain {
                Some((low, high)) => with_datatype!(column.datatype(), T => {
                    let values = column.bytes().as_values::<T>();
                    run.for_each(|cell| {
                        if let (Some(target), Some(value)) = (targets.next(), values.get(cell as usize)) {
                            *target = self.curve.bucket_of_number(value.to_f64(), low, high);
                        }
                    });
                }),
                None => run.for_each(|cell| {
                    if let Some(target) = targets.next() {
                        *target = self.curve.bucket_of_string(column.cell(cell as usize).unwrap_or_default());
                    }
                }),
            }
        }
        for (position, point) in positions.iter_mut().zip(points.chunks_exact_mut(dimensions)) {
            *position = self.curve.index(point);
        }
    }

    /// The position on the curve of one cell of a tile.
    #[expect(clippy::cast_possible_truncation, reason = "a tile has fewer than 2^32 cells")]
    fn position(&self, tile: &SparseTile<'_>, cell: usize) -> u64 {
        let mut position = [0];
        self.positions(tile, &Run::All(cell as u32..cell as u32 + 1), &mut position);
        position[0]
    }
}
