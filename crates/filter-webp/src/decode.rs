//! From an image, lossless or lossy, to pixels.

use std::io::Cursor;

use image_webp::WebPDecoder;
use talavera_codec::{DecodeError, DecodeErrorKind, Limits, Reader};
use talavera_filter::WebpFormat;

use crate::{is_blue_first, pixel_bytes};

/// Decodes an image into pixels in the order of `format`, row by row from the top.
///
/// An image without transparency is opaque; transparency that `format` has no place for is left out.
///
/// # Errors
/// A [`DecodeError`] for bytes that are no such image, for an animation, a format that is not said, and an image that
/// takes more memory than `limits` allow.
pub fn decode(image: &[u8], format: WebpFormat, limits: &Limits) -> Result<Vec<u8>, DecodeError> {
    let image = Image::open(image, format, limits)?;
    let mut pixels = vec![0; limits.charge("webp pixels", image.bytes())?];
    image.read(limits, &mut pixels)?;
    Ok(pixels)
}

/// An image whose sizes are known, its pixels still to be read.
pub(crate) struct Image<'a> {
    decoder: WebPDecoder<Cursor<&'a [u8]>>,
    pixels: u64,
    format: WebpFormat,
    pixel_bytes: usize,
}

impl<'a> Image<'a> {
    /// Reads the sizes, and charges what the decoder holds while it reads the pixels.
    pub(crate) fn open(image: &'a [u8], format: WebpFormat, limits: &Limits) -> Result<Self, DecodeError> {
        let Some(pixel_bytes) = pixel_bytes(format) else {
            return Err(DecodeErrorKind::Invalid { found: 0, expected: "a WebP colour format" }.at("webp format", 0));
        };
        let decoder = WebPDecoder::new(Cursor::new(image)).map_err(refused)?;
        if decoder.is_animated() {
            return Err(DecodeErrorKind::Refused { reason: "is an animation".into() }.at("webp image", 0));
        }
        let (width, height) = decoder.dimensions();
        check_frame_size(image, width, height)?;
        let pixels = u64::from(width) * u64::from(height);
        limits.charge("webp image", pixels.saturating_mul(4))?;
        Ok(Self { decoder, pixels, format, pixel_bytes })
    }

    /// Bytes of all pixels.
    pub(crate) fn bytes(&self) -> u64 {
        self.pixels * self.pixel_bytes as u64
    }

    /// Fills `out` with the first pixels, or as much of them as the image has.
    pub(crate) fn read(mut self, limits: &Limits, out: &mut [u8]) -> Result<(), DecodeError> {
        let decoded_pixel_bytes = if self.decoder.has_alpha() { 4 } else { 3 };
        let decoded_bytes = self.pixels * decoded_pixel_bytes as u64;
        if decoded_pixel_bytes == self.pixel_bytes && decoded_bytes == out.len() as u64 {
            self.decoder.read_image(out).map_err(refused)?;
            if is_blue_first(self.format) {
                out.chunks_exact_mut(self.pixel_bytes).for_each(|pixel| pixel.swap(0, 2));
            }
            return Ok(());
        }
        let mut decoded = vec![0; limits.charge("webp pixels", decoded_bytes)?];
        self.decoder.read_image(&mut decoded).map_err(refused)?;
        for (out, decoded) in out.chunks_mut(self.pixel_bytes).zip(decoded.chunks_exact(decoded_pixel_bytes)) {
            let mut pixel = [0, 0, 0, 255];
            pixel.iter_mut().zip(decoded).for_each(|(byte, decoded)| *byte = *decoded);
            if is_blue_first(self.format) {
                pixel.swap(0, 2);
            }
            out.iter_mut().zip(pixel).for_each(|(out, byte)| *out = byte);
        }
        Ok(())
    }
}

/// Refuses a lossy frame of another size than the image: the decoder would take memory by the frame's.
fn check_frame_size(image: &[u8], width: u32, height: u32) -> Result<(), DecodeError> {
    let mut r = Reader::new(image);
    r.bytes(12, "webp header")?;
    while r.remaining() >= 8 {
        let name: &[u8; 4] = r.array("webp chunk name")?;
        let bytes = u64::from(r.u32("webp chunk length")?);
        if name == b"VP8 " {
            let mut frame = r.clone();
            frame.bytes(6, "webp frame header")?;
            for side in [width, height] {
                let before = frame.clone();
                // Two bits above the number say how to scale for display, which nobody does.
                let found = frame.u16("webp frame size")? & 0x3fff;
                if u32::from(found) != side {
                    let kind = DecodeErrorKind::Mismatch { found: found.into(), expected: side.into() };
                    return Err(kind.at("webp frame size", before.offset()));
                }
            }
        }
        // Chunks are padded to an even length; the padding of the last may be missing.
        r.bytes((bytes + bytes % 2).min(r.remaining() as u64), "webp chunk")?;
    }
    Ok(())
}

fn refused(error: impl std::fmt::Display) -> DecodeError {
    DecodeErrorKind::Refused { reason: error.to_string() }.at("webp image", 0)
}
