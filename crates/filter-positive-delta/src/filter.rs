//! The filter: a table of windows beside their deltas.
//!
//! ```text
//! own metadata := u32 windows; per window { T first; u32 bytes }, then the previous metadata
//! data         := the deltas, as many bytes as before
//! ```
//!
//! Source: the format's tile page and 11-filters, "POSITIVE_DELTA".

use std::borrow::Cow;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, Windows};
use talavera_types::{Datatype, FilterType};

use crate::{Element, deltas, restore};

/// The POSITIVE_DELTA filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositiveDelta {
    /// Bytes of a window, at most. Only whole elements count, and one must fit.
    pub max_window_bytes: u32,
}

impl PositiveDelta {
    /// The window that schemas record by default.
    pub const DEFAULT_MAX_WINDOW_BYTES: u32 = 1024;
}

impl Default for PositiveDelta {
    fn default() -> Self {
        Self { max_window_bytes: Self::DEFAULT_MAX_WINDOW_BYTES }
    }
}

const FILTER: FilterType = FilterType::PositiveDelta;

/// Runs an expression with the integer that a datatype is taken for, or another where the filter does nothing.
macro_rules! with_element {
    ($cx:expr, $element:ident => $apply:expr, $pass:expr) => {{
        use Datatype as D;
        match $cx.datatype {
            D::Int8 => {
                type $element = i8;
                $apply
            }
            D::UInt8 | D::Bool | D::Blob | D::GeomWkb | D::GeomWkt => {
                type $element = u8;
                $apply
            }
            D::Int16 => {
                type $element = i16;
                $apply
            }
            D::UInt16 => {
                type $element = u16;
                $apply
            }
            D::Int32 => {
                type $element = i32;
                $apply
            }
            D::UInt32 => {
                type $element = u32;
                $apply
            }
            D::Int64 => {
                type $element = i64;
                $apply
            }
            D::UInt64 => {
                type $element = u64;
                $apply
            }
            date if (date.is_datetime() || date.is_time()) && $cx.version.reduces_dates() => {
                type $element = i64;
                $apply
            }
            _ => $pass,
        }
    }};
}

impl Filter for PositiveDelta {
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
    if u32::try_from(total).is_err() {
        return Err(FilterError::invalid_input(FILTER, format!("{total} bytes at once; 4 GiB is the limit")));
    }
    let cut = Windows::new(FILTER, max_window_bytes, T::BYTES)?;
    let mut windows = Vec::with_capacity((T::BYTES + 4) * cut.estimate(total));
    let mut window_count = 0;
    let mut data = cx.buffers.take(total);
    let mut rest = data.as_mut_slice();
    for window in chunk.data.iter().flat_map(|part| cut.cut(part)) {
        let (out, behind) = rest.split_at_mut(window.len());
        let Some(first) = deltas::<T>(window, out) else {
            return Err(FilterError::invalid_input(FILTER, "values that descend"));
        };
        rest = behind;
        window_count += 1;
        first.append_to(&mut windows);
        // A window is no longer than all parts, whose length fits.
        windows.extend_from_slice(&u32::try_from(window.len()).unwrap_or(u32::MAX).to_le_bytes());
    }
    let mut table = Writer::with_capacity(4 + windows.len());
    table.u32(window_count);
    table.bytes(&windows);
    chunk.data.give_back(cx.buffers);
    Ok(Chunk { metadata: chunk.metadata.passed_on().behind(table.into_vec()), data: Parts::one(data) })
}

fn decode<'a, T: Element>(chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
    let corrupt = FilterError::corrupt(FILTER);
    let mut data = cx.buffers.take(cx.limits.charge("chunk data", chunk.data.len() as u64).map_err(corrupt)?);
    let mut r = Reader::new(&chunk.metadata);
    decode_windows::<T>(&mut r, &chunk.data, &mut data).map_err(corrupt)?;
    let own_metadata = chunk.metadata.len() - r.remaining();
    let EncodedChunk { metadata, data: stored } = chunk.consume_metadata(own_metadata);
    cx.buffers.give_back(stored);
    Ok(EncodedChunk { metadata, data: Cow::Owned(data) })
}

fn decode_into<T: Element>(chunk: &EncodedChunk<'_>, cells: &mut [u8]) -> Result<(), DecodeError> {
    let mut r = Reader::new(&chunk.metadata);
    decode_windows::<T>(&mut r, &chunk.data, cells)?;
    r.finish("chunk metadata")
}

/// Reads the table from the metadata and restores every window; exactly fills `out`.
fn decode_windows<T: Element>(r: &mut Reader<'_>, data: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    if data.len() != out.len() {
        let kind = DecodeErrorKind::Mismatch { found: data.len() as u64, expected: out.len() as u64 };
        return Err(kind.at("chunk data length", 0));
    }
    let windows = u64::from(r.u32("delta window count")?);
    let mut windows = r.split(windows * (T::BYTES as u64 + 4), "delta windows")?;
    let (mut data, mut rest) = (Reader::new(data), out);
    while !windows.is_empty() {
        let first = T::read(windows.bytes(T::BYTES as u64, "delta window first value")?).unwrap_or_default();
        let stored = data.bytes(windows.u32("delta window length")?.into(), "delta window")?;
        // The two are equally long, so what the reader had, `rest` has.
        let (window, behind) = rest.split_at_mut(stored.len());
        restore(first, stored, window);
        rest = behind;
    }
    data.finish("delta windows")
}
