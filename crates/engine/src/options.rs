//! What the caller decides before anything is opened.

use std::sync::Arc;

use talavera_pipeline::EncryptionKey;

/// The threads that decode tiles; shared by whoever clones it.
pub type ThreadPool = Arc<rayon::ThreadPool>;

/// How arrays and groups are opened and read.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The key of an encrypted array.
    pub key: Option<EncryptionKey>,
    /// The most bytes that one metadata file may have, and that its contents may unfold to. It bounds what a damaged
    /// file can make the engine allocate.
    pub metadata_limit_bytes: u64,
    /// The most bytes that one tile of one field may unfold to, likewise.
    pub tile_limit_bytes: u64,
    /// Whether the cells of an attribute that was dropped and added again with another datatype of the same size are shown
    /// as values of the new datatype, as libtiledb shows them. Without it, such cells read as the fill value, as those of
    /// every other attribute that a fragment does not have.
    pub reinterpret_retyped: bool,
    /// The threads to decode on; without one, those of the process-wide pool of rayon, started when first needed.
    pub pool: Option<ThreadPool>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { key: None, metadata_limit_bytes: 1 << 30, tile_limit_bytes: 1 << 33, reinterpret_retyped: false, pool: None }
    }
}

impl EngineOptions {
    /// Runs a job on the pool of the options.
    pub(crate) fn run<T: Send>(&self, job: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(job),
            None => job(),
        }
    }
}
