//! A task: which slots to read from a node and how, and the outcome.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::manifest::{BeforeAfter, Level};
use slotscope_read::source::collection::servers::Role;

use crate::address::Address;
use crate::connection::Access;
use crate::readings::Asked;
use crate::server::Server;

/// How keys are read.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'a> {
    /// How to connect to servers.
    pub access: &'a Access,
    /// The attributes to read of each key.
    pub level: Level,
    /// COUNT of SCAN.
    pub count: u64,
    /// Limit on a server's time, in percent.
    pub max_load: f64,
    /// Keys remembered per node, to detect repeats by SCAN.
    pub remembered: usize,
    /// Whether the servers are a cluster.
    pub is_cluster: bool,
    /// Whether some slots have neither an answering owner nor a replica that can take over: servers then refuse keys
    /// until the cluster is repaired.
    pub outage: &'a AtomicBool,
}

impl Plan<'_> {
    /// Keys whose attributes are requested at once: clients wait while a server processes a pipeline, so it is short,
    /// unless all of the server's time may be used.
    pub(crate) fn keys_at_once(&self) -> usize {
        if self.max_load < 100.0 { 20 } else { 1000 }
    }
}

/// The slots to read from a node.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub address: Address,
    /// Its role.
    pub role: Role,
    /// For a replica: the primary to be synchronized with.
    pub primary: Option<Address>,
    /// The slots to read.
    pub slots: SlotSet,
    /// The slots it may have keys of; keys of others are strays.
    pub owned: SlotSet,
}

impl Task {
    /// The slots of a primary.
    pub(crate) fn of(server: &Asked) -> Self {
        Task {
            address: server.address.clone(),
            role: Role::Primary,
            primary: None,
            slots: server.owned.clone(),
            owned: server.owned.clone(),
        }
    }
}

/// The outcome of a task.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The server and its version.
    pub server: String,
    /// Its key count before and after.
    pub dbsize: BeforeAfter,
    /// Final replies to COUNTKEYSINSLOT, by slot.
    pub counts: Vec<(u16, u64)>,
    /// Repeated keys.
    pub repeats: u64,
    /// Keys that no longer existed.
    pub vanished: u64,
    /// Keys of slots that it does not own, by slot.
    pub strays: Strays,
    /// Slots that it no longer served.
    pub disturbed: SlotSet,
    /// Attributes the server did not provide.
    pub skipped: Vec<&'static str>,
    /// Whether it refused MEMORY USAGE.
    pub without_sizes: bool,
    /// Whether for some keys only names were read, because the cluster is down.
    pub names_only: bool,
}

/// Maximum slots whose strays are counted.
const STRAY_SLOTS: usize = 512;

/// Keys in slots that a node does not own. Those in slots found to be migrating do not count; as there is one outcome
/// per node, only a limited number of slots is counted, and of keys in further slots nothing is said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strays {
    by_slot: BTreeMap<u16, u64>,
}

impl Strays {
    pub(crate) fn add(&mut self, slot: u16) {
        if self.by_slot.len() < STRAY_SLOTS || self.by_slot.contains_key(&slot) {
            *self.by_slot.entry(slot).or_default() += 1;
        }
    }

    /// The number of strays, excluding those in `disturbed` slots.
    pub(crate) fn outside(&self, disturbed: &SlotSet) -> u64 {
        let by_slot = self.by_slot.iter();
        let stray = by_slot.filter(|(slot, _)| !disturbed.contains(**slot));
        stray.map(|(_, keys)| keys).sum()
    }

    /// Those of their slots that were counted separately.
    pub(crate) fn slots_outside(&self, disturbed: &SlotSet) -> SlotSet {
        SlotSet::of(|slot| self.by_slot.contains_key(&slot) && !disturbed.contains(slot))
    }
}

impl Outcome {
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

/// Called with the keys of a page; the first call of a task announces the expected number.
pub(crate) type OnPage<'a> = &'a (dyn Fn(Page) + Sync);

/// The progress of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Approximate number of keys expected.
    Expected(u64),
    /// This many more were read.
    Read(u64),
    /// The primary does not answer, nothing can take over, and this many slots are unserved.
    Lost(u64),
    /// The primary does not answer, and a replica may take over this many slots.
    Awaited(u64),
    /// It does not answer, and neither do more primaries, which are not named.
    AlsoSilent {
        /// Their number.
        others: u64,
        /// The slots of all.
        slots: u64,
    },
    /// Slots of the primary are open, and the end of their migration is awaited.
    Open {
        /// The first of them.
        first: u16,
        /// The number of slots.
        slots: u64,
        /// Seconds until the collection continues without them.
        secs: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strays_of_slots_on_their_way_and_beyond_the_slots_that_are_counted_do_not_count() {
        let mut strays = Strays::default();
        for slot in 0..STRAY_SLOTS as u16 + 10 {
            strays.add(slot);
            strays.add(slot);
        }
        let all = 2 * STRAY_SLOTS as u64;
        assert_eq!(strays.outside(&SlotSet::none()), all);
        assert_eq!(strays.outside(&SlotSet::of(|slot| slot < 5)), all - 10);
        assert_eq!(strays.outside(&SlotSet::all()), 0);
    }
}
