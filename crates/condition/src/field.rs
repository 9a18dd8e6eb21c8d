//! Conditions in Rust: `field("q").gt(5) & !field("z").is_null()`.

use crate::{Comparison, Literal, QueryCondition};

/// A field by name, to build conditions on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field(String);

/// The attribute or dimension with this name; whether it exists is found out when the condition is bound.
pub fn field(name: impl Into<String>) -> Field {
    Field(name.into())
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident = $comparison:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self, value: impl Into<Literal>) -> QueryCondition {
            self.compare(Comparison::$comparison, value)
        }
    )*};
}

impl Field {
    comparisons! {
        /// Cells less than `value`.
        lt = Lt;
        /// Cells of at most `value`.
        le = Le;
        /// Cells greater than `value`.
        gt = Gt;
        /// Cells of at least `value`.
        ge = Ge;
        /// Cells equal to `value`.
        eq = Eq;
        /// Cells different from `value`; nulls are not among them.
        ne = Ne;
    }

    /// Cells that stand to `value` as `comparison` says.
    #[must_use]
    pub fn compare(&self, comparison: Comparison, value: impl Into<Literal>) -> QueryCondition {
        QueryCondition::Compare { field: self.0.clone(), comparison, value: value.into() }
    }

    /// Cells from `low` to `high`, both included.
    #[must_use]
    pub fn between(&self, low: impl Into<Literal>, high: impl Into<Literal>) -> QueryCondition {
        self.ge(low) & self.le(high)
    }

    /// Cells whose bytes are those of one of `values`.
    #[must_use]
    pub fn is_in<T: Into<Literal>>(&self, values: impl IntoIterator<Item = T>) -> QueryCondition {
        QueryCondition::In { field: self.0.clone(), negated: false, values: values.into_iter().map(Into::into).collect() }
    }

    /// Cells whose bytes are those of none of `values`; nulls are not among them.
    #[must_use]
    pub fn is_not_in<T: Into<Literal>>(&self, values: impl IntoIterator<Item = T>) -> QueryCondition {
        self.is_in(values).negate()
    }

    /// Null cells.
    #[must_use]
    pub fn is_null(&self) -> QueryCondition {
        QueryCondition::IsNull { field: self.0.clone() }
    }

    /// Cells that are not null.
    #[must_use]
    pub fn is_not_null(&self) -> QueryCondition {
        QueryCondition::IsNotNull { field: self.0.clone() }
    }
}
