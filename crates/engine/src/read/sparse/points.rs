//! A list of points: cells meant one by one, by all their coordinates together.
//!
//! The points lie in a k-d tree without nodes: an array, cut in the middle along one dimension after the other. It tells
//! in about the square root of their number whether a rectangle holds any, and a tile compares its cells only with the
//! points in its own rectangle.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use talavera_schema::{ArraySchema, NdRange, Range};
use talavera_types::Datatype;

use super::select::AxisSelection;
use super::tiles::Kept;
use crate::order::{order_keys, range_keys};
use crate::{Error, FieldBuffer};

/// Points below which a branch is looked through instead of cut again.
const LEAF_POINTS: usize = 16;

/// Points above which both halves of a tree are built at the same time.
const PARALLEL_POINTS: usize = 1 << 14;

/// Points, each one number for each dimension, in the order of the tree.
#[derive(Debug)]
pub(crate) struct Points {
    axes: Vec<PointAxis>,
    /// The numbers of one point side by side.
    numbers: Vec<u64>,
}

/// The coordinates of points along one dimension, as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PointColumn {
    /// Order keys.
    Keys(Vec<u64>),
    /// Strings.
    Texts(Vec<Box<[u8]>>),
}

/// What the numbers of a dimension stand for.
#[derive(Debug)]
enum PointAxis {
    /// Order keys.
    Keys,
    /// Order keys of floats, of which both zeros are one.
    FloatKeys { negative_zero: u64, zero: u64 },
    /// Places in this sorted list of strings.
    Texts(Vec<Box<[u8]>>),
}

impl PointAxis {
    fn new(column: &FieldBuffer) -> Self {
        if column.offsets().is_some() {
            return Self::of_texts((0..column.len()).filter_map(|cell| column.cell(cell)).map(Into::into).collect());
        }
        Self::of_numbers(column.datatype())
    }

    fn of_texts(mut texts: Vec<Box<[u8]>>) -> Self {
        texts.sort_unstable();
        texts.dedup();
        Self::Texts(texts)
    }

    fn of_numbers(datatype: Datatype) -> Self {
        let zeros = match datatype {
            Datatype::Float32 => range_keys(&Range::Float32(0.0, 0.0)),
            Datatype::Float64 => range_keys(&Range::Float64(0.0, 0.0)),
            _ => None,
        };
        zeros.map_or(Self::Keys, |(negative_zero, zero)| Self::FloatKeys { negative_zero, zero })
    }

    /// The string that a number stands for; none for keys.
    fn text(&self, number: u64) -> Option<&[u8]> {
        let Self::Texts(texts) = self else { return None };
        Some(usize::try_from(number).ok().and_then(|place| texts.get(place)).map_or(&[][..], |text| text))
    }

    /// The key of negative zero, for that of zero.
    fn other_zero(&self, key: u64) -> Option<u64> {
        match self {
            Self::FloatKeys { negative_zero, zero } => (key == *zero).then_some(*negative_zero),
            _ => None,
        }
    }

    /// The number of a string; one that no point has where no point has the string.
    fn place(&self, text: &[u8]) -> u64 {
        let Self::Texts(texts) = self else { return u64::MAX };
        texts.binary_search_by(|known| (**known).cmp(text)).map_or(u64::MAX, |place| place as u64)
    }

    /// The number of each cell; for a string that no point has, one that no point has.
    fn numbers(&self, column: &FieldBuffer) -> Vec<u64> {
        match self {
            Self::Keys => order_keys(column.datatype(), column.bytes()),
            Self::FloatKeys { negative_zero, zero } => {
                let mut keys = order_keys(column.datatype(), column.bytes());
                keys.iter_mut().filter(|key| *key == negative_zero).for_each(|key| *key = *zero);
                keys
            }
            Self::Texts(_) => (0..column.len()).map(|cell| self.place(column.cell(cell).unwrap_or_default())).collect(),
        }
    }

    /// The least and greatest number in a range, as far as a selection along the dimension reaches.
    fn bounds(&self, range: &Range, axis: &AxisSelection) -> Option<(u64, u64)> {
        if !range.is_valid() {
            return Some((0, u64::MAX));
        }
        let (low, high) = match (self, range) {
            (Self::Texts(texts), Range::String(low, high)) => {
                let below = texts.partition_point(|text| **text < **low) as u64;
                let end = texts.partition_point(|text| **text <= **high) as u64;
                (below, end.checked_sub(1)?)
            }
            (Self::Texts(_), _) => return Some((0, u64::MAX)),
            _ => range_keys(range)?,
        };
        let (first, last) = match (self, axis) {
            (Self::Keys | Self::FloatKeys { .. }, AxisSelection::Keys(ranges)) => (ranges.first()?.0, ranges.last()?.1),
            _ => (0, u64::MAX),
        };
        let (low, high) = (low.max(first), high.min(last));
        // A point at zero is the cells at both zeros, also where only the negative one is asked for.
        let high = match self {
            Self::FloatKeys { negative_zero, zero } if high == *negative_zero => *zero,
            _ => high,
        };
        (low <= high).then_some((low, high))
    }
}

impl Points {
    /// The points whose coordinates are the columns, one for each dimension.
    ///
    /// # Errors
    /// [`Error::Invalid`] for columns that are not those of the dimensions, or not equally long, and for NaN.
    pub(crate) fn new(schema: &ArraySchema, columns: &[FieldBuffer]) -> Result<Self, Error> {
        let dimensions = &schema.domain.dimensions;
        let fits = columns.len() == dimensions.len()
            && columns.iter().zip(dimensions).all(|(column, dimension)| {
                column.datatype() == dimension.datatype && column.offsets().is_some() == dimension.cell_val_num().is_var()
            });
        if !fits {
            let wanted: Vec<String> =
                dimensions.iter().map(|dimension| format!("'{}' ({})", dimension.name, dimension.datatype)).collect();
            return Err(Error::invalid(format!("points take a column for each dimension: {}", wanted.join(", "))));
        }
        let count = columns.first().map_or(0, FieldBuffer::len);
        if columns.iter().any(|column| column.len() != count) {
            return Err(Error::invalid("the columns of points are not equally long"));
        }
        let count = u32::try_from(count).map_err(|_| Error::invalid("a read takes no more than 4,294,967,295 points"))?;
        let axes: Vec<PointAxis> = columns.iter().map(PointAxis::new).collect();
        let numbers: Vec<Vec<u64>> = axes.iter().zip(columns).map(|(axis, column)| axis.numbers(column)).collect();
        if let Some(column) = columns.iter().find(|column| has_nan(column)) {
            return Err(Error::invalid(format!("a coordinate of a point of {} is NaN", column.datatype())));
        }
        Ok(Self::arranged(axes, &numbers, count))
    }

    fn arranged(axes: Vec<PointAxis>, numbers: &[Vec<u64>], count: u32) -> Self {
        let mut order: Vec<u32> = (0..count).collect();
        arrange(&mut order, numbers, 0);
        let point = |&point: &u32| numbers.iter().map(move |column| column.get(point as usize).copied().unwrap_or(0));
        let numbers = order.iter().flat_map(point).collect();
        Self { axes, numbers }
    }

    /// The points of these columns, as [`Points::to_columns`] gives them.
    ///
    /// # Errors
    /// [`Error::Invalid`] for columns that are not those of the dimensions, or not equally long.
    pub(crate) fn from_columns(schema: &ArraySchema, columns: Vec<PointColumn>) -> Result<Self, Error> {
        let wrong = || Error::invalid("the points of a part do not fit the array");
        if columns.len() != schema.domain.dimensions.len() {
            return Err(wrong());
        }
        let (mut axes, mut numbers): (Vec<PointAxis>, Vec<Vec<u64>>) = (Vec::new(), Vec::new());
        for (column, dimension) in columns.into_iter().zip(&schema.domain.dimensions) {
            match column {
                PointColumn::Keys(keys) if !dimension.is_var() => {
                    axes.push(PointAxis::of_numbers(dimension.datatype));
                    numbers.push(keys);
                }
                PointColumn::Texts(texts) if dimension.is_var() => {
                    let axis = PointAxis::of_texts(texts.clone());
                    numbers.push(texts.iter().map(|text| axis.place(text)).collect());
                    axes.push(axis);
                }
                _ => return Err(wrong()),
            }
        }
        let count = numbers.first().map_or(0, Vec::len);
        let count = u32::try_from(count).ok().filter(|_| numbers.iter().all(|column| column.len() == count));
        Ok(Self::arranged(axes, &numbers, count.ok_or_else(wrong)?))
    }

    /// The points that a selection along the dimensions leaves, as data.
    pub(crate) fn to_columns(&self, selection: &[Arc<AxisSelection>]) -> Vec<PointColumn> {
        let axes = || self.axes.iter().zip(selection);
        let meant = |point: &&[u64]| {
            point.iter().zip(axes()).all(|(&number, (own, axis))| match own.text(number) {
                Some(text) => axis.contains_text(text),
                None => axis.contains_key(number) || own.other_zero(number).is_some_and(|zero| axis.contains_key(zero)),
            })
        };
        let points: Vec<&[u64]> = self.numbers.chunks_exact(self.axes.len().max(1)).filter(meant).collect();
        let column = |(dimension, own): (usize, &PointAxis)| {
            let numbers = points.iter().filter_map(|point| point.get(dimension).copied());
            match own {
                PointAxis::Texts(_) => {
                    PointColumn::Texts(numbers.map(|number| own.text(number).unwrap_or_default().into()).collect())
                }
                _ => PointColumn::Keys(numbers.collect()),
            }
        };
        self.axes.iter().enumerate().map(column).collect()
    }

    /// The range of all points along a dimension; none for strings, and without points.
    pub(crate) fn bounds(&self, dimension: usize) -> Option<(u64, u64)> {
        let axis = self.axes.get(dimension).filter(|axis| !matches!(axis, PointAxis::Texts(_)))?;
        let numbers = || self.numbers.iter().skip(dimension).step_by(self.axes.len()).copied();
        let (low, high) = (numbers().min()?, numbers().max()?);
        Some((axis.other_zero(low).unwrap_or(low), high))
    }

    /// Whether a rectangle holds a point.
    pub(crate) fn any_in(&self, mbr: &NdRange, axes: &[Arc<AxisSelection>]) -> bool {
        let mut found = false;
        self.search(mbr, axes, &mut |_| {
            found = true;
            false
        });
        found
    }

    /// Keeps the cells of a tile that are points.
    pub(crate) fn retain(&self, mbr: &NdRange, axes: &[Arc<AxisSelection>], tile: &[FieldBuffer], kept: &mut Kept) {
        let cells = tile.first().map_or(0, FieldBuffer::len);
        let mut near = Table::new(self.axes.len());
        self.search(mbr, axes, &mut |point| {
            near.points.extend_from_slice(point);
            true
        });
        near.index();
        let columns: Vec<Vec<u64>> = self.axes.iter().zip(tile).map(|(axis, column)| axis.numbers(column)).collect();
        let number = |column: &Vec<u64>, cell: u32| column.get(cell as usize).copied().unwrap_or(u64::MAX);
        let cells = u32::try_from(cells).unwrap_or(u32::MAX);
        kept.retain(cells, |cell| near.contains(columns.iter().map(|column| number(column, cell))));
    }

    /// Calls `each` with the points of a rectangle until it says no.
    fn search(&self, mbr: &NdRange, axes: &[Arc<AxisSelection>], each: &mut dyn FnMut(&[u64]) -> bool) {
        let bounds = self.axes.iter().zip(&mbr.0).zip(axes).map(|((own, range), axis)| own.bounds(range, axis));
        if let Some(bounds) = bounds.collect::<Option<Vec<_>>>() {
            self.branch(&self.numbers, 0, &bounds, each);
        }
    }

    /// Searches the part of the tree that is cut along `dimension`; says whether to go on.
    fn branch(&self, part: &[u64], dimension: usize, bounds: &[(u64, u64)], each: &mut dyn FnMut(&[u64]) -> bool) -> bool {
        let width = self.axes.len().max(1);
        let count = part.len() / width;
        let inside = |point: &&[u64]| point.iter().zip(bounds).all(|(number, (low, high))| low <= number && number <= high);
        if count <= LEAF_POINTS {
            return part.chunks_exact(width).filter(inside).all(each);
        }
        let (below, rest) = part.split_at(count / 2 * width);
        let (middle, above) = rest.split_at(width);
        let (Some(cut), Some((low, high))) = (middle.get(dimension), bounds.get(dimension)) else { return true };
        let next = (dimension + 1) % width;
        (low > cut || self.branch(below, next, bounds, each))
            && (!inside(&middle) || each(middle))
            && (high < cut || self.branch(above, next, bounds, each))
    }
}

/// Puts points into the order of the tree.
fn arrange(points: &mut [u32], numbers: &[Vec<u64>], dimension: usize) {
    if points.len() <= LEAF_POINTS {
        return;
    }
    let Some(column) = numbers.get(dimension) else { return };
    let middle = points.len() / 2;
    points.select_nth_unstable_by_key(middle, |&point| column.get(point as usize).copied().unwrap_or(0));
    let (below, rest) = points.split_at_mut(middle);
    // The point in the middle stays there: it is the cut.
    let above = rest.split_first_mut().map_or(&mut [][..], |(_, above)| above);
    let next = (dimension + 1) % numbers.len();
    if above.len() > PARALLEL_POINTS {
        rayon::join(|| arrange(below, numbers, next), || arrange(above, numbers, next));
    } else {
        arrange(below, numbers, next);
        arrange(above, numbers, next);
    }
}

fn has_nan(column: &FieldBuffer) -> bool {
    match column.datatype() {
        Datatype::Float32 => column.bytes().as_values::<f32>().iter().any(|value| value.is_nan()),
        Datatype::Float64 => column.bytes().as_values::<f64>().iter().any(|value| value.is_nan()),
        _ => false,
    }
}

/// Points to look up: open addressing over at least twice as many slots.
struct Table {
    width: usize,
    points: Vec<u64>,
    /// The number of a point and one; 0 for none.
    slots: Vec<u32>,
}

impl Table {
    fn new(width: usize) -> Self {
        Self { width: width.max(1), points: Vec::new(), slots: Vec::new() }
    }

    fn index(&mut self) {
        let count = self.points.len() / self.width;
        self.slots = vec![0; (2 * count).next_power_of_two()];
        for (number, point) in (1_u32..).zip(self.points.chunks_exact(self.width)) {
            let mut slot = hash(point.iter().copied()) & (self.slots.len() - 1);
            while self.slots.get(slot).is_some_and(|taken| *taken != 0) {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            if let Some(target) = self.slots.get_mut(slot) {
                *target = number;
            }
        }
    }

    fn contains(&self, point: impl Iterator<Item = u64> + Clone) -> bool {
        let mut slot = hash(point.clone()) & (self.slots.len() - 1);
        while let Some(number) = self.slots.get(slot).and_then(|number| number.checked_sub(1)) {
            let start = number as usize * self.width;
            let known = self.points.get(start..start + self.width).unwrap_or_default();
            if point.clone().eq(known.iter().copied()) {
                return true;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        false
    }
}

fn hash(point: impl Iterator<Item = u64>) -> usize {
    /// 2⁶⁴ divided by the golden ratio.
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = point.fold(0_u64, |hash, number| (hash.rotate_left(23) ^ number).wrapping_mul(SPREAD));
    usize::try_from(mixed >> 32).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(numbers: &[Vec<u64>]) -> Points {
        let count = u32::try_from(numbers[0].len()).unwrap();
        let mut order: Vec<u32> = (0..count).collect();
        arrange(&mut order, numbers, 0);
        let numbers = order.iter().flat_map(|&point| numbers.iter().map(move |column| column[point as usize])).collect();
        Points { axes: vec![PointAxis::Keys, PointAxis::Keys], numbers }
    }

    proptest::proptest! {
        #[test]
        fn a_rectangle_gives_the_points_in_it(
            pairs in proptest::collection::vec((0_u64..50, 0_u64..50), 1..400), x in (0_u64..50, 0_u64..50), y in (0_u64..50, 0_u64..50),
        ) {
            let tree = points(&[pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()]);
            let (x, y) = ((x.0.min(x.1), x.0.max(x.1)), (y.0.min(y.1), y.0.max(y.1)));
            let mbr = NdRange(vec![Range::Unsigned(x.0, x.1), Range::Unsigned(y.0, y.1)]);
            let axes = vec![Arc::new(AxisSelection::All), Arc::new(AxisSelection::All)];
            let mut found = Vec::new();
            tree.search(&mbr, &axes, &mut |point| { found.push((point[0], point[1])); true });
            let inside = |pair: &&(u64, u64)| (x.0..=x.1).contains(&pair.0) && (y.0..=y.1).contains(&pair.1);
            let mut expected: Vec<_> = pairs.iter().filter(inside).copied().collect();
            found.sort_unstable();
            expected.sort_unstable();
            proptest::prop_assert_eq!(tree.any_in(&mbr, &axes), !expected.is_empty());
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
