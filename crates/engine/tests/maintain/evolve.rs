use talavera_directory::TimeWindow;
use talavera_engine::{CreateOptions, Error, EvolveOptions, create_array, enumeration_file_name, evolve_array, upgrade_array};
use talavera_schema::{Attribute, Enumeration, NdRange, Range, SchemaEvolution};
use talavera_storage::{MemoryStorage, ObjectPath, Storage, StorageExt};
use talavera_types::{CellValNum, Datatype};

use super::{dense, files, fixture, invalid, open, path, version};

fn at(timestamp: u64) -> EvolveOptions {
    EvolveOptions { timestamp: Some(timestamp), ..EvolveOptions::default() }
}

fn created(schema: talavera_schema::ArraySchemaBuilder, enumerations: &[Enumeration]) -> (MemoryStorage, ObjectPath) {
    let (storage, root) = (MemoryStorage::new(), path("array"));
    let options = CreateOptions { timestamp: Some(1000), key: None };
    create_array(&storage, &root, &schema.build().unwrap(), enumerations, &options).unwrap();
    (storage, root)
}

fn words(name: &str, values: &[&str]) -> Enumeration {
    let values = values.iter().map(|value| value.as_bytes());
    let file_name = enumeration_file_name().unwrap();
    Enumeration::from_values(name, file_name, Datatype::StringUtf8, CellValNum::Var, false, values).unwrap()
}

fn attributes(storage: &MemoryStorage, root: &ObjectPath, end: u64) -> Vec<String> {
    let array = open(storage, root, TimeWindow::until(end)).unwrap();
    array.schema().attributes.iter().map(|attribute| attribute.name.clone()).collect()
}

#[test]
fn readers_see_the_schema_of_their_time() {
    let (storage, root) = created(dense(), &[]);
    let add = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Float64));
    let name = evolve_array(&storage, &root, &add, &[], &at(2000)).unwrap();
    assert!(name.starts_with("__2000_2000_"));
    evolve_array(&storage, &root, &SchemaEvolution::new().drop_attribute("a"), &[], &at(3000)).unwrap();
    assert_eq!(attributes(&storage, &root, 1999), ["a"]);
    assert_eq!(attributes(&storage, &root, 2000), ["a", "b"]);
    assert_eq!(attributes(&storage, &root, 3000), ["b"]);
    assert_eq!(open(&storage, &root, TimeWindow::ALL).unwrap().all_schemas().unwrap().len(), 3);
}

#[test]
fn a_change_starts_from_the_newest_schema_at_whatever_time() {
    let (storage, root) = created(dense(), &[]);
    let add = |name: &str| SchemaEvolution::new().add_attribute(Attribute::new(name, Datatype::Float64));
    let year_3000 = 32_503_680_000_000;
    evolve_array(&storage, &root, &add("b"), &[], &at(year_3000)).unwrap();
    evolve_array(&storage, &root, &add("c"), &[], &EvolveOptions::default()).unwrap();
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    assert_eq!(array.schema().attributes.len(), 3);
    assert!(array.schema_name().starts_with(&format!("__{}_", year_3000 + 1)), "{}", array.schema_name());
    assert!(invalid(evolve_array(&storage, &root, &add("e"), &[], &at(1500))).contains("would not come after"));
}

#[test]
fn enumerations_come_grow_and_go() {
    let colours = words("colours", &["red", "green"]);
    let (storage, root) = created(dense().enumeration(&colours), std::slice::from_ref(&colours));
    let more = colours.extended(enumeration_file_name().unwrap(), [&b"blue"[..]]).unwrap();
    let sizes = words("sizes", &["s", "m"]);
    let evolution = SchemaEvolution::new()
        .add_enumeration(&sizes)
        .add_attribute(Attribute { enumeration: Some("sizes".into()), ..Attribute::new("size", Datatype::UInt8) })
        .add_attribute(Attribute { enumeration: Some("colours".into()), ..Attribute::new("colour", Datatype::UInt8) })
        .extend_enumeration(&colours, &more)
        .unwrap();
    evolve_array(&storage, &root, &evolution, &[sizes.clone(), more.clone()], &at(2000)).unwrap();
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    assert_eq!(*array.enumeration("colours").unwrap(), more);
    assert_eq!(*array.enumeration("sizes").unwrap(), sizes);
    let old = open(&storage, &root, TimeWindow::until(1999)).unwrap();
    assert_eq!(*old.enumeration("colours").unwrap(), colours);
    let gone = SchemaEvolution::new().drop_attribute("size").drop_enumeration("sizes");
    evolve_array(&storage, &root, &gone, &[], &at(3000)).unwrap();
    assert!(open(&storage, &root, TimeWindow::ALL).unwrap().enumeration("sizes").is_err());
}

#[test]
fn enumerations_that_do_not_fit_the_change_are_refused() {
    let colours = words("colours", &["red", "green"]);
    let (storage, root) = created(dense().enumeration(&colours), std::slice::from_ref(&colours));
    let before = files(&storage, &root);
    let sizes = words("sizes", &["s"]);
    let add = SchemaEvolution::new().add_enumeration(&sizes);
    let evolve = |evolution: &SchemaEvolution, enumerations: &[Enumeration]| {
        invalid(evolve_array(&storage, &root, evolution, enumerations, &EvolveOptions::default()))
    };
    assert!(evolve(&add, &[]).contains("are not given"));
    assert!(evolve(&SchemaEvolution::new(), std::slice::from_ref(&sizes)).contains("does not bring"));
    // An extension of something else than what the array has.
    let other = words("colours", &["cyan"]);
    let more = other.extended(enumeration_file_name().unwrap(), [&b"blue"[..]]).unwrap();
    let extend = SchemaEvolution::new().extend_enumeration(&other, &more).unwrap();
    assert!(evolve(&extend, &[more]).contains("does not extend"));
    // A new attribute that cannot number the values that are there.
    let many: Vec<_> = (0..127).map(|number| number.to_string()).collect();
    let many = words("many", &many.iter().map(String::as_str).collect::<Vec<_>>());
    let add = SchemaEvolution::new().add_enumeration(&many);
    let (storage, root) = created(dense().enumeration(&many), std::slice::from_ref(&many));
    let attribute = Attribute { enumeration: Some("many".into()), ..Attribute::new("n", Datatype::Int8) };
    let add_attribute = SchemaEvolution::new().add_attribute(attribute);
    assert!(invalid(evolve_array(&storage, &root, &add_attribute, &[], &at(2000))).contains("cannot number 127"));
    assert!(invalid(evolve_array(&storage, &root, &add, &[many], &at(2000))).contains("taken"));
    assert_eq!(before.len(), 2);
}

#[test]
fn a_current_domain_only_grows() {
    let (storage, root) = created(dense(), &[]);
    let grow = |low, high| SchemaEvolution::new().expand_current_domain(NdRange(vec![Range::Signed(low, high)]));
    evolve_array(&storage, &root, &grow(2, 5), &[], &at(2000)).unwrap();
    evolve_array(&storage, &root, &grow(2, 9), &[], &at(3000)).unwrap();
    assert!(invalid(evolve_array(&storage, &root, &grow(3, 9), &[], &at(4000))).contains("only grow"));
    assert!(invalid(evolve_array(&storage, &root, &grow(0, 11), &[], &at(4000))).contains("not in the domain"));
    let current = |end| open(&storage, &root, TimeWindow::until(end)).unwrap().schema().current_domain.clone();
    assert_eq!(current(1000), None);
    assert_eq!(current(3000), Some(NdRange(vec![Range::Signed(2, 9)])));
}

#[test]
fn old_arrays_get_a_schema_of_the_version_of_new_ones() {
    for number in [7, 10, 12, 19] {
        let (storage, root) = created(dense().version(version(number)), &[]);
        let sizes = words("sizes", &["s"]);
        let add = SchemaEvolution::new().add_enumeration(&sizes);
        evolve_array(&storage, &root, &add, &[sizes], &at(2000)).unwrap();
        let array = open(&storage, &root, TimeWindow::ALL).unwrap();
        assert_eq!((array.schema().version, array.schema().attributes.len()), (version(22), 1));
        let (storage, root) = created(dense().version(version(number)), &[]);
        assert!(upgrade_array(&storage, &root, &at(2000)).unwrap().is_some());
        assert_eq!(upgrade_array(&storage, &root, &at(3000)).unwrap(), None);
        assert_eq!(open(&storage, &root, TimeWindow::ALL).unwrap().schema().version, version(22));
        assert!(storage.list(&root).unwrap().iter().any(|entry| entry.name == "__commits"));
    }
    let (storage, root) = created(dense().version(version(23)), &[]);
    assert_eq!(upgrade_array(&storage, &root, &at(2000)).unwrap(), None);
}

#[test]
fn cells_from_before_read_as_fill_values_of_new_attributes() {
    let (storage, root) = fixture("2.30.0/sparse_2d");
    let fill = Attribute { fill_value: vec![9, 0], ..Attribute::new("new", Datatype::Int16) };
    let evolution = SchemaEvolution::new().add_attribute(fill).drop_attribute("f");
    evolve_array(&storage, &root, &evolution, &[], &EvolveOptions::default()).unwrap();
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    let cells = array.query().fields(["i", "new"]).read().unwrap();
    assert_eq!(cells.field("new").unwrap().values::<i16>().unwrap(), [9; 50]);
    assert_eq!(cells.field("i").unwrap().len(), 50);
    assert!(array.query().fields(["f"]).read().is_err());
}

#[test]
fn attributes_stay_as_they_are_beside_fragments_that_do_not_name_their_schema() {
    for (name, is_refused) in
        [("1.5.0/sparse_2d", false), ("2.0.8/sparse_2d", true), ("2.3.3/sparse_2d", true), ("2.8.3/sparse_2d", false)]
    {
        let (storage, root) = fixture(name);
        let before = files(&storage, &root);
        let add = SchemaEvolution::new().add_attribute(Attribute::new("new", Datatype::Int32));
        let evolved = evolve_array(&storage, &root, &add, &[], &EvolveOptions::default());
        if is_refused {
            assert!(invalid(evolved).contains("does not name its schema"), "{name}");
            assert_eq!(files(&storage, &root), before);
            let sizes = words("sizes", &["s"]);
            let add = SchemaEvolution::new().add_enumeration(&sizes);
            evolve_array(&storage, &root, &add, &[sizes], &EvolveOptions::default()).unwrap();
        } else {
            evolved.unwrap();
        }
        let array = open(&storage, &root, TimeWindow::ALL).unwrap();
        assert_eq!(array.query().fields(["i"]).read().unwrap().field("i").unwrap().len(), 50, "{name}");
    }
}

#[test]
fn there_is_nothing_to_evolve_without_an_array() {
    let evolved = evolve_array(&MemoryStorage::new(), &path("x"), &SchemaEvolution::new(), &[], &EvolveOptions::default());
    assert!(matches!(evolved, Err(Error::NotFound { wanted: "array", .. })));
}

#[test]
fn damaged_schemas_are_errors() {
    let (storage, root) = created(dense(), &[]);
    let schema = root.join(&files(&storage, &root)[0]).unwrap();
    storage.write(&schema, b"short").unwrap();
    let evolved = evolve_array(&storage, &root, &SchemaEvolution::new(), &[], &EvolveOptions::default());
    assert!(matches!(evolved, Err(Error::GenericTile { .. })));
}
