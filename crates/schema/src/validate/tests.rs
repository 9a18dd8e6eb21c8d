use std::num::NonZeroU32;

use talavera_filter::{FilterList, FilterSpec};
use talavera_types::{ArrayType, CellValNum};

use super::*;
use crate::{ArraySchemaBuilder, DimensionLabel, NdRange};

fn integers(datatype: Datatype, low: i64, high: i64, extent: u64) -> Dimension {
    Dimension::new("d", datatype, Range::Signed(low, high), Some(TileExtent::Integer(extent)))
}

fn rows() -> Dimension {
    integers(Datatype::Int32, 1, 10, 5)
}

fn dense() -> ArraySchemaBuilder {
    ArraySchema::builder(ArrayType::Dense).dimension(rows()).attribute(Attribute::new("a", Datatype::Int32))
}

fn sparse(dimension: Dimension) -> ArraySchemaBuilder {
    ArraySchema::builder(ArrayType::Sparse).dimension(dimension)
}

fn refused(builder: ArraySchemaBuilder) -> Rule {
    match builder.build().unwrap_err() {
        SchemaError::Invalid { rule, .. } => rule,
        other => panic!("{other}"),
    }
}

fn attribute_with(change: impl FnOnce(&mut Attribute)) -> ArraySchemaBuilder {
    let mut attribute = Attribute::new("b", Datatype::Int32);
    change(&mut attribute);
    dense().attribute(attribute)
}

#[test]
fn defaults_make_a_whole_schema() {
    let schema = dense().build().unwrap();
    assert_eq!((schema.version, schema.capacity), (FormatVersion::DEFAULT, 10_000));
    assert_eq!(schema.dimension_filters(0), Some(&FilterList::new(vec![FilterSpec::Zstd { level: -1 }])));
    assert!(sparse(Dimension::string("s")).build().is_ok(), "sparse arrays need no attributes");
}

#[test]
fn null_extents_become_the_whole_domain_except_in_hilbert_order() {
    let bare = |datatype, range| Dimension::new("d", datatype, range, None);
    let extent = |builder: ArraySchemaBuilder| builder.build().unwrap().domain.dimensions[0].tile_extent;
    assert_eq!(extent(sparse(bare(Datatype::Int8, Range::Signed(-100, 100)))), Some(TileExtent::Integer(201)));
    assert_eq!(extent(sparse(bare(Datatype::Float32, Range::Float32(1.0, 3.0)))), Some(TileExtent::Float32(2.0)));
    assert_eq!(extent(sparse(bare(Datatype::Int8, Range::Signed(0, 9))).cell_order(Layout::Hilbert)), None);
}

#[test]
fn dimensions_have_a_datatype_of_dimensions_and_a_domain_of_it() {
    let new = |datatype, range| sparse(Dimension::new("d", datatype, range, None));
    assert_eq!(refused(new(Datatype::Char, Range::Unsigned(0, 1))), Rule::DimensionDatatype(Datatype::Char));
    assert_eq!(refused(new(Datatype::Int8, Range::Signed(0, 128))), Rule::DomainDatatype(Datatype::Int8));
    assert_eq!(refused(new(Datatype::StringAscii, Range::Signed(0, 1))), Rule::StringDomain);
    assert_eq!(refused(new(Datatype::Int8, Range::Signed(1, 0))), Rule::DomainReversed);
    assert_eq!(refused(new(Datatype::Float64, Range::Float64(f64::NAN, 0.0))), Rule::DomainReversed);
    assert_eq!(refused(new(Datatype::Float64, Range::Float64(0.0, f64::INFINITY))), Rule::DomainInfinite);
    assert_eq!(refused(new(Datatype::UInt8, Range::Unsigned(0, 255))), Rule::DomainFull);
    assert_eq!(refused(new(Datatype::Int64, Range::Signed(i64::MIN, i64::MAX))), Rule::DomainFull);
    assert!(new(Datatype::Int64, Range::Signed(i64::MIN, i64::MAX - 1)).build().is_ok());
}

#[test]
fn tile_extents_lie_between_one_and_the_domain() {
    let check = |extent| sparse(integers(Datatype::Int32, 1, 10, extent));
    assert_eq!(refused(check(0)), Rule::TileExtentSize);
    assert_eq!(refused(check(11)), Rule::TileExtentSize);
    assert!(check(10).build().is_ok());
    let float = |extent| sparse(Dimension::new("d", Datatype::Float32, Range::Float32(0.0, 2.0), Some(extent)));
    assert_eq!(refused(float(TileExtent::Float32(3.5))), Rule::TileExtentSize);
    assert_eq!(refused(float(TileExtent::Float32(-1.0))), Rule::TileExtentSize);
    assert_eq!(refused(float(TileExtent::Integer(1))), Rule::TileExtentDatatype);
}

#[test]
fn the_last_tile_ends_within_the_datatype() {
    // The reference accepts the first two and fails when it writes.
    assert_eq!(refused(sparse(integers(Datatype::Int32, 0, 0x7fff_fffe, 10))), Rule::LastTile);
    let bytes = Dimension::new("d", Datatype::UInt8, Range::Unsigned(0, 254), Some(TileExtent::Integer(10)));
    assert_eq!(refused(sparse(bytes)), Rule::LastTile);
    assert_eq!(refused(sparse(integers(Datatype::Int64, 0, i64::MAX - 1, 10))), Rule::LastTile);
    assert!(sparse(integers(Datatype::Int8, 0, 126, 64)).build().is_ok());
}

#[test]
fn dense_arrays_keep_their_rules() {
    let float = || Dimension::new("f", Datatype::Float32, Range::Float32(0.0, 1.0), None);
    let other = || Dimension::new("e", Datatype::Int64, Range::Signed(0, 9), None);
    assert_eq!(refused(dense().dimension(float())), Rule::DenseDimensions);
    assert_eq!(refused(dense().dimension(other())), Rule::DenseDimensions);
    assert_eq!(refused(dense().allows_dups(true)), Rule::DenseDuplicates);
    assert_eq!(refused(dense().cell_order(Layout::Hilbert)), Rule::DenseHilbert);
    assert_eq!(refused(ArraySchema::builder(ArrayType::Dense).dimension(rows())), Rule::DenseWithoutAttributes);
    assert_eq!(refused(ArraySchema::builder(ArrayType::Dense)), Rule::NoDimensions);
}

#[test]
fn orders_and_capacity_are_those_of_arrays() {
    assert_eq!(refused(dense().tile_order(Layout::Hilbert)), Rule::TileOrder);
    assert_eq!(refused(dense().cell_order(Layout::Unordered)), Rule::CellOrder);
    assert_eq!(refused(dense().capacity(0)), Rule::Capacity);
    let many = (0..17).map(|index| Dimension::string(index.to_string()));
    let many = many.fold(ArraySchema::builder(ArrayType::Sparse), ArraySchemaBuilder::dimension);
    assert_eq!(refused(many.cell_order(Layout::Hilbert)), Rule::HilbertDimensions);
}

#[test]
fn names_are_distinct_and_not_reserved() {
    assert_eq!(refused(dense().attribute(Attribute::new("d", Datatype::Int8))), Rule::DuplicateName);
    let label = || DimensionLabel::internal(0, 0, "a", DataOrder::Increasing, Datatype::Int32);
    assert_eq!(refused(dense().label(label())), Rule::DuplicateName);
    assert_eq!(refused(attribute_with(|attribute| attribute.name = "__b".to_owned())), Rule::ReservedName);
}

#[test]
fn attributes_keep_their_rules() {
    assert_eq!(refused(attribute_with(|attribute| attribute.fill_value = vec![0; 3])), Rule::FillSize { found: 3, expected: 4 });
    assert_eq!(refused(attribute_with(|attribute| attribute.datatype = Datatype::Any)), Rule::AnyIsVar);
    let ordered = |nullable| {
        attribute_with(|attribute| {
            attribute.order = DataOrder::Increasing;
            attribute.nullable = nullable;
        })
    };
    assert!(ordered(false).build().is_ok());
    assert_eq!(refused(ordered(true)), Rule::OrderedAttribute);
    let empty =
        attribute_with(|attribute| *attribute = Attribute { fill_value: Vec::new(), ..Attribute::var("b", Datatype::Int8) });
    assert_eq!(refused(empty), Rule::FillSize { found: 0, expected: 1 });
}

#[test]
fn attributes_number_the_values_of_their_enumeration() {
    let values = (0u8..127).map(|value| vec![value]).collect::<Vec<_>>();
    let make = |count: usize| {
        let values = values.iter().take(count).map(Vec::as_slice);
        Enumeration::from_values("e", "__0_0", Datatype::UInt8, CellValNum::ONE, false, values).unwrap()
    };
    let with = |datatype, enumeration: &Enumeration| {
        let attribute = Attribute { enumeration: Some("e".to_owned()), ..Attribute::new("b", datatype) };
        dense().enumeration(enumeration).attribute(attribute)
    };
    assert!(with(Datatype::Int8, &make(126)).build().is_ok());
    assert_eq!(refused(with(Datatype::Int8, &make(127))), Rule::EnumerationTooLarge(127));
    assert!(with(Datatype::UInt8, &make(127)).build().is_ok());
    assert_eq!(refused(with(Datatype::Float32, &make(1))), Rule::EnumerationDatatype);
    assert_eq!(refused(attribute_with(|attribute| attribute.enumeration = Some("none".to_owned()))), Rule::EnumerationUnknown);
    assert!(Attribute::new("b", Datatype::Int8).check_enumeration(&make(127)).is_err());
}

#[test]
fn current_domains_lie_in_the_domain() {
    let check = |range| dense().current_domain(NdRange(vec![range]));
    assert!(check(Range::Signed(2, 10)).build().is_ok());
    assert_eq!(refused(check(Range::Signed(0, 10))), Rule::CurrentDomainOutside);
    assert_eq!(refused(check(Range::Unsigned(2, 3))), Rule::CurrentDomainRanges);
    assert_eq!(refused(dense().current_domain(NdRange(Vec::new()))), Rule::CurrentDomainRanges);
    let any = Range::String([].into(), Box::from(*b"zz"));
    assert!(sparse(Dimension::string("s")).current_domain(NdRange(vec![any])).build().is_ok());
}

#[test]
fn old_versions_cannot_store_what_came_later() {
    let old = |number| FormatVersion::new(number).unwrap();
    let check = |builder: ArraySchemaBuilder, last_without: u32| {
        assert!(matches!(builder.clone().version(old(last_without)).build(), Err(SchemaError::Unsupported { .. })));
        builder.version(old(last_without + 1)).build().unwrap();
    };
    check(attribute_with(|attribute| attribute.fill_value = vec![0; 4]), 5);
    check(attribute_with(|attribute| attribute.nullable = true), 6);
    check(attribute_with(|attribute| attribute.order = DataOrder::Increasing), 16);
    check(dense().label(DimensionLabel::internal(0, 0, "l", DataOrder::Increasing, Datatype::Int32)), 17);
    check(dense().current_domain(NdRange(vec![Range::Signed(1, 2)])), 21);
    check(sparse(Dimension::string("s")), 4);
}

#[test]
fn filters_take_what_comes_to_them() {
    let with = |datatype, var, filters: Vec<FilterSpec>| {
        let mut attribute = if var { Attribute::var("b", datatype) } else { Attribute::new("b", datatype) };
        attribute.filters = FilterList::new(filters);
        dense().attribute(attribute)
    };
    let delta = || FilterSpec::DoubleDelta { level: -1, reinterpret: Datatype::Any };
    let (rle, zstd) = (|| FilterSpec::Rle { level: -1 }, || FilterSpec::Zstd { level: 3 });
    let dictionary = || FilterSpec::Dictionary { level: -1 };
    assert!(matches!(refused(with(Datatype::Float32, false, vec![delta()])), Rule::Filter(_)));
    assert!(with(Datatype::Int32, false, vec![delta(), zstd()]).build().is_ok());
    let scale = FilterSpec::FloatScale { scale: 1.0, offset: 0.0, byte_width: 2 };
    assert!(with(Datatype::Float64, false, vec![scale, delta()]).build().is_ok(), "the scaled floats are integers");
    assert_eq!(refused(with(Datatype::StringUtf8, true, vec![zstd(), rle()])), Rule::StringFilterFirst);
    assert!(with(Datatype::StringUtf8, true, vec![rle(), zstd()]).build().is_ok());
    assert!(matches!(refused(with(Datatype::Int32, false, vec![dictionary()])), Rule::Filter(_)));
    assert!(matches!(refused(with(Datatype::Int32, false, vec![FilterSpec::Aes256Gcm])), Rule::Filter(_)));
    assert!(matches!(
        refused(with(Datatype::Int32, false, vec![FilterSpec::Xor]).version(FormatVersion::new(15).unwrap())),
        Rule::Filter(_)
    ));
}

#[test]
fn inherited_filters_count_as_the_dimensions_own() {
    let text = || Dimension::string("s");
    let list = FilterList::new(vec![FilterSpec::Zstd { level: 1 }, FilterSpec::Rle { level: -1 }]);
    assert_eq!(refused(sparse(text()).coords_filters(list.clone())), Rule::StringFilterFirst);
    let own = Dimension { filters: FilterList::new(vec![FilterSpec::None]), ..text() };
    assert!(sparse(own).coords_filters(list).build().is_ok());
}

#[test]
fn cells_of_several_values_have_fills_of_several_values() {
    let three = CellValNum::Fixed(NonZeroU32::new(3).unwrap());
    assert!(dense().attribute(Attribute::with_cell_val_num("b", Datatype::Int16, three)).build().is_ok());
    assert_eq!(refused(attribute_with(|attribute| attribute.cell_val_num = three)), Rule::FillSize { found: 4, expected: 12 });
}
