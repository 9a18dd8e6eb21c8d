//! The windows of BIT_WIDTH_REDUCTION and POSITIVE_DELTA: pieces of a part that share one entry in the metadata.
//!
//! Source: 11-filters, "BIT_WIDTH_REDUCTION" and "POSITIVE_DELTA".

use std::slice::Chunks;

use talavera_types::FilterType;

use crate::FilterError;

/// How parts are cut into windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    element_bytes: usize,
    max_bytes: usize,
}

impl Windows {
    /// Windows of as many elements of `element_bytes` as `max_window_bytes` hold.
    ///
    /// # Errors
    /// [`FilterError::InvalidInput`] when that is none.
    pub fn new(filter: FilterType, max_window_bytes: u32, element_bytes: usize) -> Result<Self, FilterError> {
        let max_bytes = usize::try_from(max_window_bytes).unwrap_or(usize::MAX);
        match max_bytes - max_bytes.checked_rem(element_bytes).unwrap_or(max_bytes) {
            0 => {
                let reason = format!("a window of at most {max_window_bytes} bytes holds no element of {element_bytes}");
                Err(FilterError::invalid_input(filter, reason))
            }
            max_bytes => Ok(Self { element_bytes, max_bytes }),
        }
    }

    /// About how many windows so many bytes have, for making room.
    #[must_use]
    pub fn estimate(&self, bytes: usize) -> usize {
        bytes / self.max_bytes + 1
    }

    /// The windows of a part. None is longer than its whole elements, where it has any; bytes behind the last element stand
    /// in the last window.
    pub fn cut<'p>(&self, part: &'p [u8]) -> Chunks<'p, u8> {
        let whole_elements = part.len() - part.len() % self.element_bytes;
        let window = if whole_elements == 0 { part.len() } else { whole_elements.min(self.max_bytes) };
        part.chunks(window.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_whole_elements_as_long_as_there_are_any() {
        let lengths = |max_window_bytes, bytes: usize| -> Vec<usize> {
            let windows = Windows::new(FilterType::PositiveDelta, max_window_bytes, 4).unwrap();
            windows.cut(&vec![0; bytes]).map(<[u8]>::len).collect()
        };
        assert_eq!(lengths(8, 20), [8, 8, 4]);
        assert_eq!(lengths(11, 20), [8, 8, 4]);
        assert_eq!(lengths(8, 14), [8, 6]);
        assert_eq!(lengths(256, 14), [12, 2]);
        assert_eq!(lengths(256, 3), [3]);
        assert_eq!(lengths(256, 0), [0; 0]);
    }

    #[test]
    fn a_window_without_an_element_is_refused() {
        let refused = |max_window_bytes, element_bytes| Windows::new(FilterType::PositiveDelta, max_window_bytes, element_bytes);
        assert!(refused(3, 4).is_err());
        assert!(refused(0, 1).is_err());
        assert!(refused(8, 0).is_err());
        assert!(refused(4, 4).is_ok());
    }
}
