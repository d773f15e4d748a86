//! The threads that wait for the network. No worker of a scan runs on them, and none of them counts: workers wait for bytes
//! that these threads fetch ahead.

use std::future::Future;
use std::io;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

/// TLS takes about a core a GB/s.
const MOST_THREADS: usize = 8;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Starts the threads unless they run already.
///
/// # Errors
/// What the system says that starts no more of them.
pub fn start() -> io::Result<()> {
    if RUNTIME.get().is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let built = Builder::new_multi_thread()
            .worker_threads((cores / 4).clamp(1, MOST_THREADS))
            .thread_name("slotscope-net")
            .enable_all()
            .build();
        // Where another thread was faster, its runtime is used.
        drop(RUNTIME.set(built?));
    }
    Ok(())
}

/// Lets `task` run.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    runtime().spawn(task).abort_handle()
}

/// Waits for `task`; never on a thread of the runtime.
pub fn wait<T>(task: impl Future<Output = T>) -> T {
    runtime().block_on(task)
}

fn runtime() -> &'static Runtime {
    RUNTIME
        .get()
        .expect("it runs since the first object was looked for")
}
