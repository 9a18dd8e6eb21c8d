//! Minimum, maximum, sum and null count of the cells of a tile, and of tiles over a fragment.
//!
//! They are what the reference computes (04-fragment-metadata §7.3), NaN and saturation included, and right where it is
//! wrong (§8 there): every null and every cell written counts once.

use std::cmp::Ordering;
use std::ops::Range;

use bytemuck::Pod;
use talavera_fragment::{FieldShape, FieldStatistics, StatisticSet, Sum};
use talavera_types::{Datatype, DatatypeClass, Native, with_datatype};

use super::tile::FieldTile;
use crate::FieldBuffer;
use crate::order::OrderKey;

/// The statistics of a field in one tile.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TileStatistics {
    /// In the bytes of the datatype. Where no cell has a value there are zeros, or no bytes for cells of variable length; of
    /// numbers in tiles that were written in part, what a search for them begins with.
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
    pub(crate) fn of(shape: FieldShape, stored: StatisticSet, tile: FieldTile<'_>) -> Self {
        let FieldTile { buffer: cells, written, .. } = tile;
        let valid = || written.iter().cloned().flatten().filter(|&cell| !cells.is_null(cell));
        let mut statistics = Self { cells: written.iter().map(|run| run.len() as u64).sum(), ..Self::default() };
        if stored.null_count {
            statistics.null_count = statistics.cells - valid().count() as u64;
        }
        if stored.min_max {
            let bounds = min_max(shape, cells, valid()).or_else(|| no_bounds(shape.datatype).filter(|_| !tile.is_whole()));
            let zeros = || vec![0; cells.cell_bytes().unwrap_or(0)];
            (statistics.min, statistics.max) = bounds.unwrap_or_else(|| (zeros(), zeros()));
        }
        if stored.sum {
            statistics.sum_bits = sum(shape.datatype, cells, valid()).map_or(0, Sum::to_bits);
        }
        statistics
    }
}

/// All statistics of the floats of a whole tile without nulls, while these pass by: each waits only for itself, and none for
/// the cells to come from memory again.
pub(crate) enum RunningFloats {
    Single(Running<f32>),
    Double(Running<f64>),
}

impl RunningFloats {
    /// Those of a tile whose statistics can be had so.
    pub(crate) fn of(shape: FieldShape, stored: StatisticSet, tile: FieldTile<'_>) -> Option<Self> {
        let none = tile.runs.iter().all(Range::is_empty);
        if none || !tile.is_whole() || tile.buffer.validity().is_some() || !stored.min_max || !stored.sum {
            return None;
        }
        match shape.datatype {
            Datatype::Float32 => Some(Self::Single(Running::new((f32::MAX, f32::MIN)))),
            Datatype::Float64 => Some(Self::Double(Running::new((f64::MAX, f64::MIN)))),
            _ => None,
        }
    }

    /// Takes the next cells, which are whole.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Single(running) => running.add_bytes(bytes),
            Self::Double(running) => running.add_bytes(bytes),
        }
    }

    pub(crate) fn finish(self) -> TileStatistics {
        match self {
            Self::Single(running) => running.finish(),
            Self::Double(running) => running.finish(),
        }
    }
}

/// Values that are compared at once.
const LANES: usize = 8;

/// As [`fold_bounds`] and [`sum_floats`].
pub(crate) struct Running<T> {
    bounds: (T, T),
    total: f64,
    stopped: bool,
    cells: u64,
}

impl<T: OrderKey + Pod + Into<f64>> Running<T> {
    fn new(bounds: (T, T)) -> Self {
        Self { bounds, total: 0.0, stopped: false, cells: 0 }
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        match bytemuck::try_cast_slice(bytes) {
            Ok(values) => self.add(values),
            Err(_) => bytes.chunks_exact(size_of::<T>()).filter_map(T::read_le).for_each(|value| self.add(&[value])),
        }
    }

    fn add(&mut self, values: &[T]) {
        const BLOCK: usize = 512;
        self.cells += values.len() as u64;
        for block in values.chunks(BLOCK) {
            let (lanes, rest) = block.as_chunks();
            if !self.add_ordinary(lanes) {
                self.add_any(lanes.as_flattened());
            }
            self.add_any(rest);
        }
    }

    /// Values of any kind, one by one.
    fn add_any(&mut self, values: &[T]) {
        let (min, max) = &mut self.bounds;
        for &value in values {
            *min = if *min < value { *min } else { value };
            *max = if *max > value { *max } else { value };
            if !self.stopped {
                (self.total, self.stopped) = add_float(self.total, value.into());
            }
        }
    }

    /// Values of which none is NaN or so large that their sum could stop, and whose bounds are not zero, of which there are
    /// two: then it does not matter in which order they are compared, and only the additions wait for each other. Does
    /// nothing and says so if they are not such.
    fn add_ordinary(&mut self, values: &[[T; LANES]]) -> bool {
        let Some(&first) = values.first() else { return true };
        let (mut mins, mut maxes, mut total) = (first, first, self.total);
        for values in values {
            for ((min, max), &value) in mins.iter_mut().zip(&mut maxes).zip(values) {
                *min = if *min < value { *min } else { value };
                *max = if *max > value { *max } else { value };
            }
            for &value in values {
                total += value.into();
            }
        }
        let min = mins.into_iter().fold(first[0], |min, value| if min < value { min } else { value });
        let max = maxes.into_iter().fold(first[0], |max, value| if max > value { max } else { value });
        let (low, high): (f64, f64) = (min.into(), max.into());
        // What the total can come to on the way, if a block has no more values than this.
        const VALUES: f64 = 1e6;
        let most = self.total.abs() + low.abs().max(high.abs()) * VALUES;
        // The sum of anything and NaN is NaN.
        if total.is_nan() || self.stopped || low == 0.0 || high == 0.0 || most >= f64::MAX / 2.0 {
            return false;
        }
        let before = self.bounds;
        self.bounds = (if before.0 < min { before.0 } else { min }, if before.1 > max { before.1 } else { max });
        self.total = total;
        true
    }

    fn finish(self) -> TileStatistics {
        let (min, max) = self.bounds;
        let bytes = |value: T| bytemuck::bytes_of(&value).to_vec();
        let sum_bits = Sum::Float(self.total).to_bits();
        TileStatistics { min: bytes(min), max: bytes(max), sum_bits, null_count: 0, cells: self.cells }
    }
}

/// Minimum and maximum of cells, if there are any.
fn min_max(shape: FieldShape, cells: &FieldBuffer, valid: impl Iterator<Item = usize>) -> Option<(Vec<u8>, Vec<u8>)> {
    if shape.datatype.class() == DatatypeClass::Text {
        let texts = valid.filter_map(|cell| cells.cell(cell));
        let bounds = texts.fold(None, |bounds: Option<(&[u8], &[u8])>, text| match bounds {
            None => Some((text, text)),
            Some((min, max)) => Some((
                if compare_text(text, min).is_lt() { text } else { min },
                if compare_text(text, max).is_gt() { text } else { max },
            )),
        });
        return bounds.map(|(min, max)| (min.to_vec(), max.to_vec()));
    }
    with_datatype!(shape.datatype, T => {
        let values = cells.bytes().as_values::<T>();
        let read = <T as Native>::read_le;
        let start = no_bounds(shape.datatype).and_then(|(min, max)| read(&min).zip(read(&max)))?;
        let bounds = fold_bounds(start, valid.filter_map(|cell| values.get(cell)).copied());
        let bytes = |value: T| bytemuck::bytes_of(&value).to_vec();
        bounds.map(|(min, max)| (bytes(min), bytes(max)))
    })
}

/// What a search for the minimum and the maximum of numbers begins with: the greatest and the least of their type.
fn no_bounds(datatype: Datatype) -> Option<(Vec<u8>, Vec<u8>)> {
    let ends = |last: [u8; 2], rest: [u8; 2]| {
        let [min, max] = [0, 1].map(|end: usize| {
            let mut bytes = vec![rest.get(end).copied().unwrap_or(0); datatype.size()];
            bytes.last_mut().zip(last.get(end)).into_iter().for_each(|(byte, last)| *byte = *last);
            bytes
        });
        (min, max)
    };
    match datatype.class() {
        DatatypeClass::Signed => Some(ends([0x7f, 0x80], [0xff, 0])),
        DatatypeClass::Unsigned => Some(ends([0xff, 0], [0xff, 0])),
        DatatypeClass::Float if datatype == Datatype::Float32 => {
            Some((f32::MAX.to_le_bytes().to_vec(), f32::MIN.to_le_bytes().to_vec()))
        }
        DatatypeClass::Float => Some((f64::MAX.to_le_bytes().to_vec(), f64::MIN.to_le_bytes().to_vec())),
        DatatypeClass::Text | DatatypeClass::Opaque => None,
    }
}

/// A comparison with NaN fails, so that NaN replaces what was found before, and the next value replaces NaN. Infinities
/// beyond the start never show.
fn fold_bounds<T: OrderKey>(start: (T, T), values: impl Iterator<Item = T>) -> Option<(T, T)> {
    let mut values = values.peekable();
    values.peek()?;
    Some(values.fold(start, |(min, max), value| (if min < value { min } else { value }, if max > value { max } else { value })))
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
        DatatypeClass::Signed => Some(Sum::Signed(match datatype.size() {
            1 => sum_signed::<i8>(cells, valid),
            2 => sum_signed::<i16>(cells, valid),
            4 => sum_signed::<i32>(cells, valid),
            _ => sum_signed::<i64>(cells, valid),
        })),
        DatatypeClass::Text => Some(Sum::Signed(widened::<i8, i64>(cells, valid).sum())),
        DatatypeClass::Unsigned => Some(Sum::Unsigned(match datatype.size() {
            1 => sum_unsigned::<u8>(cells, valid),
            2 => sum_unsigned::<u16>(cells, valid),
            4 => sum_unsigned::<u32>(cells, valid),
            _ => sum_unsigned::<u64>(cells, valid),
        })),
        DatatypeClass::Float if datatype == Datatype::Float32 => Some(Sum::Float(sum_floats(widened::<f32, f64>(cells, valid)))),
        DatatypeClass::Float => Some(Sum::Float(sum_floats(widened::<f64, f64>(cells, valid)))),
        DatatypeClass::Opaque => None,
    }
}

fn sum_signed<T: Native + Pod + Into<i64>>(cells: &FieldBuffer, valid: impl Iterator<Item = usize>) -> i64 {
    saturating(widened::<T, i64>(cells, valid), i64::checked_add, bound_of_signed)
}

fn sum_unsigned<T: Native + Pod + Into<u64>>(cells: &FieldBuffer, valid: impl Iterator<Item = usize>) -> u64 {
    saturating(widened::<T, u64>(cells, valid), u64::checked_add, |_| u64::MAX)
}

/// The values of some cells, one by one.
fn widened<T: Native + Pod + Into<W>, W>(cells: &FieldBuffer, valid: impl Iterator<Item = usize>) -> impl Iterator<Item = W> {
    let values = cells.bytes().as_values::<T>();
    valid.filter_map(|cell| values.get(cell)).map(|&value| value.into())
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

/// As [`saturating`].
fn sum_floats(values: impl Iterator<Item = f64>) -> f64 {
    let mut total = 0.0;
    for value in values {
        let (sum, stopped) = add_float(total, value);
        if stopped {
            return sum;
        }
        total = sum;
    }
    total
}

/// A sum with one value more, and whether it stops at the bound of its type: infinity counts as leaving the type where the
/// sum has its sign, and NaN never does.
#[inline]
fn add_float(total: f64, value: f64) -> (f64, bool) {
    if (total < 0.0) == (value < 0.0) && total.abs() > f64::MAX - value.abs() {
        return (if total < 0.0 { f64::MIN } else { f64::MAX }, true);
    }
    (total + value, false)
}

/// The statistics of a field over all tiles of a fragment.
pub(crate) fn of_fragment(shape: FieldShape, stored: StatisticSet, tiles: &[TileStatistics]) -> FieldStatistics {
    let mut all = FieldStatistics { null_count: tiles.iter().map(|tile| tile.null_count).sum(), ..FieldStatistics::default() };
    // Tiles without a value have nothing to say.
    let valued: Vec<&TileStatistics> = tiles.iter().filter(|tile| tile.null_count < tile.cells).collect();
    if stored.min_max {
        let none = no_bounds(shape.datatype);
        let of_none = none.as_ref().map(|(min, max)| (min.as_slice(), max.as_slice()));
        let of_first = |tile: &TileStatistics| -> (Vec<u8>, Vec<u8>) { (tile.min.clone(), tile.max.clone()) };
        // Numbers begin as in a tile, so that infinities alone never show; text begins with the first.
        let first = of_none.or_else(|| valued.first().map(|tile| (tile.min.as_slice(), tile.max.as_slice())));
        let folded = first.map(|first| {
            valued.iter().fold(first, |(min, max), tile| {
                (fold_value(shape, min, &tile.min, Ordering::is_lt), fold_value(shape, max, &tile.max, Ordering::is_gt))
            })
        });
        let folded = folded.map(|(min, max)| (min.to_vec(), max.to_vec()));
        (all.min, all.max) = folded.or_else(|| tiles.first().map(of_first)).unwrap_or_default();
    }
    if stored.sum && shape.datatype != Datatype::Char {
        let sums = tiles.iter().filter_map(|tile| Sum::from_bits(tile.sum_bits, shape.datatype));
        all.sum_bits = add_sums(sums).map_or(0, Sum::to_bits);
    }
    all
}

/// The value that stays when `next` comes after `kept`.
fn fold_value<'v>(shape: FieldShape, kept: &'v [u8], next: &'v [u8], stays: impl Fn(Ordering) -> bool) -> &'v [u8] {
    if shape.datatype.class() == DatatypeClass::Text {
        return if stays(compare_text(next, kept)) { next } else { kept };
    }
    let keep = with_datatype!(shape.datatype, T => {
        match (<T as Native>::read_le(kept), <T as Native>::read_le(next)) {
            (Some(kept), Some(next)) => kept.partial_cmp(&next).is_some_and(&stays),
            _ => true,
        }
    });
    if keep { kept } else { next }
}

/// The sum of sums, which stops like each of them.
fn add_sums(sums: impl Iterator<Item = Sum> + Clone) -> Option<Sum> {
    let signed = sums.clone().filter_map(|sum| if let Sum::Signed(sum) = sum { Some(sum) } else { None });
    let unsigned = sums.clone().filter_map(|sum| if let Sum::Unsigned(sum) = sum { Some(sum) } else { None });
    let floats = sums.clone().filter_map(|sum| if let Sum::Float(sum) = sum { Some(sum) } else { None });
    match sums.clone().next()? {
        Sum::Signed(_) => Some(Sum::Signed(saturating(signed, i64::checked_add, bound_of_signed))),
        Sum::Unsigned(_) => Some(Sum::Unsigned(saturating(unsigned, u64::checked_add, |_| u64::MAX))),
        Sum::Float(_) => Some(Sum::Float(sum_floats(floats))),
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
        let all = 0..cells.len();
        let runs = std::slice::from_ref(&all);
        let tile = FieldTile { buffer: &cells, runs, written: runs };
        let shape = shape(datatype, CellValNum::ONE);
        let Some(mut floats) = RunningFloats::of(shape, stored, tile) else { return TileStatistics::of(shape, stored, tile) };
        cells.data().chunks(72).for_each(|bytes| floats.add(bytes));
        floats.finish()
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
    fn floats_without_nulls_have_the_statistics_of_floats_with_validity() {
        let mut state = 1_u64;
        for round in 0..2000 {
            let values: Vec<f64> = (0..round % 41 + 1)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, -0.0, 0.0];
                    specials.get((state >> 57) as usize).copied().unwrap_or_else(|| f64::from((state >> 33) as u32) - 1e9)
                })
                .collect();
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let valid = vec![1; values.len()];
            assert_eq!(
                statistics(Datatype::Float64, &bytes, None),
                statistics(Datatype::Float64, &bytes, Some(valid)),
                "{values:?}"
            );
        }
    }

    #[test]
    fn a_sum_stops_at_the_bound_of_its_type() {
        let values = [i64::MAX, 5, -7];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(statistics(Datatype::Int64, &bytes, None).sum_bits.cast_signed(), i64::MAX);
    }

    #[test]
    fn the_sum_of_a_fragment_stops_where_that_of_its_tiles_does() {
        let tile = |sum: i64| TileStatistics { sum_bits: sum.cast_unsigned(), cells: 1, ..TileStatistics::default() };
        let stored = StatisticSet { min_max: false, sum: true, null_count: false };
        let sum =
            |tiles: &[TileStatistics]| of_fragment(shape(Datatype::Int64, CellValNum::ONE), stored, tiles).sum_bits.cast_signed();
        assert_eq!(sum(&[tile(0), tile(i64::MAX), tile(i64::MIN)]), -1);
        assert_eq!(sum(&[tile(i64::MAX), tile(1), tile(-5)]), i64::MAX);
    }

    #[test]
    fn text_is_compared_up_to_the_first_nul() {
        assert_eq!(compare_text(b"a\0z", b"a\0b"), Ordering::Equal);
        assert_eq!(compare_text(b"ab", b"abc"), Ordering::Less);
        assert_eq!(compare_text(b"\xff", b"a"), Ordering::Greater);
        assert_eq!(compare_text(b"a\0", b"ab"), Ordering::Less);
    }
}
