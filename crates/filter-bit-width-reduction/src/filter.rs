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

use crate::{Element, Reduced, reduce, restore};

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
        with_element!(cx, T => encode::<T>(chunk, self.max_window_bytes), Ok(chunk.passed_on()))
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        with_element!(cx, T => decode::<T>(chunk, cx), Ok(chunk))
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        with_element!(cx, T => decode_into::<T>(&chunk, cells), chunk.copy_into(cells)).map_err(FilterError::corrupt(FILTER))
    }
}

fn encode<T: Element>(chunk: Chunk<'_>, max_window_bytes: u32) -> Result<Chunk<'_>, FilterError> {
    let total = chunk.data.total_bytes();
    let Ok(total_bytes) = u32::try_from(total) else {
        return Err(FilterError::invalid_input(FILTER, format!("{total} bytes at once; 4 GiB is the limit")));
    };
    let cut = Windows::new(FILTER, max_window_bytes, T::BYTES)?;
    let mut windows = Vec::with_capacity((T::BYTES + 5) * cut.estimate(total));
    let mut window_count = 0;
    let (mut data, mut stored_bytes) = (vec![0; total], 0);
    for window in chunk.data.iter().flat_map(|part| cut.cut(part)) {
        let out = data.get_mut(stored_bytes..).unwrap_or_default();
        let reduced = reduce::<T>(window, out);
        stored_bytes += reduced.stored_bytes(window.len());
        window_count += 1;
        reduced.offset.append_to(&mut windows);
        windows.push(reduced.bits);
        // A window is no longer than all parts, whose length fits.
        windows.extend_from_slice(&u32::try_from(window.len()).unwrap_or(u32::MAX).to_le_bytes());
    }
    data.truncate(stored_bytes);
    let mut table = Writer::with_capacity(8 + windows.len());
    table.u32(total_bytes);
    table.u32(window_count);
    table.bytes(&windows);
    Ok(Chunk { metadata: chunk.metadata.passed_on().behind(table.into_vec()), data: Parts::one(data) })
}

fn decode<'a, T: Element>(chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
    let corrupt = FilterError::corrupt(FILTER);
    let mut r = Reader::new(&chunk.metadata);
    let total_bytes = r.u32("bit width input length").map_err(corrupt)?;
    let mut data = vec![0; cx.limits.charge("bit width input length", total_bytes.into()).map_err(corrupt)?];
    decode_windows::<T>(&mut r, &chunk.data, &mut data).map_err(corrupt)?;
    let own_metadata = chunk.metadata.len() - r.remaining();
    Ok(EncodedChunk { data: Cow::Owned(data), ..chunk.consume_metadata(own_metadata) })
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
    let mut windows = r.split(windows * (T::BYTES as u64 + 5), "bit width windows")?;
    let (mut data, mut rest) = (Reader::new(data), out);
    while !windows.is_empty() {
        let offset = T::read(windows.bytes(T::BYTES as u64, "bit width window offset")?).unwrap_or_default();
        let before = windows.clone();
        let bits = windows.u8("bit width window bits")?;
        if !T::is_width(bits) {
            return Err(before.invalid("bit width window bits", bits.into(), "the width of an integer"));
        }
        let before = windows.clone();
        let window_bytes = windows.u32("bit width window length")?;
        let window = usize::try_from(window_bytes).ok().and_then(|bytes| std::mem::take(&mut rest).split_at_mut_checked(bytes));
        let Some((window, behind)) = window else {
            return Err(before.invalid("bit width window length", window_bytes.into(), "within the chunk"));
        };
        let reduced = Reduced { offset, bits };
        restore(data.bytes(reduced.stored_bytes(window.len()) as u64, "bit width window")?, reduced, window);
        rest = behind;
    }
    if !rest.is_empty() {
        return Err(windows.invalid("bit width windows", rest.len() as u64, "0 bytes of the chunk left over"));
    }
    data.finish("bit width windows")
}
