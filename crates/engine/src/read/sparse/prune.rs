//! What statistics and MBRs say about a condition in the tiles of a fragment, before any of them is read.
//!
//! Only statistics that every release computes right are asked (04-fragment-metadata §8).

use std::borrow::Cow;
use std::collections::HashMap;

use talavera_condition::{BoundCondition, TileBounds, Tri, Trust};
use talavera_fragment::{FieldId, Sum, TileMinMax, TileNullCounts, TileSums, exact_statistics, float_bounds_are_exact};
use talavera_schema::Range;
use talavera_types::Datatype;

use super::plan::TilePlan;
use crate::fragment::FieldStatisticsLists;
use crate::read::field::attribute_in_fragment;
use crate::{Error, Fragment, OpenArray};

/// The statistics of a fragment about the fields of a condition.
#[derive(Debug, Default)]
pub(crate) struct Pruner {
    fields: HashMap<String, Known>,
}

/// What is known about a field.
#[derive(Debug)]
enum Known {
    /// The fragment does not have it.
    Missing,
    /// Nothing.
    Nothing,
    /// The MBR of each tile has its range.
    Dimension { index: usize, datatype: Datatype },
    /// Lists with an entry for each tile.
    Lists { lists: FieldStatisticsLists, datatype: Datatype },
}

impl Pruner {
    /// Loads what the fragment stores about fields: those of a condition, for example.
    pub(crate) fn new<'n>(array: &OpenArray, fragment: &Fragment, fields: impl Iterator<Item = &'n str>) -> Result<Self, Error> {
        let load = |name: &str| Ok((name.to_owned(), known(array, fragment, name)?));
        Ok(Self { fields: fields.map(load).collect::<Result<_, Error>>()? })
    }

    /// Whether the condition holds for the cells of a tile, as far as its statistics tell.
    pub(crate) fn verdict(&self, condition: &BoundCondition, tile: &TilePlan) -> Tri {
        condition.prune(tile.cells.into(), |name| self.bounds(name, tile))
    }

    /// What is known about a field in a tile; none where the fragment lacks it.
    pub(crate) fn bounds<'t>(&self, name: &str, tile: &'t TilePlan) -> Option<TileBounds<'t>> {
        match self.fields.get(name) {
            Some(Known::Missing) => None,
            Some(Known::Dimension { index, datatype }) => Some(range_bounds(tile, *index, *datatype)),
            Some(Known::Lists { lists, datatype }) => Some(list_bounds(lists, *datatype, tile.tile)),
            Some(Known::Nothing) | None => Some(TileBounds::default()),
        }
    }

    /// What a fragment stores about a field in a tile; none where it lacks the field.
    pub(crate) fn stored(&self, name: &str, tile: u64) -> Option<TileBounds<'static>> {
        match self.fields.get(name) {
            Some(Known::Missing) => None,
            Some(Known::Lists { lists, datatype }) => Some(list_bounds(lists, *datatype, tile)),
            Some(Known::Dimension { .. } | Known::Nothing) | None => Some(TileBounds::default()),
        }
    }
}

fn known(array: &OpenArray, fragment: &Fragment, name: &str) -> Result<Known, Error> {
    let schema = fragment.schema();
    if name == crate::TIMESTAMPS_FIELD {
        return Ok(Known::Nothing);
    }
    if let Some((index, dimension)) = schema.dimension(name) {
        return Ok(Known::Dimension { index, datatype: dimension.datatype });
    }
    let attribute = array.schema().attribute(name).map(|(_, attribute)| attribute);
    let Some(index) = attribute.and_then(|attribute| attribute_in_fragment(schema, attribute, array.options())) else {
        return Ok(Known::Missing);
    };
    let field = FieldId::Attribute(index);
    let exact = exact_statistics(fragment.footer().version, schema, field, fragment.footer().dense);
    let datatype = schema.attributes.get(index).map_or(Datatype::Any, |attribute| attribute.datatype);
    if !exact.min_max {
        return Ok(Known::Nothing);
    }
    let mut lists = fragment.statistics_lists(field, array.storage(), array.options())?;
    lists.null_counts = lists.null_counts.filter(|_| exact.null_count);
    Ok(Known::Lists { lists, datatype })
}

/// The range of a tile along one dimension. NaN hides in ranges of floats, and strings may have been compared as signed
/// bytes, so of those only what all writers agree on is believed: nothing.
fn range_bounds(tile: &TilePlan, dimension: usize, datatype: Datatype) -> TileBounds<'_> {
    match tile.mbr.0.get(dimension) {
        Some(range @ (Range::Signed(..) | Range::Unsigned(..))) if range.is_valid() => {
            TileBounds::from_range(range, datatype, Trust::Exact)
        }
        _ => TileBounds::default(),
    }
}

fn list_bounds(lists: &FieldStatisticsLists, datatype: Datatype, tile: u64) -> TileBounds<'static> {
    let index = usize::try_from(tile).unwrap_or(usize::MAX);
    let value = |list: &'_ TileMinMax| list.value(index).map(<[u8]>::to_vec);
    let (min, max) = (value(&lists.mins), value(&lists.maxes));
    // A NUL ends the comparison of text, so bounds that hold one say nothing about what follows it.
    let has_nul =
        |bytes: &Option<Vec<u8>>| datatype == Datatype::StringAscii && bytes.as_ref().is_some_and(|bytes| bytes.contains(&0));
    let has_nan = datatype.is_float() && !sum_proves_no_nan(&lists.sums, index, datatype);
    let trust = if has_nan || has_nul(&min) || has_nul(&max) { Trust::Nothing } else { Trust::Exact };
    let null_count = lists.null_counts.as_ref().and_then(|counts: &TileNullCounts| counts.get(index));
    TileBounds { min: min.map(Cow::Owned), max: max.map(Cow::Owned), null_count, trust }
}

fn sum_proves_no_nan(sums: &TileSums, tile: usize, datatype: Datatype) -> bool {
    matches!(sums.sum(tile, datatype), Some(Sum::Float(sum)) if float_bounds_are_exact(sum))
}
