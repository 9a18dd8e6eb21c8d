//! From pixels to an image, lossless or lossy.

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
    let (red_first, bytes) = checked(pixels, width, height, format)?;
    let color = if bytes == 4 { ColorType::Rgba8 } else { ColorType::Rgb8 };
    let mut image = Vec::new();
    WebPEncoder::new(&mut image)
        .encode(&red_first, width, height, color)
        .map_err(|error| ImageRefused::new(error.to_string()))?;
    Ok(image)
}

/// Encodes pixels as [`encode`] takes them as a lossy image; `quality` is from 0, the smallest, to 100, the best.
///
/// # Errors
/// [`ImageRefused`] as [`encode`] has it, and for another quality.
pub fn encode_lossy(pixels: &[u8], width: u32, height: u32, format: WebpFormat, quality: f32) -> Result<Vec<u8>, ImageRefused> {
    let (red_first, bytes) = checked(pixels, width, height, format)?;
    if !(0.0..=100.0).contains(&quality) {
        return Err(ImageRefused::new(format!("a quality of {quality}; 0 to 100 are possible")));
    }
    let encoder = match bytes {
        4 => webp::Encoder::from_rgba(&red_first, width, height),
        _ => webp::Encoder::from_rgb(&red_first, width, height),
    };
    let image = encoder.encode_simple(false, quality);
    image.map(|image| image.to_vec()).map_err(|error| ImageRefused::new(format!("{error:?}")))
}

/// The pixels with red first, and the bytes of each.
fn checked(pixels: &[u8], width: u32, height: u32, format: WebpFormat) -> Result<(Cow<'_, [u8]>, usize), ImageRefused> {
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
    Ok((red_first, bytes))
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
