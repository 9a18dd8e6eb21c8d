use talavera_types::{ArrayType, Datatype};

use super::*;
use crate::{Attribute, Dimension};

fn dense(dimensions: Vec<Dimension>, tile_order: Layout, cell_order: Layout) -> ArraySchema {
    let builder = ArraySchema::builder(ArrayType::Dense).tile_order(tile_order).cell_order(cell_order);
    let builder = dimensions.into_iter().fold(builder, crate::ArraySchemaBuilder::dimension);
    builder.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap()
}

fn int32(name: &str, low: i64, high: i64, extent: u64) -> Dimension {
    Dimension::new(name, Datatype::Int32, Range::Signed(low, high), Some(TileExtent::Integer(extent)))
}

#[test]
fn the_grid_covers_the_non_empty_domain_in_whole_tiles() {
    // A non-empty domain of (3,4),(2,6) under extents 4, 3 (04-fragment-metadata §5).
    let schema = dense(vec![int32("x", 1, 8, 4), int32("y", 1, 9, 3)], Layout::RowMajor, Layout::RowMajor);
    let grid = TileGrid::new(&schema, &NdRange(vec![Range::Signed(3, 4), Range::Signed(2, 6)])).unwrap();
    assert_eq!((grid.tile_count(), grid.cells_per_tile()), (2, 12));
    assert_eq!(grid.expanded_domain(), &NdRange(vec![Range::Signed(1, 4), Range::Signed(1, 6)]));
    assert_eq!(grid.tile_cells(1).unwrap().collect::<Vec<_>>(), [(0, 3), (3, 5)]);
    assert!(grid.tile_cells(2).is_none());
}

#[test]
fn a_domain_that_is_no_multiple_of_the_extent_ends_in_a_whole_tile() {
    // Domain [-10, 9] under extent 6: 4 tiles, 24 cells (20-semantics §1.1).
    let schema = dense(vec![int32("x", -10, 9, 6)], Layout::RowMajor, Layout::RowMajor);
    let grid = TileGrid::new(&schema, &NdRange(vec![Range::Signed(-10, 9)])).unwrap();
    assert_eq!(grid.tile_count() * grid.cells_per_tile(), 24);
    assert_eq!(grid.expanded_domain(), &NdRange(vec![Range::Signed(-10, 13)]));
}

#[test]
fn tiles_are_numbered_in_tile_order_and_cells_in_cell_order() {
    let whole = NdRange(vec![Range::Signed(0, 3), Range::Signed(0, 5)]);
    let dimensions = || vec![int32("x", 0, 3, 2), int32("y", 0, 5, 2)];
    let row = TileGrid::new(&dense(dimensions(), Layout::RowMajor, Layout::ColMajor), &whole).unwrap();
    assert_eq!((row.tile_number(&[0, 1]), row.tile_number(&[1, 0])), (Some(1), Some(3)));
    assert_eq!((row.cell_position(&[2, 1]), row.cell_position(&[3, 0])), (Some(2), Some(1)));
    let col = TileGrid::new(&dense(dimensions(), Layout::ColMajor, Layout::RowMajor), &whole).unwrap();
    assert_eq!((col.tile_number(&[0, 1]), col.tile_number(&[1, 0])), (Some(2), Some(1)));
    assert_eq!(col.cell_position(&[2, 1]), Some(1));
    for grid in [row, col] {
        for number in 0..grid.tile_count() {
            let tile = grid.tile_coordinates(number).unwrap().collect::<Vec<_>>();
            assert_eq!(grid.tile_number(&tile), Some(number));
        }
        assert_eq!(grid.tile_number(&[2, 0]), None);
        assert_eq!(grid.tile_number(&[0]), None);
    }
}

#[test]
fn tile_indices_count_from_the_domain_while_numbers_count_from_the_grid() {
    let schema = dense(vec![int32("x", 0, 99, 10)], Layout::RowMajor, Layout::RowMajor);
    let grid = TileGrid::new(&schema, &NdRange(vec![Range::Signed(35, 61)])).unwrap();
    assert_eq!((grid.axes()[0].first_tile(), grid.tile_count()), (3, 4));
    assert_eq!((grid.tile_number(&[3]), grid.tile_number(&[2]), grid.tile_number(&[7])), (Some(0), None, None));
    assert_eq!(grid.axes()[0].tiles_of(0, 45), Some((3, 4)));
    assert_eq!(grid.axes()[0].tiles_of(70, 99), None);
}

#[test]
fn the_expanded_domain_is_clipped_to_the_current_domain() {
    let mut schema = dense(vec![int32("x", 0, 99, 10)], Layout::RowMajor, Layout::RowMajor);
    schema.current_domain = Some(NdRange(vec![Range::Signed(12, 34)]));
    let grid = TileGrid::new(&schema, &NdRange(vec![Range::Signed(15, 31)])).unwrap();
    assert_eq!(grid.expanded_domain(), &NdRange(vec![Range::Signed(12, 34)]));
    assert_eq!(grid.tile_count(), 3);
}

#[test]
fn counts_that_64_bits_cannot_hold_are_errors() {
    let wide = |extent| {
        let domain = Range::Unsigned(0, u64::MAX - 1);
        Dimension::new("x", Datatype::UInt64, domain, Some(TileExtent::Integer(extent)))
    };
    let all = || Range::Unsigned(0, u64::MAX - 1);
    let mut schema = dense(vec![int32("x", 0, 1, 1)], Layout::RowMajor, Layout::RowMajor);
    let mut check = |dimensions: Vec<Dimension>, expected: &str| {
        let non_empty_domain = NdRange(dimensions.iter().map(|_| all()).collect());
        schema.domain.dimensions = dimensions;
        assert_eq!(TileGrid::new(&schema, &non_empty_domain).unwrap_err().to_string(), expected);
    };
    check(vec![wide(1), wide(1)], "tiles: more than 64 bits can count");
    check(vec![wide(u64::MAX), wide(u64::MAX)], "cells of a tile: more than 64 bits can count");
    check(vec![wide(u64::MAX - 1)], "dimension \"x\": more than 64 bits can count");
    check(vec![wide(0)], "dimension \"x\": more than 64 bits can count");
}

#[test]
fn ranges_outside_of_the_domain_are_errors() {
    let schema = dense(vec![int32("x", 0, 9, 10)], Layout::RowMajor, Layout::RowMajor);
    for range in [Range::Signed(-1, 3), Range::Signed(3, 2), Range::Unsigned(0, 3)] {
        assert!(matches!(TileGrid::new(&schema, &NdRange(vec![range])), Err(SchemaError::OutOfDomain { .. })));
    }
    assert!(TileGrid::new(&schema, &NdRange(Vec::new())).is_err());
}
