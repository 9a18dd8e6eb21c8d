//! Objects in memory, for tests and for arrays that need not last.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::coalesce::check_range;
use crate::{Entry, EntryKind, ObjectPath, ObjectWriter, Storage, StorageError};

/// A store in memory. Clones share their objects.
///
/// Reads hand out views of the objects, not copies.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    // Held for single look-ups and changes only, never while a caller's code runs.
    folders: Arc<RwLock<Folders>>,
}

/// The names in each folder.
type Folders = BTreeMap<ObjectPath, BTreeMap<String, Node>>;

#[derive(Debug, Clone)]
enum Node {
    File(Bytes),
    Folder,
}

impl MemoryStorage {
    /// A store with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> RwLockReadGuard<'_, Folders> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_mut(&self) -> RwLockWriteGuard<'_, Folders> {
        self.folders.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, path: &ObjectPath) -> Result<Bytes, StorageError> {
        match node(&self.lock(), path) {
            Some(Node::File(bytes)) => Ok(bytes.clone()),
            _ => Err(StorageError::NotFound { path: path.clone() }),
        }
    }
}

impl Storage for MemoryStorage {
    fn list(&self, folder: &ObjectPath) -> Result<Vec<Entry>, StorageError> {
        let folders = self.lock();
        let entries = folders.get(folder).into_iter().flatten().map(|(name, node)| {
            let kind = match node {
                Node::File(bytes) => EntryKind::File(bytes.len() as u64),
                Node::Folder => EntryKind::Folder,
            };
            Entry { name: name.clone(), kind }
        });
        Ok(entries.collect())
    }

    fn size(&self, path: &ObjectPath) -> Result<u64, StorageError> {
        Ok(self.file(path)?.len() as u64)
    }

    fn read(&self, path: &ObjectPath, limit: u64) -> Result<Bytes, StorageError> {
        let bytes = self.file(path)?;
        let size = bytes.len() as u64;
        if size > limit { Err(StorageError::TooLarge { path: path.clone(), size, limit }) } else { Ok(bytes) }
    }

    fn read_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes, StorageError> {
        let bytes = self.file(path)?;
        let length = check_range(path, &range, bytes.len() as u64)?;
        let start = usize::try_from(range.start).unwrap_or(bytes.len());
        Ok(bytes.slice(start..start + length))
    }

    fn write_via(&self, _staging: &ObjectPath, path: &ObjectPath, bytes: &[u8]) -> Result<(), StorageError> {
        insert(&mut self.lock_mut(), path, Node::File(Bytes::copy_from_slice(bytes)));
        Ok(())
    }

    fn create_file(&self, path: &ObjectPath) -> Result<Box<dyn ObjectWriter>, StorageError> {
        refuse_existing(&self.lock(), path)?;
        Ok(Box::new(MemoryWriter { storage: self.clone(), path: path.clone(), bytes: Vec::new() }))
    }

    fn create_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        let mut folders = self.lock_mut();
        if !folder.is_root() {
            insert(&mut folders, folder, Node::Folder);
            folders.entry(folder.clone()).or_default();
        }
        Ok(())
    }

    fn delete(&self, path: &ObjectPath) -> Result<(), StorageError> {
        let mut folders = self.lock_mut();
        if matches!(node(&folders, path), Some(Node::File(_))) {
            remove(&mut folders, path);
        }
        Ok(())
    }

    fn delete_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        let mut folders = self.lock_mut();
        if matches!(node(&folders, folder), Some(Node::Folder)) {
            remove(&mut folders, folder);
        }
        folders.retain(|path, _| path.relative_to(folder).is_none());
        Ok(())
    }

    fn rename(&self, from: &ObjectPath, to: &ObjectPath) -> Result<(), StorageError> {
        let mut folders = self.lock_mut();
        let moved = node(&folders, from).cloned().ok_or_else(|| StorageError::NotFound { path: from.clone() })?;
        refuse_existing(&folders, to)?;
        if to.relative_to(from).is_some() {
            return Err(StorageError::InvalidPath { path: to.to_string(), reason: "lies in what is to be moved there" });
        }
        let below: Vec<_> = folders.keys().filter_map(|path| Some((path.clone(), path.relative_to(from)?.to_owned()))).collect();
        for (old, rest) in below {
            if let Some(names) = folders.remove(&old) {
                folders.insert(to.join(&rest)?, names);
            }
        }
        remove(&mut folders, from);
        insert(&mut folders, to, moved);
        Ok(())
    }

    fn uri(&self, path: &ObjectPath) -> String {
        format!("{SCHEME}{}", path.as_str())
    }

    fn path_of_uri(&self, uri: &str) -> Option<ObjectPath> {
        ObjectPath::new(uri.strip_prefix(SCHEME)?).ok()
    }
}

#[derive(Debug)]
struct MemoryWriter {
    storage: MemoryStorage,
    path: ObjectPath,
    bytes: Vec<u8>,
}

impl ObjectWriter for MemoryWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn written(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn finish(self: Box<Self>) -> Result<(), StorageError> {
        let mut folders = self.storage.lock_mut();
        refuse_existing(&folders, &self.path)?;
        insert(&mut folders, &self.path, Node::File(self.bytes.into()));
        Ok(())
    }
}

fn node<'f>(folders: &'f Folders, path: &ObjectPath) -> Option<&'f Node> {
    folders.get(&path.parent()?)?.get(path.name())
}

/// Puts a node at `path` and makes the folders above it.
fn insert(folders: &mut Folders, path: &ObjectPath, node: Node) {
    let mut path = path.clone();
    let mut node = node;
    while let Some(parent) = path.parent() {
        let known = folders.contains_key(&parent);
        folders.entry(parent.clone()).or_default().insert(path.name().to_owned(), node);
        if known {
            break;
        }
        node = Node::Folder;
        path = parent;
    }
}

fn remove(folders: &mut Folders, path: &ObjectPath) {
    if let Some(names) = path.parent().and_then(|parent| folders.get_mut(&parent)) {
        names.remove(path.name());
    }
}

fn refuse_existing(folders: &Folders, path: &ObjectPath) -> Result<(), StorageError> {
    match node(folders, path) {
        Some(_) => Err(StorageError::AlreadyExists { path: path.clone() }),
        None => Ok(()),
    }
}

const SCHEME: &str = "mem://";
