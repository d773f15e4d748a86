//! Parts of an object that are fetched before the scan asks for them, by the threads of the runtime.
//!
//! Who reads on where the last read ended, or takes the next part, is taken for a reader of all that follows: then more
//! and more parts are on their way at once. Other reads are one request each, of just their bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::source::object::refusal::Refusal;
use crate::source::object::{Inner, runtime};

/// Bytes of a part: a request of it takes much longer than the way to the server and back.
pub const PART: u64 = 8 << 20;

/// Parts that are on their way or wait to be read, at most, of all objects together; where all are taken, each reader
/// still gets the one that it waits for.
const MOST: usize = 16;

/// Reads of fewer bytes are only taken for one of a row where they follow the last one.
const SMALL: u64 = 256 << 10;

/// The parts of an object that are there or on their way.
pub struct Ahead {
    object: Arc<Inner>,
    window: Mutex<Window>,
}

#[derive(Default)]
struct Window {
    parts: BTreeMap<u64, Part>,
    /// The part behind the last one that was taken in order.
    next: u64,
    /// Where the last read ended.
    end: u64,
    /// How many parts are asked for behind the one that is read.
    depth: usize,
    /// The window of the object behind this one, once parts of it are asked for.
    follower: Option<Arc<Ahead>>,
}

/// A part, which is fetched no further once it is dropped and no reader waits for it.
struct Part {
    arrival: Arc<Arrival>,
    /// How many of its bytes were read.
    used: u64,
    task: AbortHandle,
    _permit: Option<Permit>,
}

impl Drop for Part {
    fn drop(&mut self) {
        // Two hold the arrival where no reader does: the part and the task.
        if Arc::strong_count(&self.arrival) <= 2 {
            self.task.abort();
        }
    }
}

impl Ahead {
    /// Nothing is fetched yet.
    pub(super) fn new(object: Arc<Inner>) -> Self {
        Ahead {
            object,
            window: Mutex::default(),
        }
    }

    /// Fills `into` with the bytes from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` behind the end of the object; that it could not be read, in one line.
    pub fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let size = self.object.identity.size_bytes;
        let end = offset.checked_add(into.len() as u64);
        let end = end.filter(|end| *end <= size);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let head = self.object.head.get(offset as usize..).unwrap_or_default();
        let known = head.len().min(into.len());
        into[..known].copy_from_slice(&head[..known]);
        let mut at = offset + known as u64;
        let mut rest = &mut into[known..];
        while !rest.is_empty() {
            let index = at / PART;
            let of_part = ((index + 1) * PART).min(end) - at;
            let bytes = match self.arrival(index, at..at + of_part, end - at) {
                Some(arrival) => {
                    let from = (at - index * PART) as usize;
                    Arrived(arrival, from..from + of_part as usize)
                }
                None => Arrived(self.request(at..end).0, 0..rest.len()),
            };
            let len = bytes
                .copy_to(rest)
                .map_err(|refusal| io::Error::other(refusal.what))?;
            at += len as u64;
            rest = &mut rest[len..];
        }
        Ok(())
    }

    /// The part that holds `bytes`, of `wanted` that are read on from there; `None` where the reader jumps about.
    fn arrival(&self, index: u64, bytes: Range<u64>, wanted: u64) -> Option<Arc<Arrival>> {
        let window = &mut *self.lock();
        let follows = bytes.start.wrapping_sub(window.end) < SMALL;
        let is_next = wanted >= SMALL && (index == window.next || index == 0);
        window.end = bytes.end;
        if !window.parts.contains_key(&index) {
            if !follows && !is_next {
                return None;
            }
            if index != window.next {
                (window.next, window.depth) = (index, 0);
                window.parts.clear();
            }
            window.parts.insert(index, self.fetch(index, None));
        }
        if index >= window.next {
            window.next = index + 1;
            window.depth = (2 * window.depth).clamp(1, MOST);
            self.fetch_ahead(window);
        }
        let part = window.parts.get_mut(&index)?;
        part.used += bytes.end - bytes.start;
        let arrival = part.arrival.clone();
        if part.used >= self.len(index) {
            window.parts.remove(&index);
        }
        Some(arrival)
    }

    /// Asks for the parts that will be read next, and lets go of those that were passed over.
    fn fetch_ahead(&self, window: &mut Window) {
        let kept = window.next.saturating_sub(MOST as u64);
        window.parts.retain(|index, _| *index >= kept);
        let (parts, end) = (self.parts(), window.next + window.depth as u64);
        self.fetch_missing(window, window.next..end.min(parts));
        let left = end.saturating_sub(parts);
        if left > 0 && window.follower.is_none() {
            window.follower = self.object.follower();
        }
        if let Some(follower) = &window.follower {
            follower.fetch_first(left);
        }
    }

    /// Asks for the first `count` parts, which will be read once the object before this one is.
    fn fetch_first(&self, count: u64) {
        let window = &mut *self.lock();
        if window.next > 0 {
            return;
        }
        self.fetch_missing(window, 0..count.min(self.parts()));
    }

    /// Asks for those of the parts that are neither there nor on their way, as long as there are permits.
    fn fetch_missing(&self, window: &mut Window, indices: Range<u64>) {
        for index in indices {
            if let Entry::Vacant(place) = window.parts.entry(index) {
                let Some(permit) = Permit::take() else { return };
                place.insert(self.fetch(index, Some(permit)));
            }
        }
    }

    fn fetch(&self, index: u64, permit: Option<Permit>) -> Part {
        let from = index * PART;
        let (arrival, task) = self.request(from..from + self.len(index));
        // What the object's head has is not read from its first part.
        let known = self.object.head.len() as u64;
        Part {
            arrival,
            used: known.saturating_sub(from).min(PART),
            task,
            _permit: permit,
        }
    }

    fn request(&self, range: Range<u64>) -> (Arc<Arrival>, AbortHandle) {
        let arrival = Arc::new(Arrival::default());
        let landing = Landing(arrival.clone());
        let object = self.object.clone();
        let task = runtime::spawn(async move { landing.put(object.range(range).await) });
        (arrival, task)
    }

    /// How many parts there are; none where the head is all.
    fn parts(&self) -> u64 {
        let size = self.object.identity.size_bytes;
        match self.object.head.len() as u64 == size {
            true => 0,
            false => size.div_ceil(PART),
        }
    }

    fn len(&self, index: u64) -> u64 {
        PART.min(self.object.identity.size_bytes - index * PART)
    }

    fn lock(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that were asked for: they come once, for all who wait.
#[derive(Default)]
struct Arrival {
    bytes: Mutex<Option<Result<Vec<u8>, Refusal>>>,
    is_there: Condvar,
}

/// A stretch of bytes that were asked for.
struct Arrived(Arc<Arrival>, Range<usize>);

impl Arrived {
    /// Waits for the bytes and copies them to the start of `into`; how many.
    fn copy_to(self, into: &mut [u8]) -> Result<usize, Refusal> {
        let Arrived(arrival, range) = self;
        let lock = arrival.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = arrival
            .is_there
            .wait_while(lock, |bytes| bytes.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        match bytes.as_ref().expect("waited for") {
            Ok(bytes) => {
                into[..range.len()].copy_from_slice(&bytes[range.clone()]);
                Ok(range.len())
            }
            Err(refusal) => Err(refusal.clone()),
        }
    }
}

/// Where bytes come in; dropped without any, as where the task was aborted, whoever waits is woken up too.
struct Landing(Arc<Arrival>);

impl Landing {
    fn put(&self, bytes: Result<Vec<u8>, Refusal>) {
        let mut place = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        place.get_or_insert(bytes);
        self.0.is_there.notify_all();
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.put(Err("the request was given up; run again".into()));
    }
}

/// The right to keep a part that no reader waits for.
struct Permit;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl Permit {
    fn take() -> Option<Permit> {
        let one_more = |taken| (taken < MOST).then_some(taken + 1);
        let taken = TAKEN.fetch_update(Relaxed, Relaxed, one_more);
        taken.ok().map(|_| Permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Relaxed);
    }
}
