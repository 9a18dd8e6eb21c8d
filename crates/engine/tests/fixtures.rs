//! Reads arrays that real libraries wrote and compares every cell with what the library reads back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;
use talavera_directory::TimeWindow;
use talavera_engine::{Batch, EngineOptions, OpenArray, ReadQuery};
use talavera_pipeline::EncryptionKey;
use talavera_schema::{ArraySchema, Coordinate, Range};
use talavera_storage::{LocalStorage, ObjectPath};
use talavera_testkit::fixtures::{Case, Cell, ExpectedRead, canonical, cell, shared_fixtures};
use talavera_types::{Datatype, Layout};

#[test]
fn every_fixture_reads_as_the_library_reads_it() {
    let Some(fixtures) = shared_fixtures(env!("CARGO_MANIFEST_DIR")) else {
        println!("no larger set of fixtures lies beside the checkout");
        return;
    };
    let cases = Case::all_below(&fixtures);
    let results: Vec<(Case, Result<usize, String>)> = cases
        .into_par_iter()
        .map(|case| {
            let result = std::panic::catch_unwind(|| compare(&case)).unwrap_or_else(|_| Err("panic".into()));
            (case, result)
        })
        .collect();
    let mut by_version: BTreeMap<u64, (usize, usize, usize)> = BTreeMap::new();
    for (case, result) in &results {
        let entry = by_version.entry(case.format_version().unwrap_or(0)).or_default();
        match result {
            Ok(reads) => *entry = (entry.0 + 1, entry.1 + reads, entry.2),
            Err(error) => {
                entry.2 += 1;
                println!("{}: {error}", case.name());
            }
        }
    }
    for (version, (equal, reads, different)) in &by_version {
        println!("version {version}: {equal} arrays with {reads} reads equal, {different} different");
    }
    assert!(results.iter().all(|(_, result)| result.is_ok()));
}

fn compare(case: &Case) -> Result<usize, String> {
    if case.expected["kind"] != "array" {
        return Ok(0);
    }
    let retyped = std::cell::Cell::new(false);
    let open = |at: Option<u64>| {
        let storage = Arc::new(LocalStorage::new(case.array()).map_err(|e| e.to_string())?);
        let key = case.key().map(|key| EncryptionKey::from_bytes(&key).unwrap());
        let options = EngineOptions { key, reinterpret_retyped: retyped.get(), ..EngineOptions::default() };
        OpenArray::open(storage, ObjectPath::root(), TimeWindow { start: 0, end: at.unwrap_or(u64::MAX - 1) }, options)
            .map_err(|e| format!("open: {e}"))
    };
    if case.expected["status"] == "refused" {
        return match open(None).and_then(|array| whole(&array)) {
            Ok(_) => Err("read".into()),
            Err(error) => {
                println!("{}: refused: {error}", case.name());
                Ok(0)
            }
        };
    }
    retyped.set(has_retyped_attributes(&open(None)?));
    let differs = case.expected.get("differs_from_written").is_some();
    let mut reads = 0;
    for (number, read) in case.expected["reads"].as_array().unwrap().iter().enumerate() {
        let read = ExpectedRead::new(if differs && number == 0 { &case.expected["written"] } else { read });
        if differs && number > 0 {
            continue;
        }
        let array = open(read.at())?;
        let schema = array.schema();
        let mut query = array.query().layout(if read.is_col_major() {
            Layout::ColMajor
        } else if schema.is_dense() {
            Layout::RowMajor
        } else {
            Layout::Unordered
        });
        if let Some(subarray) = read.subarray() {
            for (dimension, range) in subarray.iter().enumerate() {
                query = query.range(dimension, range_of(schema, dimension, range)).map_err(|e| e.to_string())?;
            }
        }
        let orders: &[Layout] = if schema.is_dense() { &[] } else { &[Layout::RowMajor, Layout::ColMajor, Layout::GlobalOrder] };
        let batch = query.clone().read().map_err(|e| format!("read {number}: {e}"))?;
        compare_cells(&read, &batch, schema.is_dense()).map_err(|e| format!("read {number}: {e}"))?;
        for &order in orders {
            let batch = query.clone().layout(order).read().map_err(|e| format!("read {number} {order}: {e}"))?;
            compare_cells(&read, &batch, false).map_err(|e| format!("read {number} {order}: {e}"))?;
        }
        let orders = [Layout::RowMajor, Layout::ColMajor, Layout::GlobalOrder, Layout::Unordered];
        for order in orders.into_iter().filter(|_| number == 0) {
            compare_batches(&query.clone().layout(order), order).map_err(|e| format!("read {number} {order}: {e}"))?;
        }
        reads += 1;
    }
    let array = open(None)?;
    compare_fragments(case, &array)?;
    Ok(reads)
}

/// Whether an attribute was dropped and added again as another one. Bytes of the old are values of the new to the library;
/// here only on request.
fn has_retyped_attributes(array: &OpenArray) -> bool {
    let schemas = array.all_schemas().unwrap();
    let mut types = BTreeMap::new();
    let mut attributes = schemas.iter().flat_map(|(_, schema)| &schema.attributes);
    attributes.any(|attribute| *types.entry(&attribute.name).or_insert(attribute.datatype) != attribute.datatype)
}

fn whole(array: &OpenArray) -> Result<Batch, String> {
    array.query().read().map_err(|e| e.to_string())
}

fn range_of(schema: &ArraySchema, dimension: usize, range: &Value) -> Range {
    let datatype = schema.domain.dimensions[dimension].datatype;
    let [low, high] = [0, 1].map(|end| cell(datatype, &range[end]).unwrap());
    Range::new(Coordinate::from_le_bytes(datatype, &low).unwrap(), Coordinate::from_le_bytes(datatype, &high).unwrap()).unwrap()
}

fn columns_of(batch: &Batch, name: &str) -> Result<(Datatype, Vec<Cell>), String> {
    let field = batch.field(name).ok_or_else(|| format!("no field {name}"))?;
    let cells = (0..field.len())
        .map(|cell| if field.is_null(cell) { None } else { Some(canonical(field.datatype(), field.cell(cell).unwrap())) });
    Ok((field.datatype(), cells.collect()))
}

fn compare_cells(read: &ExpectedRead<'_>, batch: &Batch, ordered: bool) -> Result<(), String> {
    let mut expected = vec![Vec::new(); read.count];
    let mut found = vec![Vec::new(); batch.cells];
    for (name, cells) in read.columns() {
        let (datatype, column) = columns_of(batch, name)?;
        for (row, value) in expected.iter_mut().zip(cells) {
            row.push(cell(datatype, value).map(|bytes| canonical(datatype, &bytes)));
        }
        found.iter_mut().zip(column).for_each(|(row, value)| row.push(value));
    }
    if expected.len() != found.len() {
        return Err(format!("{} cells, expected {}", found.len(), expected.len()));
    }
    if !ordered {
        expected.sort();
        found.sort();
    }
    match expected.iter().zip(&found).position(|(a, b)| a != b) {
        Some(at) => Err(format!("row {at}: found {:?}, expected {:?}", found[at], expected[at])),
        None => Ok(()),
    }
}

/// Batches are never empty and make up the whole, in its order.
fn compare_batches(query: &ReadQuery<'_>, order: Layout) -> Result<(), String> {
    let whole = query.clone().read().map_err(|e| e.to_string())?;
    let rows = |batch: &Batch| -> Vec<Vec<Cell>> {
        let columns: Vec<_> = batch.fields.iter().map(|(name, _)| columns_of(batch, name).unwrap().1).collect();
        (0..batch.cells).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
    };
    let mut expected = rows(&whole);
    for bytes in [4_000] {
        let batches = match query.clone().batch_bytes(bytes).batches() {
            Err(error) if error.to_string().contains("global order is given whole") => return Ok(()),
            batches => batches.map_err(|e| e.to_string())?,
        };
        let mut found = Vec::new();
        for batch in batches {
            let batch = batch.map_err(|e| e.to_string())?;
            if batch.cells == 0 {
                return Err("an empty batch".into());
            }
            found.extend(rows(&batch));
        }
        if order == Layout::Unordered {
            expected.sort();
            found.sort();
        }
        if expected != found {
            return Err(format!("batches of {bytes} bytes differ from the whole: {} and {} cells", found.len(), expected.len()));
        }
    }
    Ok(())
}

fn compare_fragments(case: &Case, array: &OpenArray) -> Result<(), String> {
    let expected = case.expected["fragments"].as_array().unwrap();
    let names: Vec<_> = expected.iter().map(|fragment| fragment["name"].as_str().unwrap()).collect();
    let found: Vec<_> = array.fragments().iter().map(|fragment| fragment.name()).collect();
    if names != found {
        return Err(format!("fragments {found:?}, expected {names:?}"));
    }
    Ok(())
}
