//! How an array or group is opened: time, key, threads, limits.

use std::ops::RangeInclusive;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use talavera_engine::{ArrayWriter, EncryptionKey, EngineOptions, OpenArray, OpenGroup, ReadPart, ThreadPool, TimeWindow};
use talavera_storage::{LocalStorage, ObjectPath, Storage, StorageError};

use crate::{Array, Error, Group, Writer};

/// How arrays and groups are opened.
///
/// ```
/// use talavera::Array;
///
/// // As the array was 1.01 seconds after the beginning of 1970, before its second fragment.
/// let array = Array::options().at(1010).open("tests/data/dense_2d_overlap")?;
/// assert_eq!(array.fragments().count(), 1);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    pub(crate) engine: EngineOptions,
    start: u64,
    end: Option<u64>,
}

impl OpenOptions {
    /// As of now, without a key, on the threads of the process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Those of what is open already, as of now.
    pub(crate) fn of(engine: &EngineOptions) -> Self {
        Self { engine: engine.clone(), start: 0, end: None }
    }

    /// Sees only what was written from the first to the last of these times, both included, in milliseconds since 1970.
    ///
    /// A dense array shows fill values where nothing was written in that time.
    #[must_use]
    pub fn timestamps(mut self, timestamps: RangeInclusive<u64>) -> Self {
        let (start, end) = timestamps.into_inner();
        (self.start, self.end) = (start, Some(end));
        self
    }

    /// Sees what was written up to this time, with it, in milliseconds since 1970.
    #[must_use]
    pub fn at(self, timestamp_ms: u64) -> Self {
        self.timestamps(0..=timestamp_ms)
    }

    /// The key of an encrypted array or group.
    #[must_use]
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.engine.key = Some(key);
        self
    }

    /// The key of an encrypted array or group, as bytes.
    ///
    /// # Errors
    /// [`Error::KeyLength`] when they are not 32.
    pub fn key_bytes(self, key: &[u8]) -> Result<Self, Error> {
        let bytes = key.try_into().map_err(|_| Error::KeyLength { found: key.len() })?;
        Ok(self.key(EncryptionKey::new(bytes)))
    }

    /// The threads that decode tiles. Without this, those of the process-wide pool of rayon; results are the same.
    #[must_use]
    pub fn pool(mut self, pool: ThreadPool) -> Self {
        self.engine.pool = Some(pool);
        self
    }

    /// The most bytes that one metadata file may have, and that its contents may unfold to; 1 GiB without this. It bounds
    /// what a damaged file can make the process allocate.
    #[must_use]
    pub fn metadata_limit(mut self, bytes: u64) -> Self {
        self.engine.metadata_limit_bytes = bytes;
        self
    }

    /// The most bytes that one tile of one field may unfold to, likewise; 8 GiB without this.
    #[must_use]
    pub fn tile_limit(mut self, bytes: u64) -> Self {
        self.engine.tile_limit_bytes = bytes;
        self
    }

    /// Whether cells of an attribute that was dropped and added again with another datatype of the same size are shown as
    /// values of the new datatype, as libtiledb shows them. Without this they are fill values, as the cells of every
    /// attribute that a fragment does not have.
    #[must_use]
    pub fn reinterpret_retyped(mut self, reinterpret: bool) -> Self {
        self.engine.reinterpret_retyped = reinterpret;
        self
    }

    /// Opens the array in a local folder, given as a path or as a `file://` URI.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none. [`Error::Engine`] when storage fails, and when metadata are damaged,
    /// encrypted with another key, or of a newer format version.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Array, Error> {
        let (storage, root) = locate(path.as_ref())?;
        self.open_in(storage, root)
    }

    /// Opens the array at `root` in any storage.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open_in(&self, storage: Arc<dyn Storage>, root: ObjectPath) -> Result<Array, Error> {
        let found = OpenArray::open(Arc::clone(&storage), root, self.window(), self.engine.clone());
        Ok(Array::new(found.map_err(|error| named(error, &*storage))?, storage))
    }

    /// Opens the array in a local folder as the read saw it that a part was split off. The times of these options do not
    /// matter: the part has its own.
    ///
    /// # Errors
    /// As [`OpenOptions::open`]; when fragments of the part have been vacuumed since.
    pub fn open_part(&self, part: &ReadPart, path: impl AsRef<Path>) -> Result<Array, Error> {
        let (storage, root) = locate(path.as_ref())?;
        self.open_part_in(part, storage, root)
    }

    /// As [`OpenOptions::open_part`], for the array at `root` in any storage.
    ///
    /// # Errors
    /// As [`OpenOptions::open_part`].
    pub fn open_part_in(&self, part: &ReadPart, storage: Arc<dyn Storage>, root: ObjectPath) -> Result<Array, Error> {
        let found = part.open_at(Arc::clone(&storage), root, self.engine.clone());
        Ok(Array::new(found.map_err(|error| named(error, &*storage))?, storage))
    }

    /// Opens the array in a local folder for writing, by its newest schema. The times of these options do not matter:
    /// each write has its own.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open_writer(&self, path: impl AsRef<Path>) -> Result<Writer, Error> {
        let (storage, root) = locate(path.as_ref())?;
        self.open_writer_in(storage, root)
    }

    /// Opens the array at `root` in any storage for writing, as [`OpenOptions::open_writer`].
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open_writer_in(&self, storage: Arc<dyn Storage>, root: ObjectPath) -> Result<Writer, Error> {
        let found = ArrayWriter::open(Arc::clone(&storage), root, self.engine.clone());
        Ok(Writer::new(found.map_err(|error| named(error, &*storage))?))
    }

    /// Opens the group in a local folder, given as a path or as a `file://` URI.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open_group(&self, path: impl AsRef<Path>) -> Result<Group, Error> {
        let (storage, root) = locate(path.as_ref())?;
        self.open_group_in(storage, root)
    }

    /// Opens the group at `root` in any storage.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open_group_in(&self, storage: Arc<dyn Storage>, root: ObjectPath) -> Result<Group, Error> {
        let window = self.window();
        let found = OpenGroup::open(Arc::clone(&storage), root.clone(), window, &self.engine);
        let group = found.map_err(|error| named(error, &*storage))?;
        // Members are opened as of the same moment as their group.
        let options = Self { engine: self.engine.clone(), start: window.start, end: Some(window.end) };
        Ok(Group::new(group, root, options))
    }

    fn window(&self) -> TimeWindow {
        TimeWindow { start: self.start, end: self.end.unwrap_or_else(now_ms) }
    }
}

/// A local path as a path in the storage of all local files, so that groups reach members anywhere.
pub(crate) fn locate(path: &Path) -> Result<(Arc<dyn Storage>, ObjectPath), Error> {
    let invalid = |reason| StorageError::InvalidPath { path: path.to_string_lossy().into_owned(), reason };
    if let Some(uri) = path.to_str().filter(|uri| uri.starts_with("file://")) {
        let storage = LocalStorage::new(Path::new("/"))?;
        let root = storage.path_of_uri(uri).ok_or_else(|| invalid("is not the URI of a local folder"))?;
        return Ok((Arc::new(storage), root));
    }
    let climbs = path.components().any(|component| component == Component::ParentDir);
    // What `..` leads to depends on links, which only the system knows.
    let absolute = if climbs { std::fs::canonicalize(path) } else { std::path::absolute(path) };
    let absolute = absolute.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::NotFound { path: path.to_string_lossy().into_owned(), wanted: "folder" },
        _ => invalid("cannot be made absolute").into(),
    })?;
    let storage = LocalStorage::new(absolute.ancestors().last().unwrap_or(&absolute))?;
    let root = storage.object_path(&absolute)?;
    Ok((Arc::new(storage), root))
}

/// As [`locate`], for a folder that is yet to be made in one that may be there.
pub(crate) fn locate_new(path: &Path) -> Result<(Arc<dyn Storage>, ObjectPath), Error> {
    let climbs = path.components().any(|component| component == Component::ParentDir);
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) if climbs => {
            let (storage, parent) = locate(parent)?;
            let root = parent.join(name)?;
            Ok((storage, root))
        }
        _ => locate(path),
    }
}

/// Spells the path of what was not found so that the caller knows it again.
pub(crate) fn named(error: talavera_engine::Error, storage: &dyn Storage) -> Error {
    match error {
        talavera_engine::Error::NotFound { path, wanted } => Error::NotFound { path: storage.uri(&path), wanted },
        error => error.into(),
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
