//! A task: the slots to read from a node, how to read them, and the outcome.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use slotscope_engine::slot::set::SlotSet;
use slotscope_engine::source::collection::manifest::{BeforeAfter, Level};
use slotscope_engine::source::collection::servers::Role;

use crate::address::Address;
use crate::connection::Access;
use crate::server::Server;

/// How keys are read.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'a> {
    /// How servers are reached.
    pub access: &'a Access,
    /// The details to read of each key.
    pub level: Level,
    /// COUNT of SCAN.
    pub count: u64,
    /// The percentage of a server's time.
    pub max_load: f64,
    /// Keys of each node that are remembered, to notice those that SCAN repeats.
    pub remembered: usize,
    /// Whether the servers are a cluster.
    pub is_cluster: bool,
    /// Whether slots have no node that answers for them and none that could take over: then servers refuse keys until
    /// someone repairs the cluster.
    pub outage: &'a AtomicBool,
}

impl Plan<'_> {
    /// Keys whose details are asked for at once: clients wait while a server answers a pipeline, so it is a short one unless
    /// all of the server's time may be taken.
    pub(crate) fn keys_at_once(&self) -> usize {
        if self.max_load < 100.0 { 20 } else { 1000 }
    }
}

/// The slots to read from a node.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// Where it is.
    pub address: Address,
    /// Its role.
    pub role: Role,
    /// For a replica: its primary, whose keys it has to have.
    pub primary: Option<Address>,
    /// The slots to read.
    pub slots: SlotSet,
    /// The slots whose keys it may have; others are strays.
    pub owned: SlotSet,
}

/// The outcome of a task.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The server and its version.
    pub server: String,
    /// Its keys before and after.
    pub dbsize: BeforeAfter,
    /// The replies to COUNTKEYSINSLOT at the end, by slot.
    pub counts: Vec<(u16, u64)>,
    /// Keys that came again.
    pub repeats: u64,
    /// Keys that were gone.
    pub vanished: u64,
    /// Keys of slots that it does not own, by slot.
    pub strays: Strays,
    /// Slots that it no longer answered for.
    pub disturbed: SlotSet,
    /// Details that the server did not give.
    pub skipped: Vec<&'static str>,
    /// Whether it refused MEMORY USAGE.
    pub without_sizes: bool,
    /// Whether names alone were read of some keys, as the cluster is down.
    pub names_only: bool,
}

/// Slots whose strays are counted one by one.
const STRAY_SLOTS: usize = 512;

/// Keys of slots that a node does not own. Those of slots that turn out to be on their way do not count; as there are as
/// many outcomes as nodes, only this many slots are kept apart, and keys of further ones always count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strays {
    by_slot: BTreeMap<u16, u64>,
    further: u64,
}

impl Strays {
    /// Counts one.
    pub(crate) fn add(&mut self, slot: u16) {
        if self.by_slot.len() < STRAY_SLOTS || self.by_slot.contains_key(&slot) {
            *self.by_slot.entry(slot).or_default() += 1;
        } else {
            self.further += 1;
        }
    }

    /// How many there are apart from those of `slots`.
    pub(crate) fn outside(&self, disturbed: &SlotSet) -> u64 {
        let stray = self.by_slot.iter();
        let stray = stray.filter(|(slot, _)| !disturbed.contains(**slot));
        self.further + stray.map(|(_, keys)| keys).sum::<u64>()
    }

    /// Their slots, as far as they are kept apart.
    pub(crate) fn slots_outside(&self, disturbed: &SlotSet) -> SlotSet {
        SlotSet::of(|slot| self.by_slot.contains_key(&slot) && !disturbed.contains(slot))
    }
}

impl Outcome {
    /// Nothing has been read yet.
    pub(crate) fn new(server: &Server) -> Self {
        Outcome {
            server: server.version(),
            dbsize: BeforeAfter {
                before: Some(server.keys()),
                after: None,
            },
            counts: Vec::new(),
            repeats: 0,
            vanished: 0,
            strays: Strays::default(),
            disturbed: SlotSet::none(),
            skipped: Vec::new(),
            without_sizes: false,
            names_only: false,
        }
    }
}

/// Called with the keys of a page; the first call of a task has how many there are to come.
pub(crate) type OnPage<'a> = &'a (dyn Fn(Page) + Sync);

/// The progress of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// About this many keys are to come.
    Expected(u64),
    /// This many more have come.
    Read(u64),
    /// The primary does not answer, nothing can take over, and this many slots are not served.
    Lost(u64),
    /// The primary does not answer, and a replica may take over this many slots.
    Awaited(u64),
    /// Slots of the primary are open, and the end of their move is waited for.
    Open {
        /// The first of them.
        first: u16,
        /// How many there are.
        slots: u64,
        /// Seconds left until the collection continues without them.
        secs: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strays_of_slots_on_their_way_do_not_count_as_far_as_slots_are_kept_apart() {
        let mut strays = Strays::default();
        for slot in 0..STRAY_SLOTS as u16 + 10 {
            strays.add(slot);
            strays.add(slot);
        }
        let all = 2 * (STRAY_SLOTS as u64 + 10);
        assert_eq!(strays.outside(&SlotSet::none()), all);
        assert_eq!(strays.outside(&SlotSet::of(|slot| slot < 5)), all - 10);
        assert_eq!(strays.outside(&SlotSet::all()), 20);
    }
}
