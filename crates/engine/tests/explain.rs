//! What a read says beforehand that it will do is what it does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use talavera_condition::field;
use talavera_directory::TimeWindow;
use talavera_engine::{Cost, EngineOptions, OpenArray, Progress, ReadQuery, SkipReason};
use talavera_pipeline::EncryptionKey;
use talavera_schema::Range;
use talavera_storage::{CountingStorage, LocalStorage, ObjectPath};
use talavera_testkit::fixtures::Case;
use talavera_types::Layout;

type Counted = Arc<CountingStorage<LocalStorage>>;

fn arrays() -> Vec<(String, OpenArray, Counted)> {
    let cases = Case::all_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures"));
    let open = |case: &Case| {
        let key = case.key().map(|key| EncryptionKey::from_bytes(&key).unwrap());
        let options = EngineOptions { key, ..EngineOptions::default() };
        let storage = Arc::new(CountingStorage::new(LocalStorage::new(case.array()).unwrap()));
        let shared: Counted = Arc::clone(&storage);
        let array = OpenArray::open(shared, ObjectPath::root(), TimeWindow { start: 0, end: u64::MAX }, options).unwrap();
        (case.name(), array, storage)
    };
    cases.iter().map(open).collect()
}

/// The lower half of each dimension of integers.
fn lower_half(array: &OpenArray) -> ReadQuery<'_> {
    let mut query = array.query();
    let Some(cells) = array.non_empty_domain() else { return query };
    let bounded = array.schema().is_dense() || array.schema().current_domain.is_none();
    for (dimension, range) in cells.0.iter().enumerate().filter(|_| bounded) {
        let half = match *range {
            Range::Signed(low, high) if low <= high => Range::Signed(low, low + (high - low) / 2),
            Range::Unsigned(low, high) if low <= high => Range::Unsigned(low, low + (high - low) / 2),
            _ => continue,
        };
        query = query.range(dimension, half).unwrap();
    }
    query
}

fn queries(array: &OpenArray) -> Vec<ReadQuery<'_>> {
    let mut queries = vec![array.query(), array.query().layout(Layout::ColMajor), lower_half(array)];
    for attribute in &array.schema().attributes {
        queries.push(array.query().fields([&attribute.name]));
        queries.push(lower_half(array).fields([&attribute.name]).condition(field(&attribute.name).is_null()));
        let single = attribute.cell_val_num == talavera_types::CellValNum::ONE;
        if single && attribute.datatype.is_integer() && attribute.enumeration.is_none() {
            queries.push(array.query().condition(field(&attribute.name).gt(50)));
        }
    }
    queries
}

/// What the read did: the cost that its progress tells, requests left out.
fn done(query: ReadQuery<'_>) -> Cost {
    let latest = Arc::new(Mutex::new(Progress { tiles: 0, read_bytes: 0, decoded_bytes: 0 }));
    let told = Arc::clone(&latest);
    let keep = move |progress: Progress| {
        let mut latest = told.lock().unwrap();
        if progress.tiles > latest.tiles {
            *latest = progress;
        }
    };
    query.on_progress(Arc::new(keep)).read().unwrap();
    let latest = *latest.lock().unwrap();
    Cost { tiles: latest.tiles, read_bytes: latest.read_bytes, decoded_bytes: latest.decoded_bytes, requests: 0 }
}

#[test]
fn an_exact_plan_is_what_the_read_does_and_others_are_no_less() {
    let (mut exact, mut all) = (0, 0);
    for (name, array, storage) in arrays() {
        for (number, query) in queries(&array).into_iter().enumerate() {
            let plan = query.explain().unwrap();
            // A second plan asks only for what is not kept of the metadata; so does the read.
            storage.take();
            query.explain().unwrap();
            let again = storage.take().reads;
            let done = done(query);
            let reads = storage.take().reads;
            assert!(!plan.exact || reads == again + plan.total.requests, "{name}, query {number}: {reads} reads, {plan:?}");
            let planned = Cost { requests: 0, ..plan.total };
            if plan.exact {
                // Of a dense tile only the chunks that are needed are decoded.
                let whole = Cost { decoded_bytes: planned.decoded_bytes, ..done };
                assert_eq!(if array.schema().is_dense() { whole } else { done }, planned, "{name}, query {number}: {plan:?}");
                assert!(done.decoded_bytes <= planned.decoded_bytes, "{name}, query {number}: {done:?}, {plan:?}");
            } else {
                let less = done.tiles <= planned.tiles && done.read_bytes <= planned.read_bytes;
                assert!(less && done.decoded_bytes <= planned.decoded_bytes, "{name}, query {number}: {done:?}, {plan:?}");
            }
            exact += usize::from(plan.exact);
            all += 1;
        }
    }
    println!("{exact} of {all} plans are exact");
    assert!(all > 500 && 2 * exact > all, "{exact} of {all} plans are exact");
}

#[test]
fn ranges_without_cells_skip_every_fragment_and_say_why() {
    let arrays = arrays();
    let integers = |array: &&OpenArray| {
        !array.schema().is_dense() && matches!(array.schema().domain.dimensions[0].domain, Some(Range::Signed(..)))
    };
    let array = arrays.iter().map(|(_, array, _)| array).find(integers).unwrap();
    let Some(Range::Signed(low, high)) = array.schema().domain.dimensions[0].domain else { panic!() };
    let Range::Signed(_, last) = array.non_empty_domain().unwrap().0[0] else { panic!() };
    assert!(last < high, "{low} {last} {high}");
    let plan = array.query().range(0, Range::Signed(last + 1, high)).unwrap().explain().unwrap();
    assert_eq!((plan.total, plan.exact), (Cost::default(), true));
    assert!(plan.fragments.iter().all(|fragment| fragment.skipped == Some(SkipReason::NonEmptyDomain)), "{plan:?}");
}
