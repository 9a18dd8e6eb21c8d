//! The buffers of a query, which the library writes to until the query is dropped.

use std::ffi::CString;

use super::{Context, Raw, c_string, size};
use crate::{Column, PeerError};

/// What a query reads into or writes from, for one field.
pub(super) struct Buffers {
    name: CString,
    data: Vec<u8>,
    offsets: Option<Vec<u64>>,
    validity: Option<Vec<u8>>,
    /// Bytes of data, offsets and validity: before a submission those there are, afterwards those used. In a vector, so
    /// that their addresses stay when this value moves.
    bytes: Vec<u64>,
}

/// Bytes kept free behind what is written: some releases look past the end.
const MARGIN: usize = 4096;

impl Buffers {
    /// Buffers of `capacity` bytes each for a read.
    pub(super) fn for_read(name: &str, var: bool, nullable: bool, capacity: usize) -> Result<Self, PeerError> {
        let capacity = capacity.next_multiple_of(8);
        let mut buffers = Self {
            name: c_string(name)?,
            data: vec![0; capacity],
            offsets: var.then(|| vec![0; capacity / 8]),
            validity: nullable.then(|| vec![0; capacity]),
            bytes: vec![0; 3],
        };
        buffers.measure(0);
        Ok(buffers)
    }

    /// Buffers for the one value that an aggregate is; their capacity is exact.
    pub(super) fn for_answer(name: &str, var: bool, nullable: bool, bytes: usize) -> Result<Self, PeerError> {
        let (offsets, validity) = (var.then(|| vec![0; 1]), nullable.then(|| vec![0; 1]));
        let mut buffers = Self { name: c_string(name)?, data: vec![0; bytes], offsets, validity, bytes: vec![0; 3] };
        buffers.measure(0);
        Ok(buffers)
    }

    /// Buffers that hold a column to write.
    pub(super) fn for_write(name: &str, mut column: Column) -> Result<Self, PeerError> {
        let pad = |bytes: &mut Vec<u8>| bytes.resize(bytes.len() + MARGIN, 0);
        pad(&mut column.data);
        column.validity.iter_mut().for_each(pad);
        column.offsets.iter_mut().for_each(|offsets| offsets.resize(offsets.len() + MARGIN / 8, 0));
        let Column { data, offsets, validity } = column;
        let mut buffers = Self { name: c_string(name)?, data, offsets, validity, bytes: vec![0; 3] };
        buffers.measure(MARGIN as u64);
        Ok(buffers)
    }

    /// Sets the sizes to what the buffers hold, less the margin.
    fn measure(&mut self, margin: u64) {
        let offsets = self.offsets.as_ref().map_or(margin, |offsets| size_of_val(offsets.as_slice()) as u64);
        let validity = self.validity.as_ref().map_or(margin, |validity| validity.len() as u64);
        self.bytes = vec![self.data.len() as u64 - margin, offsets - margin, validity - margin];
    }

    /// Makes everything twice as large, for a read of which no cell fitted.
    pub(super) fn double(&mut self) {
        self.data.resize(self.data.len() * 2, 0);
        if let Some(offsets) = &mut self.offsets {
            offsets.resize(offsets.len() * 2, 0);
        }
        if let Some(validity) = &mut self.validity {
            validity.resize(validity.len() * 2, 0);
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.data.len()
    }

    /// Makes a read's buffers empty again.
    pub(super) fn reset(&mut self) {
        self.measure(0);
    }

    /// Bytes that a read has brought.
    pub(super) fn filled(&self) -> u64 {
        let validity = if self.validity.is_some() { self.bytes.get(2) } else { None };
        let offsets = if self.offsets.is_some() { self.bytes.get(1) } else { None };
        [self.bytes.first(), offsets, validity].into_iter().flatten().sum()
    }

    /// Appends what a read has brought to its column; false when it was nothing.
    pub(super) fn append_to(&self, column: &mut Column) -> Result<bool, PeerError> {
        let [data, offsets, validity] = *self.bytes.as_slice() else { return Ok(false) };
        let outside = || PeerError::invalid("the library claims more bytes than it had");
        let data = self.data.get(..size(data)?).ok_or_else(outside)?;
        let offsets = match &self.offsets {
            Some(all) => Some(all.get(..size(offsets / 8)?).ok_or_else(outside)?),
            None => None,
        };
        let validity = match &self.validity {
            Some(all) => Some(all.get(..size(validity)?).ok_or_else(outside)?),
            None => None,
        };
        column.append(data, offsets, validity);
        Ok(!offsets.map_or(data.is_empty(), <[u64]>::is_empty))
    }

    /// Sets the buffers of a query by whichever functions the release has.
    ///
    /// # Safety
    /// `query` is a query object, and `self` outlives its last submission, unchanged but by `reset`.
    pub(super) unsafe fn attach(&mut self, c: &Context, query: Raw) -> Result<(), PeerError> {
        let name = self.name.as_ptr();
        let data: Raw = self.data.as_mut_ptr().cast();
        let offsets = self.offsets.as_mut().map(Vec::as_mut_ptr);
        let validity = self.validity.as_mut().map(Vec::as_mut_ptr);
        let data_bytes = self.bytes.as_mut_ptr();
        // SAFETY: `bytes` has three elements; all addresses are of buffers as long as those say, and the caller
        // vouches for how long they last.
        unsafe {
            let (offsets_bytes, validity_bytes) = (data_bytes.add(1), data_bytes.add(2));
            if c.library().has("tiledb_query_set_data_buffer") {
                c.tiledb_query_set_data_buffer(query, name, data, data_bytes)?;
                if let Some(offsets) = offsets {
                    c.tiledb_query_set_offsets_buffer(query, name, offsets, offsets_bytes)?;
                }
                return match validity {
                    Some(validity) => c.tiledb_query_set_validity_buffer(query, name, validity, validity_bytes),
                    None => Ok(()),
                };
            }
            match (offsets, validity) {
                (None, None) => c.tiledb_query_set_buffer(query, name, data, data_bytes),
                (Some(offsets), None) => c.tiledb_query_set_buffer_var(query, name, offsets, offsets_bytes, data, data_bytes),
                (None, Some(validity)) => {
                    c.tiledb_query_set_buffer_nullable(query, name, data, data_bytes, validity, validity_bytes)
                }
                (Some(o), Some(v)) => {
                    c.tiledb_query_set_buffer_var_nullable(query, name, o, offsets_bytes, data, data_bytes, v, validity_bytes)
                }
            }
        }
    }
}
