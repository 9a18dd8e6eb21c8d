//! New arrays (01-layout §2 and §11, 03-schema §8, 22-semantics §11).

use std::collections::HashSet;

use talavera_directory::{ArrayPaths, object_type};
use talavera_pipeline::EncryptionKey;
use talavera_schema::{ArraySchema, Attribute, Dimension, DimensionLabel, Enumeration, Rule, SchemaError};
use talavera_storage::{ObjectPath, Storage, StorageExt};
use talavera_types::{ArrayType, ObjectType};

use super::{TileFiles, check_enumerations, folders};
use crate::open::OLD_SCHEMA;
use crate::{Error, names};

/// How an array or group is created.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    /// The key of a new encrypted array; it cannot be changed later.
    pub key: Option<EncryptionKey>,
    /// The time of the first schema in milliseconds since 1970; now if there is none. Arrays of format versions before 10
    /// have no place for it.
    pub timestamp: Option<u64>,
}

/// Creates an array at `root` by `schema`, in the schema's format version, with an array for each of its own dimension
/// labels. `enumerations` are those that the schema refers to, by name and file name.
///
/// The schema is written last; until then nothing opens, and when something fails, what was written is removed.
///
/// # Errors
/// [`Error::AlreadyExists`] when there is an array or a group at `root`; [`Error::Schema`] and [`Error::Invalid`] for what
/// an array cannot be; the errors of storage.
pub fn create_array(
    storage: &dyn Storage,
    root: &ObjectPath,
    schema: &ArraySchema,
    enumerations: &[Enumeration],
    options: &CreateOptions,
) -> Result<(), Error> {
    check(schema, enumerations)?;
    let labels = label_schemas(schema)?;
    refuse_existing(storage, root)?;
    let mut written = Vec::new();
    let result = write(storage, root, schema, enumerations, &labels, options, &mut written);
    if result.is_err() {
        remove(storage, root, &written);
    }
    result
}

/// The empty file that libraries up to 2.6 lock while they have an array open; later ones ignore it.
pub(super) const LOCK: &str = "__lock.tdb";

/// What [`ArraySchema::validate`] leaves to those who make new arrays.
fn check(schema: &ArraySchema, enumerations: &[Enumeration]) -> Result<(), Error> {
    if !schema.version.can_be_created() {
        return Err(SchemaError::Unsupported { field: "a new array".to_owned(), version: schema.version }.into());
    }
    schema.validate()?;
    if let Some(attribute) = schema.attributes.iter().find(|attribute| attribute.name.starts_with("__")) {
        let field = format!("attribute {:?}", attribute.name);
        return Err(SchemaError::Invalid { field, rule: Rule::ReservedName }.into());
    }
    let mut given = HashSet::new();
    for enumeration in enumerations {
        let is_referred = schema.enumeration(enumeration.name()).is_some_and(|it| it.file_name == enumeration.path_name());
        if !is_referred || !given.insert(enumeration.name()) {
            let name = enumeration.name();
            return Err(Error::invalid(format!("the schema does not refer to the enumeration '{name}', or it is given twice")));
        }
    }
    if let Some(missing) = schema.enumerations.iter().find(|reference| !given.contains(reference.name.as_str())) {
        return Err(Error::invalid(format!("the values of enumeration '{}' are not given", missing.name)));
    }
    check_enumerations(schema, enumerations)
}

/// The labels that are part of the array, with the schemas of their arrays.
fn label_schemas(schema: &ArraySchema) -> Result<Vec<(&DimensionLabel, ArraySchema)>, Error> {
    let own = || schema.labels.iter().filter(|label| !label.external && label.relative);
    let mut places = HashSet::new();
    if let Some(label) = own().find(|label| !places.insert(&label.uri) || !label.uri.starts_with("__labels/")) {
        return Err(Error::invalid(format!("label '{}' cannot lie at '{}'", label.name, label.uri)));
    }
    own().map(|label| Ok((label, label_schema(schema, label)?))).collect()
}

/// The array of a label: dense, along a copy of the dimension, with the label's values as its one attribute.
fn label_schema(schema: &ArraySchema, label: &DimensionLabel) -> Result<ArraySchema, SchemaError> {
    let missing = || SchemaError::NotFound { field: format!("dimension of label {:?}", label.name) };
    let dimension = usize::try_from(label.dimension).ok().and_then(|index| schema.domain.dimensions.get(index));
    let Dimension { datatype, domain, tile_extent, .. } = dimension.ok_or_else(missing)?;
    let domain = domain.clone().ok_or_else(|| {
        let field = format!("label {:?}", label.name);
        SchemaError::Invalid { field, rule: Rule::DenseDimensions }
    })?;
    let mut values = Attribute::with_cell_val_num(label.attribute.clone(), label.datatype, label.cell_val_num);
    values.order = label.order;
    let index = Dimension::new("index", *datatype, domain, *tile_extent);
    ArraySchema::builder(ArrayType::Dense).version(schema.version).dimension(index).attribute(values).build()
}

/// An empty `__schema` folder is what an unfinished creation leaves, and no array.
fn refuse_existing(storage: &dyn Storage, root: &ObjectPath) -> Result<(), Error> {
    let found = match object_type(storage, root)? {
        Some(ObjectType::Array) if has_schema(storage, root)? => "an array",
        Some(ObjectType::Group) => "a group",
        _ => return Ok(()),
    };
    Err(Error::AlreadyExists { path: root.clone(), found })
}

fn has_schema(storage: &dyn Storage, root: &ObjectPath) -> Result<bool, Error> {
    let schemas = storage.list(&root.join("__schema")?)?;
    Ok(schemas.iter().any(|entry| !entry.is_folder()) || storage.exists(&root.join(OLD_SCHEMA)?)?)
}

fn write(
    storage: &dyn Storage,
    root: &ObjectPath,
    schema: &ArraySchema,
    enumerations: &[Enumeration],
    labels: &[(&DimensionLabel, ArraySchema)],
    options: &CreateOptions,
    written: &mut Vec<ObjectPath>,
) -> Result<(), Error> {
    let paths = ArrayPaths::new(root.clone());
    for folder in folders(schema.version) {
        storage.create_folder(&root.join(folder)?)?;
    }
    for (label, label_schema) in labels {
        write(storage, &root.join(&label.uri)?, label_schema, &[], &[], options, written)?;
    }
    let files = TileFiles::of_array(storage, &paths, schema.version, options.key.as_ref())?;
    if !schema.version.needs_no_lock_file() {
        let lock = root.join(LOCK)?;
        written.push(lock.clone());
        storage.write_via(&files.staging, &lock, &[])?;
    }
    for enumeration in enumerations {
        written.push(files.write_enumeration(&paths, enumeration)?);
    }
    let path = if schema.version.has_schema_folder() {
        paths.schema(&names::next_plain_name(options.timestamp)?)?
    } else {
        root.join(OLD_SCHEMA)?
    };
    written.push(path.clone());
    files.write_schema(&path, schema)
}

/// Takes back what was written, as far as the storage lets us: the first error is the one that the caller sees. Folders
/// stay where somebody else has put something into them meanwhile.
fn remove(storage: &dyn Storage, root: &ObjectPath, written: &[ObjectPath]) {
    for path in written.iter().rev() {
        drop(storage.delete(path));
    }
    if storage.list_all(root).is_ok_and(|files| files.is_empty()) {
        drop(storage.delete_folder(root));
    }
}
