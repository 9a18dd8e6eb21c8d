//! What filters hand their bytes to, called as directly as its crate allows: room is there, and contexts are made once
//! where they can be used again.

use std::error::Error;
use std::fmt;
use std::io::Cursor;

use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut as _, KeyInit as _};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use sha2::Digest as _;

/// A codec without its filter.
pub struct Codec {
    encode: Encode,
    decode: Decode,
}

type Failure = Box<dyn Error>;
type Encode = Box<dyn FnMut(&[u8], &mut Vec<u8>) -> Result<(), Failure>>;
type Decode = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<(), Failure>>;

impl Codec {
    /// Writes the encoded form over `out`, which grows only when it is too short.
    ///
    /// # Errors
    /// Whatever the codec refuses.
    pub fn encode(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        out.clear();
        (self.encode)(bytes, out)
    }

    /// Fills `out`.
    ///
    /// # Errors
    /// Whatever the codec refuses.
    pub fn decode(&mut self, bytes: &[u8], out: &mut [u8]) -> Result<(), Failure> {
        (self.decode)(bytes, out)
    }

    fn new(
        encode: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), Failure> + 'static,
        decode: impl FnMut(&[u8], &mut [u8]) -> Result<(), Failure> + 'static,
    ) -> Self {
        Self { encode: Box::new(encode), decode: Box::new(decode) }
    }

    pub(crate) fn gzip(level: u32) -> Self {
        let mut compress = Compress::new(Compression::new(level), true);
        let mut decompress = Decompress::new(true);
        Self::new(
            move |bytes, out| {
                compress.reset();
                out.reserve(bytes.len() + bytes.len() / 8 + 64);
                compress.compress_vec(bytes, out, FlushCompress::Finish)?;
                Ok(())
            },
            move |bytes, out| {
                decompress.reset(true);
                decompress.decompress(bytes, out, FlushDecompress::Finish)?;
                Ok(())
            },
        )
    }

    pub(crate) fn zstd(level: i32) -> Result<Self, Failure> {
        let mut compress = zstd::bulk::Compressor::new(level)?;
        let mut decompress = zstd::bulk::Decompressor::new()?;
        Ok(Self::new(
            move |bytes, out| {
                out.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
                compress.compress_to_buffer(bytes, out)?;
                Ok(())
            },
            move |bytes, out| {
                decompress.decompress_to_buffer(bytes, out)?;
                Ok(())
            },
        ))
    }

    pub(crate) fn lz4() -> Self {
        let mut room = Vec::new();
        Self::new(
            move |bytes, out| {
                room.resize(lz4_flex::block::get_maximum_output_size(bytes.len()), 0);
                let written = lz4_flex::block::compress_into(bytes, &mut room)?;
                out.extend_from_slice(room.get(..written).unwrap_or_default());
                Ok(())
            },
            |bytes, out| {
                lz4_flex::block::decompress_into(bytes, out)?;
                Ok(())
            },
        )
    }

    pub(crate) fn bzip2(level: u32) -> Self {
        Self::new(
            move |bytes, out| {
                out.reserve(bytes.len() + bytes.len() / 100 + 600);
                bzip2::Compress::new(bzip2::Compression::new(level), 30).compress_vec(bytes, out, bzip2::Action::Finish)?;
                Ok(())
            },
            |bytes, out| {
                bzip2::Decompress::new(false).decompress(bytes, out)?;
                Ok(())
            },
        )
    }

    /// A digest: encoding writes it, decoding compares nothing.
    pub(crate) fn md5() -> Self {
        Self::new(
            |bytes, out| {
                out.extend_from_slice(&md5::Md5::digest(bytes));
                Ok(())
            },
            |bytes, _| {
                std::hint::black_box(md5::Md5::digest(bytes));
                Ok(())
            },
        )
    }

    /// As [`Codec::md5`].
    pub(crate) fn sha256() -> Self {
        Self::new(
            |bytes, out| {
                out.extend_from_slice(&sha2::Sha256::digest(bytes));
                Ok(())
            },
            |bytes, _| {
                std::hint::black_box(sha2::Sha256::digest(bytes));
                Ok(())
            },
        )
    }

    /// What is written is the tag and the encrypted bytes.
    pub(crate) fn aes_256_gcm(key: &[u8; 32]) -> Self {
        let seal = aes_gcm::Aes256Gcm::new(key.into());
        let open = seal.clone();
        let refused = |error: &dyn fmt::Display| Failure::from(error.to_string());
        Self::new(
            move |bytes, out| {
                out.resize(16 + bytes.len(), 0);
                let (tag, sealed) = out.split_at_mut(16);
                let buffer = InOutBuf::new(bytes, sealed).map_err(|error| refused(&error))?;
                let found = seal.encrypt_inout_detached(&[7; 12].into(), &[], buffer).map_err(|error| refused(&error))?;
                tag.copy_from_slice(&found);
                Ok(())
            },
            move |bytes, out| {
                let (tag, sealed) = bytes.split_first_chunk::<16>().ok_or("no tag")?;
                let buffer = InOutBuf::new(sealed, out).map_err(|error| refused(&error))?;
                open.decrypt_inout_detached(&[7; 12].into(), &[], buffer, tag.into()).map_err(|error| refused(&error))
            },
        )
    }

    pub(crate) fn webp(width: u32, height: u32) -> Self {
        Self::new(
            move |bytes, out| {
                image_webp::WebPEncoder::new(out).encode(bytes, width, height, image_webp::ColorType::Rgba8)?;
                Ok(())
            },
            |bytes, out| {
                image_webp::WebPDecoder::new(Cursor::new(bytes))?.read_image(out)?;
                Ok(())
            },
        )
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").finish_non_exhaustive()
    }
}
