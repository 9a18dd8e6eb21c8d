//! What is done to arrays and groups besides reading and writing cells: creating, evolving, deleting, metadata, members,
//! and moving them as a whole.
//!
//! Every file below is whole and lasts before the next one is begun, and the file that makes a change visible comes last
//! (21-semantics §8.5). A crash leaves files that nobody reads.

mod create;
mod delete;
mod evolve;
mod group;
mod metadata;
mod object;

use talavera_codec::Writer;
use talavera_directory::{ArrayPaths, NameForm, TimestampedName};
use talavera_pipeline::{EncryptionKey, GenericTile};
use talavera_schema::{ArraySchema, Enumeration};
use talavera_storage::{ObjectPath, Storage, StorageError};
use talavera_types::FormatVersion;

use crate::Error;

pub use create::{CreateOptions, create_array};
pub use delete::{DeleteOptions, delete_cells};
pub use evolve::{EvolveOptions, evolve_array, upgrade_array};
pub use group::{GroupWriter, create_group};
pub use metadata::MetadataWriter;
pub use object::{
    ObjectEntry, WalkOrder, copy_object, list_objects, move_object, remove_array, remove_group, remove_object, walk_objects,
};

/// Where and how files that are one generic tile each are written.
struct TileFiles<'a> {
    storage: &'a dyn Storage,
    staging: ObjectPath,
    version: FormatVersion,
    key: Option<&'a EncryptionKey>,
}

impl<'a> TileFiles<'a> {
    /// Those of an array that is written in `version`.
    fn of_array(
        storage: &'a dyn Storage,
        paths: &ArrayPaths,
        version: FormatVersion,
        key: Option<&'a EncryptionKey>,
    ) -> Result<Self, Error> {
        Ok(Self { storage, staging: staging(paths, version)?, version, key })
    }

    /// Writes a file at once. When this returns, it lasts.
    fn write(&self, path: &ObjectPath, payload: &[u8]) -> Result<(), Error> {
        let wrap = |source| Error::GenericTile { path: path.clone(), source };
        let tile = GenericTile::encode(payload, self.version, self.key).map_err(wrap)?;
        Ok(self.storage.write_via(&self.staging, path, &tile)?)
    }

    fn write_schema(&self, path: &ObjectPath, schema: &ArraySchema) -> Result<(), Error> {
        let mut payload = Writer::new();
        schema.encode(&mut payload);
        self.write(path, payload.as_slice())
    }

    fn write_enumeration(&self, paths: &ArrayPaths, enumeration: &Enumeration) -> Result<ObjectPath, Error> {
        let path = paths.enumeration(enumeration.path_name())?;
        let mut payload = Writer::new();
        enumeration.encode(&mut payload);
        self.write(&path, payload.as_slice())?;
        Ok(path)
    }
}

/// Where unfinished files of an array may lie: a folder that nobody lists. Arrays too old to have one get none; no reader
/// takes the names of such files in the root for anything.
fn staging(paths: &ArrayPaths, version: FormatVersion) -> Result<ObjectPath, StorageError> {
    if version.has_commits_folder() { paths.staging() } else { Ok(paths.root().clone()) }
}

/// The folders that arrays of a format version have from the start.
fn folders(version: FormatVersion) -> impl Iterator<Item = &'static str> {
    ArrayPaths::FOLDERS.into_iter().filter(move |folder| match *folder {
        "__meta" => true,
        "__schema" => version.has_schema_folder(),
        "__schema/__enumerations" => version.has_enumerations(),
        "__labels" => version.has_dimension_labels(),
        _ => version.has_commits_folder(),
    })
}

/// Checks enumerations that are to be stored: their files' names, their sizes, and that attributes can number them.
fn check_enumerations(schema: &ArraySchema, enumerations: &[Enumeration]) -> Result<(), Error> {
    let mut total_bytes = 0u64;
    for enumeration in enumerations {
        let name = enumeration.name();
        if name.is_empty() {
            return Err(Error::invalid("an enumeration needs a name"));
        }
        let is_file_name = |name: &TimestampedName| name.form() == NameForm::UuidFirst;
        if !enumeration.path_name().parse().is_ok_and(|name| is_file_name(&name)) {
            let found = enumeration.path_name();
            return Err(Error::invalid(format!("enumeration '{name}': '{found}' is not the name of an enumeration's file")));
        }
        let offsets = enumeration.offsets().map_or(0, |offsets| offsets.len() as u64 * 8);
        let bytes = offsets + enumeration.data().len() as u64;
        if bytes > MAX_ENUMERATION_BYTES {
            return Err(Error::invalid(format!("enumeration '{name}' has {bytes} bytes, {MAX_ENUMERATION_BYTES} are the most")));
        }
        total_bytes += bytes;
        for attribute in schema.attributes.iter().filter(|attribute| attribute.enumeration.as_deref() == Some(name)) {
            attribute.check_enumeration(enumeration)?;
        }
    }
    if total_bytes > MAX_ENUMERATIONS_BYTES {
        return Err(Error::invalid(format!("the enumerations have {total_bytes} bytes, {MAX_ENUMERATIONS_BYTES} are the most")));
    }
    Ok(())
}

/// The most bytes of one enumeration, data and offsets, that the reference lets by (22-semantics §10.1).
const MAX_ENUMERATION_BYTES: u64 = 10 << 20;
/// The most bytes of all enumerations of an array, likewise.
const MAX_ENUMERATIONS_BYTES: u64 = 50 << 20;
