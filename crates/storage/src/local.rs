//! Objects as files under a folder of the local file system.

mod buffer;
mod file;
mod sync;

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;

use self::buffer::ReadBuffer;
use self::file::{FileWriter, StagedFile, open, read_exact_at};
use self::sync::{create_folders, sync_folder_of};
use crate::coalesce::{check_range, read_coalesced};
use crate::{Entry, EntryKind, ObjectPath, ObjectWriter, Storage, StorageError};

/// Files under a folder of the local file system.
///
/// Reads open the file, read at positions, and close it, so that any number of threads may share a store. Writes are
/// forced to the disk, file and folder, before they return.
#[derive(Debug, Clone)]
pub struct LocalStorage {
    root: PathBuf,
    durable: bool,
}

impl LocalStorage {
    /// The files under `root`, which need not exist yet. With `/` every file of the system has a path.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when `root` is relative and there is no current folder, or when it is not UTF-8.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, StorageError> {
        let root = root.as_ref();
        let invalid = |reason| StorageError::InvalidPath { path: root.to_string_lossy().into_owned(), reason };
        let absolute = std::path::absolute(root).map_err(|_| invalid("cannot be made absolute"))?;
        if absolute.to_str().is_none() {
            return Err(invalid("is not UTF-8"));
        }
        Ok(Self { root: absolute, durable: true })
    }

    /// Leaves it to the system when bytes reach the disk: faster, and a crash of the machine may lose or tear objects.
    #[must_use]
    pub fn without_sync(mut self) -> Self {
        self.durable = false;
        self
    }

    /// The object that a path of the file system names.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when it does not lie under the root, is not UTF-8, or climbs.
    pub fn object_path(&self, local: impl AsRef<Path>) -> Result<ObjectPath, StorageError> {
        let local = local.as_ref();
        let invalid = |reason| StorageError::InvalidPath { path: local.to_string_lossy().into_owned(), reason };
        let absolute = std::path::absolute(local).map_err(|_| invalid("cannot be made absolute"))?;
        let relative = absolute.strip_prefix(&self.root).map_err(|_| invalid("is not under the root of the store"))?;
        let mut path = ObjectPath::root();
        for component in relative.components() {
            match component {
                Component::Normal(part) => path = path.join(part.to_str().ok_or_else(|| invalid("is not UTF-8"))?)?,
                Component::CurDir => {}
                _ => return Err(invalid("climbs out of its folder")),
            }
        }
        Ok(path)
    }

    /// The file that an object is.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when the system reads a part of the path as more than a name.
    pub fn local_path(&self, path: &ObjectPath) -> Result<PathBuf, StorageError> {
        let mut local = self.root.clone();
        for part in path.parts() {
            let mut components = Path::new(part).components();
            if !matches!((components.next(), components.next()), (Some(Component::Normal(_)), None)) {
                return Err(StorageError::InvalidPath { path: path.to_string(), reason: "is not a path of this system" });
            }
            local.push(part);
        }
        Ok(local)
    }
}

impl Storage for LocalStorage {
    fn list(&self, folder: &ObjectPath) -> Result<Vec<Entry>, StorageError> {
        let local = self.local_path(folder)?;
        let entries = match fs::read_dir(local) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(Vec::new()),
            Err(error) => return Err(StorageError::io(folder, error)),
        };
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| StorageError::io(folder, error))?;
            if let (Ok(name), Some(kind)) = (entry.file_name().into_string(), entry_kind(folder, &entry)?) {
                listed.push(Entry { name, kind });
            }
        }
        listed.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    fn size(&self, path: &ObjectPath) -> Result<u64, StorageError> {
        let metadata = fs::metadata(self.local_path(path)?).map_err(|error| StorageError::io(path, error))?;
        if metadata.is_dir() { Err(StorageError::NotFound { path: path.clone() }) } else { Ok(metadata.len()) }
    }

    fn read(&self, path: &ObjectPath, limit: u64) -> Result<Bytes, StorageError> {
        let (file, size) = open(path, &self.local_path(path)?)?;
        if size > limit {
            return Err(StorageError::TooLarge { path: path.clone(), size, limit });
        }
        read_range(path, &file, 0..size, size)
    }

    fn read_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes, StorageError> {
        let (file, size) = open(path, &self.local_path(path)?)?;
        read_range(path, &file, range, size)
    }

    fn read_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StorageError> {
        let (file, size) = open(path, &self.local_path(path)?)?;
        read_coalesced(path, ranges, |range| read_range(path, &file, range, size))
    }

    fn read_into(&self, path: &ObjectPath, offset: u64, buffer: &mut [u8]) -> Result<(), StorageError> {
        let (file, size) = open(path, &self.local_path(path)?)?;
        check_range(path, &(offset..offset.saturating_add(buffer.len() as u64)), size)?;
        read_exact_at(&file, buffer, offset).map_err(|error| StorageError::io(path, error))
    }

    fn write_via(&self, staging: &ObjectPath, path: &ObjectPath, bytes: &[u8]) -> Result<(), StorageError> {
        let failed = |error| StorageError::io(path, error);
        let target = self.local_path(path)?;
        let staging = self.local_path(staging)?;
        create_folders(&staging, self.durable).map_err(failed)?;
        if let Some(folder) = target.parent() {
            create_folders(folder, self.durable).map_err(failed)?;
        }
        // A file without bytes cannot be torn: it needs no other name first.
        let is_new_and_empty = bytes.is_empty() && File::create_new(&target).is_ok();
        if !is_new_and_empty {
            StagedFile::write(&staging, bytes, self.durable).and_then(|staged| staged.rename(&target)).map_err(failed)?;
        }
        if self.durable {
            sync_folder_of(&target).map_err(failed)?;
        }
        Ok(())
    }

    fn create_file(&self, path: &ObjectPath) -> Result<Box<dyn ObjectWriter>, StorageError> {
        let target = self.local_path(path)?;
        if let Some(folder) = target.parent() {
            create_folders(folder, self.durable).map_err(|error| StorageError::io(path, error))?;
        }
        Ok(Box::new(FileWriter::create(path, target, self.durable)?))
    }

    fn create_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        create_folders(&self.local_path(folder)?, self.durable).map_err(|error| StorageError::io(folder, error))
    }

    fn delete(&self, path: &ObjectPath) -> Result<(), StorageError> {
        done_if_not_found(fs::remove_file(self.local_path(path)?).map_err(|error| StorageError::io(path, error)))
    }

    fn delete_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        done_if_not_found(fs::remove_dir_all(self.local_path(folder)?).map_err(|error| StorageError::io(folder, error)))
    }

    fn rename(&self, from: &ObjectPath, to: &ObjectPath) -> Result<(), StorageError> {
        let (source, target) = (self.local_path(from)?, self.local_path(to)?);
        let failed = |error| StorageError::io(from, error);
        fs::symlink_metadata(&source).map_err(failed)?;
        if fs::symlink_metadata(&target).is_ok() {
            return Err(StorageError::AlreadyExists { path: to.clone() });
        }
        if let Some(folder) = target.parent() {
            create_folders(folder, self.durable).map_err(failed)?;
        }
        fs::rename(&source, &target).map_err(failed)?;
        if self.durable {
            sync_folder_of(&target).and_then(|()| sync_folder_of(&source)).map_err(failed)?;
        }
        Ok(())
    }

    fn uri(&self, path: &ObjectPath) -> String {
        let root = self.root.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        let root = root.trim_matches('/');
        let separator = if root.is_empty() || path.is_root() { "" } else { "/" };
        format!("{SCHEME}/{root}{separator}{}", path.as_str())
    }

    fn path_of_uri(&self, uri: &str) -> Option<ObjectPath> {
        let local = match uri.strip_prefix(SCHEME) {
            Some(local) if cfg!(windows) => local.trim_start_matches('/'),
            Some(local) => local,
            None => uri,
        };
        let local = Path::new(local);
        if local.is_absolute() { self.object_path(local).ok() } else { None }
    }
}

/// What an entry is; symbolic links are what they lead to, and nothing when that is gone.
fn entry_kind(folder: &ObjectPath, entry: &fs::DirEntry) -> Result<Option<EntryKind>, StorageError> {
    let file_type = entry.file_type().map_err(|error| StorageError::io(folder, error))?;
    if file_type.is_dir() {
        return Ok(Some(EntryKind::Folder));
    }
    let metadata = if file_type.is_symlink() { fs::metadata(entry.path()) } else { entry.metadata() };
    match metadata {
        Ok(metadata) if metadata.is_dir() => Ok(Some(EntryKind::Folder)),
        Ok(metadata) => Ok(Some(EntryKind::File(metadata.len()))),
        // Removed since, or a link to nowhere.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StorageError::io(folder, error)),
    }
}

fn read_range(path: &ObjectPath, file: &File, range: Range<u64>, size: u64) -> Result<Bytes, StorageError> {
    let mut buffer = ReadBuffer::take(check_range(path, &range, size)?);
    read_exact_at(file, buffer.as_mut(), range.start).map_err(|error| StorageError::io(path, error))?;
    Ok(buffer.into())
}

fn done_if_not_found(result: Result<(), StorageError>) -> Result<(), StorageError> {
    match result {
        Err(error) if error.is_not_found() => Ok(()),
        result => result,
    }
}

const SCHEME: &str = "file://";
