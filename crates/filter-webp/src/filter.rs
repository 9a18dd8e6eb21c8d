//! The filter: a table of image lengths beside the images.
//!
//! ```text
//! own metadata := u32 parts; u32 image bytes[parts], then the previous metadata
//! data         := an image for each part; there is one
//! ```
//!
//! Source: the format's WebP page and 11-filters, "WEBP".

use std::borrow::Cow;

use talavera_codec::{DecodeErrorKind, Reader};
use talavera_filter::part_table::{self, Fields};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, WebpFormat};
use talavera_types::FilterType;

use crate::decode::Image;
use crate::{encode, encode_lossy, pixel_bytes};

/// The WEBP filter, with its options as schemas store them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Webp {
    /// Quality of lossy images, 0 to 100.
    pub quality: f32,
    /// The order of colours in the cells.
    pub format: WebpFormat,
    /// Whether pixels come back exactly.
    pub lossless: bool,
    /// Rows of an image; needed to write only, and zero in some schemas.
    pub y_extent: u16,
    /// Bytes of a row; needed to write only, and zero in some schemas.
    pub x_extent: u16,
}

const FILTER: FilterType = FilterType::Webp;
const FIELDS: Fields =
    Fields { lengths: "webp image lengths", length: "webp image length", part: "webp image", parts: "webp images" };

impl Filter for Webp {
    fn filter_type(&self) -> FilterType {
        FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, _: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        let images = chunk.data.iter().map(|part| self.encode_part(part)).collect::<Result<Vec<_>, _>>()?;
        let table = part_table::encode_table(images.iter().map(Vec::len));
        Ok(Chunk { metadata: chunk.metadata.passed_on().behind(table), data: Parts::one(images.concat()) })
    }

    /// As the contract says; but whole images come back, and a chunk may have only had the front of one.
    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        let mut pixels = Vec::new();
        let mut r = Reader::new(&chunk.metadata);
        part_table::decode_parts(&mut r, &chunk.data, &FIELDS, |image, _| {
            let image = Image::open(image, self.format, cx.limits)?;
            let start = pixels.len();
            pixels.resize(start + cx.limits.charge("webp pixels", image.bytes())?, 0);
            image.read(cx.limits, pixels.get_mut(start..).unwrap_or_default())
        })
        .map_err(FilterError::corrupt(FILTER))?;
        let own_metadata = chunk.metadata.len() - r.remaining();
        Ok(EncodedChunk { data: Cow::Owned(pixels), ..chunk.consume_metadata(own_metadata) })
    }

    /// As [`Filter::decode`], cut to the cells: all pixels of an image are stored, even where the chunk holds fewer.
    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        let corrupt = FilterError::corrupt(FILTER);
        let expected = cells.len() as u64;
        let mut rest = cells;
        let mut r = Reader::new(&chunk.metadata);
        part_table::decode_parts(&mut r, &chunk.data, &FIELDS, |image, _| {
            let image = Image::open(image, self.format, cx.limits)?;
            let len = usize::try_from(image.bytes()).unwrap_or(usize::MAX).min(rest.len());
            let (out, behind) = std::mem::take(&mut rest).split_at_mut(len);
            rest = behind;
            image.read(cx.limits, out)
        })
        .and_then(|()| r.finish("chunk metadata"))
        .map_err(corrupt)?;
        match rest.len() as u64 {
            0 => Ok(()),
            missing => {
                let kind = DecodeErrorKind::Mismatch { found: expected - missing, expected };
                Err(corrupt(kind.at("webp pixels", 0)))
            }
        }
    }
}

impl Webp {
    fn encode_part(&self, part: &[u8]) -> Result<Vec<u8>, FilterError> {
        let Some(pixel_bytes) = pixel_bytes(self.format) else {
            return Err(FilterError::invalid_input(FILTER, "the colour format is not set"));
        };
        let row_bytes = usize::from(self.x_extent);
        if self.y_extent == 0 || row_bytes == 0 || !row_bytes.is_multiple_of(pixel_bytes) {
            let reason = format!("{} rows of {row_bytes} bytes; rows must hold whole pixels of {pixel_bytes}", self.y_extent);
            return Err(FilterError::invalid_input(FILTER, reason));
        }
        // A row has at most 65535 bytes, so its pixels fit.
        let width = u32::try_from(row_bytes / pixel_bytes).unwrap_or(u32::MAX);
        let image = match self.lossless {
            true => encode(part, width, self.y_extent.into(), self.format),
            false => encode_lossy(part, width, self.y_extent.into(), self.format, self.quality),
        };
        image.map_err(|error| FilterError::invalid_input(FILTER, error.to_string()))
    }
}
