//! Writes the content of arrays that real libraries wrote into new arrays, and reads it back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use talavera_engine::{
    ArrayWriter, CreateOptions, EncryptionKey, EngineOptions, FieldBuffer, OpenArray, TimeWindow, WriteOptions, create_array,
};
use talavera_schema::{ArraySchema, NdRange};
use talavera_storage::{LocalStorage, MemoryStorage, ObjectPath, Storage};
use talavera_testkit::fixtures::{Case, shared_fixtures};
use talavera_types::{FormatVersion, Layout};

#[test]
fn what_was_read_from_real_arrays_is_written_and_read_again() {
    let Some(fixtures) = shared_fixtures(env!("CARGO_MANIFEST_DIR")) else {
        println!("no larger set of fixtures lies beside the checkout");
        return;
    };
    // A folder to leave the arrays in, for other libraries to read them.
    let keep = std::env::var_os("TALAVERA_KEEP");
    let failures: Vec<String> = Case::all_below(&fixtures)
        .into_par_iter()
        .filter(|case| case.expected["kind"] == "array" && case.expected["status"] == "ok")
        .filter_map(|case| rewrite(&case, keep.as_deref().map(Path::new)).err().map(|error| format!("{}: {error}", case.name())))
        .collect();
    failures.iter().for_each(|failure| println!("{failure}"));
    assert!(failures.is_empty(), "{} arrays", failures.len());
}

fn rewrite(case: &Case, keep: Option<&Path>) -> Result<(), String> {
    let text = |error: talavera_engine::Error| error.to_string();
    let key = case.key().map(|key| EncryptionKey::from_bytes(&key).unwrap());
    let options = EngineOptions { key: key.clone(), ..EngineOptions::default() };
    let window = TimeWindow { start: 0, end: u64::MAX - 1 };
    let original = Arc::new(LocalStorage::new(case.array()).unwrap());
    let original = OpenArray::open(original, ObjectPath::root(), window, options.clone()).map_err(text)?;
    let schema = new_schema(original.schema());
    let names = schema.enumerations.iter().map(|reference| &reference.name);
    let enumerations = names.map(|name| original.enumeration(name).map(|found| (*found).clone())).collect::<Result<Vec<_>, _>>();
    let enumerations = enumerations.map_err(text)?;

    let target: Arc<dyn Storage> = match keep {
        Some(folder) => Arc::new(LocalStorage::new(folder.join(case.name()).join("array")).unwrap()),
        None => Arc::new(MemoryStorage::new()),
    };
    let root = ObjectPath::root();
    let created = create_array(&*target, &root, &schema, &enumerations, &CreateOptions { key, ..CreateOptions::default() });
    match created {
        // Some old libraries let pass what nobody may create today.
        Err(talavera_engine::Error::Schema { .. }) => return Ok(()),
        created => created.map_err(text)?,
    }
    let writer = ArrayWriter::open(Arc::clone(&target), root.clone(), options.clone()).map_err(text)?;
    let all = original.query().read().map_err(text)?;
    if schema.is_dense() {
        let domain = |dimension: &talavera_schema::Dimension| dimension.domain.clone();
        let whole = schema
            .current_domain
            .clone()
            .unwrap_or_else(|| NdRange(schema.domain.dimensions.iter().map(|dimension| domain(dimension).unwrap()).collect()));
        writer.write_dense(&whole, Layout::RowMajor, &all.fields, WriteOptions::default()).map_err(text)?;
    } else {
        writer.write_sparse(&all.fields, WriteOptions::default()).map_err(text)?;
    }
    let written = OpenArray::open(target, root, window, options).map_err(text)?;
    let order = if schema.is_dense() { Layout::ColMajor } else { Layout::RowMajor };
    let [expected, found] = [&original, &written].map(|array| array.query().layout(order).read().map_err(text));
    let (expected, found) = (expected?, found?);
    if !schema.is_dense() && schema.allows_dups {
        return if rows(&expected.fields) == rows(&found.fields) { Ok(()) } else { Err("cells differ".into()) };
    }
    if expected != found {
        return Err(format!("{} cells and {} differ", expected.cells, found.cells));
    }
    Ok(())
}

/// The schema as a new array may have it.
fn new_schema(schema: &ArraySchema) -> ArraySchema {
    let version = schema.version.for_new_fragments();
    let mut new = schema.clone();
    if version != schema.version {
        new.version = FormatVersion::DEFAULT;
    }
    new
}

fn rows(fields: &[(String, FieldBuffer)]) -> Vec<Vec<Option<Vec<u8>>>> {
    let cells = fields.first().map_or(0, |(_, buffer)| buffer.len());
    let row =
        |cell| fields.iter().map(|(_, buffer)| (!buffer.is_null(cell)).then(|| buffer.cell(cell).unwrap().to_vec())).collect();
    let mut rows: Vec<_> = (0..cells).map(row).collect();
    rows.sort();
    rows
}
