//! Buffers that filters hand from one to the next.

use std::borrow::Cow;
use std::cell::RefCell;

/// Buffers that were used and can be used again.
///
/// To get fresh memory and to fill it with zeros takes as long as the fast filters take for their work. A filter takes
/// the buffer that it fills from here and gives back the one that it read.
#[derive(Debug, Default)]
pub struct Buffers(RefCell<Vec<Vec<u8>>>);

impl Buffers {
    /// No buffers yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// A buffer of so many bytes, whose content has no meaning.
    #[must_use]
    pub fn take(&self, len: usize) -> Vec<u8> {
        let mut free = self.0.borrow_mut();
        // One that is long enough need not be filled up.
        let fits = free.iter().position(|buffer| buffer.len() >= len);
        let Some(mut buffer) = fits.map(|at| free.swap_remove(at)) else { return vec![0; len] };
        buffer.truncate(len);
        buffer
    }

    /// An empty buffer, to append to: the shortest, for only bytes that were written once make a buffer long enough for
    /// [`Buffers::take`].
    #[must_use]
    pub fn take_empty(&self) -> Vec<u8> {
        let mut free = self.0.borrow_mut();
        let shortest = shortest(&free);
        let Some(mut buffer) = shortest.map(|at| free.swap_remove(at)) else { return Vec::new() };
        buffer.clear();
        buffer
    }

    /// Keeps a buffer that nobody reads any more, unless it is large, or there are enough that are longer.
    pub fn give_back(&self, bytes: Cow<'_, [u8]>) {
        let Cow::Owned(mut buffer) = bytes else { return };
        if !(SMALLEST..=LARGEST).contains(&buffer.capacity()) {
            return;
        }
        let mut free = self.0.borrow_mut();
        if free.len() < MOST {
            free.push(buffer);
        } else if let Some(shortest) = shortest(&free).and_then(|at| free.get_mut(at))
            && shortest.len() < buffer.len()
        {
            std::mem::swap(shortest, &mut buffer);
        }
    }
}

fn shortest(buffers: &[Vec<u8>]) -> Option<usize> {
    buffers.iter().enumerate().min_by_key(|(_, buffer)| buffer.len()).map(|(at, _)| at)
}

/// A smaller buffer is made faster than found.
const SMALLEST: usize = 4 << 10;
/// A larger one would be held for too long by those who never need it again; most chunks have 64 KiB.
const LARGEST: usize = 1 << 20;
/// How many are kept: what two filters read and write, and the two before.
const MOST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_was_given_back_is_taken_again_if_it_is_long_enough() {
        let buffers = Buffers::new();
        buffers.give_back(Cow::Owned(vec![7; 5000]));
        assert_eq!(buffers.take(6000), vec![0; 6000]);
        assert_eq!(buffers.take(4000), vec![7; 4000]);
        assert_eq!(buffers.take(4000), vec![0; 4000]);
    }

    #[test]
    fn few_buffers_are_kept_and_none_that_is_large() {
        let buffers = Buffers::new();
        buffers.give_back(Cow::Owned(vec![7; LARGEST + 1]));
        buffers.give_back(Cow::Owned(vec![7; SMALLEST - 1]));
        buffers.give_back(Cow::Borrowed(&[7; SMALLEST]));
        assert_eq!(buffers.take_empty().capacity(), 0);
        for _ in 0..2 * MOST {
            buffers.give_back(Cow::Owned(vec![7; SMALLEST]));
        }
        assert_eq!(buffers.0.borrow().len(), MOST);
        buffers.give_back(Cow::Owned(vec![8; SMALLEST + 1]));
        assert_eq!(buffers.0.borrow().len(), MOST);
        assert_eq!(buffers.take_empty().capacity(), SMALLEST, "the shortest");
        assert_eq!(buffers.take(SMALLEST + 1), vec![8; SMALLEST + 1]);
    }
}
