//! Memory for large replies, shared by all connections of the process: a server can pose as any number of nodes, and
//! could otherwise make each connection hold a maximum-size reply at once.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of large replies held at once; a maximum-size reply takes all of it.
pub(crate) const MAX_BYTES: usize = 64 << 20;
/// How long a reply waits for others: many times what an honest server needs to send its own.
const PATIENCE: Duration = Duration::from_secs(120);

static FREE: Mutex<usize> = Mutex::new(MAX_BYTES);
static FREED: Condvar = Condvar::new();

/// A reservation, released when dropped.
#[derive(Debug)]
pub(crate) struct Reserved(usize);

impl Reserved {
    /// Waits until this many bytes are free. A reply reserves its maximum at once, so that no two replies wait for each
    /// other.
    ///
    /// # Errors
    /// Other replies do not finish.
    pub(crate) fn new(bytes: usize) -> io::Result<Reserved> {
        let (bytes, start) = (bytes.min(MAX_BYTES), Instant::now());
        let mut free = free();
        while *free < bytes {
            let left = PATIENCE.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(io::Error::other(
                    "large replies of other servers take all memory for such replies",
                ));
            }
            let woken = FREED.wait_timeout(free, left);
            free = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= bytes;
        Ok(Reserved(bytes))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        *free() += self.0;
        FREED.notify_all();
    }
}

fn free() -> MutexGuard<'static, usize> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn the_largest_replies_are_held_one_at_a_time() {
        let (held, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    let reserved = Reserved::new(usize::MAX).unwrap();
                    most.fetch_max(held.fetch_add(1, SeqCst) + 1, SeqCst);
                    thread::yield_now();
                    held.fetch_sub(1, SeqCst);
                    drop(reserved);
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }
}
