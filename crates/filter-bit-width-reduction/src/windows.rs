//! All windows of a chunk, in the order of their table.
//!
//! Windows are short, so what is done once for each counts as much as what is done for each element: both are compiled
//! together, for each set of vector instructions.

use talavera_codec::{DecodeError, Reader};
use talavera_filter::{Parts, Windows};

use crate::{Element, Reduced, USUAL_BYTES, reduce_plain, restore_plain};

/// Bytes of the table that a window takes: offset, bits and length.
pub(crate) const fn entry_bytes<T: Element>() -> usize {
    T::BYTES + 5
}

/// Stores every window at the front of `stored`, which is as long as all of them, and fills `table`, which has room for
/// all of their entries. `bounds` is as [`Element::bounds`]. Gives the bytes that were stored.
#[inline(always)]
pub(crate) fn encode<T: Element>(
    bounds: impl Fn(&[u8]) -> (T, T),
    parts: &Parts<'_>,
    cut: Windows,
    table: &mut [u8],
    stored: &mut [u8],
) -> usize {
    let whole = stored.len();
    let (mut entries, mut rest) = (table.chunks_exact_mut(entry_bytes::<T>()), stored);
    for part in parts.iter() {
        for (window, entry) in cut.cut(part).zip(&mut entries) {
            let stored_bytes = match <&[u8; USUAL_BYTES]>::try_from(window) {
                Ok(window) => encode_one(&bounds, window, entry, rest),
                Err(_) => encode_one(&bounds, window, entry, rest),
            };
            rest = std::mem::take(&mut rest).split_at_mut(stored_bytes).1;
        }
    }
    whole - rest.len()
}

/// Stores a window and fills its entry; gives the bytes that it takes.
#[inline(always)]
fn encode_one<T: Element>(bounds: impl Fn(&[u8]) -> (T, T), window: &[u8], entry: &mut [u8], stored: &mut [u8]) -> usize {
    let reduced = reduce_plain::<T>(window, bounds(window), stored);
    let (offset, entry) = entry.split_at_mut(T::BYTES);
    reduced.offset.write(offset);
    if let [bits, length @ ..] = entry {
        *bits = reduced.bits;
        // A window is no longer than all parts, whose length fits.
        length.copy_from_slice(&u32::try_from(window.len()).unwrap_or(u32::MAX).to_le_bytes());
    }
    reduced.stored_bytes(window.len())
}

/// Restores every window of the table, which begins at byte `table_offset` of the metadata; exactly fills `out`.
#[inline(always)]
pub(crate) fn decode<T: Element>(table: &[u8], table_offset: u64, data: &[u8], out: &mut [u8]) -> Result<(), DecodeError> {
    let (mut data_rest, mut rest) = (data, out);
    let at = |entry: usize, byte: usize| Reader::at(&[], table_offset + (entry * entry_bytes::<T>() + byte) as u64);
    for (index, entry) in table.chunks_exact(entry_bytes::<T>()).enumerate() {
        let (offset, entry) = entry.split_at(T::BYTES);
        let Some((bits, length)) = entry.split_first() else { break };
        if !T::is_width(*bits) {
            return Err(at(index, T::BYTES).invalid("bit width window bits", (*bits).into(), "the width of an integer"));
        }
        let reduced = Reduced { offset: T::read(offset).unwrap_or_default(), bits: *bits };
        let length = length.first_chunk().copied().map_or(0, u32::from_le_bytes);
        let window = usize::try_from(length).ok().and_then(|bytes| std::mem::take(&mut rest).split_at_mut_checked(bytes));
        let Some((window, behind)) = window else {
            return Err(at(index, T::BYTES + 1).invalid("bit width window length", length.into(), "within the chunk"));
        };
        let stored_bytes = reduced.stored_bytes(window.len());
        let Some((stored, data_behind)) = data_rest.split_at_checked(stored_bytes) else {
            let mut data = Reader::at(data_rest, (data.len() - data_rest.len()) as u64);
            return data.bytes(stored_bytes as u64, "bit width window").map(|_| ());
        };
        restore_plain(stored, reduced, window);
        (data_rest, rest) = (data_behind, behind);
    }
    if !rest.is_empty() {
        let end = Reader::at(&[], table_offset + table.len() as u64);
        return Err(end.invalid("bit width windows", rest.len() as u64, "0 bytes of the chunk left over"));
    }
    Reader::at(data_rest, (data.len() - data_rest.len()) as u64).finish("bit width windows")
}
