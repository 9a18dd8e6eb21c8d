//! What the fuzz targets call: one function for each decoder, one for each filter, one for a whole array.
//!
//! Every function takes any bytes. It may find them wrong; it must not panic, hang or take more memory than its limits
//! allow. What is decoded is looked at through every accessor, then encoded and decoded again: the bytes of the second
//! encoding must be those of the first.
//!
//! Numbers that a decoder is told by others (a version, a datatype, a schema) stand in front of the bytes that it
//! decodes; each function says how. `cargo xtask corpus` writes seeds of that form.

pub mod array;
pub mod condition;
pub mod directory;
pub mod filters;
pub mod fragment;
pub mod input;
pub mod schema;
pub mod tiles;

use std::fmt::Debug;

use talavera_codec::Writer;

/// Bytes that one decode may ask for.
pub const LIMIT_BYTES: u64 = 4 << 20;

/// The bytes of whatever is written.
pub fn encoded(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut w = Writer::new();
    write(&mut w);
    w.into_vec()
}

/// Encodes a decoded value, decodes and encodes again: nothing may change. Bytes are compared, since NaN is no equal of
/// itself. Gives back the value decoded last.
///
/// # Panics
/// When something changes; that is a finding.
pub fn stable<T, E: Debug>(value: &T, encode: impl Fn(&T) -> Vec<u8>, decode: impl Fn(&[u8]) -> Result<T, E>) -> T {
    let first = encode(value);
    match decode(&first) {
        Ok(again) => {
            assert_eq!(encode(&again), first, "a value changed on its way");
            again
        }
        Err(error) => panic!("what was encoded is refused: {error:?}"),
    }
}
