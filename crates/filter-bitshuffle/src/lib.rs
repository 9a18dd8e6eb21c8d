#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod filter;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector kernels; every block says why it is sound")]
mod x86_64;

pub use filter::Bitshuffle;

/// Bytes that are shuffled among themselves.
pub const BLOCK_BYTES: usize = 8192;

/// Gathers the bits of equal weight: in each block of [`BLOCK_BYTES`], the lowest bits of all elements, then the second
/// lowest, and so on, eight elements to a byte.
///
/// Elements behind the last whole eight of a block stay at its end as they are. So do all bytes, when there is no whole
/// number of elements or their bytes are no multiple of eight. `element_bytes` of 0, and above [`BLOCK_BYTES`] / 8, copies.
/// Source: the format's bitshuffle page and 11-filters, "BITSHUFFLE".
///
/// # Panics
/// When `rows` is not as long as `elements`.
pub fn shuffle(element_bytes: usize, elements: &[u8], rows: &mut [u8]) {
    assert_eq!(elements.len(), rows.len(), "as many bytes come out as go in");
    let Some(block_bytes) = block_bytes(element_bytes, elements.len()) else {
        return rows.copy_from_slice(elements);
    };
    let done = match element_bytes {
        4 => shuffle_blocks::<4>(elements, rows),
        8 => shuffle_blocks::<8>(elements, rows),
        _ => 0,
    };
    let ((_, elements), (_, rows)) = (elements.split_at(done), rows.split_at_mut(done));
    for (block, out) in elements.chunks(block_bytes).zip(rows.chunks_mut(block_bytes)) {
        let eights = block.len() - block.len() % (8 * element_bytes);
        let ((block, tail), (out, tail_out)) = (block.split_at(eights), out.split_at_mut(eights));
        tail_out.copy_from_slice(tail);
        match element_bytes {
            1 => shuffle_sized::<1>(block, out),
            2 => shuffle_sized::<2>(block, out),
            4 => shuffle_sized::<4>(block, out),
            8 => shuffle_sized::<8>(block, out),
            _ => scalar::shuffle(element_bytes, block, out),
        }
    }
}

/// Undoes [`shuffle`].
///
/// # Panics
/// When `elements` is not as long as `rows`.
pub fn unshuffle(element_bytes: usize, rows: &[u8], elements: &mut [u8]) {
    assert_eq!(elements.len(), rows.len(), "as many bytes come out as go in");
    let Some(block_bytes) = block_bytes(element_bytes, rows.len()) else {
        return elements.copy_from_slice(rows);
    };
    let done = match element_bytes {
        4 => unshuffle_blocks::<4>(rows, elements),
        8 => unshuffle_blocks::<8>(rows, elements),
        _ => 0,
    };
    let ((_, rows), (_, elements)) = (rows.split_at(done), elements.split_at_mut(done));
    for (block, out) in rows.chunks(block_bytes).zip(elements.chunks_mut(block_bytes)) {
        let eights = block.len() - block.len() % (8 * element_bytes);
        let ((block, tail), (out, tail_out)) = (block.split_at(eights), out.split_at_mut(eights));
        tail_out.copy_from_slice(tail);
        match element_bytes {
            1 => unshuffle_sized::<1>(block, out),
            2 => unshuffle_sized::<2>(block, out),
            4 => unshuffle_sized::<4>(block, out),
            8 => unshuffle_sized::<8>(block, out),
            _ => scalar::unshuffle(element_bytes, block, out),
        }
    }
}

/// Bytes of a block: whole eights of elements; none when the bytes are not shuffled at all.
fn block_bytes(element_bytes: usize, bytes: usize) -> Option<usize> {
    if !bytes.is_multiple_of(8) || bytes.checked_rem(element_bytes) != Some(0) {
        return None;
    }
    let elements = BLOCK_BYTES / element_bytes;
    Some(elements - elements % 8).filter(|elements| *elements > 0).map(|elements| elements * element_bytes)
}

/// Shuffles whole blocks at the front, if there is a kernel for many, and says how many bytes they are.
fn shuffle_blocks<const S: usize>(elements: &[u8], rows: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    return x86_64::shuffle_blocks::<S>(elements, rows);
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// As [`shuffle_blocks`], backwards.
fn unshuffle_blocks<const S: usize>(rows: &[u8], elements: &mut [u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    return x86_64::unshuffle_blocks::<S>(rows, elements);
    #[cfg(not(target_arch = "x86_64"))]
    0
}

fn shuffle_sized<const S: usize>(elements: &[u8], rows: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if x86_64::shuffle::<S>(elements, rows) {
        return;
    }
    scalar::shuffle(S, elements, rows);
}

fn unshuffle_sized<const S: usize>(rows: &[u8], elements: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if x86_64::unshuffle::<S>(rows, elements) {
        return;
    }
    scalar::unshuffle(S, rows, elements);
}
