//! The rules for new schemas (22-semantics §11).

mod filters;

use std::collections::HashSet;

use talavera_types::{DataOrder, Datatype, DatatypeClass, FormatVersion, Layout};

use crate::{ArraySchema, Attribute, Dimension, Enumeration, Range, Rule, SchemaError, TileExtent, hilbert};

impl ArraySchema {
    /// Checks the schema by the rules for new arrays, which are stricter than those for reading.
    ///
    /// Not among them: that names of attributes do not start with `__`, and that attributes can number the values of
    /// their enumerations. Arrays that evolved may break these; [`ArraySchemaBuilder`](crate::ArraySchemaBuilder)
    /// checks them.
    ///
    /// # Errors
    /// [`SchemaError`] with the part of the schema and the rule it breaks.
    pub fn validate(&self) -> Result<(), SchemaError> {
        array(self)?;
        names(self)?;
        for one in &self.domain.dimensions {
            dimension(self, one)?;
        }
        for one in &self.attributes {
            attribute(self, one)?;
        }
        labels(self)?;
        current_domain(self)?;
        filters::check(self)
    }
}

impl Attribute {
    /// Checks that an attribute can have this enumeration.
    ///
    /// # Errors
    /// [`SchemaError::Invalid`] unless its cells are one integer that can number all values.
    pub fn check_enumeration(&self, enumeration: &Enumeration) -> Result<(), SchemaError> {
        enumeration_datatype(self)?;
        enumeration_size(self, enumeration.len())
    }
}

/// How errors name an attribute.
pub(crate) fn attribute_field(attribute: &Attribute) -> String {
    format!("attribute {:?}", attribute.name)
}

fn dimension_field(dimension: &Dimension) -> String {
    format!("dimension {:?}", dimension.name)
}

/// The rules of the array as a whole.
pub(crate) fn array(schema: &ArraySchema) -> Result<(), SchemaError> {
    let domain = &schema.domain;
    let dense = schema.is_dense();
    let integral = |dimension: &Dimension| !dimension.is_var() && !dimension.datatype.is_float();
    let check = |holds: bool, field: &str, rule: Rule| if holds { Ok(()) } else { Err(rule.broken_by(field)) };
    check(!domain.dimensions.is_empty(), "domain", Rule::NoDimensions)?;
    check(matches!(schema.tile_order, Layout::RowMajor | Layout::ColMajor), "tile order", Rule::TileOrder)?;
    let cell_orders = [Layout::RowMajor, Layout::ColMajor, Layout::Hilbert];
    check(cell_orders.contains(&schema.cell_order), "cell order", Rule::CellOrder)?;
    check(schema.capacity > 0, "capacity", Rule::Capacity)?;
    let few = domain.dimensions.len() <= hilbert::MAX_DIMENSIONS;
    check(!schema.is_hilbert() || few, "cell order", Rule::HilbertDimensions)?;
    check(!dense || !schema.is_hilbert(), "cell order", Rule::DenseHilbert)?;
    check(!dense || !schema.allows_dups, "allows duplicates", Rule::DenseDuplicates)?;
    check(!dense || !schema.attributes.is_empty(), "attributes", Rule::DenseWithoutAttributes)?;
    check(!dense || (domain.is_homogeneous() && domain.dimensions.iter().all(integral)), "domain", Rule::DenseDimensions)?;
    stored(schema)
}

/// What the format version of the schema can store.
fn stored(schema: &ArraySchema) -> Result<(), SchemaError> {
    let version = schema.version;
    let check = |field: &str, used: bool, can: fn(FormatVersion) -> bool| {
        if used && !can(version) { Err(SchemaError::Unsupported { field: field.to_owned(), version }) } else { Ok(()) }
    };
    check("allows duplicates", schema.allows_dups, FormatVersion::has_allows_dups)?;
    let own = |dimension: &Dimension| dimension.is_var() || !dimension.filters.is_empty();
    let fields = !schema.domain.is_homogeneous() || schema.domain.dimensions.iter().any(own);
    check("dimensions of their own datatype or filters", fields, FormatVersion::has_dimension_fields)?;
    for attribute in &schema.attributes {
        let field = attribute_field(attribute);
        let fill = attribute.fill_value != Attribute::default_fill(attribute.datatype, attribute.cell_val_num);
        check(&field, fill, FormatVersion::has_fill_value)?;
        check(&field, attribute.nullable, FormatVersion::has_validity)?;
        check(&field, attribute.order != DataOrder::Unordered, FormatVersion::has_data_order)?;
        check(&field, attribute.enumeration.is_some(), FormatVersion::has_enumerations)?;
    }
    check("dimension labels", !schema.labels.is_empty(), FormatVersion::has_dimension_labels)?;
    check("enumerations", !schema.enumerations.is_empty(), FormatVersion::has_enumerations)?;
    check("current domain", schema.current_domain.is_some(), FormatVersion::has_current_domain)
}

/// Attributes, dimensions and labels share one space of names; enumerations have one of their own.
pub(crate) fn names(schema: &ArraySchema) -> Result<(), SchemaError> {
    let attributes = schema.attributes.iter().map(|attribute| ("attribute", &attribute.name));
    let dimensions = schema.domain.dimensions.iter().map(|dimension| ("dimension", &dimension.name));
    let labels = schema.labels.iter().map(|label| ("label", &label.name));
    let mut taken = HashSet::new();
    for (kind, name) in dimensions.chain(attributes).chain(labels) {
        if !taken.insert(name) {
            return Err(Rule::DuplicateName.broken_by(format!("{kind} {name:?}")));
        }
    }
    taken.clear();
    for enumeration in &schema.enumerations {
        if !taken.insert(&enumeration.name) {
            return Err(Rule::DuplicateName.broken_by(format!("enumeration {:?}", enumeration.name)));
        }
    }
    Ok(())
}

fn dimension(schema: &ArraySchema, dimension: &Dimension) -> Result<(), SchemaError> {
    let broken = |rule: Rule| Err(rule.broken_by(dimension_field(dimension)));
    let datatype = dimension.datatype;
    if !datatype.is_dimension_type() {
        return broken(Rule::DimensionDatatype(datatype));
    }
    if dimension.is_var() {
        let bare = dimension.domain.is_none() && dimension.tile_extent.is_none();
        return if bare { Ok(()) } else { broken(Rule::StringDomain) };
    }
    let Some(domain) = dimension.domain.as_ref().filter(|domain| domain.is_of(datatype)) else {
        return broken(Rule::DomainDatatype(datatype));
    };
    if !domain.is_valid() {
        return broken(Rule::DomainReversed);
    }
    if schema.is_dense() && dimension.tile_extent.is_none() {
        return broken(Rule::DenseTileExtent);
    }
    extent(domain, datatype, dimension.tile_extent).or_else(broken)
}

/// The rules that tie domain and tile extent.
fn extent(domain: &Range, datatype: Datatype, extent: Option<TileExtent>) -> Result<(), Rule> {
    let check = |holds: bool, rule: Rule| if holds { Ok(()) } else { Err(rule) };
    let within = |low: f64, high: f64, extent: f64| check((0.0..=high - low + 1.0).contains(&extent), Rule::TileExtentSize);
    match (domain, extent) {
        (Range::Float32(low, high), extent) => {
            check(low.is_finite() && high.is_finite(), Rule::DomainInfinite)?;
            match extent {
                None => Ok(()),
                Some(TileExtent::Float32(extent)) => within((*low).into(), (*high).into(), extent.into()),
                Some(_) => Err(Rule::TileExtentDatatype),
            }
        }
        (Range::Float64(low, high), extent) => {
            check(low.is_finite() && high.is_finite(), Rule::DomainInfinite)?;
            match extent {
                None => Ok(()),
                Some(TileExtent::Float64(extent)) => within(*low, *high, extent),
                Some(_) => Err(Rule::TileExtentDatatype),
            }
        }
        (_, extent) => {
            check(!is_full(domain, datatype), Rule::DomainFull)?;
            match extent {
                None => Ok(()),
                Some(TileExtent::Integer(extent)) => integer_extent(domain, datatype, extent),
                Some(_) => Err(Rule::TileExtentDatatype),
            }
        }
    }
}

/// The reference accepts a last tile beyond narrow datatypes and then fails on writing; here it is refused for all.
fn integer_extent(domain: &Range, datatype: Datatype, extent: u64) -> Result<(), Rule> {
    let width = domain.cell_count().ok_or(Rule::DomainFull)?;
    if !(1..=width).contains(&extent) {
        return Err(Rule::TileExtentSize);
    }
    let last = u128::from(width).next_multiple_of(extent.into()) - 1;
    let (low, high) = match *domain {
        Range::Signed(low, _) => (i128::from(low), i128::from(i64::MAX >> unused_bits(datatype))),
        Range::Unsigned(low, _) => (i128::from(low), i128::from(u64::MAX >> unused_bits(datatype))),
        _ => return Err(Rule::TileExtentDatatype),
    };
    match i128::try_from(last) {
        Ok(last) if low + last <= high => Ok(()),
        _ => Err(Rule::LastTile),
    }
}

fn is_full(domain: &Range, datatype: Datatype) -> bool {
    let unused_bits = unused_bits(datatype);
    match *domain {
        Range::Signed(low, high) => low == i64::MIN >> unused_bits && high == i64::MAX >> unused_bits,
        Range::Unsigned(low, high) => low == 0 && high == u64::MAX >> unused_bits,
        _ => false,
    }
}

/// Bits of 64 that a datatype leaves unused.
fn unused_bits(datatype: Datatype) -> usize {
    64usize.saturating_sub(8 * datatype.size()).min(63)
}

/// The rules of one attribute.
pub(crate) fn attribute(schema: &ArraySchema, attribute: &Attribute) -> Result<(), SchemaError> {
    let broken = |rule: Rule| Err(rule.broken_by(attribute_field(attribute)));
    if attribute.datatype == Datatype::Any && !attribute.is_var() {
        return broken(Rule::AnyIsVar);
    }
    let (found, expected) = (attribute.fill_value.len(), attribute.cell_bytes().unwrap_or(1));
    if found < expected || (found > expected && !attribute.is_var()) {
        return broken(Rule::FillSize { found, expected });
    }
    if attribute.order != DataOrder::Unordered {
        let one = if attribute.datatype == Datatype::StringAscii { None } else { Some(1) };
        let line = schema.is_dense() && schema.domain.dimensions.len() == 1;
        if !line || attribute.nullable || attribute.cell_val_num.fixed() != one {
            return broken(Rule::OrderedAttribute);
        }
    }
    if let Some(name) = &attribute.enumeration {
        enumeration_datatype(attribute)?;
        if schema.enumeration(name).is_none() {
            return broken(Rule::EnumerationUnknown);
        }
    }
    Ok(())
}

fn enumeration_datatype(attribute: &Attribute) -> Result<(), SchemaError> {
    if attribute.datatype.is_integer() && attribute.cell_val_num.fixed() == Some(1) {
        return Ok(());
    }
    Err(Rule::EnumerationDatatype.broken_by(attribute_field(attribute)))
}

/// The largest value of the type stands above all indices.
pub(crate) fn enumeration_size(attribute: &Attribute, count: usize) -> Result<(), SchemaError> {
    let unused_bits = unused_bits(attribute.datatype);
    let signed = attribute.datatype.class() == DatatypeClass::Signed;
    let largest = if signed { i64::MAX.cast_unsigned() >> unused_bits } else { u64::MAX >> unused_bits };
    if (count as u64) < largest {
        return Ok(());
    }
    Err(Rule::EnumerationTooLarge(count).broken_by(attribute_field(attribute)))
}

fn labels(schema: &ArraySchema) -> Result<(), SchemaError> {
    for label in &schema.labels {
        let broken = |rule: Rule| Err(rule.broken_by(format!("label {:?}", label.name)));
        if u64::from(label.dimension) >= schema.domain.dimensions.len() as u64 {
            return broken(Rule::LabelDimension);
        }
        if label.order == DataOrder::Unordered {
            return broken(Rule::LabelOrder);
        }
    }
    Ok(())
}

/// A current domain lies in the domain; strings have none to lie in.
pub(crate) fn current_domain(schema: &ArraySchema) -> Result<(), SchemaError> {
    let Some(current_domain) = &schema.current_domain else { return Ok(()) };
    if !current_domain.is_of(&schema.domain) || !current_domain.is_valid() {
        return Err(Rule::CurrentDomainRanges.broken_by("current domain"));
    }
    for (dimension, range) in schema.domain.dimensions.iter().zip(&current_domain.0) {
        if dimension.domain.as_ref().is_some_and(|domain| !domain.contains(range)) {
            return Err(Rule::CurrentDomainOutside.broken_by(dimension_field(dimension)));
        }
    }
    Ok(())
}

/// The filters of one attribute.
pub(crate) fn attribute_filters(schema: &ArraySchema, attribute: &Attribute) -> Result<(), SchemaError> {
    filters::attribute(schema, attribute)
}

#[cfg(test)]
mod tests;
