//! Metadata, which arrays and groups hold alike.

use std::ffi::CString;
use std::ptr;

use super::{Bytes, Context, Text, c_string, copy, short};
use crate::{Datatype, Metadata, PeerError};

/// An entry on its way into the library.
pub(super) struct Entry<'a> {
    pub(super) key: CString,
    pub(super) datatype: i32,
    pub(super) count: u32,
    value: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// The address of `count` values, or null.
    pub(super) fn address(&self) -> Bytes {
        self.value.map_or(ptr::null(), |value| value.as_ptr().cast())
    }
}

/// An entry as the library gives it: addresses in its own memory.
pub(super) struct Found {
    pub(super) key: Text,
    pub(super) key_bytes: u32,
    pub(super) datatype: i32,
    pub(super) count: u32,
    pub(super) value: Bytes,
}

/// What holds metadata: its own three functions of the C API.
pub(super) trait Holder {
    fn context(&self) -> &Context;
    fn put_raw(&self, entry: &Entry<'_>) -> Result<(), PeerError>;
    fn count(&self) -> Result<u64, PeerError>;
    fn entry(&self, index: u64, found: &mut Found) -> Result<(), PeerError>;

    fn put(&self, key: &str, datatype: Datatype, value: Option<&[u8]>) -> Result<(), PeerError> {
        let bytes = value.map_or(0, <[u8]>::len);
        if !bytes.is_multiple_of(datatype.size()) {
            return Err(PeerError::invalid(format!("{key}: {bytes} bytes are no whole number of {}", datatype.name())));
        }
        let count = short(bytes / datatype.size())?;
        self.put_raw(&Entry { key: c_string(key)?, datatype: datatype.code().into(), count, value })
    }

    fn entries(&self) -> Result<Vec<Metadata>, PeerError> {
        let mut entries = Vec::new();
        for index in 0..self.count()? {
            let mut found = Found { key: ptr::null(), key_bytes: 0, datatype: 0, count: 0, value: ptr::null() };
            self.entry(index, &mut found)?;
            let datatype = self.context().datatype(found.datatype)?;
            let value_bytes = u64::from(found.count) * datatype.size() as u64;
            // SAFETY: key and value lie in the library's memory until the object is closed, which `self` keeps open.
            let (key, value) = unsafe { (copy(found.key.cast(), found.key_bytes.into())?, copy(found.value, value_bytes)?) };
            entries.push(Metadata {
                key: String::from_utf8_lossy(&key).into_owned(),
                datatype,
                count: found.count,
                value: if found.value.is_null() { None } else { Some(value) },
            });
        }
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }
}
