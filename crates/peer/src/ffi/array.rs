//! Open arrays: schema, non-empty domain, metadata.

use super::metadata::{Entry, Holder};
use super::schema_into::AES_256_GCM;
use super::{Context, Handle, Raw, c_string, out, short, size};
use crate::{Datatype, Metadata, Mode, PeerError, Range, Schema, VAR, Window};

/// An open array; closed when dropped. Metadata is written when it is closed, so [`Array::close`] is the better end.
pub struct Array {
    pub(super) context: Context,
    pub(super) handle: Handle,
    pub(super) mode: Mode,
    open: bool,
}

impl Context {
    /// Opens an array at a time window.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses, or a start is asked of a release that knows only ends.
    pub fn open(&self, uri: &str, mode: Mode, window: Window) -> Result<Array, PeerError> {
        let uri = c_string(uri)?;
        // SAFETY: the object made is owned by the handle; text, key and handle outlive the calls.
        let handle = unsafe {
            let handle = self.new_array(|out| self.tiledb_array_alloc(uri.as_ptr(), out))?;
            if let Some(start) = window.start {
                self.tiledb_array_set_open_timestamp_start(handle.raw(), start)?;
            }
            self.open_until(handle.raw(), mode, window.end)?;
            handle
        };
        Ok(Array { context: Self::of(&self.share()), handle, mode, open: true })
    }

    /// Opens by whichever functions the release has: the end of the window in a call of its own, or with the opening.
    ///
    /// # Safety
    /// `array` is an array object.
    unsafe fn open_until(&self, array: Raw, mode: Mode, end: Option<u64>) -> Result<(), PeerError> {
        let old_writer = mode == Mode::Write && self.library().version() < (2, 0, 0);
        let mut end = end.filter(|_| !old_writer);
        let (key, mode) = (self.key_for_calls(), mode.code());
        // SAFETY: the caller vouches for the array; the key is passed with its length and outlives the call.
        unsafe {
            if self.library().has("tiledb_array_set_open_timestamp_end")
                && let Some(end) = end.take()
            {
                self.tiledb_array_set_open_timestamp_end(array, end)?;
            }
            let (bytes, length) = match key {
                Some(key) => (key.as_ptr().cast(), short(key.len())?),
                None => (std::ptr::null(), 0),
            };
            match (key.is_some(), end) {
                (false, None) => self.tiledb_array_open(array, mode),
                (false, Some(end)) => self.tiledb_array_open_at(array, mode, end),
                (true, None) => self.tiledb_array_open_with_key(array, mode, AES_256_GCM, bytes, length),
                (true, Some(end)) => self.tiledb_array_open_at_with_key(array, mode, AES_256_GCM, bytes, length, end),
            }
        }
    }
}

impl Array {
    /// Closes the array, which writes what metadata was put or deleted.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when that fails.
    pub fn close(mut self) -> Result<(), PeerError> {
        self.open = false;
        // SAFETY: the array is alive and open.
        unsafe { self.context.tiledb_array_close(self.handle.raw()) }
    }

    /// The schema that the array was opened with.
    ///
    /// # Errors
    /// [`PeerError`] when the library holds something that this crate does not know.
    pub fn schema(&self) -> Result<Schema, PeerError> {
        let c = &self.context;
        // SAFETY: the array is alive, and the object made is owned by the handle.
        let schema = unsafe { c.new_schema(|out| c.tiledb_array_get_schema(self.handle.raw(), out)) }?;
        let mut schema = c.schema_from(&schema)?;
        let mut names: Vec<_> = schema.attributes.iter().filter_map(|attribute| attribute.enumeration.clone()).collect();
        names.dedup();
        for name in names {
            if !schema.enumerations.iter().any(|enumeration| enumeration.name == name) {
                schema.enumerations.push(c.enumeration_from(&name, &self.enumeration(&name)?)?);
            }
        }
        Ok(schema)
    }

    pub(super) fn enumeration(&self, name: &str) -> Result<Handle, PeerError> {
        let (c, name) = (&self.context, c_string(name)?);
        // SAFETY: the array is alive, and the object made is owned by the handle.
        unsafe { c.new_enumeration(|out| c.tiledb_array_get_enumeration(self.handle.raw(), name.as_ptr(), out)) }
    }

    /// What has been written, one range per dimension; `None` when the array is empty.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or lacks the function (before 2.0).
    pub fn non_empty_domain(&self) -> Result<Option<Vec<Range>>, PeerError> {
        let (c, array) = (&self.context, self.handle.raw());
        let mut ranges = Vec::new();
        for (index, dimension) in (0..).zip(&self.schema()?.dimensions) {
            let mut empty = 0;
            // SAFETY: the array is alive; the buffers hold two values of the dimension's datatype, or for strings as
            // many bytes as the library asked for.
            let range = unsafe {
                if dimension.cell_val_num() == VAR {
                    let (mut low, mut high) = (0, 0);
                    let (l, h, e) = (&raw mut low, &raw mut high, &raw mut empty);
                    c.tiledb_array_get_non_empty_domain_var_size_from_index(array, index, l, h, e)?;
                    let (mut low, mut high) = (vec![0u8; size(low)?], vec![0u8; size(high)?]);
                    if empty == 0 {
                        let (l, h) = (low.as_mut_ptr().cast(), high.as_mut_ptr().cast());
                        c.tiledb_array_get_non_empty_domain_var_from_index(array, index, l, h, &raw mut empty)?;
                    }
                    Range { low, high }
                } else {
                    let mut domain = vec![0u8; 2 * dimension.datatype.size()];
                    let address = domain.as_mut_ptr().cast();
                    c.tiledb_array_get_non_empty_domain_from_index(array, index, address, &raw mut empty)?;
                    Range::split(&domain)
                }
            };
            if empty != 0 {
                return Ok(None);
            }
            ranges.push(range);
        }
        Ok(Some(ranges))
    }

    /// Puts values under a key of the array's metadata; `None` stores a key without value.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses, or the bytes are no whole number of values.
    pub fn put_metadata(&self, key: &str, datatype: Datatype, value: Option<&[u8]>) -> Result<(), PeerError> {
        self.put(key, datatype, value)
    }

    /// Deletes a key of the array's metadata.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library refuses.
    pub fn delete_metadata(&self, key: &str) -> Result<(), PeerError> {
        let key = c_string(key)?;
        // SAFETY: the array is alive and the text outlives the call.
        unsafe { self.context.tiledb_array_delete_metadata(self.handle.raw(), key.as_ptr()) }
    }

    /// All of the array's metadata, sorted by key.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or holds a datatype that this crate does not know.
    pub fn metadata(&self) -> Result<Vec<Metadata>, PeerError> {
        self.entries()
    }
}

impl Holder for Array {
    fn context(&self) -> &Context {
        &self.context
    }

    fn put_raw(&self, entry: &Entry<'_>) -> Result<(), PeerError> {
        let (h, c) = (self.handle.raw(), &self.context);
        // SAFETY: the array is alive; an entry's address holds as many values as it says.
        unsafe { c.tiledb_array_put_metadata(h, entry.key.as_ptr(), entry.datatype, entry.count, entry.address()) }
    }

    fn count(&self) -> Result<u64, PeerError> {
        // SAFETY: the array is alive, and the address outlives the call.
        unsafe { out(|v| self.context.tiledb_array_get_metadata_num(self.handle.raw(), v)) }
    }

    fn entry(&self, index: u64, found: &mut super::metadata::Found) -> Result<(), PeerError> {
        let (h, c, f) = (self.handle.raw(), &self.context, found);
        let (key, bytes, value) = (&raw mut f.key, &raw mut f.key_bytes, &raw mut f.value);
        // SAFETY: the array is alive, and the addresses outlive the call.
        unsafe { c.tiledb_array_get_metadata_from_index(h, index, key, bytes, &raw mut f.datatype, &raw mut f.count, value) }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.open {
            // SAFETY: the array is alive and open. A failure has nobody left to tell.
            let _ = unsafe { self.context.tiledb_array_close(self.handle.raw()) };
        }
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array").field("mode", &self.mode).finish_non_exhaustive()
    }
}
