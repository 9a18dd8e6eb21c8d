#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;

use std::fmt;

use aes_gcm::{AeadInOut as _, KeyInit as _, aead::inout::InOutBuf};

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// Bytes of an IV.
pub const IV_BYTES: usize = 12;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// A key, expanded: the cipher and the filter.
///
/// The key is wiped when dropped and not shown by `Debug`.
#[derive(Clone)]
pub struct Aes256Gcm {
    cipher: aes_gcm::Aes256Gcm,
}

/// A tag does not match: the key is wrong or the bytes are damaged. The two cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthenticationFailed;

impl Aes256Gcm {
    /// Expands a key.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self { cipher: aes_gcm::Aes256Gcm::new(key.into()) }
    }

    /// Encrypts `plain` into `sealed` and gives back the tag; nothing for more than 64 GiB, which the cipher cannot take.
    ///
    /// An IV must never be used twice under one key.
    ///
    /// # Panics
    /// When `sealed` is not as long as `plain`.
    pub fn seal(&self, iv: &[u8; IV_BYTES], plain: &[u8], sealed: &mut [u8]) -> Option<[u8; TAG_BYTES]> {
        assert_eq!(plain.len(), sealed.len(), "as many bytes come out as go in");
        let buffer = InOutBuf::new(plain, sealed).ok()?;
        self.cipher.encrypt_inout_detached(iv.into(), &[], buffer).ok().map(Into::into)
    }

    /// Checks the tag and decrypts `sealed` into `plain`.
    ///
    /// # Errors
    /// [`AuthenticationFailed`] when the tag does not match; nothing is decrypted then.
    ///
    /// # Panics
    /// When `plain` is not as long as `sealed`.
    pub fn open(
        &self,
        iv: &[u8; IV_BYTES],
        tag: &[u8; TAG_BYTES],
        sealed: &[u8],
        plain: &mut [u8],
    ) -> Result<(), AuthenticationFailed> {
        assert_eq!(plain.len(), sealed.len(), "as many bytes come out as go in");
        let buffer = InOutBuf::new(sealed, plain).map_err(|_| AuthenticationFailed)?;
        self.cipher.decrypt_inout_detached(iv.into(), &[], buffer, tag.into()).map_err(|_| AuthenticationFailed)
    }
}

impl fmt::Debug for Aes256Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aes256Gcm").finish_non_exhaustive()
    }
}

impl fmt::Display for AuthenticationFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("authentication failed: wrong key or damaged bytes")
    }
}

impl std::error::Error for AuthenticationFailed {}
