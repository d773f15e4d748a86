//! Memory for giant rows: only one thread at a time may hold one, so that memory does not grow with every thread.
//!
//! The holder must not wait for another thread that may want it, or they would deadlock.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Blocks up to this size need no reservation.
const LARGE: usize = 8 << 20;

/// A reservation shared by several threads.
#[derive(Default)]
pub struct Room {
    is_taken: Mutex<bool>,
    left: Condvar,
}

/// A thread's claim to the reservation: nothing until needed.
#[derive(Default)]
pub struct Claim {
    room: Arc<Room>,
    is_held: bool,
}

impl Claim {
    /// An unused claim to a shared reservation.
    pub fn to(room: &Arc<Room>) -> Self {
        Claim {
            room: room.clone(),
            is_held: false,
        }
    }

    /// Reserves memory if a block of this size is large, waiting until no other thread holds it.
    pub(crate) fn take_for(&mut self, bytes: usize) {
        if bytes <= LARGE || self.is_held {
            return;
        }
        // A thread that panicked has released it.
        let lock = self.room.is_taken.lock();
        let taken = lock.unwrap_or_else(PoisonError::into_inner);
        let free = self.room.left.wait_while(taken, |is_taken| *is_taken);
        *free.unwrap_or_else(PoisonError::into_inner) = true;
        self.is_held = true;
    }

    /// Releases the reservation unless a block of this size still needs it.
    pub(crate) fn keep_for(&mut self, bytes: usize) {
        if bytes > LARGE || !self.is_held {
            return;
        }
        let lock = self.room.is_taken.lock();
        *lock.unwrap_or_else(PoisonError::into_inner) = false;
        self.is_held = false;
        self.room.left.notify_one();
    }

    /// Whether this thread holds the reservation.
    pub fn is_held(&self) -> bool {
        self.is_held
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.keep_for(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn one_thread_at_a_time_has_a_large_block_and_others_go_on() {
        let (room, inside) = (Arc::new(Room::default()), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let mut claim = Claim::to(&room);
                        claim.take_for(LARGE + 1);
                        claim.take_for(2 * LARGE);
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                        // A claim that is still needed is kept.
                        claim.keep_for(LARGE + 1);
                        assert!(claim.is_held());
                    }
                });
            }
        });
        let mut first = Claim::to(&room);
        first.take_for(LARGE + 1);
        let mut other = Claim::to(&room);
        other.take_for(LARGE);
        assert!(
            !other.is_held(),
            "a block that is not large waits for nobody"
        );
        first.keep_for(LARGE);
        other.take_for(LARGE + 1);
        assert!(other.is_held());
    }
}
