//! State shared by all threads of a scan, and how the scan ends.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_read::source::Source;
use slotscope_read::source::chunk::Trouble;
use slotscope_read::source::line_number::line_of;
use slotscope_read::source::room::Room;

use crate::scan::shares::Share;
use crate::scan::{Incomplete, SeenInput};

/// State shared by all workers.
pub(super) struct Shared<'a> {
    /// The inputs.
    pub sources: &'a [Box<dyn Source>],
    /// The share of each source to read.
    pub shares: &'a [Share],
    /// The notices of each input.
    pub seen: Vec<Mutex<SeenInput>>,
    /// Where inputs became unreadable.
    pub incomplete: Mutex<Vec<Incomplete>>,
    /// The first error in input order, even if another thread hit a later one first.
    error: Mutex<Option<(Place, Error)>>,
    /// The input with the first error.
    failed: AtomicUsize,
    stopped: AtomicBool,
    /// When the scan started, in milliseconds since 1970.
    started_ms: u64,
    /// Memory reserved for giant rows.
    pub room: Arc<Room>,
}

/// An input, and the number of chunks before the place.
type Place = (usize, u64);

impl<'a> Shared<'a> {
    pub(super) fn new(sources: &'a [Box<dyn Source>], shares: &'a [Share]) -> Self {
        Shared {
            sources,
            shares,
            seen: sources.iter().map(|_| Mutex::default()).collect(),
            incomplete: Mutex::default(),
            error: Mutex::default(),
            failed: AtomicUsize::new(usize::MAX),
            stopped: AtomicBool::new(false),
            started_ms: SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as u64),
            room: Arc::default(),
        }
    }

    /// When an input was written, in milliseconds since 1970; the start of the scan if it does not say.
    pub(super) fn written_ms(&self, input: usize) -> u64 {
        self.sources[input]
            .facts()
            .written_ms
            .unwrap_or(self.started_ms)
    }

    /// Adds to the notices of an input.
    pub(super) fn saw(&self, input: usize, part: SeenInput) {
        let mut total = lock(&self.seen[input]);
        total.format = part.format;
        total.told = part.told.or(total.told.take());
        total.bytes += part.bytes;
        total.seen += part.seen;
    }

    /// Records that an input became unreadable; a row that is too long, or a failing object store, is an error at once.
    pub(super) fn note(&self, trouble: Trouble, input: usize) -> Result<()> {
        if let Some(failure) = self.sources[input].failure() {
            return Err(failure);
        }
        let (byte, reason) = match trouble {
            Trouble::Read(byte, error) => (byte, slotscope_base::error::reason(&error).into()),
            Trouble::Damaged(byte, reason) => (byte, reason),
            Trouble::Long(byte) => {
                let source = &*self.sources[input];
                let line = line_of(source, byte);
                let place = line.map_or(format!("byte {byte}"), |line| {
                    format!("line {line} (byte {byte})")
                });
                return Err(Error::bad(
                    format!("{}: {place}", Name::from(source.path())),
                    "a line longer than 64 MiB; is this a key dump with one key a line?",
                ));
            }
        };
        lock(&self.incomplete).push(Incomplete {
            input,
            byte,
            reason,
        });
        Ok(())
    }

    /// Records that an input is no longer the file that was found: what was read may be a mix.
    ///
    /// # Errors
    /// The check itself failed, for instance for lack of file descriptors.
    pub(super) fn check_unchanged(&self, input: usize) -> Result<()> {
        match self.sources[input].open_at() {
            Ok(_) => return Ok(()),
            Err(Error::Bad { .. }) => {}
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(unseen) => return Err(unseen),
        }
        let mut incomplete = lock(&self.incomplete);
        if !incomplete.iter().any(|stop| stop.input == input) {
            let read = || lock(&self.seen[input]).bytes;
            incomplete.push(Incomplete {
                input,
                byte: self.sources[input].size_bytes().unwrap_or_else(read),
                reason: "it changed while it was read; analyze a copy of the dump".into(),
            });
        }
        Ok(())
    }

    /// Records an error, which ends the scan: nothing after its place is read any more, but everything before it is, as
    /// an earlier error takes precedence.
    pub(super) fn fail(&self, place: Place, error: Error) {
        let mut first = lock(&self.error);
        if first.as_ref().is_none_or(|(known, _)| place < *known) {
            *first = Some((place, error));
        }
        self.failed.fetch_min(place.0, Relaxed);
    }

    /// Stops all threads if `going` is false.
    pub(super) fn proceed(&self, going: bool) {
        self.stopped.fetch_or(!going, Relaxed);
    }

    /// Whether any work is left.
    pub(super) fn is_going(&self) -> bool {
        self.reads_on(usize::MAX - 1)
    }

    /// Whether to continue reading an input.
    pub(super) fn reads_on(&self, input: usize) -> bool {
        !self.stopped.load(Relaxed) && input < self.failed.load(Relaxed)
    }

    /// The first error, if any.
    pub(super) fn outcome(&self) -> Result<()> {
        lock(&self.error)
            .take()
            .map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// A panic elsewhere is reported by the pool; the data under a poisoned lock is not used.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The data of a lock that no thread uses any more.
pub(super) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
