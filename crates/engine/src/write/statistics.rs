//! Minimum, maximum, sum and null count of the cells of a tile, and of tiles over a fragment.
//!
//! They are what the reference computes (04-fragment-metadata §7.3), NaN and saturation included, and right where it is
//! wrong (§8 there): every null and every cell written counts once.

use std::cmp::Ordering;
use std::ops::Range;

use talavera_fragment::{FieldShape, FieldStatistics, StatisticSet, Sum};
use talavera_types::{Datatype, DatatypeClass, with_datatype};

use crate::FieldBuffer;
use crate::order::OrderKey;

/// The statistics of a field in one tile.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TileStatistics {
    /// In the bytes of the datatype; zeros, or no bytes for cells of variable length, where no cell has a value.
    pub(crate) min: Vec<u8>,
    pub(crate) max: Vec<u8>,
    /// As it is stored.
    pub(crate) sum_bits: u64,
    pub(crate) null_count: u64,
    /// How many cells the statistics are about.
    pub(crate) cells: u64,
}

impl TileStatistics {
    /// The statistics of some cells of a tile.
    pub(crate) fn of(shape: FieldShape, stored: StatisticSet, cells: &FieldBuffer, written: &[Range<usize>]) -> Self {
        let valid = || written.iter().cloned().flatten().filter(|&cell| !cells.is_null(cell));
        let mut statistics = Self { cells: written.iter().map(|run| run.len() as u64).sum(), ..Self::default() };
        if stored.null_count {
            statistics.null_count = statistics.cells - valid().count() as u64;
        }
        if stored.min_max {
            (statistics.min, statistics.max) = min_max(shape, cells, valid());
        }
        if stored.sum {
            statistics.sum_bits = sum(shape.datatype, cells, valid()).map_or(0, Sum::to_bits);
        }
        statistics
    }
}

/// Minimum and maximum of cells; where there are none, zeros for cells of fixed length and nothing for others.
fn min_max(shape: FieldShape, cells: &FieldBuffer, valid: impl Iterator<Item = usize>) -> (Vec<u8>, Vec<u8>) {
    if shape.datatype.class() == DatatypeClass::Text {
        let texts = valid.filter_map(|cell| cells.cell(cell));
        let bounds = texts.fold(None, |bounds: Option<(&[u8], &[u8])>, text| match bounds {
            None => Some((text, text)),
            Some((min, max)) => Some((
                if compare_text(text, min).is_lt() { text } else { min },
                if compare_text(text, max).is_gt() { text } else { max },
            )),
        });
        let none = vec![0; cells.cell_bytes().unwrap_or(0)];
        return bounds.map_or_else(|| (none.clone(), none.clone()), |(min, max)| (min.to_vec(), max.to_vec()));
    }
    with_datatype!(shape.datatype, T => {
        let values = cells.bytes().as_values::<T>();
        let bounds = fold_bounds(valid.filter_map(|cell| values.get(cell)).copied());
        let bytes = |value: T| bytemuck::bytes_of(&value).to_vec();
        bounds.map_or_else(|| (bytes(T::default()), bytes(T::default())), |(min, max)| (bytes(min), bytes(max)))
    })
}

/// A comparison with NaN fails, so that NaN replaces what was found before, and the next value replaces NaN.
fn fold_bounds<T: OrderKey>(mut values: impl Iterator<Item = T>) -> Option<(T, T)> {
    let first = values.next()?;
    Some(
        values.fold((first, first), |(min, max), value| {
            (if min < value { min } else { value }, if max > value { max } else { value })
        }),
    )
}

/// Text compares by unsigned bytes up to the first NUL; where that is equal, the shorter is smaller.
pub(crate) fn compare_text(a: &[u8], b: &[u8]) -> Ordering {
    let until_nul = |text: &[u8]| text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let common = a.len().min(b.len());
    let (a_head, b_head) = (a.get(..common).unwrap_or(a), b.get(..common).unwrap_or(b));
    let (a_end, b_end) = (until_nul(a_head), until_nul(b_head));
    match (a_head.get(..a_end), b_head.get(..b_end)) {
        // Both end with the same NUL, or reach the end of the shorter.
        (Some(a_text), Some(b_text)) if a_text == b_text => a.len().cmp(&b.len()),
        (a_text, b_text) => a_text.cmp(&b_text),
    }
}

/// The sum of cells, which stops at the bounds of its type.
fn sum(datatype: Datatype, cells: &FieldBuffer, valid: impl Iterator<Item = usize>) -> Option<Sum> {
    match datatype.class() {
        DatatypeClass::Signed => Some(Sum::Signed(saturating(signed(cells, valid), i64::checked_add, bound_of_signed))),
        DatatypeClass::Text => {
            let values = cells.bytes().as_values::<i8>();
            Some(Sum::Signed(valid.filter_map(|cell| values.get(cell)).map(|&value| i64::from(value)).sum()))
        }
        DatatypeClass::Unsigned => {
            let values = crate::order::order_keys(datatype, cells.bytes());
            let values = valid.filter_map(|cell| values.get(cell)).copied();
            Some(Sum::Unsigned(saturating(values, u64::checked_add, |_| u64::MAX)))
        }
        DatatypeClass::Float => {
            let values = floats(datatype, cells);
            let values = valid.filter_map(|cell| values.get(cell)).copied();
            Some(Sum::Float(saturating(values, add_floats, |value| if value < 0.0 { f64::MIN } else { f64::MAX })))
        }
        DatatypeClass::Opaque => None,
    }
}

fn signed(cells: &FieldBuffer, valid: impl Iterator<Item = usize>) -> impl Iterator<Item = i64> {
    let values = crate::order::integer_bits(cells);
    valid.filter_map(move |cell| values.get(cell).map(|value| value.cast_signed()))
}

fn floats(datatype: Datatype, cells: &FieldBuffer) -> Vec<f64> {
    match datatype {
        Datatype::Float32 => cells.bytes().as_values::<f32>().iter().map(|&value| value.into()).collect(),
        _ => cells.bytes().as_values::<f64>().to_vec(),
    }
}

/// Adds until the sum would leave its type; then it stays at the bound and what follows is left out.
fn saturating<T: Default + Copy>(values: impl Iterator<Item = T>, add: impl Fn(T, T) -> Option<T>, bound: impl Fn(T) -> T) -> T {
    let mut total = T::default();
    for value in values {
        match add(total, value) {
            Some(sum) => total = sum,
            None => return bound(value),
        }
    }
    total
}

fn bound_of_signed(value: i64) -> i64 {
    if value < 0 { i64::MIN } else { i64::MAX }
}

/// The sum of two floats; none when two that are finite add up to one that is not.
fn add_floats(a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    (sum.is_finite() || !a.is_finite() || !b.is_finite()).then_some(sum)
}

/// The statistics of a field over all tiles of a fragment.
pub(crate) fn of_fragment(shape: FieldShape, stored: StatisticSet, tiles: &[TileStatistics]) -> FieldStatistics {
    let mut all = FieldStatistics { null_count: tiles.iter().map(|tile| tile.null_count).sum(), ..FieldStatistics::default() };
    // Tiles without a value have nothing to say; where no tile has, the first one's zeros stand.
    let valued: Vec<&TileStatistics> = tiles.iter().filter(|tile| tile.null_count < tile.cells).collect();
    if stored.min_max {
        let first = valued.first().copied().or(tiles.first());
        let (min, max) = first.map_or((&[][..], &[][..]), |tile| (&tile.min, &tile.max));
        let (min, max) = valued.iter().skip(1).fold((min, max), |(min, max), tile| {
            (fold_value(shape, min, &tile.min, Ordering::is_lt), fold_value(shape, max, &tile.max, Ordering::is_gt))
        });
        (all.min, all.max) = (min.to_vec(), max.to_vec());
    }
    if stored.sum && shape.datatype != Datatype::Char {
        let sums = tiles.iter().filter_map(|tile| Sum::from_bits(tile.sum_bits, shape.datatype));
        all.sum_bits = sums.reduce(add_sums).map_or(0, Sum::to_bits);
    }
    all
}

/// The value that stays when `next` comes after `kept`.
fn fold_value<'v>(shape: FieldShape, kept: &'v [u8], next: &'v [u8], stays: impl Fn(Ordering) -> bool) -> &'v [u8] {
    if shape.datatype.class() == DatatypeClass::Text {
        return if stays(compare_text(next, kept)) { next } else { kept };
    }
    let keep = with_datatype!(shape.datatype, T => {
        match (<T as talavera_types::Native>::read_le(kept), <T as talavera_types::Native>::read_le(next)) {
            (Some(kept), Some(next)) => kept.partial_cmp(&next).is_some_and(&stays),
            _ => true,
        }
    });
    if keep { kept } else { next }
}

fn add_sums(a: Sum, b: Sum) -> Sum {
    match (a, b) {
        (Sum::Signed(a), Sum::Signed(b)) => Sum::Signed(a.saturating_add(b)),
        (Sum::Unsigned(a), Sum::Unsigned(b)) => Sum::Unsigned(a.saturating_add(b)),
        (Sum::Float(a), Sum::Float(b)) => Sum::Float(add_floats(a, b).unwrap_or(if b < 0.0 { f64::MIN } else { f64::MAX })),
        (a, _) => a,
    }
}

#[cfg(test)]
mod tests {
    use talavera_types::CellValNum;

    use super::*;
    use crate::CellBytes;

    fn shape(datatype: Datatype, cell_val_num: CellValNum) -> FieldShape {
        FieldShape { datatype, cell_val_num, nullable: true }
    }

    fn statistics(datatype: Datatype, bytes: &[u8], validity: Option<Vec<u8>>) -> TileStatistics {
        let cells = FieldBuffer::new(datatype, CellValNum::ONE, CellBytes::copied(bytes), None, validity).unwrap();
        let stored = StatisticSet { min_max: true, sum: true, null_count: true };
        TileStatistics::of(shape(datatype, CellValNum::ONE), stored, &cells, std::slice::from_ref(&(0..cells.len())))
    }

    #[test]
    fn nulls_are_counted_and_left_out_of_everything_else() {
        let found = statistics(Datatype::Int8, &[5, 0x80, 3], Some(vec![1, 0, 1]));
        assert_eq!((found.min, found.max, found.sum_bits, found.null_count), (vec![3], vec![5], 8, 1));
    }

    #[test]
    fn a_tile_of_nulls_has_zeros() {
        let found = statistics(Datatype::Int16, &[5, 1, 3, 1], Some(vec![0, 0]));
        assert_eq!((found.min, found.max, found.sum_bits, found.null_count), (vec![0; 2], vec![0; 2], 0, 2));
    }

    #[test]
    fn the_value_after_nan_replaces_it() {
        let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let found = statistics(Datatype::Float64, &bytes(&[f64::NAN, 1.0]), None);
        assert_eq!(found.min, 1.0_f64.to_le_bytes());
        let found = statistics(Datatype::Float64, &bytes(&[2.0, f64::NAN]), None);
        assert!(f64::from_le_bytes(found.min.try_into().unwrap()).is_nan());
    }

    #[test]
    fn a_sum_stops_at_the_bound_of_its_type() {
        let values = [i64::MAX, 5, -7];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(statistics(Datatype::Int64, &bytes, None).sum_bits.cast_signed(), i64::MAX);
    }

    #[test]
    fn the_sums_of_tiles_saturate_one_by_one() {
        let tile = |sum: i64| TileStatistics { sum_bits: sum.cast_unsigned(), cells: 1, ..TileStatistics::default() };
        let stored = StatisticSet { min_max: false, sum: true, null_count: false };
        let tiles = [tile(0), tile(i64::MAX), tile(i64::MIN)];
        let found = of_fragment(shape(Datatype::Int64, CellValNum::ONE), stored, &tiles);
        assert_eq!(found.sum_bits.cast_signed(), -1);
    }

    #[test]
    fn text_is_compared_up_to_the_first_nul() {
        assert_eq!(compare_text(b"a\0z", b"a\0b"), Ordering::Equal);
        assert_eq!(compare_text(b"ab", b"abc"), Ordering::Less);
        assert_eq!(compare_text(b"\xff", b"a"), Ordering::Greater);
        assert_eq!(compare_text(b"a\0", b"ab"), Ordering::Less);
    }
}
