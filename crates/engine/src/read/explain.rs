//! What a read will do, before it does it.

use std::ops::AddAssign;

use serde::Serialize;

use crate::OpenArray;

/// The plan of a read: which fragments and tiles it needs, and what they cost. No cell is read for it, only metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Every fragment of the array, those outside of the time window included; older ones first.
    pub fragments: Vec<FragmentPlan>,
    /// What is read of each field, those that only conditions and coordinates need included.
    pub fields: Vec<FieldPlan>,
    /// Everything together.
    pub total: Cost,
    /// Whether the read will cost exactly these tiles, bytes on disk and requests. If not, it costs at most this: whether a tile has cells of the result, and
    /// its other fields are needed, only its coordinates and the condition's fields tell.
    pub exact: bool,
}

/// What a read does with a fragment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FragmentPlan {
    /// The name of its folder.
    pub name: String,
    /// When its first and last cells were written, in milliseconds since 1970, by its name.
    pub timestamps: (u64, u64),
    /// Tiles of the fragment; none where it was not opened.
    pub tiles: Option<u64>,
    /// Tiles that are read.
    pub read: u64,
    /// Tiles that lie in the ranges and are not read, because statistics prove that the condition holds nowhere in them.
    pub ruled_out: u64,
    /// Why nothing is read of it.
    pub skipped: Option<SkipReason>,
}

/// Why nothing is read of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It was written outside of the time window.
    TimeWindow,
    /// It was consolidated into another fragment.
    Consolidated,
    /// Its non-empty domain has nothing in common with the ranges.
    NonEmptyDomain,
    /// No rectangle around a tile has anything in common with the ranges.
    NoTile,
    /// Statistics prove that the condition holds nowhere.
    Condition,
    /// Newer fragments hide it in the ranges.
    Hidden,
    /// It has none of the fields.
    NoField,
}

/// What is read of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldPlan {
    /// The field's name.
    pub name: String,
    /// What that costs.
    #[serde(flatten)]
    pub cost: Cost,
}

/// What reading costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cost {
    /// Tiles to decode, counted as [`Progress`](crate::Progress) counts them: for each field, validity apart.
    pub tiles: u64,
    /// Bytes to read from storage.
    pub read_bytes: u64,
    /// Bytes that whole tiles decode to. Of dense tiles only chunks with cells of the result are decoded, so that windows
    /// cost less.
    pub decoded_bytes: u64,
    /// Ranges of bytes to ask the storage for.
    pub requests: u64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.tiles += other.tiles;
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.decoded_bytes = self.decoded_bytes.saturating_add(other.decoded_bytes);
        self.requests += other.requests;
    }
}

impl SkipReason {
    /// The reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::TimeWindow => "written outside of the time window",
            Self::Consolidated => "consolidated into another fragment",
            Self::NonEmptyDomain => "its cells lie outside of the ranges",
            Self::NoTile => "no tile reaches into the ranges",
            Self::Condition => "statistics rule the condition out",
            Self::Hidden => "hidden by newer fragments",
            Self::NoField => "has none of the fields",
        }
    }
}

/// The plan of a read while it is put together.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The opened fragments.
    pub(crate) fragments: Vec<FragmentPlan>,
    fields: Vec<FieldPlan>,
    pub(crate) exact: bool,
}

impl Draft {
    pub(crate) fn new(array: &OpenArray) -> Self {
        let plan = |fragment: &crate::Fragment| FragmentPlan {
            name: fragment.name().to_owned(),
            timestamps: fragment.timestamps(),
            tiles: Some(fragment.tile_count()),
            read: 0,
            ruled_out: 0,
            skipped: None,
        };
        Self { fragments: array.fragments().iter().map(plan).collect(), fields: Vec::new(), exact: true }
    }

    /// Counts what is read of a field.
    pub(crate) fn add(&mut self, field: &str, cost: Cost) {
        match self.fields.iter_mut().find(|known| known.name == field) {
            Some(known) => known.cost += cost,
            None => self.fields.push(FieldPlan { name: field.to_owned(), cost }),
        }
    }

    /// The plan, with the fragments of the array that were not opened.
    pub(crate) fn finish(self, array: &OpenArray) -> Explanation {
        let Self { mut fragments, fields, exact } = self;
        let mut total = Cost::default();
        fields.iter().for_each(|field| total += field.cost);
        let consolidated: Vec<&str> = array.fragments_to_vacuum().collect();
        for folder in array.directory().committed_fragments() {
            let name = folder.name.as_str();
            if fragments.iter().any(|fragment| fragment.name == name) {
                continue;
            }
            let reason = if consolidated.contains(&name) { SkipReason::Consolidated } else { SkipReason::TimeWindow };
            let timestamps = (folder.name.start(), folder.name.end());
            let skipped = Some(reason);
            fragments.push(FragmentPlan { name: name.to_owned(), timestamps, tiles: None, read: 0, ruled_out: 0, skipped });
        }
        fragments.sort_by_key(|fragment| fragment.timestamps);
        Explanation { fragments, fields, total, exact }
    }
}
