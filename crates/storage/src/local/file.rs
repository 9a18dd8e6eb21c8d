//! Single files: positioned reads, files that appear at once, files written in pieces.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::sync::sync_folder_of;
use crate::{ObjectPath, ObjectWriter, StorageError, StoreAhead};

/// The file and its size in bytes; a folder is "not found".
pub(super) fn open(path: &ObjectPath, local: &Path) -> Result<(File, u64), StorageError> {
    let file = File::open(local).map_err(|error| StorageError::io(path, error))?;
    let metadata = file.metadata().map_err(|error| StorageError::io(path, error))?;
    if metadata.is_dir() {
        return Err(StorageError::NotFound { path: path.clone() });
    }
    Ok((file, metadata.len()))
}

#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// The handle is used by one call only, so its position may move.
#[cfg(not(unix))]
pub(super) fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};

    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

/// A complete file under a name of its own, removed unless it is given the right one.
pub(super) struct StagedFile {
    local: PathBuf,
    is_renamed: bool,
}

impl StagedFile {
    /// Writes `bytes` under a fresh name in `staging`.
    pub(super) fn write(staging: &Path, bytes: &[u8], durable: bool) -> io::Result<Self> {
        let (mut file, staged) = Self::create(staging)?;
        file.write_all(bytes)?;
        if durable {
            file.sync_all()?;
        }
        Ok(staged)
    }

    pub(super) fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.local, target)?;
        self.is_renamed = true;
        Ok(())
    }

    /// Names hold no underscore, so that no reader of arrays takes them for one of theirs. Process and counter make
    /// them differ on one machine, exclusive creation on shared disks.
    fn create(staging: &Path) -> io::Result<(File, Self)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        for _ in 0..MAX_NAMES_TRIED {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let local = staging.join(format!(".talavera-{process}-{count}.tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&local) {
                Ok(file) => return Ok((file, Self { local, is_renamed: false })),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no free name for a temporary file"))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            drop(fs::remove_file(&self.local));
        }
    }
}

/// A file written in pieces under its final name, removed unless it is finished.
#[derive(Debug)]
pub(super) struct FileWriter {
    path: ObjectPath,
    local: PathBuf,
    file: BufWriter<File>,
    written: u64,
    durable: bool,
    is_finished: bool,
    /// The bytes written when the system was last asked to store them.
    stored: u64,
}

impl FileWriter {
    pub(super) fn create(path: &ObjectPath, local: PathBuf, durable: bool) -> Result<Self, StorageError> {
        let file = File::create_new(&local).map_err(|error| StorageError::io(path, error))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { path: path.clone(), local, file, written: 0, durable, is_finished: false, stored: 0 })
    }

    fn finish_file(&mut self) -> io::Result<()> {
        self.file.flush()?;
        if self.durable {
            self.file.get_ref().sync_all()?;
            sync_folder_of(&self.local)?;
        }
        Ok(())
    }
}

impl ObjectWriter for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.file.write_all(bytes).map_err(|error| StorageError::io(&self.path, error))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn store_ahead(&mut self) -> Option<StoreAhead> {
        if !self.durable || self.written - self.stored < STORED_BYTES {
            return None;
        }
        self.stored = self.written;
        // Without it, all is stored at the end.
        let file = self.file.get_ref().try_clone().ok()?;
        let path = self.path.clone();
        Some(Box::new(move || file.sync_data().map_err(|error| StorageError::io(&path, error))))
    }

    fn finish(mut self: Box<Self>) -> Result<(), StorageError> {
        self.finish_file().map_err(|error| StorageError::io(&self.path, error))?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        if !self.is_finished {
            drop(fs::remove_file(&self.local));
        }
    }
}

const MAX_NAMES_TRIED: u32 = 1000;
const BUFFER_BYTES: usize = 64 << 10;
/// Bytes that are worth being stored before the end.
const STORED_BYTES: u64 = 8 << 20;
