//! What the library tells about fragments.

use super::{Context, Handle, c_string, out, size, text};
use crate::{Dimension, Fragment, Fragments, Mode, PeerError, Range, VAR, Window};

impl Context {
    /// The fragments of an array.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or lacks the functions (before 2.1).
    pub fn fragments(&self, uri: &str) -> Result<Fragments, PeerError> {
        let dimensions = self.open(uri, Mode::Read, Window::default())?.schema()?.dimensions;
        let uri = c_string(uri)?;
        // SAFETY: the object made is owned by the handle; it and all addresses outlive the calls.
        unsafe {
            let info = self.new_fragment_info(|out| self.tiledb_fragment_info_alloc(uri.as_ptr(), out))?;
            if self.has_key() {
                self.tiledb_fragment_info_set_config(info.raw(), self.config(&[])?.raw())?;
            }
            self.tiledb_fragment_info_load(info.raw())?;
            let mut fragments = Fragments::default();
            for index in 0..out(|v| self.tiledb_fragment_info_get_fragment_num(info.raw(), v))? {
                fragments.loaded.push(self.fragment(&info, index, &dimensions)?);
            }
            for index in 0..out(|v| self.tiledb_fragment_info_get_to_vacuum_num(info.raw(), v))? {
                let uri = out(|v| self.tiledb_fragment_info_get_to_vacuum_uri(info.raw(), index, v))?;
                fragments.to_vacuum.push(text(uri));
            }
            Ok(fragments)
        }
    }

    fn fragment(&self, info: &Handle, index: u32, dimensions: &[Dimension]) -> Result<Fragment, PeerError> {
        let i = info.raw();
        // SAFETY: the object is alive, and all addresses outlive the calls.
        unsafe {
            let name = if self.library().has("tiledb_fragment_info_get_fragment_name_v2") {
                self.string(&self.new_string(|out| self.tiledb_fragment_info_get_fragment_name_v2(i, index, out))?)?
            } else {
                text(out(|v| self.tiledb_fragment_info_get_fragment_name(i, index, v))?)
            };
            let (mut start, mut end) = (0, 0);
            self.tiledb_fragment_info_get_timestamp_range(i, index, &raw mut start, &raw mut end)?;
            let mut non_empty_domain = Vec::new();
            for (dimension, described) in (0..).zip(dimensions) {
                non_empty_domain.push(self.fragment_range(info, index, dimension, described)?);
            }
            Ok(Fragment {
                name,
                format_version: out(|v| self.tiledb_fragment_info_get_version(i, index, v))?,
                timestamps: (start, end),
                dense: out(|v| self.tiledb_fragment_info_get_dense(i, index, v))? != 0,
                cell_count: out(|v| self.tiledb_fragment_info_get_cell_num(i, index, v))?,
                non_empty_domain,
            })
        }
    }

    fn fragment_range(&self, info: &Handle, index: u32, dimension: u32, of: &Dimension) -> Result<Range, PeerError> {
        let i = info.raw();
        // SAFETY: the object is alive; the buffers hold two values of the dimension's datatype, or for strings as many
        // bytes as the library asked for.
        unsafe {
            if of.cell_val_num() != VAR {
                let mut range = vec![0u8; 2 * of.datatype.size()];
                let address = range.as_mut_ptr().cast();
                self.tiledb_fragment_info_get_non_empty_domain_from_index(i, index, dimension, address)?;
                return Ok(Range::split(&range));
            }
            let (mut low, mut high) = (0, 0);
            let (l, h) = (&raw mut low, &raw mut high);
            self.tiledb_fragment_info_get_non_empty_domain_var_size_from_index(i, index, dimension, l, h)?;
            let (mut low, mut high) = (vec![0u8; size(low)?], vec![0u8; size(high)?]);
            let (l, h) = (low.as_mut_ptr().cast(), high.as_mut_ptr().cast());
            self.tiledb_fragment_info_get_non_empty_domain_var_from_index(i, index, dimension, l, h)?;
            Ok(Range { low, high })
        }
    }
}
