//! What a command is about: an array or group, and how to open it.

use std::path::Path;
use std::sync::Arc;

use talavera::{Array, Group, ObjectType, OpenOptions, ReadPart};

use crate::args::Target;
use crate::error::Error;

/// An array or a group.
pub(crate) enum Object {
    /// An array.
    Array(Array),
    /// A group.
    Group(Group),
}

impl Target {
    /// Opens the array.
    ///
    /// # Errors
    /// When there is none, or when it cannot be opened.
    pub(crate) fn open_array(&self) -> Result<Array, Error> {
        self.check_scheme()?;
        Ok(self.options()?.open(&self.uri)?)
    }

    /// Opens the array as the read saw it that a part was split off.
    ///
    /// # Errors
    /// As [`Target::open_array`]; when fragments of the part have been vacuumed since.
    pub(crate) fn open_part(&self, part: &ReadPart) -> Result<Array, Error> {
        self.check_scheme()?;
        Ok(self.options()?.open_part(part, &self.uri)?)
    }

    /// Opens the array or group.
    ///
    /// # Errors
    /// When there is none, or when it cannot be opened.
    pub(crate) fn open(&self) -> Result<Object, Error> {
        if self.object_type()? == Some(ObjectType::Group) {
            return Ok(Object::Group(self.options()?.open_group(&self.uri)?));
        }
        Ok(Object::Array(self.open_array()?))
    }

    /// What lies at the URI.
    ///
    /// # Errors
    /// When the folder cannot be listed, or is not a local one.
    pub(crate) fn object_type(&self) -> Result<Option<ObjectType>, Error> {
        self.check_scheme()?;
        Ok(talavera::object_type(&self.uri)?)
    }

    /// How to open what lies at the URI, and what lies below it.
    ///
    /// # Errors
    /// When the key file cannot be read, and when threads cannot be started.
    pub(crate) fn options(&self) -> Result<OpenOptions, Error> {
        let mut options = OpenOptions::new();
        if let Some(timestamps) = &self.timestamps {
            options = options.timestamps(timestamps.clone());
        }
        if let Some(key) = self.key()? {
            options = options.key_bytes(&key)?;
        }
        if let Some(threads) = self.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| Error::usage(format!("--threads {threads}: {error}")))?;
            options = options.pool(Arc::new(pool));
        }
        Ok(options)
    }

    /// The bytes of the key, if one is given.
    ///
    /// # Errors
    /// When the key file cannot be read, and when it has no key.
    pub(crate) fn key(&self) -> Result<Option<Vec<u8>>, Error> {
        self.key_file.as_deref().map(key).transpose()
    }

    /// Refuses what is not a local folder.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub(crate) fn check_scheme(&self) -> Result<(), Error> {
        check_scheme(&self.uri)
    }
}

/// Refuses what is not a local folder.
///
/// # Errors
/// [`Error::Usage`].
pub(crate) fn check_scheme(uri: &str) -> Result<(), Error> {
    match uri.split_once("://") {
        Some((scheme, _)) if scheme != "file" => Err(Error::usage(format!("{uri}: only paths and file:// URIs can be opened"))),
        _ => Ok(()),
    }
}

/// The bytes of a key file: 32, and perhaps the end of a line.
fn key(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = std::fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    if bytes.len() > talavera::EncryptionKey::BYTES {
        while bytes.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
            bytes.pop();
        }
    }
    if bytes.len() == talavera::EncryptionKey::BYTES {
        return Ok(bytes);
    }
    Err(Error::usage(format!("--key-file {}: a key has 32 bytes, the file has {}", path.display(), bytes.len())))
}
