//! Runs tasks on many servers at once: one thread each, bounded in number, with results taken one by one.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError::Disconnected};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use slotscope_base::error::{Error, Result, reason};

/// Maximum threads. They mostly wait, so this exceeds the number of cores; their memory adds up.
pub(crate) const AT_ONCE: usize = 64;
/// The interval between calls of `meanwhile`.
const STEP: Duration = Duration::from_millis(20);

/// Runs `run` on each task, in order and several at once, and passes each result with its task number to `take` on this
/// thread, which also calls `meanwhile` regularly. A task that panics has no result.
///
/// # Errors
/// No thread can be started; with fewer threads than wanted, it just takes longer.
pub(crate) fn each<T: Send, R: Send>(
    tasks: impl ExactSizeIterator<Item = T> + Send,
    run: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(usize, R),
    mut meanwhile: impl FnMut(),
) -> Result<()> {
    let threads = tasks.len().min(AT_ONCE);
    let tasks = Mutex::new(tasks.enumerate());
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    // A thread waits until its result is taken.
    let (sender, results) = mpsc::sync_channel(0);
    thread::scope(|scope| {
        let mut started = Vec::new();
        for _ in 0..threads {
            let sender = sender.clone();
            let work = || {
                let sender = sender;
                while let Some((at, task)) = next() {
                    if sender.send((at, run(task))).is_err() {
                        return;
                    }
                }
            };
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(thread) => started.push(thread),
                Err(error) if started.is_empty() => return Err(none_started(&error)),
                Err(_) => break,
            }
        }
        drop(sender);
        loop {
            match results.recv_timeout(STEP) {
                Ok((at, result)) => take(at, result),
                Err(Disconnected) => break,
                Err(_) => {}
            }
            meanwhile();
        }
        // A panic was printed already, and its task has no result.
        let ended = started.into_iter().map(thread::ScopedJoinHandle::join);
        ended.for_each(drop);
        Ok(())
    })
}

/// The results of all tasks, in order.
///
/// # Errors
/// As for `each`.
pub(crate) fn all<T: Send, R: Send>(
    tasks: impl ExactSizeIterator<Item = T> + Send,
    run: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<Result<R>>> {
    let mut results: Vec<Result<R>> = (0..tasks.len()).map(|_| Err(ended())).collect();
    each(tasks, run, |at, result| results[at] = result, || {})?;
    Ok(results)
}

/// The results of those tasks that have one, and the first error of the others.
///
/// # Errors
/// As for `each`.
pub(crate) fn answers<T: Send, R: Send>(
    tasks: impl ExactSizeIterator<Item = T> + Send,
    run: impl Fn(T) -> Result<R> + Sync,
) -> Result<(Vec<R>, Option<Error>)> {
    let (mut answers, mut first) = (Vec::new(), None);
    for result in all(tasks, run)? {
        match result {
            Ok(answer) => answers.push(answer),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Ok((answers, first))
}

/// The result of a task that panicked.
pub(crate) fn ended() -> Error {
    Error::bad("collect", "the thread that asked a server ended")
}

fn none_started(error: &io::Error) -> Error {
    let message = format!(
        "no thread can be started ({}); raise the number of processes that the user or the container may have (ulimit -u, \
         pids.max)",
        reason(error)
    );
    Error::bad("collect", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn each_task_is_run_once_on_a_bounded_number_of_threads() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let run = |number: usize| {
            most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::yield_now();
            running.fetch_sub(1, SeqCst);
            2 * number
        };
        let mut taken = vec![0; 1000];
        each(0..1000, run, |at, result| taken[at] += result + 1, || {}).unwrap();
        assert!(taken.iter().enumerate().all(|(at, of)| *of == 2 * at + 1));
        assert!((2..=AT_ONCE).contains(&most.into_inner()));
    }

    #[test]
    fn a_task_that_panics_has_no_result_and_the_others_have_theirs() {
        let run = |number: usize| assert_ne!(number, 3);
        let mut taken = Vec::new();
        each(0..5, run, |at, ()| taken.push(at), || {}).unwrap();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 4]);
    }
}
