//! The only module that calls C.
//!
//! Every handle of the library is a [`Handle`], freed on drop, that keeps its context alive; pointers handed to the
//! library point into values that outlive the call, or, for query buffers, the query. The library itself is never
//! unloaded, so that its functions and threads stay valid.

mod aggregate;
mod api;
mod array;
mod buffers;
mod context;
mod fragments;
mod group;
mod maintain;
mod metadata;
mod query;
mod schema_from;
mod schema_into;

use std::ffi::{CStr, CString, c_char, c_void};

pub use array::Array;
pub use context::{Context, Library};
pub use group::Group;
pub use query::Written;

use crate::PeerError;
use context::Shared;

/// An object of the library, of a type that only the library knows.
type Raw = *mut c_void;
/// An address of bytes that the library reads.
type Bytes = *const c_void;
/// The address of a C string.
type Text = *const c_char;
/// The functions that free objects all have this type; they also clear the pointer.
type Free = unsafe extern "C" fn(*mut Raw);

/// An owned object of the library.
struct Handle {
    raw: Raw,
    free: Free,
    /// Objects may use their context until they are freed.
    _context: Shared,
}

impl Handle {
    fn raw(&self) -> Raw {
        self.raw
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: `raw` was made by the library for its owner, this handle, and `free` is the function for its
            // type; nobody can use it afterwards.
            unsafe { (self.free)(&raw mut self.raw) }
        }
    }
}

/// Calls a function with an address for its result and returns the result.
fn out<T: Default>(call: impl FnOnce(*mut T) -> Result<(), PeerError>) -> Result<T, PeerError> {
    let mut value = T::default();
    call(&raw mut value)?;
    Ok(value)
}

fn c_string(text: &str) -> Result<CString, PeerError> {
    CString::new(text).map_err(|_| PeerError::invalid(format!("{text:?} contains a zero byte")))
}

/// Copies a C string of the library; a null pointer is empty text.
///
/// # Safety
/// `text` is null or points to a string that ends in a zero byte and lives until this returns.
unsafe fn text(text: Text) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Copies bytes of the library; a null pointer is no bytes.
///
/// # Safety
/// `bytes` is null or points to `length` bytes that live until this returns.
unsafe fn copy(bytes: Bytes, length: u64) -> Result<Vec<u8>, PeerError> {
    let length = size(length)?;
    if bytes.is_null() || length == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }.to_vec())
}

fn size(length: u64) -> Result<usize, PeerError> {
    usize::try_from(length).map_err(|_| PeerError::invalid(format!("{length} bytes do not fit in memory")))
}

fn short(length: usize) -> Result<u32, PeerError> {
    u32::try_from(length).map_err(|_| PeerError::invalid(format!("{length} is more than the library can count")))
}
