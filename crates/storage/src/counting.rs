//! How much a piece of code asks of its store.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::{COALESCE_GAP_BYTES, Entry, ObjectPath, ObjectWriter, Storage, StorageError, coalesce_ranges};

/// A store that hands everything on to another and counts it.
#[derive(Debug, Default)]
pub struct CountingStorage<S> {
    inner: S,
    lists: AtomicU64,
    sizes: AtomicU64,
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    deletes: AtomicU64,
}

/// Requests counted so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Requests {
    /// Folders listed.
    pub lists: u64,
    /// Sizes asked for.
    pub sizes: u64,
    /// Reads; a batch of ranges counts once for each coalesced range, as a remote store would see it.
    pub reads: u64,
    /// Bytes handed out by reads; bytes read in gaps between ranges are not counted.
    pub read_bytes: u64,
    /// Objects written or begun, and folders created.
    pub writes: u64,
    /// Objects and folders removed or moved.
    pub deletes: u64,
}

impl<S: Storage> CountingStorage<S> {
    /// Counts what is asked of `inner` from now on.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            lists: AtomicU64::default(),
            sizes: AtomicU64::default(),
            reads: AtomicU64::default(),
            read_bytes: AtomicU64::default(),
            writes: AtomicU64::default(),
            deletes: AtomicU64::default(),
        }
    }

    /// The store behind this one.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// What was counted since the last call; counting starts again at zero.
    pub fn take(&self) -> Requests {
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        Requests {
            lists: take(&self.lists),
            sizes: take(&self.sizes),
            reads: take(&self.reads),
            read_bytes: take(&self.read_bytes),
            writes: take(&self.writes),
            deletes: take(&self.deletes),
        }
    }

    fn count_reads(&self, requests: usize, bytes: usize) {
        add(&self.reads, requests as u64);
        add(&self.read_bytes, bytes as u64);
    }
}

impl<S: Storage> Storage for CountingStorage<S> {
    fn list(&self, folder: &ObjectPath) -> Result<Vec<Entry>, StorageError> {
        add(&self.lists, 1);
        self.inner.list(folder)
    }

    fn size(&self, path: &ObjectPath) -> Result<u64, StorageError> {
        add(&self.sizes, 1);
        self.inner.size(path)
    }

    fn read(&self, path: &ObjectPath, limit: u64) -> Result<Bytes, StorageError> {
        let result = self.inner.read(path, limit);
        self.count_reads(1, result.as_ref().map_or(0, Bytes::len));
        result
    }

    fn read_range(&self, path: &ObjectPath, range: Range<u64>) -> Result<Bytes, StorageError> {
        let result = self.inner.read_range(path, range);
        self.count_reads(1, result.as_ref().map_or(0, Bytes::len));
        result
    }

    fn read_ranges(&self, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StorageError> {
        let result = self.inner.read_ranges(path, ranges);
        let bytes = result.as_deref().map_or(0, |parts| parts.iter().map(Bytes::len).sum());
        self.count_reads(coalesce_ranges(ranges, COALESCE_GAP_BYTES).len(), bytes);
        result
    }

    fn read_into(&self, path: &ObjectPath, offset: u64, buffer: &mut [u8]) -> Result<(), StorageError> {
        self.count_reads(1, buffer.len());
        self.inner.read_into(path, offset, buffer)
    }

    fn write_via(&self, staging: &ObjectPath, path: &ObjectPath, bytes: &[u8]) -> Result<(), StorageError> {
        add(&self.writes, 1);
        self.inner.write_via(staging, path, bytes)
    }

    fn create_file(&self, path: &ObjectPath) -> Result<Box<dyn ObjectWriter>, StorageError> {
        add(&self.writes, 1);
        self.inner.create_file(path)
    }

    fn create_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        add(&self.writes, 1);
        self.inner.create_folder(folder)
    }

    fn delete(&self, path: &ObjectPath) -> Result<(), StorageError> {
        add(&self.deletes, 1);
        self.inner.delete(path)
    }

    fn delete_folder(&self, folder: &ObjectPath) -> Result<(), StorageError> {
        add(&self.deletes, 1);
        self.inner.delete_folder(folder)
    }

    fn rename(&self, from: &ObjectPath, to: &ObjectPath) -> Result<(), StorageError> {
        add(&self.deletes, 1);
        self.inner.rename(from, to)
    }

    fn uri(&self, path: &ObjectPath) -> String {
        self.inner.uri(path)
    }

    fn path_of_uri(&self, uri: &str) -> Option<ObjectPath> {
        self.inner.path_of_uri(uri)
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStorage, StorageExt};

    #[test]
    fn a_batch_counts_once_for_each_coalesced_range() {
        let storage = CountingStorage::new(MemoryStorage::new());
        let path = ObjectPath::new("a/b").unwrap();
        storage.write(&path, &vec![0; 1 << 20]).unwrap();
        storage.read_ranges(&path, &[0..10, 20..30, 900_000..900_005]).unwrap();
        storage.list(&path).unwrap();
        assert_eq!(storage.take(), Requests { lists: 1, reads: 2, read_bytes: 25, writes: 1, ..Requests::default() });
        assert_eq!(storage.take(), Requests::default());
    }
}
