#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector kernels; every block says why it is sound")]
mod x86_64;

pub use filter::Byteshuffle;

/// Writes the first bytes of all elements, then their second bytes, and so on; bytes behind the last whole element stay
/// at the end as they are.
///
/// `element_bytes` of 0 and 1 copy. Source: the format's byteshuffle page and 11-filters, "BYTESHUFFLE".
///
/// # Panics
/// When `rows` is not as long as `elements`.
pub fn shuffle(element_bytes: usize, elements: &[u8], rows: &mut [u8]) {
    assert_eq!(elements.len(), rows.len(), "as many bytes come out as go in");
    let whole = whole_elements(element_bytes, elements.len());
    let ((elements, tail), (rows, tail_out)) = (elements.split_at(whole), rows.split_at_mut(whole));
    tail_out.copy_from_slice(tail);
    match element_bytes {
        0 | 1 => rows.copy_from_slice(elements),
        2 => shuffle_sized::<2>(elements, rows),
        4 => shuffle_sized::<4>(elements, rows),
        8 => shuffle_sized::<8>(elements, rows),
        _ => scalar::shuffle(element_bytes, elements, rows),
    }
}

/// Undoes [`shuffle`].
///
/// # Panics
/// When `elements` is not as long as `rows`.
pub fn unshuffle(element_bytes: usize, rows: &[u8], elements: &mut [u8]) {
    assert_eq!(elements.len(), rows.len(), "as many bytes come out as go in");
    let whole = whole_elements(element_bytes, rows.len());
    let ((rows, tail), (elements, tail_out)) = (rows.split_at(whole), elements.split_at_mut(whole));
    tail_out.copy_from_slice(tail);
    match element_bytes {
        0 | 1 => elements.copy_from_slice(rows),
        2 => unshuffle_sized::<2>(rows, elements),
        4 => unshuffle_sized::<4>(rows, elements),
        8 => unshuffle_sized::<8>(rows, elements),
        _ => scalar::unshuffle(element_bytes, rows, elements),
    }
}

/// Bytes of the whole elements in `bytes`.
fn whole_elements(element_bytes: usize, bytes: usize) -> usize {
    bytes - bytes.checked_rem(element_bytes).unwrap_or(0)
}

fn shuffle_sized<const S: usize>(elements: &[u8], rows: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if x86_64::shuffle::<S>(elements, rows) {
        return;
    }
    scalar::shuffle_sized::<S>(elements, rows);
}

fn unshuffle_sized<const S: usize>(rows: &[u8], elements: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if x86_64::unshuffle::<S>(rows, elements) {
        return;
    }
    scalar::unshuffle_sized::<S>(rows, elements);
}
