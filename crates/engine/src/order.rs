//! Orders of sparse cells, as numbers that compare like them.
//!
//! Every coordinate of fixed size becomes a 64-bit key that orders as the coordinate does. A cell's place in an order
//! is a sequence of such keys and of tile indices derived from them; wherever the values at hand leave room, the
//! sequence is packed into one number, so that sorting compares numbers. Only strings, and coordinates too wide to pack,
//! are compared piece by piece.
//!
//! Source: 20-semantics §2.2 (orders) and §2.3 (Hilbert).

use rayon::prelude::*;
use talavera_schema::{ArraySchema, Dimension, Range, TileExtent, hilbert};
use talavera_types::{Datatype, DatatypeClass, Layout, Native, with_datatype};

use crate::{CellBytes, Error};

/// A value whose order survives as an unsigned number.
pub(crate) trait OrderKey: Native + bytemuck::Pod {
    /// A number that orders as the value does. Negative zero stands below zero, NaN beyond the infinities.
    fn order_key(self) -> u64;

    /// The value as a 64-bit float, as the Hilbert curve takes it.
    fn to_f64(self) -> f64;
}

const SIGN: u64 = 1 << 63;
const SIGN_32: u32 = 1 << 31;

macro_rules! order_key {
    ($($type:ty, $value:ident => $key:expr;)*) => {$(
        impl OrderKey for $type {
            #[inline]
            fn order_key(self) -> u64 {
                let $value = self;
                $key
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "only some of the types lose precision")]
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "the curve is defined on such floats")]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

order_key! {
    u8, value => value.into();
    u16, value => value.into();
    u32, value => value.into();
    u64, value => value;
    i8, value => i64::from(value).order_key();
    i16, value => i64::from(value).order_key();
    i32, value => i64::from(value).order_key();
    i64, value => value.cast_unsigned() ^ SIGN;
    f32, value => { let bits = value.to_bits(); (if bits & SIGN_32 == 0 { bits | SIGN_32 } else { !bits }).into() };
    f64, value => { let bits = value.to_bits(); if bits & SIGN == 0 { bits | SIGN } else { !bits } };
}

/// The keys of the values of a dimension of fixed size.
pub(crate) fn order_keys(datatype: Datatype, data: &CellBytes) -> Vec<u64> {
    with_datatype!(datatype, T => data.as_values::<T>().iter().map(|value| value.order_key()).collect())
}

/// The least and the greatest of these keys, if there are any.
pub(crate) fn key_bounds(datatype: Datatype, data: &CellBytes) -> Option<(u64, u64)> {
    with_datatype!(datatype, T => {
        let bounds = |values: &[T]| {
            values.iter().map(|value| value.order_key()).fold((u64::MAX, 0), |(low, high), key| (low.min(key), high.max(key)))
        };
        let chunks = data.as_values::<T>().par_chunks(1 << 16).map(bounds);
        chunks.reduce_with(|(a_low, a_high), (b_low, b_high)| (a_low.min(b_low), a_high.max(b_high)))
    })
}

/// The values of an integer dimension as the bits of its type, widened with their sign.
pub(crate) fn integer_bits(column: &crate::FieldBuffer) -> Vec<u64> {
    let keys = order_keys(column.datatype(), column.bytes());
    match column.datatype().class() {
        DatatypeClass::Signed => keys.into_iter().map(|key| key ^ SIGN).collect(),
        _ => keys,
    }
}

/// The keys of the ends of a range, such that a value is in the range exactly if its key is between them.
///
/// Both zeros are in a range that ends in either.
pub(crate) fn range_keys(range: &Range) -> Option<(u64, u64)> {
    match *range {
        Range::Signed(low, high) => Some((low.order_key(), high.order_key())),
        Range::Unsigned(low, high) => Some((low, high)),
        Range::Float32(low, high) => {
            Some(((if low == 0.0 { -0.0 } else { low }).order_key(), (if high == 0.0 { 0.0 } else { high }).order_key()))
        }
        Range::Float64(low, high) => {
            Some(((if low == 0.0 { -0.0 } else { low }).order_key(), (if high == 0.0 { 0.0 } else { high }).order_key()))
        }
        Range::String(..) => None,
    }
}

/// How the tiles of a dimension cut its values.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TileAxis {
    /// Keys of integers are as far apart as the integers.
    Integer { low_key: u64, extent: u64 },
    /// Floats are divided as floats.
    Float32 { low: f32, extent: f32 },
    /// Floats are divided as floats.
    Float64 { low: f64, extent: f64 },
}

impl TileAxis {
    /// The tiles of a dimension; none for strings and where no extent is set, as all values share one tile there.
    pub(crate) fn new(dimension: &Dimension) -> Option<Self> {
        match (dimension.domain.as_ref()?, dimension.tile_extent.as_ref()?) {
            (Range::Signed(low, _), TileExtent::Integer(extent)) => {
                Some(Self::Integer { low_key: low.order_key(), extent: *extent })
            }
            (Range::Unsigned(low, _), TileExtent::Integer(extent)) => Some(Self::Integer { low_key: *low, extent: *extent }),
            (Range::Float32(low, _), TileExtent::Float32(extent)) => Some(Self::Float32 { low: *low, extent: *extent }),
            (Range::Float64(low, _), TileExtent::Float64(extent)) => Some(Self::Float64 { low: *low, extent: *extent }),
            _ => None,
        }
    }

    /// The index of the tile that holds the value with this key.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a tile index is the quotient truncated; values outside the domain saturate"
    )]
    pub(crate) fn tile(self, key: u64) -> u64 {
        match self {
            // A value below the domain, which only damaged data has, wraps to some tile; any order will do for it.
            Self::Integer { low_key, extent } => key.wrapping_sub(low_key) / extent.max(1),
            Self::Float32 { low, extent } => ((f32_of_key(key) - low) / extent) as u64,
            Self::Float64 { low, extent } => ((f64_of_key(key) - low) / extent) as u64,
        }
    }
}

impl TileAxis {
    /// The indices of the first and the last tile of values with keys from `low` to `high`; none where keys of NaN, or below the
    /// domain, have tiles that do not ascend with them.
    pub(crate) fn tiles_of(self, low: u64, high: u64) -> Option<(u64, u64)> {
        let ascend = match self {
            Self::Integer { low_key, .. } => low >= low_key,
            Self::Float32 { .. } => !f32_of_key(low).is_nan() && !f32_of_key(high).is_nan(),
            Self::Float64 { .. } => !f64_of_key(low).is_nan() && !f64_of_key(high).is_nan(),
        };
        Some((self.tile(low), self.tile(high))).filter(|(first, last)| ascend && first <= last)
    }

    /// The least key in the tile with this index; none for tiles of floats, whose borders are rounded.
    pub(crate) fn first_key_of(self, tile: u64) -> Option<u64> {
        match self {
            Self::Integer { low_key, extent } => low_key.checked_add(tile.checked_mul(extent)?),
            Self::Float32 { .. } | Self::Float64 { .. } => None,
        }
    }
}

fn f64_of_key(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

#[expect(clippy::cast_possible_truncation, reason = "the key of a 32-bit float has 32 bits")]
fn f32_of_key(key: u64) -> f32 {
    let key = key as u32;
    f32::from_bits(if key & SIGN_32 == 0 { !key } else { key & !SIGN_32 })
}

/// One number of the sequence that decides a cell's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    /// The index of the cell's tile along this dimension.
    Tile(usize),
    /// The coordinate in this dimension.
    Value(usize),
    /// The position on the Hilbert curve.
    Hilbert,
}

/// The order of the cells of a result.
#[derive(Debug, Clone)]
pub(crate) struct CellOrder {
    pub(crate) components: Vec<Component>,
    /// The tiles of each dimension.
    pub(crate) tiles: Vec<Option<TileAxis>>,
    pub(crate) curve: Option<HilbertOrder>,
}

impl CellOrder {
    /// The order that `layout` asks for. Every order tells apart all cells of different coordinates.
    pub(crate) fn new(schema: &ArraySchema, layout: Layout) -> Result<Self, Error> {
        let dimensions = schema.domain.dimensions.len();
        let tiles: Vec<_> = schema.domain.dimensions.iter().map(TileAxis::new).collect();
        let values = |order: Layout| -> Vec<Component> {
            let values = (0..dimensions).map(Component::Value);
            if order == Layout::ColMajor { values.rev().collect() } else { values.collect() }
        };
        let (mut components, mut curve) = (Vec::new(), None);
        match layout {
            Layout::RowMajor | Layout::ColMajor => components = values(layout),
            Layout::GlobalOrder | Layout::Unordered | Layout::Hilbert if schema.cell_order == Layout::Hilbert => {
                curve = Some(HilbertOrder::new(schema)?);
                components.push(Component::Hilbert);
                components.extend(values(Layout::RowMajor));
            }
            Layout::GlobalOrder | Layout::Unordered | Layout::Hilbert => {
                let tiled = |dimension: &usize| tiles.get(*dimension).is_some_and(Option::is_some);
                let along = (0..dimensions).filter(tiled).map(Component::Tile);
                if schema.tile_order == Layout::ColMajor {
                    components.extend(along.rev())
                } else {
                    components.extend(along)
                }
                components.extend(values(schema.cell_order));
            }
        }
        Ok(Self { components, tiles, curve })
    }
}

/// The Hilbert curve through an array's domain.
#[derive(Debug, Clone)]
pub(crate) struct HilbertOrder {
    pub(crate) curve: hilbert::Curve,
    /// The domain of each dimension of fixed size; none for strings.
    pub(crate) domains: Vec<Option<(f64, f64)>>,
}

impl HilbertOrder {
    fn new(schema: &ArraySchema) -> Result<Self, Error> {
        let dimensions = &schema.domain.dimensions;
        let curve = hilbert::Curve::new(dimensions.len())
            .ok_or_else(|| Error::invalid(format!("a Hilbert curve through {} dimensions", dimensions.len())))?;
        let ends = |range: &Range| match *range {
            Range::Signed(low, high) => Some((low.to_f64(), high.to_f64())),
            Range::Unsigned(low, high) => Some((low.to_f64(), high.to_f64())),
            Range::Float32(low, high) => Some((low.into(), high.into())),
            Range::Float64(low, high) => Some((low, high)),
            Range::String(..) => None,
        };
        Ok(Self { curve, domains: dimensions.iter().map(|dimension| dimension.domain.as_ref().and_then(ends)).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascending<T: OrderKey>(values: &[T]) {
        assert!(values.windows(2).all(|pair| pair[0].order_key() < pair[1].order_key()), "{values:?}");
    }

    #[test]
    fn keys_order_as_values_do() {
        ascending(&[i8::MIN, -1, 0, 1, i8::MAX]);
        ascending(&[i64::MIN, -1, 0, 1, i64::MAX]);
        ascending(&[0, 1, u64::MAX]);
        ascending(&[f32::NEG_INFINITY, f32::MIN, -1.0, -0.0, 0.0, f32::MIN_POSITIVE, 1.0, f32::INFINITY, f32::NAN]);
        ascending(&[f64::NEG_INFINITY, f64::MIN, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, f64::INFINITY, f64::NAN]);
    }

    #[test]
    fn a_key_gives_its_float_back() {
        for value in [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 2.25, f64::MAX] {
            assert_eq!(f64_of_key(value.order_key()).to_bits(), value.to_bits());
        }
        for value in [f32::NEG_INFINITY, -1.5, -0.0, 0.0, 2.25, f32::MAX] {
            assert_eq!(f32_of_key(value.order_key()).to_bits(), value.to_bits());
        }
    }
}
