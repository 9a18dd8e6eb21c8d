//! Dense results are n-dimensional arrays.

#![cfg(feature = "ndarray")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use ndarray::IxDyn;
use talavera::{Array, Error, Order};

#[test]
fn both_orders_give_the_same_indices() {
    let array = Array::open("tests/data/dense_2d_overlap").unwrap();
    let read =
        |order| array.read().range("y", 1..=6).range("x", 2..=3).range("x", 7).order(order).ndarray::<i32>("count").unwrap();
    let (rows, columns) = (read(Order::RowMajor), read(Order::ColMajor));
    assert_eq!(rows.shape(), [6, 3]);
    assert_eq!(rows, columns);
    assert!(rows.is_standard_layout() && !columns.is_standard_layout());
    assert_eq!((rows[[0, 0]], rows[[5, 1]], rows[[1, 2]]), (-1904289009, 219593652, -868844977));
}

#[test]
fn an_array_without_ranges_is_as_large_as_its_domain() {
    let array = Array::open("tests/data/dense_2d_overlap").unwrap();
    assert_eq!(array.read().ndarray::<f64>("temp").unwrap().shape(), [7, 9]);
    assert_eq!(array.read().ndarray::<i64>("x").unwrap()[IxDyn(&[3, 4])], 5);
}

#[test]
fn the_values_of_a_cell_are_the_last_axis() {
    let array = Array::open("tests/data/dense_fixed_multi").unwrap();
    for order in [Order::RowMajor, Order::ColMajor] {
        let pair = array.read().range("d", 8..).order(order).ndarray::<i16>("pair").unwrap();
        assert_eq!(pair, ndarray::array![[-7266, 9633], [-17619, -14132], [-32768, -32768]].into_dyn());
    }
}

#[test]
fn what_is_no_rectangle_of_numbers_is_refused() {
    let dense = Array::open("tests/data/dense_2d_overlap").unwrap();
    let global = dense.read().order(Order::Global).ndarray::<i32>("count").unwrap_err();
    assert_eq!(global.to_string(), "a result in global order is not an n-dimensional array");
    assert!(matches!(dense.read().ndarray::<i64>("count").unwrap_err(), Error::ValueType { .. }));
    let sparse = Array::open("tests/data/sparse_overwrite").unwrap();
    assert!(matches!(sparse.read().ndarray::<i64>("v").unwrap_err(), Error::NotRectangular { .. }));
    let nullable = Array::open("tests/data/enumerations_dense").unwrap();
    assert!(matches!(nullable.read().ndarray::<u16>("s").unwrap_err(), Error::CellShape { .. }));
}
