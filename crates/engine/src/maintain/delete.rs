//! Deleting cells by a condition (21-semantics §7, 05-other-files §5).

use std::collections::HashMap;
use std::sync::Arc;

use talavera_condition::{Comparison, ConditionError, Literal, QueryCondition};
use talavera_directory::ArrayPaths;
use talavera_schema::{ArraySchema, Enumeration, Field};

use super::TileFiles;
use crate::{Error, OpenArray, names};

/// How cells are deleted.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeleteOptions {
    /// The time of the delete in milliseconds since 1970; now if there is none. It takes cells that were written at this
    /// time or before.
    pub timestamp: Option<u64>,
    /// Whether to refuse a delete that would take cells which its condition does not name.
    ///
    /// What is stored is the condition of the cells to keep, and nothing compares with a null, with NaN, or with a field
    /// that a fragment does not have: all readers take such cells for deleted.
    pub strict: bool,
}

/// Deletes the cells for which `condition` holds, by one commit file that all readers apply. Values of enumerated
/// attributes are labels. What `array` itself shows stays as it is.
///
/// # Errors
/// [`Error::Invalid`] for dense arrays, for format versions before 16, at a time within a fragment of a version before 15
/// that is not told cell by cell, and by [`DeleteOptions::strict`]; [`Error::Condition`] for null tests, unknown fields,
/// labels that do not exist, and values that do not fit; the errors of storage.
pub fn delete_cells(array: &OpenArray, condition: &QueryCondition, options: &DeleteOptions) -> Result<(), Error> {
    let schema = array.schema();
    let version = schema.version.for_new_fragments();
    if schema.is_dense() {
        return Err(Error::invalid("cells of a dense array cannot be deleted"));
    }
    if !version.has_deletes() {
        return Err(Error::invalid(format!("format version {version} has no deletes; upgrade the array first")));
    }
    let stored = to_keep(array, condition)?;
    let payload = stored.encode()?;
    if options.strict {
        check_strict(array, &stored)?;
    }
    let name = names::next_name(options.timestamp.map(|time| (time, time)), Some(version))?;
    check_time(array, name.start())?;
    let paths = ArrayPaths::new(array.root().clone());
    let path = paths.commits_file(&name, "del")?;
    TileFiles::of_array(array.storage(), &paths, version, array.options().key.as_ref())?.write(&path, &payload)
}

/// The condition of the cells that stay, with values as they are stored.
fn to_keep(array: &OpenArray, condition: &QueryCondition) -> Result<QueryCondition, Error> {
    let schema = array.schema();
    let mut enumerations: HashMap<&str, Arc<Enumeration>> = HashMap::new();
    for name in condition.fields() {
        // Every array may be asked for the times of its cells, but not every fragment stores them.
        let field = schema.field(name).ok_or_else(|| ConditionError::UnknownField { field: name.to_owned() })?;
        let Field::Attribute(index) = field else { continue };
        if let Some(name) = schema.attributes.get(index).and_then(|attribute| attribute.enumeration.as_deref()) {
            enumerations.insert(name, array.enumeration(name)?);
        }
    }
    let keeps = condition.clone().negate().bind(schema, |name| enumerations.get(name).map(|found| &**found))?;
    let stored = keeps.to_stored()?;
    check_values(schema, &stored)?;
    Ok(stored)
}

/// Refuses values that would make the reference fail on every read from then on: those that are not one cell long where
/// all cells are of one length, and lists of nothing.
fn check_values(schema: &ArraySchema, stored: &QueryCondition) -> Result<(), Error> {
    let check = |field: &str, value: &Literal| match (value, cell_bytes(schema, field)) {
        (Literal::Bytes(bytes), Some(expected)) if bytes.len() != expected => {
            let found = bytes.len();
            Err(Error::invalid(format!("field '{field}' has cells of {expected} bytes, the value has {found}")))
        }
        _ => Ok(()),
    };
    match stored {
        QueryCondition::Compare { field, value, .. } => check(field, value),
        QueryCondition::In { field, values, .. } if values.is_empty() => {
            Err(Error::invalid(format!("the list of values for field '{field}' is empty")))
        }
        QueryCondition::In { field, values, .. } => values.iter().try_for_each(|value| check(field, value)),
        QueryCondition::Combine { children, .. } => children.iter().try_for_each(|child| check_values(schema, child)),
        _ => Ok(()),
    }
}

fn cell_bytes(schema: &ArraySchema, field: &str) -> Option<usize> {
    match schema.field(field)? {
        Field::Attribute(index) => schema.attributes.get(index)?.cell_bytes(),
        Field::Dimension(index) => schema.domain.dimensions.get(index)?.cell_bytes(),
    }
}

/// Refuses conditions that keep fewer cells than those for which the delete does not hold.
fn check_strict(array: &OpenArray, stored: &QueryCondition) -> Result<(), Error> {
    for name in stored.fields() {
        let Some((_, attribute)) = array.schema().attribute(name) else { continue };
        if attribute.nullable {
            return Err(Error::invalid(format!("field '{name}' may be null, and the delete would take its nulls too")));
        }
        if attribute.datatype.is_float() && has_order_test(stored, name) {
            return Err(Error::invalid(format!("field '{name}' may be NaN, and the delete would take its NaN too")));
        }
        let has_field = |schema: &ArraySchema| {
            let found = schema.attribute(name).map(|(_, found)| (found.datatype, found.cell_val_num));
            found == Some((attribute.datatype, attribute.cell_val_num))
        };
        if let Some(fragment) = array.fragments().iter().find(|fragment| !has_field(&fragment.schema)) {
            let fragment = &fragment.name;
            return Err(Error::invalid(format!("fragment '{fragment}' has no field '{name}', and would lose all its cells")));
        }
    }
    Ok(())
}

/// Whether a field is tested for being less or more than a value, which NaN is not.
fn has_order_test(stored: &QueryCondition, name: &str) -> bool {
    match stored {
        QueryCondition::Compare { field, comparison, .. } => {
            field == name && !matches!(comparison, Comparison::Eq | Comparison::Ne)
        }
        QueryCondition::Combine { children, .. } => children.iter().any(|child| has_order_test(child, name)),
        _ => false,
    }
}

/// A fragment of several times that does not store the time of each cell cannot be deleted from at one of them.
fn check_time(array: &OpenArray, time: u64) -> Result<(), Error> {
    let is_between = |(start, end): (u64, u64)| start <= time && time <= end;
    let mut old = array.directory().committed_fragments().iter().filter(|fragment| !fragment.version.has_delete_metadata());
    match old.find(|fragment| is_between((fragment.name.start(), fragment.name.end()))) {
        None => Ok(()),
        Some(fragment) => Err(Error::invalid(format!(
            "fragment '{}' holds cells of the time of the delete, {time}, and is too old to tell them apart",
            fragment.name
        ))),
    }
}
