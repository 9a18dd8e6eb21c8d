//! Puts the kept cells of all tiles into the order of the result, one cell per coordinate where the array wants that.

use std::cmp::Ordering;

use rayon::prelude::*;
use talavera_schema::hilbert::Curve;
use talavera_types::with_datatype;

use super::tiles::{CellRef, SparseTile};
use crate::FieldBuffer;
use crate::order::{CellOrder, Component, HilbertOrder, OrderKey, TileAxis, order_keys};

/// Which cells of equal coordinates are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// All of them, newest first.
    Keep,
    /// The newest.
    Newest,
}

/// The cells of the result in its order.
pub(crate) fn sort(tiles: &[SparseTile], order: &CellOrder, duplicates: Duplicates, consolidated: &[bool]) -> Vec<CellRef> {
    let groups = Groups { tiles, duplicates, consolidated };
    let mut result = Vec::with_capacity(tiles.iter().map(|tile| tile.kept.count(tile.cells)).sum());
    for_each_group(tiles, order, |group| match group {
        [single] => result.push(*single),
        _ => groups.resolve(group.to_vec(), &mut result),
    });
    result.retain(|cell| tiles.get(cell.tile()).is_some_and(|tile| !tile.is_hidden(cell.cell())));
    result
}

/// Calls `each` for the kept cells of every coordinate, in order.
pub(crate) fn for_each_group(tiles: &[SparseTile], order: &CellOrder, mut each: impl FnMut(&[CellRef])) {
    match Packing::new(tiles, order) {
        Some(packing) if packing.bits <= 64 => packed_groups(packed::<u64>(tiles, order, &packing), each),
        Some(packing) if packing.bits <= 128 => packed_groups(packed::<u128>(tiles, order, &packing), each),
        _ => {
            let keys: Vec<TileKeys<'_>> = tiles.par_iter().map(|tile| TileKeys::new(tile, order)).collect();
            let mut cells = kept_in_order(tiles);
            let compare = |a: &CellRef, b: &CellRef| compare_cells(&keys, *a, *b);
            if !cells.is_sorted_by(|a, b| compare(a, b).is_le()) {
                cells.par_sort_by(compare);
            }
            cells.chunk_by(|a, b| compare(a, b).is_eq()).for_each(&mut each);
        }
    }
}

fn packed_groups<K: PackedKey>(sorted: Vec<(K, CellRef)>, mut each: impl FnMut(&[CellRef])) {
    let mut several = Vec::new();
    for group in sorted.chunk_by(|a, b| a.0 == b.0) {
        match group {
            [(_, single)] => each(std::slice::from_ref(single)),
            _ => {
                several.clear();
                several.extend(group.iter().map(|(_, cell)| *cell));
                each(&several);
            }
        }
    }
}

/// The first cell of a tile that is not behind the one before in an order; equal ones may be allowed.
pub(crate) fn first_out_of_order(tile: &SparseTile, order: &CellOrder, equal_allowed: bool) -> Option<usize> {
    let keys = [TileKeys::new(tile, order)];
    let wrong = |cell: u32| match compare_cells(&keys, CellRef::new(0, cell), CellRef::new(0, cell + 1)) {
        Ordering::Less => false,
        Ordering::Equal => !equal_allowed,
        Ordering::Greater => true,
    };
    (0..tile.cells.saturating_sub(1)).find(|&cell| wrong(cell)).map(|cell| cell as usize + 1)
}

/// The kept cells of all tiles, one tile behind the other.
#[expect(clippy::cast_possible_truncation, reason = "a read of more than 2^32 tiles does not fit into memory")]
pub(crate) fn kept_in_order(tiles: &[SparseTile]) -> Vec<CellRef> {
    let mut cells = Vec::with_capacity(tiles.iter().map(|tile| tile.kept.count(tile.cells)).sum());
    for (number, tile) in tiles.iter().enumerate() {
        tile.kept.for_each(tile.cells, |cell| cells.push(CellRef::new(number as u32, cell)));
    }
    cells
}

/// Runs of equal coordinates, and what becomes of them.
struct Groups<'t> {
    tiles: &'t [SparseTile],
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

/// How the components of an order are packed into one number.
struct Packing {
    fields: Vec<Field>,
    bits: u32,
}

/// One component: its least value, which is taken off, and the bits it needs then.
#[derive(Debug, Clone, Copy)]
struct Field {
    low: u64,
    bits: u32,
    /// The coordinate stands behind its tile index and is counted from the start of the tile.
    in_tile: Option<(u64, u64)>,
}

impl Packing {
    fn new(tiles: &[SparseTile], order: &CellOrder) -> Option<Self> {
        let dimensions = order.tiles.len();
        let bounds: Vec<Option<(u64, u64)>> =
            (0..dimensions).map(|dimension| key_bounds(tiles, dimension)).collect::<Option<Vec<_>>>()?;
        let mut fields = Vec::with_capacity(order.components.len());
        for &component in &order.components {
            let field = match component {
                Component::Hilbert => Field { low: 0, bits: 64, in_tile: None },
                Component::Tile(dimension) => {
                    let axis = (*order.tiles.get(dimension)?)?;
                    let (low, high) = bounds.get(dimension)?.map_or((0, 0), |(low, high)| (axis.tile(low), axis.tile(high)));
                    Field { low, bits: u64::BITS - high.wrapping_sub(low).leading_zeros(), in_tile: None }
                }
                Component::Value(dimension) => {
                    let (low, high) = bounds.get(dimension)?.unwrap_or((0, 0));
                    let whole = Field { low, bits: u64::BITS - (high - low).leading_zeros(), in_tile: None };
                    match order.tiles.get(dimension)? {
                        Some(TileAxis::Integer { low_key, extent }) if order.components.contains(&Component::Tile(dimension)) => {
                            let bits = u64::BITS - (extent.max(&1) - 1).leading_zeros();
                            if bits < whole.bits {
                                Field { low: 0, bits, in_tile: Some((*low_key, (*extent).max(1))) }
                            } else {
                                whole
                            }
                        }
                        _ => whole,
                    }
                }
            };
            fields.push(field);
        }
        let bits = fields.iter().map(|field| field.bits).sum();
        Some(Self { fields, bits })
    }
}

/// The least and greatest key of a dimension over all kept cells: none for no cells; nothing for strings.
fn key_bounds(tiles: &[SparseTile], dimension: usize) -> Option<Option<(u64, u64)>> {
    let of_tile = |tile: &SparseTile| -> Option<Option<(u64, u64)>> {
        let buffer = tile.coordinates.get(dimension)?;
        if buffer.offsets().is_some() {
            return None;
        }
        let keys = order_keys(buffer.datatype(), buffer.bytes());
        Some(keys.iter().min().copied().zip(keys.iter().max().copied()))
    };
    let merge = |a: Option<(u64, u64)>, b: Option<(u64, u64)>| match (a, b) {
        (Some((a_low, a_high)), Some((b_low, b_high))) => Some((a_low.min(b_low), a_high.max(b_high))),
        (one, other) => one.or(other),
    };
    tiles.par_iter().map(of_tile).try_reduce(|| None, |a, b| Some(merge(a, b)))
}

/// A number wide enough for packed keys.
trait PackedKey: Copy + Ord + Send + Sync {
    const ZERO: Self;
    fn push(self, value: u64, bits: u32) -> Self;
}

macro_rules! packed_key {
    ($($type:ty)*) => {$(
        impl PackedKey for $type {
            const ZERO: Self = 0;

            #[inline]
            fn push(self, value: u64, bits: u32) -> Self {
                self.checked_shl(bits).unwrap_or(0) | Self::from(value)
            }
        }
    )*};
}

packed_key! { u64 u128 }

fn packed<K: PackedKey>(tiles: &[SparseTile], order: &CellOrder, packing: &Packing) -> Vec<(K, CellRef)> {
    let of_tile = |(number, tile): (usize, &SparseTile)| packed_tile::<K>(number, tile, order, packing);
    let mut cells: Vec<(K, CellRef)> = tiles.par_iter().enumerate().flat_map_iter(of_tile).collect();
    if !cells.is_sorted() {
        cells.par_sort_unstable();
    }
    cells
}

#[expect(clippy::cast_possible_truncation, reason = "a read of more than 2^32 tiles does not fit into memory")]
fn packed_tile<K: PackedKey>(number: usize, tile: &SparseTile, order: &CellOrder, packing: &Packing) -> Vec<(K, CellRef)> {
    let mut cells = Vec::with_capacity(tile.kept.count(tile.cells));
    tile.kept.for_each(tile.cells, |cell| cells.push((K::ZERO, CellRef::new(number as u32, cell))));
    let keys = TileKeys::new(tile, order);
    for (column, field) in keys.columns.iter().zip(&packing.fields) {
        let Column::Keys(keys) = column else { continue };
        for (packed, cell) in &mut cells {
            let key = keys.get(cell.cell()).copied().unwrap_or(0);
            let value = match field.in_tile {
                Some((low_key, extent)) => key.wrapping_sub(low_key) % extent,
                None => key.wrapping_sub(field.low),
            };
            *packed = packed.push(value, field.bits);
        }
    }
    cells
}

/// The components of the cells of one tile.
struct TileKeys<'t> {
    columns: Vec<Column<'t>>,
}

enum Column<'t> {
    Keys(Vec<u64>),
    Text(&'t FieldBuffer),
}

impl<'t> TileKeys<'t> {
    fn new(tile: &'t SparseTile, order: &CellOrder) -> Self {
        let column = |component: &Component| match *component {
            Component::Hilbert => order.curve.as_ref().map(|curve| Column::Keys(curve.positions(tile))),
            Component::Value(dimension) => {
                let buffer = tile.coordinates.get(dimension)?;
                Some(match buffer.offsets() {
                    Some(_) => Column::Text(buffer),
                    None => Column::Keys(order_keys(buffer.datatype(), buffer.bytes())),
                })
            }
            Component::Tile(dimension) => {
                let axis = (*order.tiles.get(dimension)?)?;
                let buffer = tile.coordinates.get(dimension)?;
                let keys = order_keys(buffer.datatype(), buffer.bytes());
                Some(Column::Keys(keys.into_iter().map(|key| axis.tile(key)).collect()))
            }
        };
        Self { columns: order.components.iter().filter_map(column).collect() }
    }
}

fn compare_cells(tiles: &[TileKeys<'_>], a: CellRef, b: CellRef) -> Ordering {
    let (Some(a_keys), Some(b_keys)) = (tiles.get(a.tile()), tiles.get(b.tile())) else { return Ordering::Equal };
    let columns = a_keys.columns.iter().zip(&b_keys.columns);
    let mut orders = columns.map(|columns| match columns {
        (Column::Keys(a_keys), Column::Keys(b_keys)) => a_keys.get(a.cell()).cmp(&b_keys.get(b.cell())),
        // Strings order as unsigned bytes, whatever the writer did (20-semantics §2.2).
        (Column::Text(a_text), Column::Text(b_text)) => a_text.cell(a.cell()).cmp(&b_text.cell(b.cell())),
        _ => Ordering::Equal,
    });
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

impl HilbertOrder {
    /// The position on the curve of every cell of a tile.
    fn positions(&self, tile: &SparseTile) -> Vec<u64> {
        let buckets: Vec<Vec<u64>> = tile
            .coordinates
            .iter()
            .zip(&self.domains)
            .map(|(buffer, domain)| match domain {
                Some(domain) => numeric_buckets(&self.curve, buffer, *domain),
                None => {
                    (0..buffer.len()).map(|cell| self.curve.bucket_of_string(buffer.cell(cell).unwrap_or_default())).collect()
                }
            })
            .collect();
        let mut point = vec![0; buckets.len()];
        (0..tile.cells as usize)
            .map(|cell| {
                for (axis, buckets) in point.iter_mut().zip(&buckets) {
                    *axis = buckets.get(cell).copied().unwrap_or(0);
                }
                self.curve.index(&mut point)
            })
            .collect()
    }
}

fn numeric_buckets(curve: &Curve, buffer: &FieldBuffer, (low, high): (f64, f64)) -> Vec<u64> {
    with_datatype!(buffer.datatype(), T => {
        buffer.bytes().as_values::<T>().iter().map(|value| curve.bucket_of_number(value.to_f64(), low, high)).collect()
    })
}
