//! The condition tree: delete_commit_file and update_commit_file of the format, and what users ask for.

use std::collections::BTreeSet;
use std::ops::{BitAnd, BitOr, Not};

use serde::{Deserialize, Serialize};

use crate::Literal;

/// How a cell stands to a value; the discriminant is the code on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Comparison {
    /// The cell is less than the value.
    Lt = 0,
    /// The cell is at most the value.
    Le = 1,
    /// The cell is greater than the value.
    Gt = 2,
    /// The cell is at least the value.
    Ge = 3,
    /// The cell equals the value.
    Eq = 4,
    /// The cell differs from the value.
    Ne = 5,
}

/// How the children of a combined condition count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Combination {
    /// All of them hold.
    And = 0,
    /// At least one of them holds.
    Or = 1,
}

/// Which cells are meant, by the values of their fields (attributes, dimensions, `__timestamps`).
///
/// There is no negation in the tree. A condition is negated by [`negate`](Self::negate) (or `!`), which pushes the
/// negation down to the leaves as writers of the format do. That matters for nulls: a null cell matches no comparison
/// and no membership test, so `!(a < 2)` is `a >= 2`, and neither holds for a null.
///
/// Build one with [`field`](crate::field) and the operators `&`, `|` and `!`, from text with
/// [`from_text`](Self::from_text), or from a delete commit with [`decode`](Self::decode); then
/// [`bind`](Self::bind) it to a schema. As data (`serde`) it is sent elsewhere unchanged, bit by bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum QueryCondition {
    /// Compares each cell of a field with a value.
    Compare {
        /// The field's name.
        field: String,
        /// How the cell must stand to the value.
        comparison: Comparison,
        /// The value.
        value: Literal,
    },
    /// Whether each cell of a field is one of several values, byte by byte: NaN is in a list with the same NaN, and
    /// 0.0 is not in a list with −0.0.
    In {
        /// The field's name.
        field: String,
        /// Whether the cell must be none of the values instead.
        negated: bool,
        /// The values, in any order.
        values: Vec<Literal>,
    },
    /// Whether each cell of a field is null.
    IsNull {
        /// The field's name.
        field: String,
    },
    /// Whether each cell of a field is not null.
    IsNotNull {
        /// The field's name.
        field: String,
    },
    /// Several conditions as one. A tree that is bound or stored has at least one child everywhere.
    Combine {
        /// How they count.
        combination: Combination,
        /// The conditions.
        children: Vec<QueryCondition>,
    },
    /// Holds for all cells or for none.
    Constant(bool),
}

impl Comparison {
    /// Every comparison, by code.
    pub const ALL: [Self; 6] = [Self::Lt, Self::Le, Self::Gt, Self::Ge, Self::Eq, Self::Ne];

    /// The comparison that holds for the other non-null cells; only NaN satisfies neither `<` nor `>=`.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
        }
    }

    /// The operator in the text form.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "=",
            Self::Ne => "!=",
        }
    }

    /// Whether `cell` stands like this to `value`. NaN satisfies [`Ne`](Self::Ne) only.
    pub(crate) fn holds<T: PartialOrd + ?Sized>(self, cell: &T, value: &T) -> bool {
        match self {
            Self::Lt => cell < value,
            Self::Le => cell <= value,
            Self::Gt => cell > value,
            Self::Ge => cell >= value,
            Self::Eq => cell == value,
            Self::Ne => cell != value,
        }
    }
}

impl Combination {
    /// The combination of the negated children that negates the whole.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::And => Self::Or,
            Self::Or => Self::And,
        }
    }
}

impl QueryCondition {
    /// The deepest nesting that is decoded, bound or taken from text, in levels.
    pub const MAX_DEPTH: usize = 128;

    /// The condition with every comparison turned round and AND and OR exchanged.
    ///
    /// On cells without nulls and NaN it holds exactly where this one does not; nulls match neither.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Compare { field, comparison, value } => Self::Compare { field, comparison: comparison.negate(), value },
            Self::In { field, negated, values } => Self::In { field, negated: !negated, values },
            Self::IsNull { field } => Self::IsNotNull { field },
            Self::IsNotNull { field } => Self::IsNull { field },
            Self::Combine { combination, children } => {
                Self::Combine { combination: combination.negate(), children: children.into_iter().map(Self::negate).collect() }
            }
            Self::Constant(holds) => Self::Constant(!holds),
        }
    }

    /// Two conditions as one; a side that is already combined in the same way gives its children.
    #[must_use]
    pub fn combine(self, combination: Combination, other: Self) -> Self {
        let mut children = self.into_children(combination);
        children.extend(other.into_children(combination));
        Self::Combine { combination, children }
    }

    /// The names of the fields in the tree, each once, sorted.
    #[must_use]
    pub fn fields(&self) -> Vec<&str> {
        let mut names = BTreeSet::new();
        self.collect_fields(&mut names);
        names.into_iter().collect()
    }

    fn into_children(self, combination: Combination) -> Vec<Self> {
        match self {
            Self::Combine { combination: own, children } if own == combination => children,
            other => vec![other],
        }
    }

    fn collect_fields<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match self {
            Self::Compare { field, .. } | Self::In { field, .. } | Self::IsNull { field } | Self::IsNotNull { field } => {
                names.insert(field);
            }
            Self::Combine { children, .. } => children.iter().for_each(|child| child.collect_fields(names)),
            Self::Constant(_) => {}
        }
    }
}

impl BitAnd for QueryCondition {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.combine(Combination::And, other)
    }
}

impl BitOr for QueryCondition {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.combine(Combination::Or, other)
    }
}

impl Not for QueryCondition {
    type Output = Self;

    fn not(self) -> Self {
        self.negate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field;

    #[test]
    fn negation_reaches_the_leaves_and_exchanges_and_with_or() {
        let condition = !(field("a").gt(3) & (field("s").ne("s5") | field("z").is_null()));
        assert_eq!(condition.to_string(), "a <= 3 or s = 's5' and z is not null");
    }

    #[test]
    fn negating_twice_changes_nothing() {
        let condition = field("a").is_in([1, 2]) | QueryCondition::Constant(true) & field("b").lt(0.5);
        assert_eq!(condition.clone().negate().negate(), condition);
    }

    #[test]
    fn conditions_combined_in_the_same_way_lie_side_by_side() {
        let condition = (field("a").eq(1) & field("b").eq(2)) & (field("c").eq(3) & field("a").eq(4));
        let QueryCondition::Combine { combination: Combination::And, children } = &condition else {
            panic!("not an AND: {condition:?}")
        };
        assert_eq!(children.len(), 4);
        assert_eq!(condition.fields(), ["a", "b", "c"]);
    }
}
