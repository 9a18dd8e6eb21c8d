//! The filter: a table of windows beside the stored windows.
//!
//! ```text
//! own metadata := u32 bytes; u32 windows; per window { T offset; u8 bits; u32 bytes }, then the previous metadata
//! data         := the stored windows; lengths in the table are those before reduction
//! ```
//!
//! Source: the format's tile page and 11-filters, "BIT_WIDTH_REDUCTION".

use std::borrow::Cow;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, Windows};
use talavera_types::{Datatype, FilterType};

use crate::Element;
use crate::windows::entry_bytes;

/// The BIT_WIDTH_REDUCTION filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitWidthReduction {
    /// Bytes of a window before reduction, at most. Only whole elements count, and one must fit.
    pub max_window_bytes: u32,
}

impl BitWidthReduction {
    /// The window that schemas record by default.
    pub const DEFAULT_MAX_WINDOW_BYTES: u32 = 256;
}

impl Default for BitWidthReduction {
    fn default() -> Self {
        Self { max_window_bytes: Self::DEFAULT_MAX_WINDOW_BYTES }
    }
}

const FILTER: FilterType = FilterType::BitWidthReduction;

/// Runs an expression with the integer that a datatype is reduced as, or another where the filter does nothing.
macro_rules! with_element {
    ($cx:expr, $element:ident => $reduce:expr, $pass:expr) => {{
        match $cx.datatype {
            Datatype::Int16 => {
                type $element = i16;
                $reduce
            }
            Datatype::UInt16 => {
                type $element = u16;
                $reduce
            }
            Datatype::Int32 => {
                type $element = i32;
                $reduce
            }
            Datatype::UInt32 => {
                type $element = u32;
                $reduce
            }
            Datatype::Int64 => {
                type $element = i64;
                $reduce
            }
            Datatype::UInt64 => {
                type $element = u64;
                $reduce
            }
            date if (date.is_datetime() || date.is_time()) && $cx.version.reduces_dates() => {
                type $element = i64;
                $reduce
            }
            _ => $pass,
        }
    }};
}

impl Filter for BitWidthReduction {
    fn filter_type(&self) -> FilterType {
        FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        with_element!(cx, T => encode::<T>(chunk, self.max_window_bytes, cx), Ok(chunk.passed_on()))
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        with_element!(cx, T => decode::<T>(chunk, cx), Ok(chunk))
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        with_element!(cx, T => decode_into::<T>(&chunk, cells), chunk.copy_into(cells)).map_err(FilterError::corrupt(FILTER))?;
        cx.buffers.give_back(chunk.data);
        Ok(())
    }
}

fn encode<'a, T: Element>(chunk: Chunk<'a>, max_window_bytes: u32, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
    let total = chunk.data.total_bytes();
    let Ok(total_bytes) = u32::try_from(total) else {
        return Err(FilterError::invalid_input(FILTER, format!("{total} bytes at once; 4 GiB is the limit")));
    };
    let cut = Windows::new(FILTER, max_window_bytes, T::BYTES)?;
    let window_count: usize = chunk.data.iter().map(|part| cut.cut(part).len()).sum();
    let mut table = vec![0; 8 + entry_bytes::<T>() * window_count];
    let (head, entries) = table.split_at_mut(8);
    // Stored windows are short; the room for long ones is used again and not handed on.
    let mut room = cx.buffers.take(total);
    let stored_bytes = encode_windows::<T>(&chunk.data, cut, entries, &mut room);
    let mut data = cx.buffers.take_empty();
    data.extend_from_slice(room.get(..stored_bytes).unwrap_or_default());
    cx.buffers.give_back(Cow::Owned(room));
    let mut w = Writer::with_capacity(8);
    w.u32(total_bytes);
    w.len_u32(window_count);
    head.copy_from_slice(w.as_slice());
    chunk.data.give_back(cx.buffers);
    Ok(Chunk { metadata: chunk.metadata.passed_on().behind(table), data: Parts::one(data) })
}

fn decode<'a, T: Element>(chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
    let corrupt = FilterError::corrupt(FILTER);
    let mut r = Reader::new(&chunk.metadata);
    let total_bytes = r.u32("bit width input length").map_err(corrupt)?;
    let mut data = cx.buffers.take(cx.limits.charge("bit width input length", total_bytes.into()).map_err(corrupt)?);
    decode_windows::<T>(&mut r, &chunk.data, &mut data).map_err(corrupt)?;
    let own_metadata = chunk.metadata.len() - r.remaining();
    let EncodedChunk { metadata, data: stored } = chunk.consume_metadata(own_metadata);
    cx.buffers.give_back(stored);
    Ok(EncodedChunk { metadata, data: Cow::Owned(data) })
}

fn decode_into<T: Element>(chunk: &EncodedChunk<'_>, cells: &mut [u8]) -> Result<(), DecodeError> {
    let mut r = Reader::new(&chunk.metadata);
    let total_bytes = r.u32("bit width input length")?;
    if u64::from(total_bytes) != cells.len() as u64 {
        let kind = DecodeErrorKind::Mismatch { found: total_bytes.into(), expected: cells.len() as u64 };
        return Err(kind.at("bit width input length", 0));
    }
    decode_windows::<T>(&mut r, &chunk.data, cells)?;
    r.finish("chunk metadata")
}

/// Reads the table from the metadata and restores every window; exactly fills `out`.
fn decode_windows<T: Element>(r: &mut Reader<'_>, data: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    let windows = u64::from(r.u32("bit width window count")?);
    let offset = r.offset();
    let table = r.bytes(windows * entry_bytes::<T>() as u64, "bit width windows")?;
    #[cfg(target_arch = "x86_64")]
    return crate::x86_64::decode::<T>(table, offset, data, out);
    #[cfg(not(target_arch = "x86_64"))]
    crate::windows::decode::<T>(table, offset, data, out)
}

fn encode_windows<T: Element>(parts: &Parts<'_>, cut: Windows, table: &mut [u8], stored: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    return crate::x86_64::encode::<T>(parts, cut, table, stored);
    #[cfg(not(target_arch = "x86_64"))]
    crate::windows::encode::<T>(T::bounds, parts, cut, table, stored)
}
