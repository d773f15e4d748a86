//! The thread that reads the cluster: at intervals, and a slot's keys on request.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use slotscope_base::error::{Error, Result};
use slotscope_collect::address::Address;
use slotscope_collect::connection::Access;
use slotscope_collect::live::{Live, Snapshot};
use slotscope_collect::slot_keys::SlotKeys;

use crate::top::judged;
use crate::top::rows::Cluster;
use crate::top::screen::Read;

/// The verdict covers this time: single intervals fluctuate too much.
const JUDGED_MS: i64 = 10_000;
/// The spacing of readings kept for the verdict.
const STEP_MS: i64 = JUDGED_MS / 4;
/// Maximum keys requested per slot.
const KEYS: u64 = 100;

/// A request to the reader.
#[derive(Debug)]
pub(crate) enum Request {
    /// The keys of a slot.
    Keys(u16),
    /// Stop or resume reading.
    Pause(bool),
}

/// An update from the reader.
pub(crate) enum Update {
    /// The cluster.
    Read(Box<Read>),
    /// A failure, and why.
    Failed(String),
    /// The keys of a slot, or why there are none.
    Keys(u16, std::result::Result<SlotKeys, String>),
}

pub(crate) struct Reader<F> {
    /// Where to look for the cluster.
    pub seeds: Vec<Address>,
    /// How to connect to servers.
    pub access: Access,
    /// Between two readings.
    pub interval: Duration,
    /// Requests; the reader ends when their sender is dropped.
    pub requests: Receiver<Request>,
    /// Receives updates.
    pub tell: F,
}

/// The screen has closed.
struct Ended;

impl<F: FnMut(Update)> Reader<F> {
    /// Reads until the screen closes. After an outage, starts over from the seeds.
    pub(crate) fn run(mut self) {
        let access = self.access.clone();
        let mut is_paused = false;
        loop {
            let read = Live::connect(&self.seeds, &access);
            let error = match read.and_then(|live| self.read_on(live, &mut is_paused)) {
                Ok(Ended) => return,
                Err(error) => error,
            };
            (self.tell)(Update::Failed(error.to_string()));
            if self
                .serve(None, Instant::now() + self.interval, &mut is_paused)
                .is_err()
            {
                return;
            }
        }
    }

    /// Reads at intervals until that fails.
    fn read_on(&mut self, mut live: Live<'_>, is_paused: &mut bool) -> Result<Ended> {
        let mut kept: VecDeque<Snapshot> = VecDeque::new();
        loop {
            let start = Instant::now();
            if !*is_paused {
                let snapshot = live.read()?;
                (self.tell)(Update::Read(Box::new(read(&kept, &snapshot))));
                keep(&mut kept, snapshot);
            }
            if self
                .serve(Some(&live), start + self.interval, is_paused)
                .is_err()
            {
                return Ok(Ended);
            }
        }
    }

    /// Serves requests until the next reading is due.
    fn serve(
        &mut self,
        live: Option<&Live<'_>>,
        next: Instant,
        is_paused: &mut bool,
    ) -> std::result::Result<(), Ended> {
        loop {
            let left = next.saturating_duration_since(Instant::now());
            let request = if *is_paused {
                self.requests.recv().map_err(|_| Ended)?
            } else {
                match self.requests.recv_timeout(left) {
                    Ok(request) => request,
                    Err(RecvTimeoutError::Timeout) => return Ok(()),
                    Err(RecvTimeoutError::Disconnected) => return Err(Ended),
                }
            };
            match request {
                Request::Pause(is_wanted) => *is_paused = is_wanted,
                Request::Keys(slot) => {
                    let none = || Error::bad(format!("slot {slot}"), "the cluster does not answer");
                    let keys = live
                        .ok_or_else(none)
                        .and_then(|live| live.keys_of(slot, KEYS))
                        .map_err(|error| error.to_string());
                    (self.tell)(Update::Keys(slot, keys));
                }
            }
        }
    }
}

/// A reading for display, compared with those kept.
pub(super) fn read(kept: &VecDeque<Snapshot>, last: &Snapshot) -> Read {
    // A lost or new primary shows immediately; anything that needs two readings follows with the next.
    let first = comparable(kept, last).or((!kept.is_empty()).then_some(last));
    let mut cluster = Cluster::between(kept.back(), last);
    let verdict = first.and_then(|first| judged::judge(first, last, &mut cluster).ok());
    Read {
        cluster,
        verdict,
        at_ms: at_ms(last),
    }
}

/// The oldest kept reading with the same primaries: the verdict covers those in both.
pub(super) fn comparable<'k>(
    kept: &'k VecDeque<Snapshot>,
    last: &Snapshot,
) -> Option<&'k Snapshot> {
    let mut kept = kept.iter();
    kept.find(|first| answering(first).eq(answering(last)))
}

/// The primaries that answered.
fn answering(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let primaries = snapshot.primaries.iter();
    primaries.filter_map(|primary| primary.reading.is_ok().then_some(primary.id.as_str()))
}

/// Keeps a reading for coming verdicts: only a few, however short the interval.
pub(super) fn keep(kept: &mut VecDeque<Snapshot>, last: Snapshot) {
    let oldest = at_ms(&last) - JUDGED_MS;
    kept.push_back(last);
    while kept.len() > 1 && at_ms(&kept[0]) < oldest {
        kept.pop_front();
    }
    if let Some(at) = kept.len().checked_sub(3)
        && at_ms(&kept[at + 1]) < at_ms(&kept[at]) + STEP_MS
    {
        kept.remove(at + 1);
    }
}

/// The time of a reading; long ago if it has no primary.
fn at_ms(snapshot: &Snapshot) -> i64 {
    let answers = snapshot
        .primaries
        .iter()
        .filter_map(|primary| primary.reading.as_ref().ok());
    answers.map(|reading| reading.at_ms).max().unwrap_or(0)
}
