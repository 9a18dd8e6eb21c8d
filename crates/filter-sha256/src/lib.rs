#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use sha2::Digest as _;

pub use filter::ChecksumSha256;

/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 32;

/// The SHA-256 digest of some bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    sha2::Sha256::digest(bytes).into()
}
