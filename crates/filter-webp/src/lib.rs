#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod decode;
mod encode;
mod filter;

pub use decode::decode;
pub use encode::{ImageRefused, MAX_PIXELS_PER_SIDE, encode, encode_lossy};
pub use filter::Webp;

use talavera_filter::WebpFormat;

/// Bytes of a pixel in the cells; none where the format is not said.
fn pixel_bytes(format: WebpFormat) -> Option<usize> {
    match format {
        WebpFormat::None => None,
        WebpFormat::Rgb | WebpFormat::Bgr => Some(3),
        WebpFormat::Rgba | WebpFormat::Bgra => Some(4),
    }
}

/// Whether blue comes first.
fn is_blue_first(format: WebpFormat) -> bool {
    matches!(format, WebpFormat::Bgr | WebpFormat::Bgra)
}
