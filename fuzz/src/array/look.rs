//! Reads everything of an open array, under small limits.

use talavera_engine::{Batch, OpenArray};
use talavera_types::Layout;

/// Batches that are read at most: a dense array may have a domain without end.
const MAX_BATCHES: usize = 16;

/// Reads all cells as batches, in one of several ways.
pub(super) fn at(array: &OpenArray, way: u8) {
    let _ = (array.schema_name(), array.window(), array.non_empty_domain(), array.all_schemas().is_ok());
    let _ = array.fragments_to_vacuum().count();
    for fragment in array.fragments() {
        let _ = (fragment.name(), fragment.timestamps(), fragment.footer().data_files().count());
        let _ = (fragment.non_empty_domain().len(), fragment.tile_cells(0), fragment.tile_cells(u64::MAX));
    }
    if let Ok(metadata) = array.metadata() {
        let _ = metadata.iter().count();
    }
    for reference in &array.schema().enumerations {
        let _ = array.enumeration(&reference.name);
    }
    match way % 6 {
        0 => batches(array, Layout::RowMajor),
        1 => batches(array, Layout::ColMajor),
        2 => batches(array, Layout::GlobalOrder),
        3 => batches(array, Layout::Unordered),
        4 => narrow(array),
        _ => conditions(array),
    }
}

fn batches(array: &OpenArray, layout: Layout) {
    if let Ok(batches) = array.query().layout(layout).memory_limit(1 << 20).batches() {
        batches.take(MAX_BATCHES).flatten().for_each(|batch| check(&batch));
    }
}

/// Those cells whose first attribute is large, text behind another, or null.
fn conditions(array: &OpenArray) {
    let Some(first) = array.schema().attributes.first().map(|attribute| talavera_condition::field(&*attribute.name)) else {
        return;
    };
    for condition in [first.ge(3), first.gt("b"), first.is_null()] {
        if let Ok(batches) = array.query().condition(condition).memory_limit(1 << 20).batches() {
            batches.take(MAX_BATCHES).flatten().for_each(|batch| check(&batch));
        }
    }
}

/// One field, over the fragments' own ranges.
fn narrow(array: &OpenArray) {
    let Some(domain) = array.non_empty_domain() else { return };
    let first = array.schema().attributes.first().map(|attribute| attribute.name.clone());
    let mut query = Ok(array.query().fields(first).memory_limit(4 << 20));
    for (dimension, range) in domain.0.into_iter().enumerate() {
        query = query.and_then(|query| query.range(dimension, range));
    }
    if let Ok(batch) = query.and_then(talavera_engine::ReadQuery::read) {
        check(&batch);
    }
}

/// Every field holds as many cells as the batch says.
fn check(batch: &Batch) {
    for (name, field) in &batch.fields {
        assert_eq!(field.len(), batch.cells, "cells of {name}");
        assert!(batch.field(name).is_some());
        for cell in [0, batch.cells / 2, batch.cells.saturating_sub(1)] {
            let _ = (field.cell(cell), field.is_null(cell));
        }
    }
    assert!(batch.memory_bytes() <= 16 << 20, "a batch is far above its limit");
}
