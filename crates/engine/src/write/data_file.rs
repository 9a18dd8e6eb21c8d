//! A data file that is stored while it grows.

use std::thread::JoinHandle;

use talavera_storage::{ObjectWriter, StorageError};

use crate::Error;

/// A data file that is being written, and the thread that stores what is written already: what lies in the system's cache
/// at the end would have to be waited for.
pub(super) struct DataFileWriter {
    object: Box<dyn ObjectWriter>,
    storing: Option<JoinHandle<Result<(), StorageError>>>,
}

impl DataFileWriter {
    pub(super) fn new(object: Box<dyn ObjectWriter>) -> Self {
        Self { object, storing: None }
    }

    /// Appends a tile; gives where it begins.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let offset = self.object.written();
        self.object.write(bytes)?;
        if self.storing.as_ref().is_none_or(JoinHandle::is_finished)
            && let Some(store) = self.object.store_ahead()
        {
            self.join()?;
            // Without a thread for it, all is stored at the end.
            self.storing = std::thread::Builder::new().spawn(store).ok();
        }
        Ok(offset)
    }

    /// Ends the file; gives its bytes.
    pub(super) fn finish(mut self) -> Result<u64, Error> {
        let bytes = self.object.written();
        self.join()?;
        self.object.finish()?;
        Ok(bytes)
    }

    /// Waits for the thread that stores: the system tells of a failure only once.
    fn join(&mut self) -> Result<(), Error> {
        let Some(thread) = self.storing.take() else { return Ok(()) };
        let stored = thread.join().map_err(|_| Error::invalid("the thread that stores a file panicked"))?;
        Ok(stored?)
    }
}
