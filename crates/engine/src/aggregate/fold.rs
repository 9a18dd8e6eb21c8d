//! Folds cells into totals, several side by side.

use std::ops::Range;

use talavera_types::{Native, with_datatype};

use super::totals::{Bounds, SumTotal, Totals};
use super::{TotalField, is_number, is_text};
use crate::FieldBuffer;

/// Which cells of a buffer count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chosen<'c> {
    /// All.
    All,
    /// These.
    List(&'c [u32]),
    /// Those whose byte is not 0.
    Mask(&'c [u8]),
}

/// The totals of cells of a buffer: of those in `range`, counted from its start, those that are chosen.
pub(crate) fn fold(buffer: &FieldBuffer, range: Range<usize>, chosen: Chosen<'_>, field: &TotalField) -> Totals {
    let validity = buffer.validity().map(|validity| validity.get(range.clone()).unwrap_or_default());
    let mut totals = count(range.len(), validity, chosen);
    if totals.values == 0 || !(field.wanted.sum || field.wanted.bounds) {
        return totals;
    }
    if is_number(field.shape.datatype, field.shape.cell_val_num) {
        let (sum, bounds) = with_datatype!(field.shape.datatype, T => {
            fold_numbers::<T>(buffer.bytes().as_values::<T>().get(range).unwrap_or_default(), validity, chosen)
        });
        totals.sum = if field.wanted.sum { sum } else { SumTotal::None };
        totals.bounds = if field.wanted.bounds { bounds } else { Bounds::None };
    } else if is_text(field.shape.datatype) {
        totals.bounds = fold_text(buffer, range, validity, chosen);
    }
    totals
}

/// The totals of `cells` cells that are all the same.
pub(crate) fn repeat(value: &[u8], validity: u8, cells: u64, field: &TotalField) -> Totals {
    if cells == 0 {
        return Totals::default();
    }
    if validity == 0 {
        return Totals { nulls: cells, ..Totals::default() };
    }
    let mut totals = Totals { values: cells, ..Totals::default() };
    if is_number(field.shape.datatype, field.shape.cell_val_num) {
        let one = with_datatype!(field.shape.datatype, T => T::read_le(value).map(|value| {
            fold_numbers::<T>(&[value], None, Chosen::All)
        }));
        if let Some((sum, bounds)) = one {
            totals.sum = if field.wanted.sum { times(sum, cells) } else { SumTotal::None };
            totals.bounds = if field.wanted.bounds { bounds } else { Bounds::None };
        }
    } else if is_text(field.shape.datatype) && field.wanted.bounds {
        totals.bounds = Bounds::Text(value.into(), value.into());
    }
    totals
}

#[expect(clippy::cast_precision_loss, reason = "floats are multiplied as floats")]
fn times(sum: SumTotal, cells: u64) -> SumTotal {
    match sum {
        SumTotal::None => SumTotal::None,
        SumTotal::Integer(value) => SumTotal::Integer(value.saturating_mul(cells.into())),
        SumTotal::Float(value) => SumTotal::Float(value * cells as f64),
    }
}

/// How many of the chosen cells are values and how many are null.
fn count(cells: usize, validity: Option<&[u8]>, chosen: Chosen<'_>) -> Totals {
    let of_chosen = match chosen {
        Chosen::All => cells,
        Chosen::List(list) => list.len(),
        Chosen::Mask(mask) => mask.iter().filter(|&&chosen| chosen != 0).count(),
    };
    let nulls = match (validity, chosen) {
        (None, _) => 0,
        (Some(validity), Chosen::All) => validity.iter().filter(|&&valid| valid == 0).count(),
        (Some(validity), Chosen::List(list)) => list.iter().filter(|&&cell| is_null(validity, cell)).count(),
        (Some(validity), Chosen::Mask(mask)) => {
            validity.iter().zip(mask).filter(|&(&valid, &chosen)| valid == 0 && chosen != 0).count()
        }
    };
    Totals { values: (of_chosen - nulls.min(of_chosen)) as u64, nulls: nulls as u64, ..Totals::default() }
}

fn is_null(validity: &[u8], cell: u32) -> bool {
    validity.get(cell as usize) == Some(&0)
}

fn fold_numbers<T: Number>(values: &[T], validity: Option<&[u8]>, chosen: Chosen<'_>) -> (SumTotal, Bounds) {
    let mut fold = Fold::<T>::new();
    match (chosen, validity) {
        (Chosen::All, None) => fold.all(values),
        (Chosen::All, Some(mask)) | (Chosen::Mask(mask), None) => fold.masked(values, mask),
        (Chosen::Mask(mask), Some(validity)) => {
            let both: Vec<u8> = mask.iter().zip(validity).map(|(&chosen, &valid)| u8::from(chosen != 0 && valid != 0)).collect();
            fold.masked(values, &both);
        }
        (Chosen::List(list), validity) => {
            let cells = list.iter().filter(|&&cell| !validity.is_some_and(|validity| is_null(validity, cell)));
            fold.each(cells.filter_map(|&cell| values.get(cell as usize)).copied());
        }
    }
    fold.finish()
}

fn fold_text(buffer: &FieldBuffer, range: Range<usize>, validity: Option<&[u8]>, chosen: Chosen<'_>) -> Bounds {
    let mut bounds: Option<(&[u8], &[u8])> = None;
    let mut each = |cell: usize| {
        if validity.and_then(|validity| validity.get(cell)) == Some(&0) {
            return;
        }
        let text = buffer.cell(range.start + cell).unwrap_or_default();
        bounds = Some(bounds.map_or((text, text), |(min, max)| (min.min(text), max.max(text))));
    };
    match chosen {
        Chosen::All => (0..range.len()).for_each(each),
        Chosen::List(list) => list.iter().for_each(|&cell| each(cell as usize)),
        Chosen::Mask(mask) => mask.iter().enumerate().filter(|(_, chosen)| **chosen != 0).for_each(|(cell, _)| each(cell)),
    }
    bounds.map_or(Bounds::None, |(min, max)| Bounds::Text(min.into(), max.into()))
}

/// The bounds that these two values are.
pub(super) fn bounds<T: Number>(min: T, max: T) -> Bounds {
    T::bounds(min, max)
}

/// Sums and bounds side by side, so that one addition need not wait for the last.
const LANES: usize = 8;

/// Values of narrow integers that are added before their sum could leave its type.
const NARROW_VALUES: usize = 1 << 20;

/// A fold of numbers.
struct Fold<T: Number> {
    total: SumTotal,
    sum: [T::Sum; LANES],
    min: [T; LANES],
    max: [T; LANES],
}

impl<T: Number> Fold<T> {
    fn new() -> Self {
        Self { total: SumTotal::None, sum: [T::Sum::default(); LANES], min: [T::GREATEST; LANES], max: [T::LEAST; LANES] }
    }

    fn all(&mut self, values: &[T]) {
        for part in values.chunks(NARROW_VALUES) {
            let (chunks, rest) = part.as_chunks::<LANES>();
            for chunk in chunks {
                for (((sum, min), max), &value) in self.sum.iter_mut().zip(&mut self.min).zip(&mut self.max).zip(chunk) {
                    *sum = T::add(*sum, value);
                    *min = T::lesser(*min, value);
                    *max = T::greater(*max, value);
                }
            }
            self.few(rest.iter().copied());
            self.carry();
        }
    }

    /// Values whose byte in `mask` is not 0; the others are replaced by what changes nothing.
    fn masked(&mut self, values: &[T], mask: &[u8]) {
        for (part, mask) in values.chunks(NARROW_VALUES).zip(mask.chunks(NARROW_VALUES)) {
            let ((chunks, rest), (masks, mask_rest)) = (part.as_chunks::<LANES>(), mask.as_chunks::<LANES>());
            for (chunk, mask) in chunks.iter().zip(masks) {
                let lanes = self.sum.iter_mut().zip(&mut self.min).zip(&mut self.max);
                for (((sum, min), max), (&value, &chosen)) in lanes.zip(chunk.iter().zip(mask)) {
                    *sum = T::add(*sum, if chosen != 0 { value } else { T::default() });
                    *min = T::lesser(*min, if chosen != 0 { value } else { T::GREATEST });
                    *max = T::greater(*max, if chosen != 0 { value } else { T::LEAST });
                }
            }
            self.few(rest.iter().zip(mask_rest).filter(|(_, chosen)| **chosen != 0).map(|(value, _)| *value));
            self.carry();
        }
    }

    fn each(&mut self, values: impl Iterator<Item = T>) {
        let mut left = NARROW_VALUES;
        for value in values {
            self.few(std::iter::once(value));
            left -= 1;
            if left == 0 {
                self.carry();
                left = NARROW_VALUES;
            }
        }
        self.carry();
    }

    fn few(&mut self, values: impl Iterator<Item = T>) {
        let [sum, ..] = &mut self.sum;
        let ([min, ..], [max, ..]) = (&mut self.min, &mut self.max);
        for value in values {
            *sum = T::add(*sum, value);
            *min = T::lesser(*min, value);
            *max = T::greater(*max, value);
        }
    }

    /// Moves the sums where there is room for any.
    fn carry(&mut self) {
        for sum in &mut self.sum {
            self.total = T::carry(self.total, *sum);
            *sum = T::Sum::default();
        }
    }

    fn finish(self) -> (SumTotal, Bounds) {
        let min = self.min.into_iter().fold(T::GREATEST, T::lesser);
        let max = self.max.into_iter().fold(T::LEAST, T::greater);
        (self.total, T::bounds(min, max))
    }
}

/// A number that can be folded.
pub(crate) trait Number: Native + bytemuck::Pod {
    /// What a million values add up in.
    type Sum: Copy + Default;
    const LEAST: Self;
    const GREATEST: Self;

    fn add(sum: Self::Sum, value: Self) -> Self::Sum;
    fn carry(total: SumTotal, sum: Self::Sum) -> SumTotal;
    fn bounds(min: Self, max: Self) -> Bounds;

    /// The lesser of two; the first where the second is NaN.
    #[inline]
    fn lesser(a: Self, b: Self) -> Self {
        if b < a { b } else { a }
    }

    /// The greater of two; the first where the second is NaN.
    #[inline]
    fn greater(a: Self, b: Self) -> Self {
        if b > a { b } else { a }
    }
}

macro_rules! integers {
    ($($type:ty, $sum:ty, $bounds:ident;)*) => {$(
        impl Number for $type {
            type Sum = $sum;
            const LEAST: Self = Self::MIN;
            const GREATEST: Self = Self::MAX;

            #[inline]
            fn add(sum: $sum, value: Self) -> $sum {
                sum + <$sum>::from(value)
            }

            fn carry(total: SumTotal, sum: $sum) -> SumTotal {
                let total = if let SumTotal::Integer(total) = total { total } else { 0 };
                SumTotal::Integer(total.saturating_add(sum.into()))
            }

            fn bounds(min: Self, max: Self) -> Bounds {
                Bounds::$bounds(min.into(), max.into())
            }
        }
    )*};
}

integers! {
    i8, i64, Signed;
    i16, i64, Signed;
    i32, i64, Signed;
    i64, i128, Signed;
    u8, i64, Unsigned;
    u16, i64, Unsigned;
    u32, i64, Unsigned;
    u64, i128, Unsigned;
}

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Number for $type {
            type Sum = f64;
            const LEAST: Self = Self::NEG_INFINITY;
            const GREATEST: Self = Self::INFINITY;

            #[inline]
            fn add(sum: f64, value: Self) -> f64 {
                sum + f64::from(value)
            }

            fn carry(total: SumTotal, sum: f64) -> SumTotal {
                SumTotal::Float(if let SumTotal::Float(total) = total { total + sum } else { sum })
            }

            fn bounds(min: Self, max: Self) -> Bounds {
                Bounds::Float(min.into(), max.into())
            }
        }
    )*};
}

floats! { f32 f64 }
