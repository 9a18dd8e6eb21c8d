use talavera_types::{ArrayType, CellValNum, Datatype, FormatVersion};

use super::*;
use crate::{Dimension, Range, TileExtent};

fn schema() -> ArraySchema {
    let rows = Dimension::new("d", Datatype::Int32, Range::Signed(1, 10), Some(TileExtent::Integer(5)));
    let colour = Attribute { enumeration: Some("colours".to_owned()), ..Attribute::new("colour", Datatype::Int8) };
    ArraySchema::builder(ArrayType::Dense)
        .dimension(rows)
        .attribute(Attribute::new("a", Datatype::Int32))
        .attribute(colour)
        .enumeration(&colours())
        .build()
        .unwrap()
}

fn colours() -> Enumeration {
    let values = [&b"red"[..], b"green"];
    Enumeration::from_values("colours", "__0_0", Datatype::StringUtf8, CellValNum::Var, false, values).unwrap()
}

fn broken(evolution: &SchemaEvolution) -> Rule {
    match evolution.apply(&schema()).unwrap_err() {
        SchemaError::Invalid { rule, .. } => rule,
        other => panic!("{other}"),
    }
}

fn names(schema: &ArraySchema) -> Vec<&str> {
    schema.attributes.iter().map(|attribute| attribute.name.as_str()).collect()
}

#[test]
fn attributes_come_last_and_go_anywhere() {
    let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Float64)).drop_attribute("a");
    assert_eq!(names(&evolution.apply(&schema()).unwrap()), ["colour", "b"]);
}

#[test]
fn of_adding_and_dropping_a_name_the_last_call_counts() {
    let b = || Attribute::new("b", Datatype::Float64);
    let kept = SchemaEvolution::new().drop_attribute("b").add_attribute(b());
    assert_eq!(names(&kept.apply(&schema()).unwrap()), ["a", "colour", "b"]);
    let gone = SchemaEvolution::new().add_attribute(b()).drop_attribute("b");
    assert_eq!(gone.apply(&schema()).unwrap_err().to_string(), "attribute \"b\": not in the schema");
}

#[test]
fn names_that_are_taken_or_unknown_are_errors() {
    let add = |name| SchemaEvolution::new().add_attribute(Attribute::new(name, Datatype::Int8));
    assert_eq!(broken(&add("a")), Rule::DuplicateName);
    assert_eq!(broken(&add("d")), Rule::DuplicateName);
    assert!(add("__reserved").apply(&schema()).is_ok(), "the reference does not look at reserved names here");
    assert!(SchemaEvolution::new().drop_attribute("d").apply(&schema()).is_err());
    assert_eq!(broken(&SchemaEvolution::new().add_enumeration(&colours())), Rule::DuplicateName);
}

#[test]
fn a_dense_array_keeps_an_attribute() {
    let evolution = SchemaEvolution::new().drop_attribute("a").drop_attribute("colour");
    assert_eq!(broken(&evolution), Rule::DenseWithoutAttributes);
}

#[test]
fn enumerations_grow_into_a_new_file() {
    let more = colours().extended("__1_0", [&b"blue"[..]]).unwrap();
    let evolution = SchemaEvolution::new().extend_enumeration(&colours(), &more).unwrap();
    let new = evolution.apply(&schema()).unwrap();
    assert_eq!(new.enumeration("colours").unwrap().file_name, "__1_0");
    assert!(SchemaEvolution::new().extend_enumeration(&more, &colours()).is_err());
}

#[test]
fn enumerations_in_use_stay() {
    assert_eq!(broken(&SchemaEvolution::new().drop_enumeration("colours")), Rule::EnumerationInUse);
    let evolution = SchemaEvolution::new().drop_enumeration("colours").drop_attribute("colour").drop_enumeration("unknown");
    assert!(evolution.apply(&schema()).unwrap().enumerations.is_empty());
}

#[test]
fn current_domains_only_grow() {
    let to = |low, high| SchemaEvolution::new().expand_current_domain(NdRange(vec![Range::Signed(low, high)]));
    let small = to(2, 5).apply(&schema()).unwrap();
    assert_eq!(to(1, 5).apply(&small).unwrap().current_domain, Some(NdRange(vec![Range::Signed(1, 5)])));
    assert_eq!(to(3, 9).apply(&small).unwrap_err(), Rule::CurrentDomainShrinks.broken_by("current domain"));
    assert_eq!(broken(&to(0, 5)), Rule::CurrentDomainOutside);
}

#[test]
fn the_version_stays_and_so_do_its_limits() {
    let mut old = schema();
    old.version = FormatVersion::new(19).unwrap();
    old.enumerations.clear();
    old.attributes.pop();
    let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Int8));
    assert_eq!(evolution.apply(&old).unwrap().version, old.version);
    let enumerated = SchemaEvolution::new().add_enumeration(&colours());
    assert!(matches!(enumerated.apply(&old), Err(SchemaError::Unsupported { .. })));
}

#[test]
fn rules_that_the_array_broke_before_are_left_alone() {
    // The reference accepts this domain, whose last tile ends above 255.
    let mut old = schema();
    let domain = Range::Unsigned(0, 254);
    old.domain.dimensions = vec![Dimension::new("d", Datatype::UInt8, domain, Some(TileExtent::Integer(10)))];
    assert!(old.validate().is_err());
    assert!(SchemaEvolution::new().drop_attribute("a").apply(&old).is_ok());
}
