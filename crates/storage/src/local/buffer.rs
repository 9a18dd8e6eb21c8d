//! Memory that reads use again: fresh memory of the size of a tile would cost more than to read the tile from the cache of
//! the system.

use std::cell::RefCell;

use bytes::Bytes;

thread_local! {
    /// What this thread has let go of. It holds nothing of use but its memory.
    static FREE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Smaller buffers come cheaply from the allocator.
const SMALLEST: usize = 128 << 10;
/// Larger ones are too much to keep.
const LARGEST: usize = 4 << 20;
/// Buffers that a thread keeps.
const MOST_KEPT: usize = 2;

/// The buffer of one read.
pub(super) struct ReadBuffer {
    memory: Vec<u8>,
    len: usize,
}

impl ReadBuffer {
    /// A buffer of `len` bytes, which hold anything.
    pub(super) fn take(len: usize) -> Self {
        let used = if (SMALLEST..=LARGEST).contains(&len) { FREE.with_borrow_mut(Vec::pop) } else { None };
        let mut memory = used.unwrap_or_default();
        match memory.is_empty() {
            true => memory = vec![0; len],
            false if memory.len() < len => memory.resize(len, 0),
            false => {}
        }
        Self { memory, len }
    }
}

impl AsRef<[u8]> for ReadBuffer {
    fn as_ref(&self) -> &[u8] {
        self.memory.get(..self.len).unwrap_or_default()
    }
}

impl AsMut<[u8]> for ReadBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(..self.len).unwrap_or_default()
    }
}

impl From<ReadBuffer> for Bytes {
    fn from(mut buffer: ReadBuffer) -> Self {
        if buffer.len < SMALLEST { std::mem::take(&mut buffer.memory).into() } else { Self::from_owner(buffer) }
    }
}

impl Drop for ReadBuffer {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        if (SMALLEST..=LARGEST).contains(&memory.len()) {
            // At the end of a thread there is nothing left to keep it in.
            let _ = FREE.try_with(|free| {
                if let Ok(mut free) = free.try_borrow_mut()
                    && free.len() < MOST_KEPT
                {
                    free.push(memory);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_is_used_again_has_the_length_asked_for() {
        for len in [SMALLEST, LARGEST, SMALLEST + 1, 10, LARGEST + 1, SMALLEST] {
            let mut buffer = ReadBuffer::take(len);
            buffer.as_mut().fill(7);
            let bytes = Bytes::from(buffer);
            assert_eq!((bytes.len(), bytes.iter().all(|&byte| byte == 7)), (len, true));
        }
    }

    #[test]
    fn memory_is_used_again_once_nobody_reads_it_any_more() {
        let address = |bytes: &Bytes| bytes.as_ptr() as usize;
        let first = Bytes::from(ReadBuffer::take(SMALLEST));
        let (slice, before) = (first.slice(1..2), address(&first));
        drop(first);
        let other = Bytes::from(ReadBuffer::take(SMALLEST));
        assert_ne!(address(&other), before, "a slice still reads it");
        drop(slice);
        assert_eq!(address(&Bytes::from(ReadBuffer::take(SMALLEST))), before);
    }
}
