//! The threads that wait for the network. Workers of a scan never run on them, nor do they count as workers: workers
//! wait for bytes that these threads prefetch.
//!
//! Each thread has a single-threaded runtime: a thread that cannot be started is then an error and does not abort the
//! process.

use std::future::{Future, pending};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

/// TLS needs about one core per GB/s.
const MOST_THREADS: usize = 8;

static THREADS: OnceLock<Vec<Handle>> = OnceLock::new();

/// Starts the threads, unless they are running.
///
/// # Errors
/// The system's error if no thread could be started.
pub(super) fn start() -> io::Result<()> {
    if THREADS.get().is_none() {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut handles = vec![start_one()?];
        handles.extend((1..(cores / 4).min(MOST_THREADS)).map_while(|_| start_one().ok()));
        // If another thread was faster, its threads are used.
        drop(THREADS.set(handles));
    }
    Ok(())
}

/// A thread that runs tasks for the lifetime of the process.
fn start_one() -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let run = move || Runtime::block_on(&runtime, pending::<()>());
    let thread = thread::Builder::new().name("slotscope-net".into());
    thread.spawn(run)?;
    Ok(handle)
}

/// Runs `task` in the background.
pub(super) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    /// The number of the next thread.
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let threads = threads();
    let next = NEXT.fetch_add(1, Relaxed) % threads.len();
    threads[next].spawn(task).abort_handle()
}

/// Waits for `task`; must not be called on a thread of a runtime.
pub(super) fn wait<T>(task: impl Future<Output = T>) -> T {
    threads()[0].block_on(task)
}

fn threads() -> &'static [Handle] {
    THREADS
        .get()
        .expect("they run since the first object was looked for")
}
