//! New arrays and enumerations.

use std::path::Path;
use std::sync::Arc;

use talavera_engine::{EncryptionKey, create_array, enumeration_file_name};
use talavera_schema::{ArraySchema, Enumeration};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::{CellValNum, Datatype};

use crate::open_options::{locate_new, now_ms};
use crate::{Array, BinaryCell, Error, OpenOptions};

/// How an array is created.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    engine: talavera_engine::CreateOptions,
    enumerations: Vec<Enumeration>,
}

impl CreateOptions {
    /// As of now, without a key and without enumerations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The key of a new encrypted array; it cannot be changed later.
    #[must_use]
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.engine.key = Some(key);
        self
    }

    /// The key of a new encrypted array, as bytes.
    ///
    /// # Errors
    /// [`Error::KeyLength`] when they are not 32.
    pub fn key_bytes(self, key: &[u8]) -> Result<Self, Error> {
        let bytes = key.try_into().map_err(|_| Error::KeyLength { found: key.len() })?;
        Ok(self.key(EncryptionKey::new(bytes)))
    }

    /// The time of the first schema in milliseconds since 1970; now without this.
    #[must_use]
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.engine.timestamp = Some(timestamp_ms);
        self
    }

    /// One of the enumerations that the schema refers to; all must be given. See [`enumeration`].
    #[must_use]
    pub fn enumeration(mut self, enumeration: Enumeration) -> Self {
        self.enumerations.push(enumeration);
        self
    }

    /// These options, with the key and time of others where they have one, and all enumerations.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.engine.key = other.engine.key.or(self.engine.key);
        self.engine.timestamp = other.engine.timestamp.or(self.engine.timestamp);
        self.enumerations.extend(other.enumerations);
        self
    }

    /// Creates an array in a local folder, given as a path or as a `file://` URI, and opens it.
    ///
    /// # Errors
    /// When there is an array or a group already, see [`Error::is_already_there`]; when the schema breaks a rule; when
    /// enumerations are missing; when storage fails.
    pub fn create(self, path: impl AsRef<Path>, schema: &ArraySchema) -> Result<Array, Error> {
        let (storage, root) = locate_new(path.as_ref())?;
        self.create_in(storage, root, schema)
    }

    /// Creates an array at `root` in any storage, and opens it.
    ///
    /// # Errors
    /// As [`CreateOptions::create`].
    pub fn create_in(self, storage: Arc<dyn Storage>, root: ObjectPath, schema: &ArraySchema) -> Result<Array, Error> {
        create_array(&*storage, &root, schema, &self.enumerations, &self.engine)?;
        let mut open = OpenOptions::new();
        open.engine.key = self.engine.key;
        // A schema of a time to come is seen by nobody before.
        open.at(now_ms().max(self.engine.timestamp.unwrap_or(0))).open_in(storage, root)
    }
}

/// A new enumeration of these values, text or other bytes, in a file of its own: for [`CreateOptions::enumeration`],
/// [`ArrayBuilder::add_enumeration`](crate::ArrayBuilder::add_enumeration) and
/// [`Evolve::add_enumeration`](crate::Evolve::add_enumeration).
///
/// ```
/// use talavera::{CellValNum, Datatype, enumeration};
///
/// let colors = enumeration("colors", Datatype::StringUtf8, CellValNum::Var, false, ["red", "sky"])?;
/// assert_eq!(colors.index_of(b"sky"), Some(1));
/// assert!(enumeration("twice", Datatype::UInt8, CellValNum::ONE, false, [[7_u8], [7]]).is_err());
/// # Ok::<(), talavera::Error>(())
/// ```
///
/// # Errors
/// When a value occurs twice, and when values of a fixed length have another.
pub fn enumeration<C: BinaryCell>(
    name: impl Into<String>,
    datatype: Datatype,
    cell_val_num: CellValNum,
    ordered: bool,
    values: impl IntoIterator<Item = C>,
) -> Result<Enumeration, Error> {
    let values: Vec<C> = values.into_iter().collect();
    let values = values.iter().map(|value| value.binary().unwrap_or_default());
    let file_name = enumeration_file_name()?;
    Ok(Enumeration::from_values(name, file_name, datatype, cell_val_num, ordered, values)?)
}
