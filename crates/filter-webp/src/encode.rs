//! From pixels to a lossless image.

use std::borrow::Cow;
use std::fmt;

use image_webp::{ColorType, WebPEncoder};
use talavera_filter::WebpFormat;

use crate::{is_blue_first, pixel_bytes};

/// The most pixels of a row, and the most rows.
pub const MAX_PIXELS_PER_SIDE: u32 = 16383;

/// Why pixels cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRefused {
    reason: String,
}

/// Encodes `height` rows of `width` pixels, in the order of `format`, as a lossless image.
///
/// # Errors
/// [`ImageRefused`] for an image without pixels or with more than [`MAX_PIXELS_PER_SIDE`] on a side, a format that is not
/// said, and more or fewer bytes than the pixels take.
pub fn encode(pixels: &[u8], width: u32, height: u32, format: WebpFormat) -> Result<Vec<u8>, ImageRefused> {
    let bytes = pixel_bytes(format).ok_or_else(|| ImageRefused::new("the colour format is not set"))?;
    if !(1..=MAX_PIXELS_PER_SIDE).contains(&width) || !(1..=MAX_PIXELS_PER_SIDE).contains(&height) {
        let reason = format!("an image of {width} × {height} pixels; 1 to {MAX_PIXELS_PER_SIDE} on a side are possible");
        return Err(ImageRefused::new(reason));
    }
    let expected = u64::from(width) * u64::from(height) * bytes as u64;
    if expected != pixels.len() as u64 {
        let reason = format!("{} bytes for an image of {width} × {height} pixels, which takes {expected}", pixels.len());
        return Err(ImageRefused::new(reason));
    }
    let red_first = if is_blue_first(format) { Cow::Owned(swap_red_and_blue(pixels, bytes)) } else { Cow::Borrowed(pixels) };
    let color = if bytes == 4 { ColorType::Rgba8 } else { ColorType::Rgb8 };
    let mut image = Vec::new();
    WebPEncoder::new(&mut image)
        .encode(&red_first, width, height, color)
        .map_err(|error| ImageRefused::new(error.to_string()))?;
    Ok(image)
}

fn swap_red_and_blue(pixels: &[u8], pixel_bytes: usize) -> Vec<u8> {
    let mut swapped = pixels.to_vec();
    for pixel in swapped.chunks_exact_mut(pixel_bytes) {
        pixel.swap(0, 2);
    }
    swapped
}

impl ImageRefused {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for ImageRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ImageRefused {}
