//! Batches make up the whole result, in its order, and none of them is empty.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use talavera_directory::TimeWindow;
use talavera_engine::{Batch, EngineOptions, OpenArray, ReadQuery};
use talavera_pipeline::EncryptionKey;
use talavera_storage::{LocalStorage, ObjectPath};
use talavera_testkit::fixtures::{Case, Cell};
use talavera_types::Layout;

const MOST_CELLS: usize = 7;

#[test]
fn batches_make_up_the_whole_in_its_order() {
    let cases = Case::all_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures"));
    let batches: usize = cases.par_iter().map(compare).sum();
    println!("{batches} batches of {} arrays", cases.len());
    assert!(batches > 10 * cases.len(), "{batches} batches of {} arrays are too few to tell", cases.len());
}

/// Compares in an order with a meaning of its own and in the fastest one; says how many batches there were.
fn compare(case: &Case) -> usize {
    let key = case.key().map(|key| EncryptionKey::from_bytes(&key).unwrap());
    let options = EngineOptions { key, ..EngineOptions::default() };
    let storage = Arc::new(LocalStorage::new(case.array()).unwrap());
    let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow { start: 0, end: u64::MAX }, options).unwrap();
    let orders = [Layout::ColMajor, Layout::GlobalOrder, Layout::Unordered];
    orders.map(|order| compare_batches(&array.query().layout(order), order, &case.name())).iter().sum()
}

fn compare_batches(query: &ReadQuery<'_>, order: Layout, name: &str) -> usize {
    let mut expected = rows(&query.clone().read().unwrap());
    let mut found = Vec::new();
    let mut count = 0;
    // A few cells each.
    for batch in query.clone().batch_bytes(1_000).batch_rows(MOST_CELLS).batches().unwrap() {
        let batch = batch.unwrap();
        assert!((1..=MOST_CELLS).contains(&batch.cells), "{name}, {order}: a batch of {} cells", batch.cells);
        found.extend(rows(&batch));
        count += 1;
    }
    let joined = rows(&query.clone().batch_bytes(1_000).read().unwrap());
    assert!(order == Layout::Unordered || joined == expected, "{name}, {order}: a whole of parts differs");
    if order == Layout::Unordered {
        expected.sort_unstable();
        found.sort_unstable();
    }
    assert!(found == expected, "{name}, {order}: {count} batches with {} of {} cells differ", found.len(), expected.len());
    count
}

fn rows(batch: &Batch) -> Vec<Vec<Cell>> {
    let cell = |row: usize| {
        let fields = batch.fields.iter();
        fields.map(|(_, field)| if field.is_null(row) { None } else { Some(field.cell(row).unwrap().to_vec()) }).collect()
    };
    (0..batch.cells).map(cell).collect()
}
