//! Changing the metadata of arrays and groups (05-other-files §1).

use talavera_engine::{EncryptionKey, MetadataValue, MetadataWriter, OpenArray};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::Datatype;

use crate::{Error, Value};

/// A change of the metadata of an array or group: built up, then committed as one file. Of several changes of one key, the
/// last counts.
///
/// ```
/// use talavera::{ArrayBuilder, Datatype};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// let array = ArrayBuilder::dense().dimension("x", 1..=4_i32, 2).attribute::<i32>("a").create(&path)?;
/// array.edit_metadata().put("unit", "m/s").put("scale", 0.5).put("corners", &[1_i16, 4]).delete("old").commit()?;
///
/// let array = array.reopen()?;
/// let metadata = array.metadata()?;
/// assert_eq!(metadata.get("unit").unwrap().bytes(), b"m/s");
/// assert_eq!((metadata.get("corners").unwrap().datatype(), metadata.get("corners").unwrap().count()), (Datatype::Int16, 2));
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a change does nothing until it is committed"]
pub struct MetadataEdit<'a> {
    owner: Owner<'a>,
    changes: Vec<(Vec<u8>, Change)>,
    timestamp: Option<u64>,
}

#[derive(Debug)]
enum Change {
    Put(Result<MetadataValue, Error>),
    Delete,
}

#[derive(Debug)]
enum Owner<'a> {
    Array(&'a OpenArray),
    Group { storage: &'a dyn Storage, root: &'a ObjectPath, key: Option<&'a EncryptionKey> },
}

/// What can be a value of metadata: numbers, slices of numbers, text (as STRING_UTF8), and [`MetadataValue`].
///
/// Not booleans: the Python package of the reference reads no metadata of an array with a BOOL among them.
pub trait IntoMetadata {
    /// The value.
    ///
    /// # Errors
    /// When it is too long: 2³² values or more.
    fn into_metadata(self) -> Result<MetadataValue, Error>;
}

impl<'a> MetadataEdit<'a> {
    pub(crate) fn of_array(array: &'a OpenArray) -> Self {
        Self { owner: Owner::Array(array), changes: Vec::new(), timestamp: None }
    }

    pub(crate) fn of_group(storage: &'a dyn Storage, root: &'a ObjectPath, key: Option<&'a EncryptionKey>) -> Self {
        Self { owner: Owner::Group { storage, root, key }, changes: Vec::new(), timestamp: None }
    }

    /// Sets a key.
    pub fn put(mut self, key: impl Into<Vec<u8>>, value: impl IntoMetadata) -> Self {
        self.changes.push((key.into(), Change::Put(value.into_metadata())));
        self
    }

    /// Deletes a key; that it does not exist is no error.
    pub fn delete(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.changes.push((key.into(), Change::Delete));
        self
    }

    /// The time of the change in milliseconds since 1970; now without this.
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.timestamp = Some(timestamp_ms);
        self
    }

    /// Writes the changes, if there are any.
    ///
    /// # Errors
    /// For keys and values that are too long; when storage fails.
    pub fn commit(self) -> Result<(), Error> {
        let mut writer = match self.owner {
            Owner::Array(array) => MetadataWriter::for_array(array, self.timestamp),
            Owner::Group { storage, root, key } => MetadataWriter::for_group(storage, root, key, self.timestamp)?,
        };
        for (key, change) in self.changes {
            match change {
                Change::Put(value) => writer.put(key, value?)?,
                Change::Delete => writer.delete(key)?,
            };
        }
        Ok(writer.commit()?)
    }
}

fn value(datatype: Datatype, bytes: Vec<u8>) -> Result<MetadataValue, Error> {
    Ok(MetadataValue::new(datatype, bytes).map_err(talavera_engine::Error::from)?)
}

impl<T: Value> IntoMetadata for T {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        [self].as_slice().into_metadata()
    }
}

impl<T: Value> IntoMetadata for &[T] {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        value(T::DATATYPE, T::to_cell_bytes(self).to_vec())
    }
}

impl<T: Value, const N: usize> IntoMetadata for &[T; N] {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        self.as_slice().into_metadata()
    }
}

impl<T: Value> IntoMetadata for Vec<T> {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        self.as_slice().into_metadata()
    }
}

impl<T: Value> IntoMetadata for &Vec<T> {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        self.as_slice().into_metadata()
    }
}

impl IntoMetadata for &str {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        value(Datatype::StringUtf8, self.as_bytes().to_vec())
    }
}

impl IntoMetadata for String {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        value(Datatype::StringUtf8, self.into_bytes())
    }
}

impl IntoMetadata for &String {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        self.as_str().into_metadata()
    }
}

impl IntoMetadata for MetadataValue {
    fn into_metadata(self) -> Result<MetadataValue, Error> {
        Ok(self)
    }
}
