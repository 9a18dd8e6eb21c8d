//! The plain version, which is the specification of the kernels.

/// One element after the other.
pub(super) fn totals<const S: usize, const XOR: bool>(before: u64, differences: &[u8], elements: &mut [u8]) {
    let (differences, rest) = differences.as_chunks::<S>();
    let (elements, out_rest) = elements.as_chunks_mut::<S>();
    let mut total = before;
    for (element, difference) in elements.iter_mut().zip(differences) {
        total = combine::<XOR>(total, widen(difference));
        if let Some(bytes) = total.to_le_bytes().first_chunk() {
            *element = *bytes;
        }
    }
    let total = combine::<XOR>(total, widen(rest)).to_le_bytes();
    out_rest.iter_mut().zip(total).for_each(|(out, byte)| *out = byte);
}

fn combine<const XOR: bool>(a: u64, b: u64) -> u64 {
    if XOR { a ^ b } else { a.wrapping_add(b) }
}

/// A little-endian number of at most eight bytes.
pub(super) fn widen(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
