//! Runs work of the library without the GIL, interruptible by Ctrl-C.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use slotscope::Result;
use slotscope::pipeline::reading::OnProgress;

use crate::error::refused;

/// Interval for checking signals.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs `work` on another thread, and Python's signal handlers on this one; if a handler raises, `work` ends early when
/// it calls its hook. Handlers run on the main thread only, so the work cannot run there.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(OnProgress) -> Result<T> + Send,
) -> PyResult<T> {
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let seen = is_cancelled.clone();
    let hook: OnProgress = Arc::new(move |_| !seen.load(Relaxed));
    thread::scope(|scope| {
        let caller = thread::current();
        let worker = scope.spawn(move || {
            let result = work(hook);
            caller.unpark();
            result
        });
        let signalled = until(py, || worker.is_finished());
        is_cancelled.store(signalled.is_err(), Relaxed);
        let result = py.detach(|| worker.join());
        signalled?;
        result
            .unwrap_or_else(|panic| resume_unwind(panic))
            .map_err(refused)
    })
}

/// Waits until `is_done`; an exception of a signal handler ends the wait.
pub(crate) fn until(py: Python<'_>, is_done: impl Fn() -> bool + Sync) -> PyResult<()> {
    while !is_done() {
        py.detach(|| thread::park_timeout(PAUSE));
        py.check_signals()?;
    }
    Ok(())
}
