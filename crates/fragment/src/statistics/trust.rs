//! Which statistics a field has, and which of them may be believed: fragment page, "Tile Mins/Maxes" and "Tile Null Count",
//! and what released libraries write.

use talavera_schema::{ArraySchema, FilterList};
use talavera_types::{CellValNum, Datatype, DatatypeClass, FormatVersion};

use crate::{FieldId, FieldShape};

/// A choice of the statistics of a field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatisticSet {
    /// Minimum and maximum per tile and of the fragment.
    pub min_max: bool,
    /// Sum per tile and of the fragment.
    pub sum: bool,
    /// Null cells per tile and of the fragment.
    pub null_count: bool,
}

/// Which statistics of a field are in the lists of a fragment, `dense` or sparse, from version 11 on; the other lists are
/// stored empty.
///
/// | Field | Minimum, maximum | Sum | Null count |
/// | --- | --- | --- | --- |
/// | number, boolean, date or time, one in a cell | yes | yes | if nullable |
/// | the same, several in a cell or any number | no | no | if nullable |
/// | CHAR, STRING_ASCII | yes | CHAR, one in a cell | if nullable |
/// | other text, bytes | no | no | if nullable |
/// | dimension, sparse | no, the R-tree has them | numbers | no |
/// | dimension, dense | no | no | no |
/// | `__coords` | zeros | zeros if the first dimension is a number | no |
/// | timestamps, delete metadata | yes | yes | no |
///
/// Nothing is stored for an attribute or dimension that `schema` does not have.
#[must_use]
pub fn stored_statistics(schema: &ArraySchema, field: FieldId, dense: bool) -> StatisticSet {
    let Some(shape) = field.shape(schema) else { return StatisticSet::default() };
    match field {
        FieldId::Dimension(_) => StatisticSet { sum: !dense && is_number(shape), ..StatisticSet::default() },
        FieldId::Coordinates => StatisticSet { min_max: true, sum: is_arithmetic(shape.datatype), null_count: false },
        _ => StatisticSet {
            min_max: is_number(shape) || shape.datatype.class() == DatatypeClass::Text,
            sum: is_number(shape) || (shape.datatype == Datatype::Char && shape.cell_val_num == CellValNum::ONE),
            null_count: shape.nullable,
        },
    }
}

/// Which of the [`stored_statistics`] of a field say the truth about its cells; all others must be computed again.
///
/// Released libraries (seen up to 2.30) write wrong numbers without a mark, so only these are believed:
///
/// - numbers, booleans, dates and times, one in a cell, in sparse fragments, or in dense ones from version 16 on: before,
///   cells of a tile that were never written count as zeros and as nulls;
/// - STRING_ASCII of variable length in sparse fragments: minimum and maximum. In dense ones each tile may hold the bytes of
///   another;
/// - sums of dimensions, timestamps and delete metadata.
///
/// Statistics are of the cells as they were given to the writer: where a filter loses digits, only null counts are believed.
///
/// Never believed: null counts of text, of bytes and of cells with several values (0, or a multiple of the truth),
/// minimum and maximum of fixed-length text that is nullable, all about `__coords`.
///
/// Limits remain even then. Statistics are about all cells stored, also those that a delete or a later fragment hides.
/// Minimum and maximum of floats depend on the order of cells where NaN is among them, see [`float_bounds_are_exact`]. Text
/// is compared up to the first NUL, so bounds that hold one say nothing about what follows it. A sum stops at the bounds of
/// its type, see [`Sum::is_exact`](crate::Sum::is_exact).
#[must_use]
pub fn exact_statistics(version: FormatVersion, schema: &ArraySchema, field: FieldId, dense: bool) -> StatisticSet {
    let nothing = StatisticSet::default();
    let Some(shape) = field.shape(schema).filter(|_| version.has_tile_statistics()) else { return nothing };
    let lossy = match field {
        FieldId::Attribute(index) => schema.attributes.get(index).is_some_and(|attribute| attribute.filters.is_lossy()),
        FieldId::Dimension(index) => schema.dimension_filters(index).is_some_and(FilterList::is_lossy),
        _ => false,
    };
    let stored = stored_statistics(schema, field, dense);
    let stored = if lossy { StatisticSet { null_count: stored.null_count, ..nothing } } else { stored };
    match field {
        FieldId::Coordinates => nothing,
        FieldId::Attribute(_) if is_number(shape) && (!dense || version.has_exact_dense_statistics()) => stored,
        FieldId::Attribute(_) => {
            let text = shape.datatype == Datatype::StringAscii && shape.cell_val_num.is_var();
            StatisticSet { min_max: text && !dense, ..nothing }
        }
        _ => stored,
    }
}

/// Whether every one of the [`stored_statistics`] of a field says the truth; [`exact_statistics`] tells them apart.
#[must_use]
pub fn statistics_are_exact(version: FormatVersion, schema: &ArraySchema, field: FieldId, dense: bool) -> bool {
    exact_statistics(version, schema, field, dense) == stored_statistics(schema, field, dense)
}

/// Whether the minimum and maximum of floats with this sum say the truth.
///
/// NaN replaces whatever minimum was found before it, and the next number replaces NaN: `[2, NaN, 5]` has the minimum 5. A
/// NaN among the cells makes their sum NaN, unless the sum had stopped at a bound of its type before.
#[must_use]
pub fn float_bounds_are_exact(sum: f64) -> bool {
    sum.abs() < f64::MAX
}

fn is_number(shape: FieldShape) -> bool {
    shape.cell_val_num == CellValNum::ONE && is_arithmetic(shape.datatype)
}

fn is_arithmetic(datatype: Datatype) -> bool {
    matches!(datatype.class(), DatatypeClass::Signed | DatatypeClass::Unsigned | DatatypeClass::Float)
}

#[cfg(test)]
mod tests {
    use talavera_schema::{Attribute, Dimension, FilterSpec};
    use talavera_types::ArrayType;

    use super::*;
    use crate::test_support::{int_dimension, schema, version};

    const NOTHING: StatisticSet = StatisticSet { min_max: false, sum: false, null_count: false };

    fn nullable(attribute: Attribute) -> Attribute {
        Attribute { nullable: true, ..attribute }
    }

    fn one(attribute: Attribute) -> ArraySchema {
        schema(ArrayType::Sparse, vec![int_dimension("d"), Dimension::string("s")], vec![attribute])
    }

    #[test]
    fn each_kind_of_field_has_the_lists_of_its_row() {
        let stored = |attribute| {
            let set = stored_statistics(&one(attribute), FieldId::Attribute(0), false);
            (set.min_max, set.sum, set.null_count)
        };
        let two = CellValNum::Fixed(std::num::NonZeroU32::MIN.saturating_add(1));
        assert_eq!(stored(nullable(Attribute::new("a", Datatype::TimeNs))), (true, true, true));
        assert_eq!(stored(Attribute::new("a", Datatype::Bool)), (true, true, false));
        assert_eq!(stored(nullable(Attribute::with_cell_val_num("a", Datatype::Int32, two))), (false, false, true));
        assert_eq!(stored(Attribute::var("a", Datatype::Int32)), (false, false, false));
        assert_eq!(stored(Attribute::new("a", Datatype::Char)), (true, true, false));
        assert_eq!(stored(Attribute::with_cell_val_num("a", Datatype::Char, two)), (true, false, false));
        assert_eq!(stored(Attribute::var("a", Datatype::StringAscii)), (true, false, false));
        assert_eq!(stored(nullable(Attribute::var("a", Datatype::StringUtf8))), (false, false, true));
        assert_eq!(stored(Attribute::var("a", Datatype::Blob)), (false, false, false));
    }

    #[test]
    fn dimensions_have_sums_only_in_sparse_fragments() {
        let schema = one(Attribute::new("a", Datatype::Int8));
        let sum = |index, dense| stored_statistics(&schema, FieldId::Dimension(index), dense);
        assert_eq!(sum(0, false), StatisticSet { sum: true, ..NOTHING });
        assert_eq!(sum(0, true), NOTHING);
        assert_eq!(sum(1, false), NOTHING);
        assert_eq!(sum(2, false), NOTHING);
    }

    #[test]
    fn numbers_in_dense_fragments_are_believed_from_version_16_on() {
        let schema = one(nullable(Attribute::new("a", Datatype::Float64)));
        let exact = |number, dense| statistics_are_exact(version(number), &schema, FieldId::Attribute(0), dense);
        assert!(exact(11, false) && !exact(11, true) && !exact(15, true) && exact(16, true));
        assert!(!exact(10, false), "version 10 has no statistics");
    }

    #[test]
    fn of_text_only_the_bounds_of_variable_ascii_in_sparse_fragments_are_believed() {
        let exact = |attribute, dense| exact_statistics(version(22), &one(nullable(attribute)), FieldId::Attribute(0), dense);
        let bounds = StatisticSet { min_max: true, ..NOTHING };
        assert_eq!(exact(Attribute::var("a", Datatype::StringAscii), false), bounds);
        assert_eq!(exact(Attribute::var("a", Datatype::StringAscii), true), NOTHING);
        assert_eq!(exact(Attribute::new("a", Datatype::StringAscii), false), NOTHING);
        assert_eq!(exact(Attribute::var("a", Datatype::StringUtf8), false), NOTHING);
        let zeros = exact_statistics(version(22), &one(Attribute::new("a", Datatype::Int8)), FieldId::Coordinates, false);
        assert_eq!(zeros, NOTHING);
    }

    #[test]
    fn where_filters_lose_digits_only_null_counts_are_believed() {
        let scale = FilterSpec::FloatScale { scale: 0.1, offset: 0.0, byte_width: 2 };
        let attribute = Attribute { filters: FilterList::new(vec![scale]), ..Attribute::new("a", Datatype::Float64) };
        let exact = exact_statistics(version(22), &one(nullable(attribute)), FieldId::Attribute(0), false);
        assert_eq!(exact, StatisticSet { null_count: true, ..NOTHING });
    }

    #[test]
    fn float_bounds_are_not_believed_where_a_nan_may_have_been() {
        assert!(float_bounds_are_exact(1.5));
        assert!(!float_bounds_are_exact(f64::NAN));
        assert!(!float_bounds_are_exact(f64::INFINITY));
        assert!(!float_bounds_are_exact(f64::MIN));
    }
}
