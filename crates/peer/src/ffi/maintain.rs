//! What is done to arrays as a whole: consolidating, vacuuming, evolving.

use super::schema_into::{AES_256_GCM, Members};
use super::{Array, Context, Handle, c_string, out, short};
use crate::{Evolution, Mode, ObjectType, PeerError, VAR, Window};

impl Context {
    /// Consolidates an array; `config` holds at least `sm.consolidation.mode` where the default will not do.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses.
    pub fn consolidate(&self, uri: &str, config: &[(&str, &str)]) -> Result<(), PeerError> {
        let (uri, config) = (c_string(uri)?, self.config(config)?);
        // SAFETY: text, configuration and key outlive the call.
        unsafe {
            match self.key_for_calls() {
                Some(key) if self.library().has("tiledb_array_consolidate_with_key") => {
                    let (bytes, length) = (key.as_ptr().cast(), short(key.len())?);
                    self.tiledb_array_consolidate_with_key(uri.as_ptr(), AES_256_GCM, bytes, length, config.raw())
                }
                _ => self.tiledb_array_consolidate(uri.as_ptr(), config.raw()),
            }
        }
    }

    /// Removes what consolidation has replaced; `config` holds at least `sm.vacuum.mode` where the default will not do.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or does not vacuum (before 2.0).
    pub fn vacuum(&self, uri: &str, config: &[(&str, &str)]) -> Result<(), PeerError> {
        let (uri, config) = (c_string(uri)?, self.config(config)?);
        // SAFETY: text and configuration outlive the call.
        unsafe { self.tiledb_array_vacuum(uri.as_ptr(), config.raw()) }
    }

    /// Writes the array's schema again in the version of this release.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or cannot (before 2.4).
    pub fn upgrade(&self, uri: &str) -> Result<(), PeerError> {
        let (uri, config) = (c_string(uri)?, self.config(&[])?);
        // SAFETY: text and configuration outlive the call.
        unsafe { self.tiledb_array_upgrade_version(uri.as_ptr(), config.raw()) }
    }

    /// Deletes the fragments that lie between two timestamps, both included.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or lacks the function (before 2.18).
    pub fn delete_fragments(&self, uri: &str, start: u64, end: u64) -> Result<(), PeerError> {
        let uri = c_string(uri)?;
        // SAFETY: the text outlives the call.
        unsafe { self.tiledb_array_delete_fragments_v2(uri.as_ptr(), start, end) }
    }

    /// Gives an array its next schema.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or cannot (before 2.4; enumerations before 2.17).
    pub fn evolve(&self, uri: &str, evolution: &Evolution) -> Result<(), PeerError> {
        // Enumerations are extended from what the open array holds.
        let extends = !evolution.extend_enumerations.is_empty();
        let array = extends.then(|| self.open(uri, Mode::Read, Window::default())).transpose()?;
        let uri = c_string(uri)?;
        // SAFETY: all handles are alive while they are used, and the library copies what it is given.
        unsafe {
            let made = self.new_evolution(|out| self.tiledb_array_schema_evolution_alloc(out))?;
            let e = made.raw();
            if let Some(at) = evolution.at {
                self.tiledb_array_schema_evolution_timestamp_range(e, at, at)?;
            }
            for enumeration in &evolution.add_enumerations {
                self.tiledb_array_schema_evolution_add_enumeration(e, self.enumeration_into(enumeration)?.raw())?;
            }
            if let Some(array) = &array {
                for (name, values) in &evolution.extend_enumerations {
                    let extended = self.extended(array, name, values)?;
                    self.tiledb_array_schema_evolution_extend_enumeration(e, extended.raw())?;
                }
            }
            for name in &evolution.drop_enumerations {
                self.tiledb_array_schema_evolution_drop_enumeration(e, c_string(name)?.as_ptr())?;
            }
            for attribute in &evolution.add_attributes {
                self.tiledb_array_schema_evolution_add_attribute(e, self.attribute_into(attribute)?.raw())?;
            }
            for name in &evolution.drop_attributes {
                self.tiledb_array_schema_evolution_drop_attribute(e, c_string(name)?.as_ptr())?;
            }
            if let Some(ranges) = &evolution.current_domain {
                let schema = self.new_schema(|out| self.tiledb_array_schema_load(uri.as_ptr(), out))?;
                let domain = self.new_domain(|out| self.tiledb_array_schema_get_domain(schema.raw(), out))?;
                let current_domain = self.current_domain_into(&domain, ranges)?;
                self.tiledb_array_schema_evolution_expand_current_domain(e, current_domain.raw())?;
            }
            self.tiledb_array_evolve(uri.as_ptr(), e)
        }
    }

    fn extended(&self, array: &Array, name: &str, values: &[Vec<u8>]) -> Result<Handle, PeerError> {
        let (old, members) = (array.enumeration(name)?, Members::new(values));
        let (data, data_bytes) = members.data();
        let var = self.enumeration_from(name, &old)?.cell_val_num == VAR;
        let (offsets, bytes) = if var { members.offsets() } else { (std::ptr::null(), 0) };
        // SAFETY: the old enumeration is alive; data and offsets are passed with their lengths and copied.
        unsafe { self.new_enumeration(|new| self.tiledb_enumeration_extend(old.raw(), data, data_bytes, offsets, bytes, new)) }
    }

    /// What lies at a URI.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library cannot tell.
    pub fn object_type(&self, uri: &str) -> Result<ObjectType, PeerError> {
        let uri = c_string(uri)?;
        // SAFETY: the text outlives the call, as does the address.
        let code = unsafe { out(|v| self.tiledb_object_type(uri.as_ptr(), v)) }?;
        Ok(object_type(code))
    }
}

pub(super) fn object_type(code: i32) -> ObjectType {
    match code {
        1 => ObjectType::Group,
        2 => ObjectType::Array,
        _ => ObjectType::None,
    }
}
