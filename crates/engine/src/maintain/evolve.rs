//! Schema evolution (21-semantics §9, 03-schema §9).

use std::collections::HashSet;

use talavera_directory::{ArrayDirectory, SchemaFile, TimestampedName};
use talavera_schema::{ArraySchema, Enumeration, SchemaEvolution};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::FormatVersion;

use super::{TileFiles, check_enumerations, folders};
use crate::{EngineOptions, Error, metadata_file, names};

/// How an array is evolved.
#[derive(Debug, Clone, Default)]
pub struct EvolveOptions {
    /// The key of the array, and the limits for what is read of it.
    pub engine: EngineOptions,
    /// The time of the new schema in milliseconds since 1970; now if there is none. Readers at earlier times go by the
    /// schemas before.
    pub timestamp: Option<u64>,
}

/// Changes the schema of the array at `root`: the newest one, at whatever time, becomes one more. `enumerations` are those
/// that the change brings or extends. Returns the name of the new schema.
///
/// The new schema has the format version of new arrays, or its own if that is newer; fragments that are written
/// afterwards follow it. Two changes made at once do not know of each other: the one with the later name counts.
///
/// # Errors
/// [`Error::NotFound`] without an array; [`Error::Schema`] when the change breaks a rule; [`Error::Invalid`] when the new
/// schema would not be the newest by the text of its name, by which readers sort, when enumerations do not fit the change,
/// and when attributes come or go beside fragments of versions 3 to 9; the errors of storage.
pub fn evolve_array(
    storage: &dyn Storage,
    root: &ObjectPath,
    evolution: &SchemaEvolution,
    enumerations: &[Enumeration],
    options: &EvolveOptions,
) -> Result<String, Error> {
    let Newest { directory, schema: old, file } = Newest::read(storage, root, &options.engine)?;
    let mut current = old.clone();
    current.version = old.version.for_new_schemas();
    let new = evolution.apply(&current)?;
    check_old_fragments(&directory, &old, &new)?;
    check_changed_enumerations(&directory, storage, &old, &new, enumerations, &options.engine)?;
    store(storage, &directory, &file, &new, enumerations, options)
}

/// Stores the newest schema of the array at `root` once more, in the format version of new arrays, and makes the folders
/// that arrays of this version have. Returns the name of the new schema; none when the schema is of that version already.
///
/// # Errors
/// As [`evolve_array`].
pub fn upgrade_array(storage: &dyn Storage, root: &ObjectPath, options: &EvolveOptions) -> Result<Option<String>, Error> {
    let Newest { directory, schema: old, file } = Newest::read(storage, root, &options.engine)?;
    let version = old.version.for_new_schemas();
    if version == old.version {
        return Ok(None);
    }
    let new = ArraySchema { version, ..old };
    store(storage, &directory, &file, &new, &[], options).map(Some)
}

/// The schema that changes start from.
struct Newest {
    directory: ArrayDirectory,
    schema: ArraySchema,
    file: SchemaFile,
}

impl Newest {
    fn read(storage: &dyn Storage, root: &ObjectPath, options: &EngineOptions) -> Result<Self, Error> {
        let directory = ArrayDirectory::read(storage, root)?;
        let not_found = || Error::NotFound { path: root.clone(), wanted: "array" };
        let file = directory.newest_schema().ok_or_else(not_found)?.clone();
        let payload = metadata_file::read_file(storage, &file.path, options)?;
        let schema = ArraySchema::decode(&payload).map_err(Error::corrupt(&file.path))?;
        Ok(Self { directory, schema, file })
    }
}

/// Footers of versions 3 to 9 do not name their schema. The reference decodes them by the newest, and once that has other
/// attributes, it can open such an array no more.
fn check_old_fragments(directory: &ArrayDirectory, old: &ArraySchema, new: &ArraySchema) -> Result<(), Error> {
    let names = |schema: &ArraySchema| schema.attributes.iter().map(|attribute| attribute.name.clone()).collect::<Vec<_>>();
    if names(old) == names(new) {
        return Ok(());
    }
    let is_nameless = |version: FormatVersion| version.has_footer() && !version.has_schema_folder();
    match directory.committed_fragments().iter().find(|fragment| is_nameless(fragment.version)) {
        None => Ok(()),
        Some(fragment) => Err(Error::invalid(format!(
            "fragment '{}' does not name its schema, so attributes cannot come or go; upgrade the array, consolidate and vacuum it",
            fragment.name
        ))),
    }
}

/// The enumerations given are exactly those whose files the new schema does not share with the old one; those of a name
/// that the old one has start with all its values.
fn check_changed_enumerations(
    directory: &ArrayDirectory,
    storage: &dyn Storage,
    old: &ArraySchema,
    new: &ArraySchema,
    enumerations: &[Enumeration],
    options: &EngineOptions,
) -> Result<(), Error> {
    let known: HashSet<_> = old.enumerations.iter().map(|reference| &*reference.file_name).collect();
    let wanted = || new.enumerations.iter().filter(|reference| !known.contains(&*reference.file_name));
    if let Some(missing) = wanted().find(|it| !enumerations.iter().any(|given| given.path_name() == it.file_name)) {
        return Err(Error::invalid(format!("the values of enumeration '{}' are not given", missing.name)));
    }
    for given in enumerations {
        let name = given.name();
        if !wanted().any(|it| it.name == name && it.file_name == given.path_name()) {
            return Err(Error::invalid(format!("the change does not bring the enumeration '{name}'")));
        }
        let Some(reference) = old.enumeration(name) else { continue };
        if !given.extends(&read_enumeration(directory, storage, &reference.file_name, options)?) {
            return Err(Error::invalid(format!("enumeration '{name}' does not extend the one that the array has")));
        }
    }
    check_enumerations(new, enumerations)?;
    let is_new = |name: &str| old.attribute(name).is_none();
    for attribute in new.attributes.iter().filter(|attribute| is_new(&attribute.name)) {
        let reference = attribute.enumeration.as_deref().and_then(|name| new.enumeration(name));
        if let Some(reference) = reference.filter(|reference| known.contains(&*reference.file_name)) {
            attribute.check_enumeration(&read_enumeration(directory, storage, &reference.file_name, options)?)?;
        }
    }
    Ok(())
}

fn read_enumeration(
    directory: &ArrayDirectory,
    storage: &dyn Storage,
    file_name: &str,
    options: &EngineOptions,
) -> Result<Enumeration, Error> {
    let path = directory.enumeration(file_name)?;
    Enumeration::decode(&metadata_file::read_file(storage, &path, options)?).map_err(Error::corrupt(&path))
}

fn store(
    storage: &dyn Storage,
    directory: &ArrayDirectory,
    newest: &SchemaFile,
    new: &ArraySchema,
    enumerations: &[Enumeration],
    options: &EvolveOptions,
) -> Result<String, Error> {
    let paths = directory.paths();
    let name = next_schema_name(newest.name.as_ref(), options.timestamp)?;
    for folder in folders(new.version) {
        storage.create_folder(&paths.root().join(folder)?)?;
    }
    let files = TileFiles::of_array(storage, paths, new.version, options.engine.key.as_ref())?;
    let mut written = Vec::new();
    let result = enumerations
        .iter()
        .try_for_each(|enumeration| files.write_enumeration(paths, enumeration).map(|path| written.push(path)))
        .and_then(|()| files.write_schema(&paths.schema(&name)?, new));
    if result.is_err() {
        // Without a schema nobody refers to them; that they could not be removed either is not what went wrong.
        written.iter().for_each(|path| drop(storage.delete(path)));
    }
    result.map(|()| name.as_str().to_owned())
}

/// A name behind that of the newest schema. Readers take the last by the text, not by the number of the time, so a new
/// schema that sorted before would not be seen.
fn next_schema_name(newest: Option<&TimestampedName>, timestamp: Option<u64>) -> Result<TimestampedName, Error> {
    let name = names::next_plain_name(timestamp)?;
    match newest {
        Some(newest) if name <= *newest => match timestamp {
            Some(time) => Err(Error::invalid(format!("a schema of time {time} would not come after the newest, '{newest}'"))),
            // Another process was faster in this millisecond, or its clock is ahead.
            None => names::next_plain_name(Some(newest.end().saturating_add(1))),
        },
        _ => Ok(name),
    }
}
