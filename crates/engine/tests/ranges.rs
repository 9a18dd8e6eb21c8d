//! Many ranges, and lists of points, give the cells that looking at each cell alone gives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use talavera_directory::TimeWindow;
use talavera_engine::{Batch, CellBytes, EngineOptions, FieldBuffer, OpenArray, ReadQuery};
use talavera_pipeline::EncryptionKey;
use talavera_schema::{Coordinate, Range};
use talavera_storage::{LocalStorage, ObjectPath};
use talavera_testkit::fixtures::Case;

type Row = Vec<Vec<u8>>;

fn sparse_arrays() -> Vec<(String, OpenArray)> {
    let cases = Case::all_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures"));
    let open = |case: &Case| {
        let key = case.key().map(|key| EncryptionKey::from_bytes(&key).unwrap());
        let options = EngineOptions { key, ..EngineOptions::default() };
        let storage = Arc::new(LocalStorage::new(case.array()).unwrap());
        let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow { start: 0, end: u64::MAX }, options).unwrap();
        (!array.schema().is_dense()).then(|| (case.name(), array))
    };
    cases.par_iter().filter_map(open).collect()
}

fn rows(batch: &Batch) -> Vec<Row> {
    let mut rows: Vec<Row> =
        (0..batch.cells).map(|row| batch.fields.iter().map(|(_, field)| field.cell(row).unwrap().to_vec()).collect()).collect();
    rows.sort_unstable();
    rows
}

/// The rows in batches of a few cells, so that parts of the selection are asked for, too.
fn batched(query: ReadQuery<'_>) -> Vec<Row> {
    let mut all: Vec<Row> = query.batch_bytes(2_000).batches().unwrap().flat_map(|batch| rows(&batch.unwrap())).collect();
    all.sort_unstable();
    all
}

fn dimension_names(array: &OpenArray) -> Vec<String> {
    array.schema().domain.dimensions.iter().map(|dimension| dimension.name.clone()).collect()
}

fn column(array: &OpenArray, dimension: usize, rows: &[&Row]) -> FieldBuffer {
    let of_schema = &array.schema().domain.dimensions[dimension];
    let data: Vec<u8> = rows.iter().flat_map(|row| row[dimension].clone()).collect();
    let mut end = 0;
    let ends = rows.iter().map(|row| {
        end += row[dimension].len() as u64;
        end
    });
    let offsets = of_schema.cell_val_num().is_var().then(|| std::iter::once(0).chain(ends).collect());
    FieldBuffer::new(of_schema.datatype, of_schema.cell_val_num(), CellBytes::copied(&data), offsets, None).unwrap()
}

/// Every `step`th row, beginning with `first`; one of them twice.
fn some(rows: &[Row], first: usize, step: usize) -> Vec<&Row> {
    rows.iter().skip(first).step_by(step).chain(rows.get(first)).collect()
}

#[test]
fn points_give_the_cells_whose_coordinates_they_are() {
    let mut compared = 0;
    for (name, array) in sparse_arrays() {
        let all = rows(&array.query().fields(dimension_names(&array)).read().unwrap());
        for (first, step) in [(0, 1), (1, 3), (0, 17)] {
            let mut points = some(&all, first, step);
            // Coordinates of different cells together are most often no cell.
            let mut mixed: Vec<Row> = Vec::new();
            if let (Some(one), Some(other)) = (all.first(), all.last()) {
                mixed.push(one.iter().zip(other).enumerate().map(|(at, (a, b))| if at == 0 { a } else { b }.clone()).collect());
            }
            points.extend(&mixed);
            let wanted: HashSet<&Row> = points.iter().copied().collect();
            let expected: Vec<Row> = all.iter().filter(|row| wanted.contains(row)).cloned().collect();
            let columns: Vec<_> =
                (0..array.schema().domain.dimensions.len()).map(|dimension| column(&array, dimension, &points)).collect();
            let query = array.query().fields(dimension_names(&array)).points(&columns).unwrap();
            assert_eq!(rows(&query.clone().read().unwrap()), expected, "{name}, {first} {step}");
            assert_eq!(batched(query), expected, "{name}, {first} {step}, in batches");
            compared += expected.len();
        }
    }
    assert!(compared > 500, "{compared} cells are too few to tell");
}

#[test]
fn many_ranges_of_several_dimensions_give_all_their_combinations() {
    let mut compared = 0;
    for (name, array) in sparse_arrays() {
        let all = rows(&array.query().fields(dimension_names(&array)).read().unwrap());
        for (first, step) in [(0, 2), (1, 5), (0, 13)] {
            let chosen = some(&all, first, step);
            let mut query = array.query().fields(dimension_names(&array));
            let mut wanted = Vec::new();
            for (dimension, of_schema) in array.schema().domain.dimensions.iter().enumerate() {
                let coordinate = |row: &Row| {
                    let bytes = row[dimension].clone();
                    Range::point(Coordinate::from_le_bytes(of_schema.datatype, &bytes).unwrap())
                };
                let ranges: Vec<Range> = chosen.iter().map(|row| coordinate(row)).filter(Range::is_valid).collect();
                if ranges.is_empty() {
                    continue;
                }
                wanted.push((dimension, ranges.clone()));
                query = query.ranges(dimension, ranges).unwrap();
            }
            let meant = |row: &&Row| {
                wanted.iter().all(|(dimension, ranges)| {
                    let datatype = array.schema().domain.dimensions[*dimension].datatype;
                    let value = Coordinate::from_le_bytes(datatype, &row[*dimension]).unwrap();
                    ranges.iter().any(|range| range.contains_coordinate(value))
                })
            };
            let expected: Vec<Row> = all.iter().filter(meant).cloned().collect();
            assert_eq!(rows(&query.clone().read().unwrap()), expected, "{name}, {first} {step}");
            assert_eq!(batched(query), expected, "{name}, {first} {step}, in batches");
            compared += expected.len();
        }
    }
    assert!(compared > 500, "{compared} cells are too few to tell");
}

#[test]
fn points_that_do_not_fit_the_array_are_refused() {
    let arrays = sparse_arrays();
    let (_, array) = arrays.iter().find(|(_, array)| array.schema().domain.dimensions.len() == 2).unwrap();
    let all = rows(&array.query().fields(dimension_names(array)).read().unwrap());
    let rows: Vec<&Row> = all.iter().collect();
    let (x, y) = (column(array, 0, &rows), column(array, 1, &rows[1..]));
    let refused = |columns: &[FieldBuffer]| array.query().points(columns).unwrap_err().to_string();
    assert!(refused(std::slice::from_ref(&x)).starts_with("points take a column for each dimension: '"));
    assert_eq!(refused(&[x, y]), "the columns of points are not equally long");
}
