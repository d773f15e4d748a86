//! The threads that wait for the network. No worker of a scan runs on them, and none of them counts: workers wait for bytes
//! that these threads fetch ahead.

use std::future::Future;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

/// TLS takes about a core a GB/s.
const MOST_THREADS: usize = 8;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Lets `task` run.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    runtime().spawn(task).abort_handle()
}

/// Waits for `task`; never on a thread of the runtime.
pub fn wait<T>(task: impl Future<Output = T>) -> T {
    runtime().block_on(task)
}

fn runtime() -> &'static Runtime {
    RUNTIME.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let built = Builder::new_multi_thread()
            .worker_threads((cores / 4).clamp(1, MOST_THREADS))
            .thread_name("slotscope-net")
            .enable_all()
            .build();
        built.expect("the system starts threads and has file descriptors left")
    })
}
