//! The key of an encrypted array: 10-tile-chunks §8.

use std::fmt;

use crate::PipelineError;

/// The AES-256 key of an array: 32 raw bytes, from which nothing is derived.
///
/// The bytes are overwritten when the key is dropped, and `Debug` does not show them.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey([u8; Self::BYTES]);

impl EncryptionKey {
    /// Bytes of a key.
    pub const BYTES: usize = 32;

    /// The key with these bytes.
    #[must_use]
    pub fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The key with these bytes, as a configuration gives them.
    ///
    /// # Errors
    /// [`PipelineError::KeyLength`] when they are not 32.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PipelineError> {
        bytes.try_into().map(Self).map_err(|_| PipelineError::KeyLength { found: bytes.len() })
    }

    /// The bytes of the key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl Drop for EncryptionKey {
    fn drop(&mut self) {
        self.0.fill(0);
        // Somebody might still look, as far as the compiler can tell, so the line above is not optimised away.
        std::hint::black_box(&self.0);
    }
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_another_length_is_refused_with_its_length() {
        let error = EncryptionKey::from_bytes(&[7; 31]).unwrap_err();
        assert_eq!(error.to_string(), "an encryption key has 32 bytes, not 31");
        assert_eq!(EncryptionKey::from_bytes(&[7; 32]).unwrap(), EncryptionKey::new([7; 32]));
    }

    #[test]
    fn debug_does_not_show_the_key() {
        assert_eq!(format!("{:?}", EncryptionKey::new([7; 32])), "EncryptionKey(..)");
    }
}
