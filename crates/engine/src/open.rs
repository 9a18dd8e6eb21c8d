//! An array at a time window: its schemas, fragments and deletes, found once and then never changed.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use talavera_condition::{QueryCondition, UpdateCommit};
use talavera_directory::{
    ArrayDirectory, ArrayMetadata, DeleteContent, DeleteFile, DeleteKind, FragmentFolder, MetadataFile, NamedFile, SchemaFile,
    TimeWindow,
};
use talavera_fragment::ConsolidatedFooters;
use talavera_schema::{ArraySchema, Enumeration, NdRange};
use talavera_storage::{ObjectPath, Storage};

use crate::fragment::FragmentSource;
use crate::{EngineOptions, Error, Fragment, metadata_file};

/// The file name of the schema of arrays before version 10, and what their footers call it afterwards.
pub(crate) const OLD_SCHEMA: &str = "__array_schema.tdb";

/// An array opened at a time window.
///
/// It is a snapshot: fragments written or removed later are not noticed, except that reading a removed one fails. It may
/// be shared by threads; what it reads lazily (enumerations, metadata, tile lists) it reads once.
#[derive(Debug)]
pub struct OpenArray {
    storage: Arc<dyn Storage>,
    root: ObjectPath,
    options: EngineOptions,
    window: TimeWindow,
    directory: ArrayDirectory,
    schemas: Schemas,
    schema: Arc<ArraySchema>,
    schema_name: String,
    fragments: Vec<Fragment>,
    to_vacuum: Vec<FragmentFolder>,
    deletes: Vec<DeleteCondition>,
    metadata: OnceLock<ArrayMetadata>,
    enumerations: Vec<OnceLock<Arc<Enumeration>>>,
}

/// What a reader saw, to see the same again: file and folder names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) schema: String,
    pub(crate) fragments: Vec<String>,
    /// The markers of the deletes.
    pub(crate) deletes: Vec<String>,
}

/// The schemas of an array, each decoded when a fragment first asks for it.
#[derive(Debug)]
struct Schemas {
    files: Vec<(SchemaFile, OnceLock<Arc<ArraySchema>>)>,
    by_name: HashMap<String, usize>,
}

/// A delete, or an update, that readers apply: the condition holds for the cells that stay.
#[derive(Debug, Clone)]
pub(crate) struct DeleteCondition {
    /// The commit file.
    pub(crate) path: ObjectPath,
    /// How fragments that processed it remember it.
    pub(crate) marker: String,
    /// Cells written at this time or before are affected.
    pub(crate) timestamp: u64,
    /// Holds for the cells that stay.
    pub(crate) keeps: QueryCondition,
}

impl OpenArray {
    /// Opens the array at `root` as it was in `window`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no array; the errors of storage; damaged, encrypted or too new metadata.
    pub fn open(storage: Arc<dyn Storage>, root: ObjectPath, window: TimeWindow, options: EngineOptions) -> Result<Self, Error> {
        Self::open_as(storage, root, window, options, None)
    }

    /// Opens the array as it was in `window` for whoever took the snapshot, whatever happened since.
    pub(crate) fn open_snapshot(
        storage: Arc<dyn Storage>,
        root: ObjectPath,
        window: TimeWindow,
        options: EngineOptions,
        snapshot: &Snapshot,
    ) -> Result<Self, Error> {
        Self::open_as(storage, root, window, options, Some(snapshot))
    }

    fn open_as(
        storage: Arc<dyn Storage>,
        root: ObjectPath,
        window: TimeWindow,
        options: EngineOptions,
        snapshot: Option<&Snapshot>,
    ) -> Result<Self, Error> {
        let directory = ArrayDirectory::read(&*storage, &root)?;
        let schemas = Schemas::new(&directory);
        let not_found = || Error::NotFound { path: root.clone(), wanted: "array" };
        let latest = directory.latest_schema(window.end).ok_or_else(not_found)?;
        let schema_name = snapshot.map_or_else(|| schema_file_name(latest), |snapshot| snapshot.schema.clone());
        let schema = schemas.get(&schema_name, &root, &*storage, &options)?;
        let mut visible = directory.select(window, schema.is_dense());
        if let Some(snapshot) = snapshot {
            visible.fragments = snapshot.folders(&directory)?;
        }
        let load =
            |name: Option<&str>, fragment: &ObjectPath| schemas.get(name.unwrap_or(OLD_SCHEMA), fragment, &*storage, &options);
        let fragments = options.run(|| open_fragments(&*storage, &options, &directory, &visible.fragments, &load))?;
        let counts = |delete: &&DeleteFile| snapshot.is_none_or(|snapshot| snapshot.deletes.contains(&delete.marker));
        let deletes = directory.deletes(window).into_iter().filter(counts);
        let deletes = deletes.map(|delete| read_delete(&*storage, &options, &root, delete)).collect::<Result<_, _>>()?;
        let enumerations = schema.enumerations.iter().map(|_| OnceLock::new()).collect();
        Ok(Self {
            root,
            window,
            schema,
            schema_name,
            fragments,
            to_vacuum: visible.to_vacuum,
            deletes,
            metadata: OnceLock::new(),
            enumerations,
            schemas,
            directory,
            options,
            storage,
        })
    }

    /// Where the array lies in its storage.
    #[must_use]
    pub fn root(&self) -> &ObjectPath {
        &self.root
    }

    /// The storage that the array lies in.
    #[must_use]
    pub fn storage(&self) -> &dyn Storage {
        &*self.storage
    }

    pub(crate) fn shared_storage(&self) -> Arc<dyn Storage> {
        Arc::clone(&self.storage)
    }

    /// The time window that the array was opened at.
    #[must_use]
    pub fn window(&self) -> TimeWindow {
        self.window
    }

    /// How it was opened.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// The schema that readers go by: the newest in the window.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// The file name of that schema.
    #[must_use]
    pub fn schema_name(&self) -> &str {
        &self.schema_name
    }

    /// All schemas that the array ever had, oldest first, with their file names.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn all_schemas(&self) -> Result<Vec<(String, Arc<ArraySchema>)>, Error> {
        let load = |(file, _): &(SchemaFile, _)| {
            let name = schema_file_name(file);
            let schema = self.schemas.get(&name, &self.root, &*self.storage, &self.options)?;
            Ok((name, schema))
        };
        self.schemas.files.iter().map(load).collect()
    }

    /// The fragments in the window, older ones first.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        &self.fragments
    }

    /// Names of the fragments in the window that consolidation has replaced and vacuuming has not removed yet.
    pub fn fragments_to_vacuum(&self) -> impl ExactSizeIterator<Item = &str> {
        self.to_vacuum.iter().map(|fragment| fragment.name.as_str())
    }

    /// What lies in the array's folder.
    #[must_use]
    pub fn directory(&self) -> &ArrayDirectory {
        &self.directory
    }

    /// What is needed to see the same again of these fragments.
    pub(crate) fn snapshot(&self, fragments: &[usize]) -> Snapshot {
        let name = |&fragment: &usize| self.fragments.get(fragment).map(|fragment| fragment.name.clone());
        Snapshot {
            schema: self.schema_name.clone(),
            fragments: fragments.iter().filter_map(name).collect(),
            deletes: self.deletes.iter().map(|delete| delete.marker.clone()).collect(),
        }
    }

    pub(crate) fn deletes(&self) -> &[DeleteCondition] {
        &self.deletes
    }

    /// The ranges that hold all cells of the fragments in the window; none when there are no fragments.
    #[must_use]
    pub fn non_empty_domain(&self) -> Option<NdRange> {
        let mut domains = self.fragments.iter().filter_map(|fragment| fragment.footer().non_empty_domain.clone());
        let first = domains.next()?;
        Some(domains.fold(first, |mut all, domain| {
            all.union_with(&domain);
            all
        }))
    }

    /// The array's metadata in the window.
    ///
    /// # Errors
    /// When a metadata file cannot be read.
    pub fn metadata(&self) -> Result<&ArrayMetadata, Error> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(metadata);
        }
        let metadata = read_metadata(&*self.storage, &self.options, self.directory.metadata_files(self.window))?;
        Ok(self.metadata.get_or_init(|| metadata))
    }

    /// The values of an enumeration of the opened schema.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a name that the schema does not have; when the file cannot be read.
    pub fn enumeration(&self, name: &str) -> Result<Arc<Enumeration>, Error> {
        let found = self.schema.enumerations.iter().zip(&self.enumerations).find(|(reference, _)| reference.name == name);
        let (reference, slot) = found.ok_or_else(|| Error::invalid(format!("the array has no enumeration '{name}'")))?;
        if let Some(enumeration) = slot.get() {
            return Ok(Arc::clone(enumeration));
        }
        let path = self.directory.enumeration(&reference.file_name)?;
        let payload = metadata_file::read_file(&*self.storage, &path, &self.options)?;
        let enumeration = Enumeration::decode(&payload).map_err(Error::corrupt(&path))?;
        Ok(Arc::clone(slot.get_or_init(|| Arc::new(enumeration))))
    }
}

impl Snapshot {
    fn folders(&self, directory: &ArrayDirectory) -> Result<Vec<FragmentFolder>, Error> {
        let committed = directory.committed_fragments();
        let by_name: HashMap<&str, &FragmentFolder> = committed.iter().map(|folder| (folder.name.as_str(), folder)).collect();
        let folder = |name: &String| {
            let gone =
                || Error::invalid(format!("the fragment {name} has been removed since the read was split; split it again"));
            by_name.get(name.as_str()).map(|&folder| folder.clone()).ok_or_else(gone)
        };
        self.fragments.iter().map(folder).collect()
    }
}

impl Schemas {
    fn new(directory: &ArrayDirectory) -> Self {
        let files: Vec<_> = directory.schemas().iter().map(|file| (file.clone(), OnceLock::new())).collect();
        let by_name = files.iter().enumerate().map(|(index, (file, _))| (schema_file_name(file), index)).collect();
        Self { files, by_name }
    }

    fn get(
        &self,
        name: &str,
        asked_by: &ObjectPath,
        storage: &dyn Storage,
        options: &EngineOptions,
    ) -> Result<Arc<ArraySchema>, Error> {
        let found = self.by_name.get(name).and_then(|&index| self.files.get(index));
        let (file, slot) = found.ok_or_else(|| Error::MissingSchema { fragment: asked_by.clone(), schema: name.to_owned() })?;
        if let Some(schema) = slot.get() {
            return Ok(Arc::clone(schema));
        }
        let payload = metadata_file::read_file(storage, &file.path, options)?;
        let schema = ArraySchema::decode(&payload).map_err(Error::corrupt(&file.path))?;
        Ok(Arc::clone(slot.get_or_init(|| Arc::new(schema))))
    }
}

fn schema_file_name(file: &SchemaFile) -> String {
    file.path.name().to_owned()
}

type LoadSchema<'a> = dyn Fn(Option<&str>, &ObjectPath) -> Result<Arc<ArraySchema>, Error> + Sync + 'a;

fn open_fragments(
    storage: &dyn Storage,
    options: &EngineOptions,
    directory: &ArrayDirectory,
    folders: &[FragmentFolder],
    load: &LoadSchema<'_>,
) -> Result<Vec<Fragment>, Error> {
    let files = directory.consolidated_footers().iter().filter(|_| folders.len() > 1);
    let payloads = files.map(|file| metadata_file::read_file(storage, &file.path, options)).collect::<Result<Vec<_>, _>>()?;
    let mut footers: HashMap<String, &[u8]> = HashMap::new();
    for payload in &payloads {
        // A damaged copy is no loss: the fragments' own footers are read instead.
        let Ok(consolidated) = ConsolidatedFooters::decode(payload) else { continue };
        for footer in consolidated.footers {
            footers.entry(footer.folder().to_owned()).or_insert(footer.bytes);
        }
    }
    let open = |folder: &FragmentFolder| {
        let source = FragmentSource {
            storage,
            options,
            path: &folder.path,
            name: folder.name.as_str(),
            name_version: folder.version,
            timestamps: (folder.name.start(), folder.name.end()),
        };
        let schema = |name: Option<&str>| load(name, &folder.path);
        let copy = footers.get(folder.name.as_str());
        let copied = copy.and_then(|footer| Fragment::open_consolidated(&source, footer, &schema));
        copied.map_or_else(|| Fragment::open(&source, &schema), Ok)
    };
    folders.par_iter().map(open).collect()
}

fn read_delete(
    storage: &dyn Storage,
    options: &EngineOptions,
    root: &ObjectPath,
    delete: &DeleteFile,
) -> Result<DeleteCondition, Error> {
    let path = root.join(&delete.marker)?;
    let payload = match &delete.content {
        DeleteContent::File(path) => metadata_file::read_file(storage, path, options)?,
        DeleteContent::Embedded(bytes) => metadata_file::unwrap_whole(bytes, &path, options)?,
    };
    let keeps = match delete.kind {
        DeleteKind::Delete => QueryCondition::decode(&payload),
        // Readers apply the condition of an update and not its values (21-semantics §7).
        DeleteKind::Update => UpdateCommit::decode(&payload).map(|update| update.condition),
    };
    let keeps = keeps.map_err(Error::corrupt(&path))?;
    Ok(DeleteCondition { path, marker: delete.marker.clone(), timestamp: delete.timestamp(), keeps })
}

pub(crate) fn read_metadata(
    storage: &dyn Storage,
    options: &EngineOptions,
    files: Vec<&NamedFile>,
) -> Result<ArrayMetadata, Error> {
    let read = |file: &NamedFile| {
        let payload = metadata_file::read_file(storage, &file.path, options)?;
        MetadataFile::decode(&payload).map_err(Error::corrupt(&file.path))
    };
    let files = files.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(ArrayMetadata::replay(files))
}
