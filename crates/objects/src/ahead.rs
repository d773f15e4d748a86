//! Prefetching: threads of the runtime fetch parts of an object before the scan requests them.
//!
//! A reader that continues where the last read ended, or takes the next part, is expected to read the rest: more and
//! more parts are then prefetched. Any other read is a single request for exactly its bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::refusal::Refusal;
use crate::{Inner, runtime};
use slotscope_read::source::ReadAt;

/// Size of a part in bytes: large enough that the round trip to the server does not matter.
pub(super) const PART: u64 = 8 << 20;

/// Limit for the parts that are in flight or waiting to be read, over all objects; beyond it, each reader still gets
/// the part it waits for.
const MOST: usize = 16;

/// Smaller reads count as sequential only if they directly follow the last one.
const SMALL: u64 = 256 << 10;

/// The parts of an object that have arrived or are in flight.
pub(crate) struct Ahead {
    object: Arc<Inner>,
    window: Mutex<Window>,
}

#[derive(Default)]
struct Window {
    parts: BTreeMap<u64, Part>,
    /// The part after the last one read in order.
    next: u64,
    /// The end of the last read.
    end: u64,
    /// Number of parts to prefetch after the current one.
    depth: usize,
}

/// A part; its request is aborted once it is dropped and no reader waits for it.
struct Part {
    arrival: Arc<Arrival>,
    /// Number of its bytes that were read.
    used: u64,
    task: AbortHandle,
    _permit: Option<Permit>,
}

impl Drop for Part {
    fn drop(&mut self) {
        // Without a reader, two references remain: the part and the task.
        if Arc::strong_count(&self.arrival) <= 2 {
            self.task.abort();
        }
    }
}

/// Errors are one-line reasons.
impl ReadAt for Ahead {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let size = self.object.identity.size_bytes;
        let end = offset
            .checked_add(into.len() as u64)
            .filter(|end| *end <= size)
            .ok_or(io::ErrorKind::UnexpectedEof)?;
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
                .map_err(|refusal| io::Error::other(refusal.reason))?;
            at += len as u64;
            rest = &mut rest[len..];
        }
        Ok(())
    }
}

impl Ahead {
    /// Starts without any part.
    pub(super) fn new(object: Arc<Inner>) -> Self {
        Ahead {
            object,
            window: Mutex::default(),
        }
    }

    /// The part that contains `bytes`, from which `wanted` bytes are read sequentially; `None` for random access.
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

    /// Requests the parts that will be read next, and drops those that were skipped.
    fn fetch_ahead(&self, window: &mut Window) {
        let oldest = window.next.saturating_sub(MOST as u64);
        window.parts.retain(|index, _| *index >= oldest);
        let parts = self.object.identity.size_bytes.div_ceil(PART);
        let end = window.next + window.depth as u64;
        for index in window.next..end.min(parts) {
            if let Entry::Vacant(place) = window.parts.entry(index) {
                let Some(permit) = Permit::take() else { return };
                place.insert(self.fetch(index, Some(permit)));
            }
        }
    }

    fn fetch(&self, index: u64, permit: Option<Permit>) -> Part {
        let from = index * PART;
        let (arrival, task) = self.request(from..from + self.len(index));
        // The head of the object is known and is not fetched again with the first part.
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

    fn len(&self, index: u64) -> u64 {
        PART.min(self.object.identity.size_bytes - index * PART)
    }

    fn lock(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Requested bytes: they arrive once, for all waiting readers.
#[derive(Default)]
struct Arrival {
    bytes: Mutex<Option<Result<Vec<u8>, Refusal>>>,
    is_there: Condvar,
}

/// A range of requested bytes.
struct Arrived(Arc<Arrival>, Range<usize>);

impl Arrived {
    /// Waits for the bytes and copies them to the start of `into`; returns their number.
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

/// The receiving end; when dropped without bytes, as for an aborted task, it still wakes the waiting readers.
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

/// Permission to keep a part that no reader waits for.
struct Permit;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl Permit {
    fn take() -> Option<Permit> {
        let one_more = |permits| (permits < MOST).then_some(permits + 1);
        let permits = TAKEN.fetch_update(Relaxed, Relaxed, one_more);
        permits.ok().map(|_| Permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;
    use object_store::path::Path;

    use crate::address::Address;
    use crate::fetch::{Place, Start};
    use crate::store::Store;
    use slotscope_read::source::identity::ObjectIdentity;

    /// An object with these bytes and a head of this length.
    fn object(bytes: &[u8], head: usize) -> Arc<Inner> {
        runtime::start().unwrap();
        let objects = InMemory::new();
        let location = Path::from("dump");
        runtime::wait(objects.put(&location, bytes.to_vec().into())).unwrap();
        let meta = runtime::wait(objects.head(&location)).unwrap();
        let identity = ObjectIdentity {
            size_bytes: meta.size,
            etag: meta.e_tag,
            modified_ms: u64::try_from(meta.last_modified.timestamp_millis()).ok(),
            answered_by: None,
        };
        let store = Arc::new(Store {
            address: Address::parse("s3://bucket/dump").unwrap(),
            objects: Arc::new(objects),
            pages: None,
        });
        let head = bytes[..head.min(bytes.len())].to_vec();
        let start = Start { identity, head };
        Arc::new(Inner::new("dump".into(), Place { store, location }, start))
    }

    fn content(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at / 255 + at % 251) as u8).collect()
    }

    /// Asserts that a read returns the content.
    #[track_caller]
    fn check(ahead: &Ahead, content: &[u8], from: usize, len: usize) {
        let mut read = vec![0; len];
        ahead.read_exact_at(&mut read, from as u64).unwrap();
        assert!(read == content[from..from + len], "{from}, {len} bytes");
    }

    #[test]
    fn reads_of_any_kind_give_the_bytes_that_are_there() {
        let content = content(3 * PART as usize + 12_345);
        for head in [0, 1000, 1 << 20] {
            let ahead = object(&content, head).ahead();
            // Chunks with an overlap, twice, as in two passes over a file.
            for from in [0, 1]
                .into_iter()
                .flat_map(|_| (0..content.len()).step_by(2 << 20))
            {
                let len = ((2 << 20) + 4096).min(content.len() - from);
                check(&ahead, &content, from, len);
            }
            // Only the ends of chunks, windows of a sample, jumps and the reads after them.
            for (from, len) in [
                (2 << 20, 16 << 10),
                (9 << 20, 36 << 10),
                (10 << 20, 8 << 10),
            ] {
                check(&ahead, &content, from, len);
                check(&ahead, &content, from + len, 256 << 10);
            }
            check(&ahead, &content, 0, content.len());
            check(&ahead, &content, content.len() - 1, 1);
            check(&ahead, &content, content.len(), 0);
            let past = ahead.read_exact_at(&mut [0; 2], content.len() as u64 - 1);
            assert_eq!(past.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert!(ahead.read_exact_at(&mut [0; 2], u64::MAX).is_err());
        }
    }

    #[test]
    fn threads_that_take_chunks_in_turn_read_the_same_and_leave_nothing() {
        let content = content(4 * PART as usize);
        let ahead = object(&content, 1 << 16).ahead();
        let next = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..5 {
                threads.spawn(|| {
                    loop {
                        let from = next.fetch_add(1 << 20, Relaxed);
                        if from >= content.len() {
                            return;
                        }
                        check(&ahead, &content, from, 1 << 20);
                    }
                });
            }
        });
        assert!(ahead.lock().parts.len() <= 1, "parts that were read");
    }

    #[test]
    fn what_is_fetched_ahead_is_given_back_with_the_last_reader() {
        let content = content(3 * PART as usize);
        let object = object(&content, 0);
        let ahead = object.ahead();
        check(&ahead, &content, 0, 2 << 20);
        assert!(ahead.lock().parts.len() > 1);
        drop(ahead);
        assert!(object.ahead().lock().parts.is_empty());
    }

    #[test]
    fn an_object_that_is_replaced_is_an_error_and_stays_one() {
        let content = content(PART as usize);
        let object = object(&content, 10);
        let objects = object.place.store.objects.clone();
        let other = objects.put(&object.place.location, content[1..].to_vec().into());
        runtime::wait(other).unwrap();
        let began = Instant::now();
        for _ in 0..2 {
            let read = object.ahead().read_exact_at(&mut [0; 100], 0);
            assert!(read.is_err());
        }
        assert!(object.failure.get().is_some() && began.elapsed() < Duration::from_secs(30));
    }
}
