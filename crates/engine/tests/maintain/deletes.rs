use talavera_condition::{QueryCondition, field};
use talavera_directory::TimeWindow;
use talavera_engine::{DeleteOptions, EvolveOptions, create_array, delete_cells, evolve_array};
use talavera_schema::{ArraySchema, Attribute, SchemaEvolution};
use talavera_storage::{MemoryStorage, ObjectPath};
use talavera_types::{ArrayType, Datatype};

use super::{dense, dimension, files, fixture, invalid, open, path, version};

fn at(timestamp: u64) -> DeleteOptions {
    DeleteOptions { timestamp: Some(timestamp), strict: false }
}

fn delete(storage: &MemoryStorage, root: &ObjectPath, condition: &QueryCondition, options: DeleteOptions) {
    delete_cells(&open(storage, root, TimeWindow::ALL).unwrap(), condition, &options).unwrap();
}

fn values(storage: &MemoryStorage, root: &ObjectPath, end: u64) -> Vec<i64> {
    let array = open(storage, root, TimeWindow::until(end)).unwrap();
    array.query().fields(["i"]).read().unwrap().field("i").unwrap().values::<i64>().unwrap().to_vec()
}

#[test]
fn cells_are_gone_from_the_time_of_the_delete_on() {
    let (storage, root) = fixture("2.30.0/sparse_2d");
    let all = values(&storage, &root, u64::MAX);
    let limit = all[all.len() / 2];
    delete(&storage, &root, &field("i").lt(limit), at(2000));
    assert_eq!(values(&storage, &root, 1999), all);
    let left: Vec<_> = all.iter().copied().filter(|value| *value >= limit).collect();
    assert!(!left.is_empty() && left.len() < all.len());
    assert_eq!(values(&storage, &root, 2000), left);
    delete(&storage, &root, &field("i").is_in(left[..2].to_vec()), DeleteOptions::default());
    assert_eq!(values(&storage, &root, u64::MAX), left[2..]);
}

#[test]
fn strings_dimensions_and_combinations_delete() {
    let (storage, root) = fixture("2.30.0/sparse_2d");
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    let cells = array.query().fields(["y", "i", "s"]).read().unwrap();
    let (y, i) = (cells.field("y").unwrap().values::<i64>().unwrap(), cells.field("i").unwrap().values::<i64>().unwrap());
    let s = |cell| cells.field("s").unwrap().cell(cell).unwrap();
    let one = s(0).to_vec();
    delete(&storage, &root, &(field("s").eq(&*one) | (field("y").ge(0) & field("y").lt(20))), at(2000));
    let keeps = |cell: &usize| s(*cell) != one && !(0..20).contains(&y[*cell]);
    let left: Vec<_> = (0..i.len()).filter(keeps).map(|cell| i[cell]).collect();
    assert_eq!(values(&storage, &root, u64::MAX), left);
    let names = files(&storage, &root.join("__commits").unwrap());
    assert!(names.iter().any(|name| name.starts_with("__2000_2000_") && name.ends_with("_22.del")));
}

#[test]
fn a_delete_before_a_write_leaves_it() {
    let (storage, root) = fixture("2.30.0/sparse_2d");
    let count = values(&storage, &root, 1010).len();
    delete(&storage, &root, &field("i").ne(i64::MAX), at(1010));
    assert_eq!(values(&storage, &root, 1010).len(), 0);
    assert!(!values(&storage, &root, 1020).is_empty() && count > 0, "the second fragment is newer");
}

fn sparse(number: u32) -> (MemoryStorage, ObjectPath) {
    let (storage, root) = (MemoryStorage::new(), path("array"));
    let fixed = Attribute::with_cell_val_num("three", Datatype::Char, talavera_types::CellValNum::Fixed(3.try_into().unwrap()));
    let schema = ArraySchema::builder(ArrayType::Sparse)
        .version(version(number))
        .dimension(dimension("d"))
        .attribute(Attribute { nullable: true, ..Attribute::new("n", Datatype::Int32) })
        .attribute(Attribute::new("f", Datatype::Float32))
        .attribute(Attribute::new("a", Datatype::UInt8))
        .attribute(fixed)
        .build()
        .unwrap();
    create_array(&storage, &root, &schema, &[], &talavera_engine::CreateOptions::default()).unwrap();
    (storage, root)
}

#[test]
fn deletes_that_cannot_be_stored_are_refused() {
    let (storage, root) = sparse(22);
    let before = files(&storage, &root);
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    let refused = |condition: &QueryCondition| invalid(delete_cells(&array, condition, &DeleteOptions::default()));
    assert!(refused(&field("n").is_null()).contains("null test"));
    assert!(refused(&(field("a").eq(1) & field("n").is_not_null())).contains("null test"));
    assert!(refused(&field("unknown").eq(1)).contains("does not exist"));
    assert!(refused(&field("__timestamps").lt(5)).contains("does not exist"));
    assert!(refused(&field("a").eq(300)).contains("out of range"));
    assert!(refused(&field("a").is_in(Vec::<i32>::new())).contains("empty"));
    assert!(refused(&field("three").eq("four")).contains("size"));
    assert!(refused(&QueryCondition::Constant(true)).contains("constant"));
    assert_eq!(files(&storage, &root), before);
}

#[test]
fn only_sparse_arrays_of_version_16_on_have_deletes() {
    let (storage, root) = sparse(15);
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    assert!(invalid(delete_cells(&array, &field("a").eq(1), &DeleteOptions::default())).contains("version 15"));
    let (storage, root) = (MemoryStorage::new(), path("array"));
    create_array(&storage, &root, &dense().build().unwrap(), &[], &talavera_engine::CreateOptions::default()).unwrap();
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    assert!(invalid(delete_cells(&array, &field("a").eq(1), &DeleteOptions::default())).contains("dense"));
}

#[test]
fn strict_deletes_take_no_cells_that_the_condition_does_not_name() {
    let strict = DeleteOptions { timestamp: None, strict: true };
    let (storage, root) = sparse(16);
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    assert!(invalid(delete_cells(&array, &field("n").eq(1), &strict)).contains("nulls"));
    assert!(invalid(delete_cells(&array, &field("f").lt(1.0), &strict)).contains("NaN"));
    delete_cells(&array, &(field("a").eq(1) | field("f").eq(2.0) | field("d").gt(3)), &strict).unwrap();
    let (storage, root) = fixture("2.30.0/sparse_2d");
    let add = SchemaEvolution::new().add_attribute(Attribute::new("new", Datatype::Int32));
    evolve_array(&storage, &root, &add, &[], &EvolveOptions::default()).unwrap();
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    assert!(invalid(delete_cells(&array, &field("new").eq(1), &strict)).contains("has no field 'new'"));
    delete_cells(&array, &field("i").eq(i64::MIN), &strict).unwrap();
    assert_eq!(values(&storage, &root, u64::MAX).len(), 50);
}

#[test]
fn old_fragments_cannot_be_deleted_from_in_their_midst() {
    // An array of version 5, whose new commits are of version 22, with fragments of times 1010 and 1020.
    let (storage, root) = fixture("2.0.8/sparse_2d");
    let array = open(&storage, &root, TimeWindow::ALL).unwrap();
    let fragment = array.directory().committed_fragments()[0].name.clone();
    let condition = field("i").ge(0);
    let refused = invalid(delete_cells(&array, &condition, &at(fragment.start())));
    assert!(refused.contains("too old to tell them apart"), "{refused}");
    let all = values(&storage, &root, u64::MAX);
    delete(&storage, &root, &condition, DeleteOptions::default());
    assert_eq!(values(&storage, &root, u64::MAX), all.into_iter().filter(|value| *value < 0).collect::<Vec<_>>());
}
