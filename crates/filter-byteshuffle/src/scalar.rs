//! The plain version, which is the specification of the kernels.
//!
//! All functions take whole elements, and as many bytes out as in.

#![expect(clippy::indexing_slicing, reason = "a byte within an element and a row are bounded by the element's size")]

/// Elements of any size.
pub(crate) fn shuffle(element_bytes: usize, elements: &[u8], rows: &mut [u8]) {
    let count = elements.len() / element_bytes;
    for (b, row) in rows.chunks_exact_mut(count.max(1)).enumerate() {
        for (out, element) in row.iter_mut().zip(elements.chunks_exact(element_bytes)) {
            *out = element[b];
        }
    }
}

/// Undoes [`shuffle`].
pub(crate) fn unshuffle(element_bytes: usize, rows: &[u8], elements: &mut [u8]) {
    let count = elements.len() / element_bytes;
    for (b, row) in rows.chunks_exact(count.max(1)).enumerate() {
        for (byte, element) in row.iter().zip(elements.chunks_exact_mut(element_bytes)) {
            element[b] = *byte;
        }
    }
}

/// As [`shuffle`] with a size that the compiler knows.
pub(crate) fn shuffle_sized<const S: usize>(elements: &[u8], rows: &mut [u8]) {
    let elements = elements.as_chunks::<S>().0;
    for (b, row) in rows.chunks_exact_mut(elements.len().max(1)).enumerate() {
        for (out, element) in row.iter_mut().zip(elements) {
            *out = element[b];
        }
    }
}

/// As [`unshuffle`] with a size that the compiler knows; each element is written once.
pub(crate) fn unshuffle_sized<const S: usize>(rows: &[u8], elements: &mut [u8]) {
    let elements = elements.as_chunks_mut::<S>().0;
    let count = elements.len();
    let mut split = [&[][..]; S];
    for (slot, row) in split.iter_mut().zip(rows.chunks_exact(count.max(1))) {
        *slot = &row[..count];
    }
    for (i, element) in elements.iter_mut().enumerate() {
        for (byte, row) in element.iter_mut().zip(&split) {
            *byte = row[i];
        }
    }
}
