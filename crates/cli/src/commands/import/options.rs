//! Filters and tiles: those asked for, else some that suit the datatype.

use talavera::{Datatype, Dimension, FilterList, FilterSpec};

use super::{ROW, Table};
use crate::args::ImportArgs;
use crate::commands::schema::filter::list_from_text;
use crate::error::Error;

/// What was asked for, for all columns or for one.
#[derive(Debug)]
pub(super) struct Options {
    filters: Vec<(Option<String>, FilterList)>,
    tiles: Vec<(Option<String>, u64)>,
}

impl Options {
    /// What the arguments say of these columns.
    ///
    /// # Errors
    /// [`Error::Usage`] for unknown columns and filters, and for what is no number.
    pub(super) fn new(args: &ImportArgs, table: &Table) -> Result<Self, Error> {
        let known = |name: &str| table.attributes.iter().any(|attribute| attribute.name == name);
        let split = |argument: &str, text: &str, is_known: &dyn Fn(&str) -> bool| match text.rsplit_once('=') {
            None => Ok((None, text.to_owned())),
            Some((name, value)) if is_known(name) => Ok((Some(name.to_owned()), value.to_owned())),
            Some((name, _)) => Err(Error::usage(format!("{argument} {text}: there is no column '{name}'"))),
        };
        let filters = args.filters.iter().map(|text| {
            let (name, list) = split("--filters", text, &known)?;
            let list = list_from_text(&list).map_err(|reason| Error::usage(format!("--filters {text}: {reason}")))?;
            Ok((name, list))
        });
        let is_dimension = |name: &str| args.index.iter().any(|index| index == name) || (args.index.is_empty() && name == ROW);
        let tiles = args.tile.iter().map(|text| {
            let (name, extent) = split("--tile", text, &is_dimension)?;
            let extent = extent.parse().ok().filter(|extent| *extent > 0);
            let extent = extent.ok_or_else(|| Error::usage(format!("--tile {text}: write the number of values in a tile")))?;
            Ok((name, extent))
        });
        Ok(Self { filters: filters.collect::<Result<_, Error>>()?, tiles: tiles.collect::<Result<_, Error>>()? })
    }

    /// Values in a tile along this dimension, if they were given.
    pub(super) fn tile(&self, dimension: &str) -> Option<u64> {
        asked(&self.tiles, dimension).copied()
    }

    /// The filters of an attribute.
    pub(super) fn filters(&self, name: &str, datatype: Datatype) -> FilterList {
        asked(&self.filters, name).cloned().unwrap_or_else(|| suited(datatype))
    }

    /// The filters of a dimension: those asked for by its name, not those for all.
    pub(super) fn dimension_filters(&self, dimension: &Dimension) -> FilterList {
        let own = self.filters.iter().rev().find(|(of, _)| of.as_ref() == Some(&dimension.name));
        let list = own.map_or_else(|| suited_to_coordinates(dimension), |(_, list)| list.clone());
        // Without any, a dimension would have those of the coordinates.
        if list.is_empty() { FilterList::new(vec![FilterSpec::None]) } else { list }
    }
}

/// What was asked for by name, else what was asked for of all; the last word counts.
fn asked<'a, T>(given: &'a [(Option<String>, T)], name: &str) -> Option<&'a T> {
    let own = given.iter().rev().find(|(of, _)| of.as_deref() == Some(name));
    own.or_else(|| given.iter().rev().find(|(of, _)| of.is_none())).map(|(_, value)| value)
}

/// Filters that suit most data of a datatype: of numbers, the upper bytes differ little.
fn suited(datatype: Datatype) -> FilterList {
    let zstd = FilterSpec::Zstd { level: -1 };
    let wide = datatype.size() > 1 && !datatype.is_string();
    FilterList::new(if wide { vec![FilterSpec::Byteshuffle, zstd] } else { vec![zstd] })
}

/// Sorted, whole numbers differ little from one to the next. Differences of numbers that lie too far apart do not fit.
fn suited_to_coordinates(dimension: &Dimension) -> FilterList {
    const NEAR: u64 = 1 << 60;
    let width = dimension.domain.as_ref().and_then(talavera::Range::cell_count);
    if dimension.datatype.size() < 4 || width.is_none_or(|width| width > NEAR) {
        return suited(dimension.datatype);
    }
    let delta = FilterSpec::DoubleDelta { level: -1, reinterpret: Datatype::Any };
    FilterList::new(vec![delta, FilterSpec::Zstd { level: -1 }])
}
