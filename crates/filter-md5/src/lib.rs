#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use md5::Digest as _;

pub use filter::ChecksumMd5;

/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 16;

/// The MD5 digest of some bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    md5::Md5::digest(bytes).into()
}
