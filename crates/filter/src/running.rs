//! Running totals of elements: what undoes DELTA, POSITIVE_DELTA and XOR, which store how each element differs from the
//! one before.
//!
//! Source: 11-filters, "DELTA", "POSITIVE_DELTA" and "XOR".

mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector kernels; every block says why it is sound")]
mod x86_64;

/// Each element is the sum of `before` and of all differences up to its own; it wraps around.
///
/// Elements have `S` bytes: 1, 2, 4 or 8. Of `before`, that many low bytes count. Bytes behind the last whole element
/// count as the front of one more.
///
/// # Panics
/// When `elements` is not as long as `differences`.
pub fn sums<const S: usize>(before: u64, differences: &[u8], elements: &mut [u8]) {
    totals::<S, false>(before, differences, elements);
}

/// As [`sums`], of the exclusive or.
///
/// # Panics
/// When `elements` is not as long as `differences`.
pub fn xors<const S: usize>(before: u64, differences: &[u8], elements: &mut [u8]) {
    totals::<S, true>(before, differences, elements);
}

fn totals<const S: usize, const XOR: bool>(before: u64, differences: &[u8], elements: &mut [u8]) {
    const { assert!(matches!(S, 1 | 2 | 4 | 8), "an element has 1, 2, 4 or 8 bytes") };
    assert_eq!(differences.len(), elements.len(), "as many bytes come out as go in");
    #[cfg(target_arch = "x86_64")]
    x86_64::totals::<S, XOR>(before, differences, elements);
    #[cfg(not(target_arch = "x86_64"))]
    scalar::totals::<S, XOR>(before, differences, elements);
}
