//! Puts the kept cells of all tiles into the order of the result, one cell per coordinate where the array wants that.

use std::cmp::Ordering;
use std::ops::Bound;

use rayon::prelude::*;

use super::gather::Picks;
use super::keys::{Keys, compare};
use super::tiles::{CellRef, SparseTile};
use crate::order::CellOrder;
use crate::radix;

/// Which cells of equal coordinates are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// All of them, newest first.
    Keep,
    /// The newest.
    Newest,
}

/// The kept cells of some tiles in an order.
pub(crate) struct Sorted<'t> {
    keys: Keys<'t>,
    words: Vec<u64>,
}

impl<'t> Sorted<'t> {
    pub(crate) fn new(tiles: &'t [SparseTile<'t>], order: &'t CellOrder) -> Self {
        let (keys, words) = Keys::new(tiles, order);
        Self::of(keys, words)
    }

    /// Calls `each` with the cells in so many parts, each behind the one before in the order: what is held beside the cells
    /// themselves is that much smaller. Along a curve there is one part.
    pub(crate) fn for_each_part<E>(
        tiles: &'t [SparseTile<'t>],
        order: &'t CellOrder,
        parts: usize,
        mut each: impl FnMut(Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(keys) = Some(parts).filter(|&parts| parts > 1).and_then(|_| Keys::alone(tiles, order)) else {
            return each(Self::new(tiles, order));
        };
        let cuts = keys.cuts(parts);
        let counts = keys.count(&cuts);
        let starts = std::iter::once(Bound::Unbounded).chain(cuts.iter().copied().map(Bound::Included));
        let ends = cuts.iter().copied().map(Bound::Excluded).chain(std::iter::once(Bound::Unbounded));
        for (part, places) in starts.zip(ends).enumerate() {
            let counts: Vec<usize> = counts.iter().map(|counts| counts.get(part).copied().unwrap_or(0)).collect();
            each(Self::of(keys.clone(), keys.between(places, &counts)))?;
        }
        Ok(())
    }

    fn of(keys: Keys<'t>, mut words: Vec<u64>) -> Self {
        if !words.par_windows(2).all(|pair| matches!(pair, [a, b] if a < b)) {
            radix::sort(&mut words);
        }
        if !keys.are_whole() {
            let alike = words.par_chunk_by_mut(|&a, &b| keys.begin_alike(a, b));
            alike.filter(|words| words.len() > 1).for_each(|words| keys.sort_alike(words));
        }
        Self { keys, words }
    }

    /// Whether two cells have the same coordinates.
    pub(crate) fn repeats(&self) -> bool {
        self.words.par_windows(2).any(|pair| matches!(pair, &[a, b] if self.keys.same(a, b)))
    }

    /// Whether the cells were in order already, tile by tile.
    fn were_in_order(&self) -> bool {
        self.words.par_windows(2).all(|pair| matches!(pair, &[a, b] if self.keys.index(a) < self.keys.index(b)))
    }

    /// Calls `each` for the cells of every coordinate, in order.
    pub(crate) fn for_each_group(&self, mut each: impl FnMut(&[CellRef])) {
        let mut cells = Vec::new();
        for group in self.words.chunk_by(|&a, &b| self.keys.same(a, b)) {
            cells.clear();
            cells.extend(group.iter().map(|&word| self.keys.cell(word)));
            each(&cells);
        }
    }

    /// Appends what `each` makes of the cells, in their order, and lets go of the memory on the way.
    pub(crate) fn collect_into<T>(mut self, collected: &mut Vec<T>, each: impl Fn(CellRef) -> T) {
        const AT_A_TIME: usize = 1 << 20;
        let before = collected.len();
        collected.reserve_exact(self.words.len());
        while !self.words.is_empty() {
            let rest = self.words.len().saturating_sub(AT_A_TIME);
            collected.extend(self.words.drain(rest..).rev().map(|word| each(self.keys.cell(word))));
            self.words.shrink_to_fit();
        }
        if let Some(appended) = collected.get_mut(before..) {
            appended.reverse();
        }
    }
}

/// The cells of the result in its order.
pub(crate) fn sort(tiles: &[SparseTile<'_>], order: &CellOrder, duplicates: Duplicates, consolidated: &[bool]) -> Picks {
    let sorted = Sorted::new(tiles, order);
    let hides = tiles.iter().any(|tile| tile.visible.is_some());
    if !sorted.repeats() {
        if !hides && sorted.were_in_order() {
            return Picks::Tiles;
        }
        let mut cells = Vec::new();
        sorted.collect_into(&mut cells, |cell| cell);
        if hides {
            cells.retain(|cell| is_visible(tiles, cell));
        }
        return Picks::Cells(cells);
    }
    let groups = Groups { tiles, duplicates, consolidated };
    let mut result = Vec::with_capacity(sorted.words.len());
    sorted.for_each_group(|group| match group {
        [single] => result.push(*single),
        _ => groups.resolve(group.to_vec(), &mut result),
    });
    result.retain(|cell| is_visible(tiles, cell));
    Picks::Cells(result)
}

fn is_visible(tiles: &[SparseTile<'_>], cell: &CellRef) -> bool {
    tiles.get(cell.tile()).is_some_and(|tile| !tile.is_hidden(cell.cell()))
}

/// The first cell of a tile that is not behind the one before in an order; equal ones may be allowed.
pub(crate) fn first_out_of_order(tile: &SparseTile<'_>, order: &CellOrder, equal_allowed: bool) -> Option<usize> {
    let tiles = std::slice::from_ref(tile);
    let at = |cell| CellRef::new(0, cell);
    let wrong = |cell: u32| match compare(tiles, order, &order.components, at(cell), at(cell + 1)) {
        Ordering::Less => false,
        Ordering::Equal => !equal_allowed,
        Ordering::Greater => true,
    };
    (0..tile.cells.saturating_sub(1)).find(|&cell| wrong(cell)).map(|cell| cell as usize + 1)
}

/// Runs of equal coordinates, and what becomes of them.
struct Groups<'t> {
    tiles: &'t [SparseTile<'t>],
    duplicates: Duplicates,
    /// For each fragment whether it may itself hold several versions of a cell.
    consolidated: &'t [bool],
}

impl Groups<'_> {
    /// Orders cells of equal coordinates newest first and keeps those wanted.
    ///
    /// Equal cells that one plain fragment holds are all kept: its writer let them pass, and readers do not choose
    /// between them (20-semantics §2.1).
    fn resolve(&self, mut group: Vec<CellRef>, result: &mut Vec<CellRef>) {
        let age = |cell: &CellRef| self.tiles.get(cell.tile()).map(|tile| (tile.times.of(cell.cell()), tile.fragment));
        group.sort_by(|a, b| age(b).cmp(&age(a)).then(a.cmp(b)));
        if self.duplicates == Duplicates::Newest {
            let winner = group.first().and_then(age);
            let several = winner.is_some_and(|(_, fragment)| !self.consolidated.get(fragment).copied().unwrap_or(false));
            let mut kept = 0;
            group.retain(|cell| {
                let keep = age(cell) == winner && (several || kept == 0);
                kept += usize::from(keep);
                keep
            });
        }
        result.extend(group);
    }
}
