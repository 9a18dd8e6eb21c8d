//! The filter: a table of stored lengths beside the integers.
//!
//! ```text
//! own metadata := u32 parts; u32 stored bytes[parts], then the previous metadata
//! data         := the integers of each part
//! ```
//!
//! Source: the format's float-scale page and 11-filters, "SCALE_FLOAT".

use talavera_filter::part_table::{self, Fields, PartTransform};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError};
use talavera_types::FilterType;

use crate::{Float, Integer, scale, unscale};

/// The SCALE_FLOAT filter. The next filter sees the signed integer of [`FloatScale::byte_width`] bytes.
///
/// It takes any datatype of four or eight bytes, as the reference does: the bits are read as a float of that size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatScale {
    /// The step between two stored integers; a normal number.
    pub scale: f64,
    /// What a stored zero stands for; finite.
    pub offset: f64,
    /// Bytes of a stored integer: 1, 2, 4 or 8.
    pub byte_width: u64,
}

impl Default for FloatScale {
    fn default() -> Self {
        Self { scale: 1.0, offset: 0.0, byte_width: 8 }
    }
}

const FILTER: FilterType = FilterType::FloatScale;

impl Filter for FloatScale {
    fn filter_type(&self) -> FilterType {
        FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        let kernel = self.kernel(cx)?;
        if !self.scale.is_normal() || !self.offset.is_finite() {
            let reason = format!("a scale of {} and an offset of {}; they must be normal and finite", self.scale, self.offset);
            return Err(FilterError::invalid_input(FILTER, reason));
        }
        part_table::encode(&kernel, chunk, cx)
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        part_table::decode(&self.kernel(cx)?, chunk, cx)
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        part_table::decode_into(&self.kernel(cx)?, chunk, cx, cells)
    }
}

impl FloatScale {
    /// The loops for the datatype that the filter sees and the width it stores.
    fn kernel(&self, cx: &FilterContext<'_>) -> Result<Kernel, FilterError> {
        match (cx.datatype.size(), self.byte_width) {
            (4, 1) => Ok(Kernel::of::<f32, i8>(*self)),
            (4, 2) => Ok(Kernel::of::<f32, i16>(*self)),
            (4, 4) => Ok(Kernel::of::<f32, i32>(*self)),
            (4, 8) => Ok(Kernel::of::<f32, i64>(*self)),
            (8, 1) => Ok(Kernel::of::<f64, i8>(*self)),
            (8, 2) => Ok(Kernel::of::<f64, i16>(*self)),
            (8, 4) => Ok(Kernel::of::<f64, i32>(*self)),
            (8, 8) => Ok(Kernel::of::<f64, i64>(*self)),
            (4 | 8, width) => Err(FilterError::unsupported(FILTER, format!("a byte width of {width}; 1, 2, 4 and 8 are"))),
            _ => Err(FilterError::unsupported(FILTER, format!("it does not take {}", cx.datatype))),
        }
    }
}

/// The options and the loops for one float and one integer.
struct Kernel {
    options: FloatScale,
    float_bytes: usize,
    integer_bytes: usize,
    scale: Loop,
    unscale: Loop,
}

/// From bytes, with scale and offset, to bytes.
type Loop = fn(&[u8], f64, f64, &mut [u8]);

impl Kernel {
    fn of<F: Float, I: Integer>(options: FloatScale) -> Self {
        let (float_bytes, integer_bytes) = (F::BYTES, I::BYTES);
        Self { options, float_bytes, integer_bytes, scale: scale::<F, I>, unscale: unscale::<F, I> }
    }
}

impl PartTransform for Kernel {
    const FILTER: FilterType = FILTER;
    const FIELDS: Fields =
        Fields { lengths: "stored part lengths", length: "stored part length", part: "stored part", parts: "stored parts" };

    fn stored_bytes(&self, part: &[u8], _cx: &FilterContext<'_>) -> Result<u32, FilterError> {
        if !part.len().is_multiple_of(self.float_bytes) {
            let reason = format!("a part of {} bytes, which is no multiple of the {} of a float", part.len(), self.float_bytes);
            return Err(FilterError::invalid_input(FILTER, reason));
        }
        let stored_bytes = part.len() / self.float_bytes * self.integer_bytes;
        u32::try_from(stored_bytes)
            .map_err(|_| FilterError::invalid_input(FILTER, format!("{stored_bytes} bytes to store; 4 GiB is the limit")))
    }

    /// Bytes of the floats that whole integers stand for.
    fn restored_bytes(&self, stored_bytes: u64, _cx: &FilterContext<'_>) -> u64 {
        stored_bytes / self.integer_bytes as u64 * self.float_bytes as u64
    }

    fn check_stored_bytes(&self, stored_bytes: usize, _cx: &FilterContext<'_>) -> Result<(), &'static str> {
        if stored_bytes.is_multiple_of(self.integer_bytes) { Ok(()) } else { Err("a whole number of integers") }
    }

    fn apply(&self, part: &[u8], _cx: &FilterContext<'_>, stored: &mut [u8]) {
        (self.scale)(part, self.options.scale, self.options.offset, stored);
    }

    fn undo(&self, stored: &[u8], _cx: &FilterContext<'_>, part: &mut [u8]) {
        (self.unscale)(stored, self.options.scale, self.options.offset, part);
    }
}
