//! A cluster's reply to a batch, from the slots of its commands.
//!
//! A command across slots is CROSSSLOT, whoever owns them: servers check slots before nodes. A transaction across slots is
//! refused too, by CROSSSLOT, or by EXECABORT after a CROSSSLOT or MOVED.

use serde::Serialize;

use slotscope_base::slot::set::SlotSet;
use slotscope_topology::Topology;

/// How a batch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BatchOutcome {
    /// It runs.
    Served,
    /// A command or transaction over several slots.
    Crossslot,
    /// No node owns the slot: CLUSTERDOWN.
    Unserved,
}

impl BatchOutcome {
    /// All outcomes, by number.
    pub const ALL: [BatchOutcome; 3] = [
        BatchOutcome::Served,
        BatchOutcome::Crossslot,
        BatchOutcome::Unserved,
    ];

    /// The reply to a batch with keys in `slots`, in order.
    pub(crate) fn of(slots: &[u16], topology: &Topology) -> BatchOutcome {
        match slots {
            [first, ..] if topology.owner(*first).is_none() => BatchOutcome::Unserved,
            [_, _, ..] => BatchOutcome::Crossslot,
            _ => BatchOutcome::Served,
        }
    }
}

/// Distinct slots in insertion order.
#[derive(Debug, Clone, Default)]
pub(crate) struct DistinctSlots {
    known: SlotSet,
    members: Vec<u16>,
}

impl DistinctSlots {
    pub(crate) fn insert(&mut self, slot: u16) {
        if !self.known.contains(slot) {
            self.known.insert(slot);
            self.members.push(slot);
        }
    }

    /// Removes all; the cost is proportional to its size.
    pub(crate) fn clear(&mut self) {
        for slot in self.members.drain(..) {
            self.known.remove(slot);
        }
    }

    /// The slots.
    pub(crate) fn members(&self) -> &[u16] {
        &self.members
    }
}
