//! The filter: a table of stored lengths beside the integers.
//!
//! ```text
//! own metadata := u32 parts; u32 stored bytes[parts], then the previous metadata
//! data         := the integers of each part
//! ```
//!
//! Source: the format's float-scale page and 11-filters, "SCALE_FLOAT".

use std::borrow::Cow;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts};
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
        let mut table = Writer::with_capacity(4 + 4 * chunk.data.count());
        table.len_u32(chunk.data.count());
        let mut data = vec![0; chunk.data.total_bytes() / kernel.float_bytes * kernel.integer_bytes];
        let mut rest = data.as_mut_slice();
        for part in chunk.data.iter() {
            let stored_bytes = kernel.stored_bytes(part)?;
            table.len_u32(stored_bytes);
            let (out, behind) = rest.split_at_mut(stored_bytes);
            (kernel.scale)(part, self.scale, self.offset, out);
            rest = behind;
        }
        Ok(Chunk { metadata: chunk.metadata.passed_on().behind(table.into_vec()), data: Parts::one(data) })
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        let kernel = self.kernel(cx)?;
        let corrupt = FilterError::corrupt(FILTER);
        let bytes = kernel.float_bytes_of(&chunk.data);
        let mut data = vec![0; cx.limits.charge("chunk data", bytes).map_err(corrupt)?];
        let mut r = Reader::new(&chunk.metadata);
        self.decode_parts(&kernel, &mut r, &chunk.data, &mut data).map_err(corrupt)?;
        let own_metadata = chunk.metadata.len() - r.remaining();
        Ok(EncodedChunk { data: Cow::Owned(data), ..chunk.consume_metadata(own_metadata) })
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        let kernel = self.kernel(cx)?;
        let mut r = Reader::new(&chunk.metadata);
        self.decode_parts(&kernel, &mut r, &chunk.data, cells)
            .and_then(|()| r.finish("chunk metadata"))
            .map_err(FilterError::corrupt(FILTER))
    }
}

impl FloatScale {
    /// The loops for the datatype that the filter sees and the width it stores.
    fn kernel(&self, cx: &FilterContext<'_>) -> Result<Kernel, FilterError> {
        match (cx.datatype.size(), self.byte_width) {
            (4, 1) => Ok(Kernel::of::<f32, i8>()),
            (4, 2) => Ok(Kernel::of::<f32, i16>()),
            (4, 4) => Ok(Kernel::of::<f32, i32>()),
            (4, 8) => Ok(Kernel::of::<f32, i64>()),
            (8, 1) => Ok(Kernel::of::<f64, i8>()),
            (8, 2) => Ok(Kernel::of::<f64, i16>()),
            (8, 4) => Ok(Kernel::of::<f64, i32>()),
            (8, 8) => Ok(Kernel::of::<f64, i64>()),
            (4 | 8, width) => Err(FilterError::unsupported(FILTER, format!("a byte width of {width}; 1, 2, 4 and 8 are"))),
            _ => Err(FilterError::unsupported(FILTER, format!("it does not take {}", cx.datatype))),
        }
    }

    /// Reads the table from the metadata and brings every part back; exactly fills `out`.
    fn decode_parts(&self, kernel: &Kernel, r: &mut Reader<'_>, data: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
        let bytes = kernel.float_bytes_of(data);
        if bytes != out.len() as u64 {
            return Err(DecodeErrorKind::Mismatch { found: bytes, expected: out.len() as u64 }.at("chunk data length", 0));
        }
        let parts = u64::from(r.u32("part count")?);
        let mut lengths = r.split(parts * 4, "stored part lengths")?;
        let (mut data, mut rest) = (Reader::new(data), out);
        while !lengths.is_empty() {
            let before = lengths.clone();
            let stored_bytes = lengths.u32("stored part length")?;
            let part = data.bytes(stored_bytes.into(), "stored part")?;
            if !part.len().is_multiple_of(kernel.integer_bytes) {
                return Err(before.invalid("stored part length", stored_bytes.into(), "a whole number of integers"));
            }
            // All parts together give as many floats as `out` holds.
            let (out, behind) = rest.split_at_mut(part.len() / kernel.integer_bytes * kernel.float_bytes);
            (kernel.unscale)(part, self.scale, self.offset, out);
            rest = behind;
        }
        data.finish("stored parts")
    }
}

/// The loops for one float and one integer.
struct Kernel {
    float_bytes: usize,
    integer_bytes: usize,
    scale: Loop,
    unscale: Loop,
}

/// From bytes, with scale and offset, to bytes.
type Loop = fn(&[u8], f64, f64, &mut [u8]);

impl Kernel {
    fn of<F: Float, I: Integer>() -> Self {
        Self { float_bytes: F::BYTES, integer_bytes: I::BYTES, scale: scale::<F, I>, unscale: unscale::<F, I> }
    }

    /// Bytes that a part of whole floats is stored in.
    fn stored_bytes(&self, part: &[u8]) -> Result<usize, FilterError> {
        if !part.len().is_multiple_of(self.float_bytes) {
            let reason = format!("a part of {} bytes, which is no multiple of the {} of a float", part.len(), self.float_bytes);
            return Err(FilterError::invalid_input(FILTER, reason));
        }
        let stored_bytes = part.len() / self.float_bytes * self.integer_bytes;
        match u32::try_from(stored_bytes) {
            Ok(_) => Ok(stored_bytes),
            Err(_) => Err(FilterError::invalid_input(FILTER, format!("{stored_bytes} bytes to store; 4 GiB is the limit"))),
        }
    }

    /// Bytes of the floats that whole integers stand for.
    fn float_bytes_of(&self, data: &[u8]) -> u64 {
        (data.len() / self.integer_bytes) as u64 * self.float_bytes as u64
    }
}
