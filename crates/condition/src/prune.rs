//! What the statistics of a tile say about a condition before any of its cells is read.
//!
//! The reference implementation does not do this for conditions; bounds of its float and text tiles need the distrust
//! that [`Trust`] expresses.

use std::borrow::Cow;

use talavera_codec::Writer;
use talavera_schema::Range;
use talavera_types::{Datatype, Native, with_datatype};

use crate::bound::{BoundCondition, BoundField, Leaf, Node, Test};
use crate::members::Members;
use crate::{Combination, Comparison};

/// Whether a condition holds for the cells of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tri {
    /// Every cell matches.
    AllMatch,
    /// No cell matches.
    NoneMatch,
    /// Only the cells can tell.
    Unknown,
}

/// How far the bounds of a tile can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// Every cell that is not null lies between the bounds, both included, and none is NaN.
    Exact,
    /// Every cell that is neither null nor NaN lies between the bounds, both included.
    ExceptNan,
    /// Not at all. Writers that let NaN into the comparison store bounds that depend on the order of cells, so float
    /// tiles of the reference implementation need another proof (such as a sum that is not NaN).
    #[default]
    Nothing,
}

/// What is known about the cells of one field of one tile.
#[derive(Debug, Clone, Default)]
pub struct TileBounds<'a> {
    /// The bytes of a lower bound; text is ordered by unsigned bytes.
    pub min: Option<Cow<'a, [u8]>>,
    /// The bytes of an upper bound.
    pub max: Option<Cow<'a, [u8]>>,
    /// How many cells are null; `None` if that is unknown. Fields that are not nullable need none.
    pub null_count: Option<u64>,
    /// How far the bounds can be believed.
    pub trust: Trust,
}

impl<'a> TileBounds<'a> {
    /// The bounds that the range of one dimension in an MBR gives.
    ///
    /// Coordinates of strings with bytes from 0x80 on may have been sorted as signed, so their range is
    /// [`Trust::Exact`] only if its writer is known to have compared unsigned bytes.
    #[must_use]
    pub fn from_range(range: &'a Range, datatype: Datatype, trust: Trust) -> Self {
        let (min, max) = match range {
            Range::String(low, high) => (Cow::Borrowed(&**low), Cow::Borrowed(&**high)),
            _ => {
                let (mut min, mut max) = (Writer::new(), Writer::new());
                range.low().encode(&mut min, datatype);
                range.high().encode(&mut max, datatype);
                (Cow::Owned(min.into_vec()), Cow::Owned(max.into_vec()))
            }
        };
        Self { min: Some(min), max: Some(max), null_count: Some(0), trust }
    }
}

impl BoundCondition {
    /// Whether the condition holds for the `cells` cells of a tile, as far as bounds tell.
    ///
    /// `lookup` is asked for the fields of the condition, maybe more than once. `None` means that the fragment lacks
    /// the field, so that its tests are false; a field of which nothing is known is [`TileBounds::default`].
    pub fn prune<'a>(&self, cells: u64, lookup: impl Fn(&str) -> Option<TileBounds<'a>>) -> Tri {
        self.prune_node(&self.root, cells, &lookup)
    }

    fn prune_node<'a>(&self, node: &Node, cells: u64, lookup: &dyn Fn(&str) -> Option<TileBounds<'a>>) -> Tri {
        match node {
            Node::Constant(holds) => Tri::certain(*holds),
            Node::Combine(combination, children) => {
                let decisive = Tri::certain(*combination == Combination::Or);
                let mut result = Tri::certain(*combination == Combination::And);
                for child in children {
                    match self.prune_node(child, cells, lookup) {
                        child if child == decisive => return decisive,
                        Tri::Unknown => result = Tri::Unknown,
                        _ => {}
                    }
                }
                result
            }
            Node::Leaf(leaf) => match self.fields.get(leaf.field).map(|field| (field, lookup(&field.name))) {
                Some((field, Some(bounds))) => prune_leaf(leaf, field, cells, &bounds),
                _ => Tri::NoneMatch,
            },
        }
    }
}

impl Tri {
    fn certain(holds: bool) -> Self {
        if holds { Self::AllMatch } else { Self::NoneMatch }
    }
}

/// What holds for the cells that are not null.
#[derive(Clone, Copy)]
struct Verdict {
    /// At least one may match.
    possible: bool,
    /// All match.
    certain: bool,
}

const UNKNOWN: Verdict = Verdict { possible: true, certain: false };

fn prune_leaf(leaf: &Leaf, field: &BoundField, cells: u64, bounds: &TileBounds<'_>) -> Tri {
    let nulls = if field.nullable { bounds.null_count } else { Some(0) };
    let verdict = match &leaf.test {
        Test::IsNull => {
            return match nulls {
                Some(0) => Tri::NoneMatch,
                Some(nulls) if nulls == cells => Tri::AllMatch,
                _ => Tri::Unknown,
            };
        }
        Test::IsNotNull => Verdict { possible: true, certain: true },
        Test::Never => Verdict { possible: false, certain: false },
        Test::Number { datatype, comparison, value } => {
            with_datatype!(*datatype, T => number::<T>(bounds, *comparison, value, datatype.is_float()))
        }
        Test::Text { comparison, value } => text(bounds, *comparison, value),
        Test::Member { negated, members } => member(bounds, members, field.datatype).negate_if(*negated),
    };
    match nulls {
        _ if !verdict.possible => Tri::NoneMatch,
        Some(0) if verdict.certain => Tri::AllMatch,
        Some(nulls) if nulls == cells && nulls > 0 => Tri::NoneMatch,
        _ => Tri::Unknown,
    }
}

fn number<T: Native>(bounds: &TileBounds<'_>, comparison: Comparison, value: &[u8], float: bool) -> Verdict {
    let read = |bytes: &Option<Cow<'_, [u8]>>| T::read_le(bytes.as_deref()?);
    let (Some(min), Some(max), Some(value)) = (read(&bounds.min), read(&bounds.max), T::read_le(value)) else {
        return UNKNOWN;
    };
    let verdict = match bounds.trust {
        // Bounds that are NaN, or reversed, are no bounds.
        Trust::Exact | Trust::ExceptNan if min <= max => between(&min, &max, comparison, &value),
        _ => return UNKNOWN,
    };
    match (float && bounds.trust == Trust::ExceptNan, comparison) {
        // NaN differs from everything and satisfies no other comparison.
        (true, Comparison::Ne) => Verdict { possible: true, ..verdict },
        (true, _) => Verdict { certain: false, ..verdict },
        (false, _) => verdict,
    }
}

fn text(bounds: &TileBounds<'_>, comparison: Comparison, value: &[u8]) -> Verdict {
    match (bounds.min.as_deref(), bounds.max.as_deref()) {
        (Some(min), Some(max)) if bounds.trust != Trust::Nothing && min <= max => between(min, max, comparison, value),
        _ => UNKNOWN,
    }
}

/// Whether some and whether all values from `min` to `max` stand to `value` as `comparison` says.
fn between<T: PartialOrd + ?Sized>(min: &T, max: &T, comparison: Comparison, value: &T) -> Verdict {
    let inside = min <= value && value <= max;
    let only = min == value && max == value;
    let (low, high) = (comparison.holds(min, value), comparison.holds(max, value));
    match comparison {
        Comparison::Lt | Comparison::Le => Verdict { possible: low, certain: high },
        Comparison::Gt | Comparison::Ge => Verdict { possible: high, certain: low },
        Comparison::Eq => Verdict { possible: inside, certain: only },
        Comparison::Ne => Verdict { possible: !only, certain: !inside },
    }
}

fn member(bounds: &TileBounds<'_>, members: &Members, datatype: Datatype) -> Verdict {
    let one_value = bounds.min == bounds.max;
    let mut any = Verdict { possible: false, certain: false };
    members.any(|bytes| {
        let verdict = match members {
            Members::Text(_) => text(bounds, Comparison::Eq, bytes),
            _ => with_datatype!(datatype, T => equal_bytes::<T>(bounds, bytes, datatype.is_float())),
        };
        any = Verdict { possible: any.possible || verdict.possible, certain: any.certain || verdict.certain };
        // Nothing more can change.
        any.certain || any.possible && !one_value
    });
    any
}

/// Membership is equality of bytes, which for floats is not that of numbers: two zeros differ, one NaN may not.
#[expect(clippy::eq_op, reason = "NaN is the value that differs from itself")]
fn equal_bytes<T: Native>(bounds: &TileBounds<'_>, member: &[u8], float: bool) -> Verdict {
    let nan = T::read_le(member).is_some_and(|member| member != member);
    if nan && bounds.trust != Trust::Exact {
        return UNKNOWN;
    }
    let verdict = number::<T>(bounds, Comparison::Eq, member, float);
    Verdict { certain: verdict.certain && !float, ..verdict }
}

impl Verdict {
    fn negate_if(self, negated: bool) -> Self {
        if negated { Self { possible: !self.certain, certain: !self.possible } } else { self }
    }
}
