//! Which filters a field can have (11-filters §0, 22-semantics §11).

use talavera_filter::{FilterError, FilterList, FilterSpec};
use talavera_types::{Datatype, FilterType, FormatVersion};

use super::{attribute_field, dimension_field};
use crate::{ArraySchema, Attribute, Rule, SchemaError};

/// Checks the filter lists of all fields.
pub(super) fn check(schema: &ArraySchema) -> Result<(), SchemaError> {
    for (index, dimension) in schema.domain.dimensions.iter().enumerate() {
        if let Some(filters) = schema.dimension_filters(index) {
            list(schema.version, filters, dimension.datatype, dimension.is_var())
                .and_then(|()| no_webp(filters))
                .map_err(|rule| rule.broken_by(dimension_field(dimension)))?;
        }
    }
    schema.attributes.iter().try_for_each(|one| attribute(schema, one))?;
    let offsets =
        list(schema.version, &schema.offsets_filters, Datatype::UInt64, false).and_then(|()| no_webp(&schema.offsets_filters));
    offsets.map_err(|rule| rule.broken_by("offsets filters"))?;
    let validity =
        list(schema.version, &schema.validity_filters, Datatype::UInt8, false).and_then(|()| no_webp(&schema.validity_filters));
    validity.map_err(|rule| rule.broken_by("validity filters"))
}

/// Checks the filter list of an attribute.
pub(super) fn attribute(schema: &ArraySchema, attribute: &Attribute) -> Result<(), SchemaError> {
    let webp = || if is_image(schema, attribute) { Ok(()) } else { no_webp(&attribute.filters) };
    list(schema.version, &attribute.filters, attribute.datatype, attribute.is_var())
        .and_then(|()| webp())
        .map_err(|rule| rule.broken_by(attribute_field(attribute)))
}

/// Follows the datatype from filter to filter.
fn list(version: FormatVersion, filters: &FilterList, datatype: Datatype, var: bool) -> Result<(), Rule> {
    let text = var
        && match datatype {
            Datatype::StringAscii => version.has_ascii_rle(),
            Datatype::StringUtf8 => version.has_utf8_rle_and_dictionary(),
            _ => false,
        };
    let mut input = datatype;
    for (index, filter) in filters.filters.iter().enumerate() {
        known(version, filter.filter_type())?;
        let reinterprets = matches!(filter, FilterSpec::DoubleDelta { reinterpret, .. } if *reinterpret != Datatype::Any);
        if reinterprets && !version.has_double_delta_reinterpret() {
            return Err(refused(filter.filter_type(), "the format version does not store what it takes values for"));
        }
        let takes_strings = matches!(filter, FilterSpec::Rle { .. } | FilterSpec::Dictionary { .. });
        if text && takes_strings && index > 0 {
            return Err(Rule::StringFilterFirst);
        }
        if text && takes_strings && filters.filters.len() > 1 && !version.combines_ascii_rle() {
            return Err(refused(filter.filter_type(), "the format version has it stand alone on text of variable length"));
        }
        if !text && matches!(filter, FilterSpec::Dictionary { .. }) {
            return Err(refused(filter.filter_type(), "it takes text of variable length only"));
        }
        let output = filter.output_datatype(input)?;
        if version.hands_datatype_on() {
            input = output;
        }
    }
    Ok(())
}

/// Whether libraries of a format version know a filter, and schemas may hold it.
fn known(version: FormatVersion, filter: FilterType) -> Result<(), Rule> {
    let known = match filter {
        FilterType::Aes256Gcm => return Err(refused(filter, "arrays are encrypted by their key")),
        FilterType::Bitsort => return Err(refused(filter, "it is retired")),
        FilterType::Dictionary => version.has_ascii_dictionary(),
        FilterType::FloatScale => version.has_float_scale_filter(),
        FilterType::Xor | FilterType::Webp => version.has_xor_and_webp_filters(),
        FilterType::Delta => version.has_delta_filter(),
        _ => true,
    };
    if known { Ok(()) } else { Err(refused(filter, "the format version is older than the filter")) }
}

/// Images are unsigned bytes over two dimensions of a dense array.
fn is_image(schema: &ArraySchema, attribute: &Attribute) -> bool {
    schema.is_dense() && schema.domain.dimensions.len() == 2 && attribute.datatype == Datatype::UInt8
}

fn no_webp(filters: &FilterList) -> Result<(), Rule> {
    if filters.contains(FilterType::Webp) { Err(Rule::Webp) } else { Ok(()) }
}

fn refused(filter: FilterType, reason: &str) -> Rule {
    Rule::Filter(FilterError::unsupported(filter, reason))
}
