//! Memory of decoded tiles, used again by the thread that lets go of it: the system gives fresh memory page by page, which
//! takes longer than to decode a tile of it.

use std::cell::RefCell;

thread_local! {
    /// What this thread has let go of. It holds nothing of use but its memory.
    static FREE: RefCell<Vec<Vec<u64>>> = const { RefCell::new(Vec::new()) };
}

/// Words of the least memory that the allocator asks the system for each time.
const SMALLEST: usize = (128 << 10) / 8;
/// Words of the most that is kept: of tiles, not of results.
const LARGEST: usize = (4 << 20) / 8;
/// How many a thread keeps.
const MOST_KEPT: usize = 4;

/// So many zeros.
pub(crate) fn zeroed(words: usize) -> Vec<u64> {
    match kept(words) {
        Some(mut memory) => {
            memory.clear();
            memory.resize(words, 0);
            memory
        }
        None => vec![0; words],
    }
}

/// So many numbers without a meaning: for those who write all of them.
pub(crate) fn meaningless(words: usize) -> Vec<u64> {
    match kept(words) {
        Some(mut memory) => {
            memory.resize(words, 0);
            memory
        }
        None => vec![0; words],
    }
}

/// Memory of this thread for so many words.
fn kept(words: usize) -> Option<Vec<u64>> {
    let fits = |memory: &Vec<u64>| (words..=words.saturating_mul(4)).contains(&memory.capacity());
    let free = |free: &mut Vec<Vec<u64>>| free.iter().position(fits).map(|place| free.swap_remove(place));
    if (SMALLEST..=LARGEST).contains(&words) { FREE.with_borrow_mut(free) } else { None }
}

/// Keeps memory for the next who asks, unless there is enough.
pub(crate) fn keep(memory: Vec<u64>) {
    if (SMALLEST..=LARGEST).contains(&memory.capacity()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_used_again_holds_zeros() {
        let mut memory = zeroed(SMALLEST + 1);
        let before = memory.as_ptr();
        memory.fill(u64::MAX);
        keep(memory);
        let again = zeroed(SMALLEST);
        assert_eq!(again.as_ptr(), before);
        assert!(again.len() == SMALLEST && again.iter().all(|&word| word == 0));
        keep(again);
        assert_eq!(zeroed(LARGEST).len(), LARGEST, "what is kept is too small");
        assert_eq!(zeroed(10).len(), 10);
    }
}
