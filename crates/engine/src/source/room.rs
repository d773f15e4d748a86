//! Room for giant rows: one thread at a time has it, so memory does not grow by a giant row with every thread.
//!
//! The thread that has it must not wait for another that may want it, or all would wait for each other.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Bytes of a block that need no room of their own.
const LARGE: usize = 8 << 20;

/// The room that some threads share.
#[derive(Default)]
pub(crate) struct Room {
    is_taken: Mutex<bool>,
    left: Condvar,
}

/// The claim of a thread to a room: nothing until it needs it.
#[derive(Default)]
pub(crate) struct Claim {
    room: Arc<Room>,
    is_held: bool,
}

impl Claim {
    /// Nothing yet of a room that others share.
    pub(crate) fn to(room: &Arc<Room>) -> Self {
        Claim {
            room: room.clone(),
            is_held: false,
        }
    }

    /// Takes the room for a block of this many bytes if it is a large one, once no other thread has it.
    pub(crate) fn take_for(&mut self, bytes: usize) {
        if bytes <= LARGE || self.is_held {
            return;
        }
        // A thread that panicked has left the room.
        let taken = self.room.is_taken.lock();
        let taken = taken.unwrap_or_else(PoisonError::into_inner);
        let free = self.room.left.wait_while(taken, |is_taken| *is_taken);
        *free.unwrap_or_else(PoisonError::into_inner) = true;
        self.is_held = true;
    }

    /// Leaves the room unless a block of this many bytes still needs it.
    pub(crate) fn keep_for(&mut self, bytes: usize) {
        if bytes > LARGE || !self.is_held {
            return;
        }
        let taken = self.room.is_taken.lock();
        *taken.unwrap_or_else(PoisonError::into_inner) = false;
        self.is_held = false;
        self.room.left.notify_one();
    }

    /// Whether the room is taken by this thread.
    pub(crate) fn is_held(&self) -> bool {
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
                        // One that still needs it does not leave.
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
