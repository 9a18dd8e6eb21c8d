//! Groups: members and metadata. The library has opened groups only since 2.9.

use std::ptr;

use super::maintain::object_type;
use super::metadata::{Entry, Found, Holder};
use super::{Context, Handle, c_string, out};
use crate::{Datatype, Member, Metadata, Mode, PeerError};

/// An open group; closed when dropped. Changes are written when it is closed, so [`Group::close`] is the better end.
pub struct Group {
    context: Context,
    handle: Handle,
    open: bool,
}

impl Context {
    /// Creates an empty group.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library refuses.
    pub fn create_group(&self, uri: &str) -> Result<(), PeerError> {
        let uri = c_string(uri)?;
        // SAFETY: the text outlives the call.
        unsafe { self.tiledb_group_create(uri.as_ptr()) }
    }

    /// Opens a group as it is now.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or cannot open groups (before 2.9).
    pub fn open_group(&self, uri: &str, mode: Mode) -> Result<Group, PeerError> {
        let uri = c_string(uri)?;
        // SAFETY: the object made is owned by the handle, and the text outlives the calls.
        let handle = unsafe {
            let handle = self.new_group(|out| self.tiledb_group_alloc(uri.as_ptr(), out))?;
            self.tiledb_group_open(handle.raw(), mode.code())?;
            handle
        };
        Ok(Group { context: Self::of(&self.share()), handle, open: true })
    }
}

impl Group {
    /// Closes the group, which writes what was changed.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when that fails.
    pub fn close(mut self) -> Result<(), PeerError> {
        self.open = false;
        // SAFETY: the group is alive and open.
        unsafe { self.context.tiledb_group_close(self.handle.raw()) }
    }

    /// Adds a member by its URI, which may be relative to the group's, with or without a name.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library refuses.
    pub fn add_member(&self, uri: &str, relative: bool, name: Option<&str>) -> Result<(), PeerError> {
        let (uri, name) = (c_string(uri)?, name.map(c_string).transpose()?);
        let name = name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
        // SAFETY: the group is alive, and the texts outlive the call.
        unsafe { self.context.tiledb_group_add_member(self.handle.raw(), uri.as_ptr(), relative.into(), name) }
    }

    /// Removes a member by its name, or by its URI where it has none.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library refuses.
    pub fn remove_member(&self, name_or_uri: &str) -> Result<(), PeerError> {
        let name = c_string(name_or_uri)?;
        // SAFETY: the group is alive, and the text outlives the call.
        unsafe { self.context.tiledb_group_remove_member(self.handle.raw(), name.as_ptr()) }
    }

    /// The members, in the library's order.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses.
    pub fn members(&self) -> Result<Vec<Member>, PeerError> {
        let (c, g) = (&self.context, self.handle.raw());
        let mut members = Vec::new();
        // SAFETY: the group is alive; the objects made are owned by their handles, and a missing name is null.
        unsafe {
            for index in 0..out(|v| c.tiledb_group_get_member_count(g, v))? {
                let (mut code, mut raw_name) = (0, ptr::null_mut());
                let get = |uri| c.tiledb_group_get_member_by_index_v2(g, index, uri, &raw mut code, &raw mut raw_name);
                let uri = c.new_string(get)?;
                let name = c.new_string(|out| {
                    *out = raw_name;
                    Ok(())
                })?;
                let name = if raw_name.is_null() { None } else { Some(c.string(&name)?) };
                members.push(Member { uri: c.string(&uri)?, object_type: object_type(code), name });
            }
        }
        Ok(members)
    }

    /// Puts values under a key of the group's metadata; `None` stores a key without value.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses, or the bytes are no whole number of values.
    pub fn put_metadata(&self, key: &str, datatype: Datatype, value: Option<&[u8]>) -> Result<(), PeerError> {
        self.put(key, datatype, value)
    }

    /// Deletes a key of the group's metadata.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library refuses.
    pub fn delete_metadata(&self, key: &str) -> Result<(), PeerError> {
        let key = c_string(key)?;
        // SAFETY: the group is alive and the text outlives the call.
        unsafe { self.context.tiledb_group_delete_metadata(self.handle.raw(), key.as_ptr()) }
    }

    /// All of the group's metadata, sorted by key.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or holds a datatype that this crate does not know.
    pub fn metadata(&self) -> Result<Vec<Metadata>, PeerError> {
        self.entries()
    }
}

impl Holder for Group {
    fn context(&self) -> &Context {
        &self.context
    }

    fn put_raw(&self, entry: &Entry<'_>) -> Result<(), PeerError> {
        let (h, c) = (self.handle.raw(), &self.context);
        // SAFETY: the group is alive; an entry's address holds as many values as it says.
        unsafe { c.tiledb_group_put_metadata(h, entry.key.as_ptr(), entry.datatype, entry.count, entry.address()) }
    }

    fn count(&self) -> Result<u64, PeerError> {
        // SAFETY: the group is alive, and the address outlives the call.
        unsafe { out(|v| self.context.tiledb_group_get_metadata_num(self.handle.raw(), v)) }
    }

    fn entry(&self, index: u64, found: &mut Found) -> Result<(), PeerError> {
        let (h, c, f) = (self.handle.raw(), &self.context, found);
        let (key, bytes, value) = (&raw mut f.key, &raw mut f.key_bytes, &raw mut f.value);
        // SAFETY: the group is alive, and the addresses outlive the call.
        unsafe { c.tiledb_group_get_metadata_from_index(h, index, key, bytes, &raw mut f.datatype, &raw mut f.count, value) }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.open {
            // SAFETY: the group is alive and open. A failure has nobody left to tell.
            let _ = unsafe { self.context.tiledb_group_close(self.handle.raw()) };
        }
    }
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group").finish_non_exhaustive()
    }
}
