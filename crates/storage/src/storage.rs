//! What is asked of a store.

use std::fmt::Debug;
use std::ops::Range;

use bytes::Bytes;

use crate::coalesce::read_coalesced;
use crate::{ObjectPath, StorageError};

/// A store of objects in folders, shared between threads.
///
/// Folders are a way of naming: nothing depends on an empty one, and a store without folders may treat them as
/// prefixes. Objects are not changed once written, only replaced or removed as a whole.
pub trait Storage: Debug + Send + Sync {
    /// What lies directly in `folder`, ascending by the bytes of the names.
    ///
    /// A folder that does not exist is empty; so is a path that names a file. Names that are not UTF-8 are left out,
    /// since no path can name them.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails.
    fn list(&self, folder: &ObjectPath) -> Result<Vec<Entry>, StorageError>;

    /// How many bytes an object has.
    ///
    /// # Errors
    /// [`StorageError::NotFound`] when there is none, also when `path` is a folder.
    fn size(&self, path: &ObjectPath) -> Result<u64, StorageError>;

    /// A whole object of at most `limit` bytes.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], or [`StorageError::TooLarge`] before anything is read.
    fn read(&self, path: &ObjectPath, limit: u64) -> Result<Bytes, StorageError>;

    /// The bytes of an object from `range.start` up to, not including, `range.end`.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], or [`StorageError::Range`] when not all of them exist; nothing is allocated then.
    fn read_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes, StorageError>;

    /// Several ranges of one object, in the order asked for; they may overlap.
    ///
    /// Ranges closer than [`COALESCE_GAP_BYTES`](crate::COALESCE_GAP_BYTES) are read as one, and the results share that
    /// memory. A remote store fetches the coalesced ranges at the same time.
    ///
    /// # Errors
    /// As [`Storage::read_range`]; the range in the error may be a coalesced one.
    fn read_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StorageError> {
        read_coalesced(path, ranges, |range| self.read_range(path, range))
    }

    /// Fills `buffer` with the bytes of an object from `offset` on.
    ///
    /// # Errors
    /// As [`Storage::read_range`]; the buffer may then hold anything.
    fn read_into(&self, path: &ObjectPath, offset: u64, buffer: &mut [u8]) -> Result<(), StorageError> {
        let bytes = self.read_range(path, offset..offset.saturating_add(buffer.len() as u64))?;
        if bytes.len() == buffer.len() {
            buffer.copy_from_slice(&bytes);
            return Ok(());
        }
        let end = offset.saturating_add(buffer.len() as u64);
        Err(StorageError::Range { path: path.clone(), start: offset, end, size: offset.saturating_add(bytes.len() as u64) })
    }

    /// Makes `bytes` the object at `path`, replacing what was there: a reader finds all of them or none, also after a
    /// crash. When this returns, they last.
    ///
    /// A store that needs a file under another name for that puts it into `staging`, where alone a crash may leave one.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails.
    fn write_via(&self, staging: &ObjectPath, path: &ObjectPath, bytes: &[u8]) -> Result<(), StorageError>;

    /// Begins an object that is written in pieces.
    ///
    /// # Errors
    /// [`StorageError::AlreadyExists`] when there is one, at the latest from [`ObjectWriter::finish`].
    fn create_file(&self, path: &ObjectPath) -> Result<Box<dyn ObjectWriter>, StorageError>;

    /// Makes a folder and those above it. That it exists already is no error.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails.
    fn create_folder(&self, folder: &ObjectPath) -> Result<(), StorageError>;

    /// Removes an object. That there is none is no error.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails.
    fn delete(&self, path: &ObjectPath) -> Result<(), StorageError>;

    /// Removes a folder and all below it. That there is none is no error.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails; some of the folder may then be gone.
    fn delete_folder(&self, folder: &ObjectPath) -> Result<(), StorageError>;

    /// Moves an object, or a folder with all below it; in a store without folders not at once.
    ///
    /// # Errors
    /// [`StorageError::NotFound`] when there is nothing at `from`, [`StorageError::AlreadyExists`] when there is
    /// something at `to`.
    fn rename(&self, from: &ObjectPath, to: &ObjectPath) -> Result<(), StorageError>;

    /// The address of an object outside of this store, with its scheme: `file:///data/array`.
    fn uri(&self, path: &ObjectPath) -> String;

    /// The object that an address names; `None` when it is not in this store. The inverse of [`Storage::uri`].
    fn path_of_uri(&self, uri: &str) -> Option<ObjectPath>;
}

/// What can be done with every store.
pub trait StorageExt: Storage {
    /// [`Storage::write_via`] the folder of `path` itself, for folders where a stray file harms nobody.
    ///
    /// # Errors
    /// As [`Storage::write_via`].
    fn write(&self, path: &ObjectPath, bytes: &[u8]) -> Result<(), StorageError> {
        self.write_via(&path.parent().unwrap_or_else(ObjectPath::root), path, bytes)
    }

    /// Whether there is an object, not a folder, at `path`.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails.
    fn exists(&self, path: &ObjectPath) -> Result<bool, StorageError> {
        match self.size(path) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Every object below `folder`, at any depth, with its size in bytes; ascending by path within each folder.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails, [`StorageError::InvalidPath`] for an entry that no path can name.
    fn list_all(&self, folder: &ObjectPath) -> Result<Vec<(ObjectPath, u64)>, StorageError> {
        let mut files = Vec::new();
        let mut folders = vec![folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in self.list(&folder)? {
                let path = folder.join(&entry.name)?;
                match entry.kind {
                    EntryKind::File(bytes) => files.push((path, bytes)),
                    EntryKind::Folder => folders.push(path),
                }
            }
        }
        Ok(files)
    }
}

impl<S: Storage + ?Sized> StorageExt for S {}

/// See [`ObjectWriter::store_ahead`].
pub type StoreAhead = Box<dyn FnOnce() -> Result<(), StorageError> + Send>;

/// An object that is being written.
///
/// Dropped before [`ObjectWriter::finish`], nothing of it stays.
pub trait ObjectWriter: Debug + Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails.
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Bytes appended so far.
    fn written(&self) -> u64;

    /// The task to begin to store what was appended so far, where that leaves less to do at the end; none where it would
    /// not, or not yet. It may run on any thread while more is appended. When it fails, so has the object.
    fn store_ahead(&mut self) -> Option<StoreAhead> {
        None
    }

    /// Ends the object. When this returns, it is there and lasts.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the store fails; nothing of the object stays then.
    fn finish(self: Box<Self>) -> Result<(), StorageError>;
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The last part of the path.
    pub name: String,
    /// What it names.
    pub kind: EntryKind,
}

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// An object and its size in bytes.
    File(u64),
    /// A folder.
    Folder,
}

impl Entry {
    /// Whether this is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.kind == EntryKind::Folder
    }
}
