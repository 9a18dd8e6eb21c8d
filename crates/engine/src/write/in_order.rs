//! Work done by all threads, its results taken in the order of its sources.
//!
//! Each thread goes on with the next source when done with one, so that none waits for the others at the end of a batch. What
//! comes last is shared among threads, so that none waits long at the end of all.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Results for each thread that may wait for their turn before the threads do.
const WAITING_A_THREAD: usize = 4;

/// Does `work` for each of the sources and calls `take` with the results, one at a time and in the order of the sources.
///
/// `work` is told of the last sources, one for each thread, that it may share them among threads. With others it must not
/// wait for other tasks of the thread pool: these may be the work on all that is left, whose results would pile up.
///
/// # Errors
/// The first error of either; nothing is taken after it.
pub(super) fn in_order<S: Sync, T: Send, E: Send>(
    sources: &[S],
    work: impl Fn(&S, bool) -> Result<T, E> + Sync,
    take: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let threads = rayon::current_num_threads();
    let line = Line {
        next: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        waiting: Mutex::default(),
        taker: Mutex::new(Taker { taken: 0, take, error: None }),
    };
    let run = || {
        while let Some((place, source)) = line.next_source(sources) {
            let done = work(source, place + threads >= sources.len());
            let waiting = line.put(place, done);
            line.take_ready(waiting > threads * WAITING_A_THREAD);
        }
    };
    rayon::scope(|scope| (0..threads.min(sources.len())).for_each(|_| scope.spawn(|_| run())));
    line.take_ready(true);
    let taker = line.taker.into_inner().unwrap_or_else(PoisonError::into_inner);
    taker.error.map_or(Ok(()), Err)
}

struct Line<T, E, F> {
    next: AtomicUsize,
    stopped: AtomicBool,
    /// Results by their place, before their turn.
    waiting: Mutex<BTreeMap<usize, Result<T, E>>>,
    taker: Mutex<Taker<E, F>>,
}

struct Taker<E, F> {
    taken: usize,
    take: F,
    error: Option<E>,
}

impl<T, E, F: FnMut(T) -> Result<(), E>> Line<T, E, F> {
    fn next_source<'s, S>(&self, sources: &'s [S]) -> Option<(usize, &'s S)> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        sources.get(place).map(|source| (place, source))
    }

    /// Leaves a result; gives how many there are now.
    fn put(&self, place: usize, result: Result<T, E>) -> usize {
        let mut waiting = lock(&self.waiting);
        waiting.insert(place, result);
        waiting.len()
    }

    /// Takes the results whose turn has come, unless another thread does; waits for that one if asked to.
    fn take_ready(&self, wait: bool) {
        let mut taker = match self.taker.try_lock() {
            Ok(taker) => taker,
            Err(TryLockError::WouldBlock) if !wait => return,
            Err(_) => lock(&self.taker),
        };
        while taker.error.is_none() {
            let Some(result) = lock(&self.waiting).remove(&taker.taken) else { return };
            taker.taken += 1;
            if let Err(error) = result.and_then(|result| (taker.take)(result)) {
                taker.error = Some(error);
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// What a thread left when it panicked is not looked at: the panic goes on behind the scope.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_sources() {
        let sources: Vec<u64> = (0..500).collect();
        let work = |&source: &u64, _| {
            // The later, the sooner done, within a few.
            std::thread::sleep(std::time::Duration::from_micros(50 * (7 - source % 8)));
            Ok::<_, ()>(source)
        };
        let mut taken = Vec::new();
        in_order(&sources, work, |result| {
            taken.push(result);
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, sources);
    }

    #[test]
    fn one_source_for_each_thread_is_among_the_last() {
        let threads = rayon::current_num_threads();
        for count in [0, 1, threads, 3 * threads + 1] {
            let sources: Vec<usize> = (0..count).collect();
            let mut last = Vec::new();
            in_order(
                &sources,
                |_, is_last| Ok::<_, ()>(is_last),
                |is_last| {
                    last.push(is_last);
                    Ok(())
                },
            )
            .unwrap();
            let expected: Vec<bool> = (0..count).map(|place| place + threads >= count).collect();
            assert_eq!(last, expected);
        }
    }

    #[test]
    fn nothing_is_taken_behind_an_error() {
        let sources: Vec<u64> = (0..500).collect();
        let mut taken = Vec::new();
        let failed = in_order(
            &sources,
            |&source, _| if source == 20 { Err("work") } else { Ok(source) },
            |result| {
                taken.push(result);
                Ok(())
            },
        );
        assert_eq!((failed, taken), (Err("work"), (0..20).collect()));
        let failed = in_order(&sources, |&source, _| Ok(source), |result| if result == 7 { Err("take") } else { Ok(()) });
        assert_eq!(failed, Err("take"));
    }
}
