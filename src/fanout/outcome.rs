//! A cluster's reply to a batch, from the slots of its commands.
//!
//! A command across slots is CROSSSLOT, whoever owns them: servers check slots before nodes. Inside MULTI, each command
//! is checked when queued; EXEC gives CROSSSLOT if commands of different slots were queued, else EXECABORT if one was
//! refused. The batch goes to the owner of its first key's slot.

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::slot::set::SlotSet;
use slotscope_findings::topology::Topology;

/// How a batch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchOutcome {
    /// It runs.
    Served,
    /// One command over several slots.
    Crossslot,
    /// Every command was queued, and their slots differ.
    CrossslotAtExec,
    /// A command of a transaction over several slots, then EXECABORT.
    AbortedByCrossslot,
    /// A command of a transaction whose slot is another node's, then EXECABORT.
    AbortedByMoved,
    /// No node owns the slot: CLUSTERDOWN.
    Unserved,
}

impl BatchOutcome {
    /// All outcomes, by number.
    pub const ALL: [BatchOutcome; 6] = [
        BatchOutcome::Served,
        BatchOutcome::Crossslot,
        BatchOutcome::CrossslotAtExec,
        BatchOutcome::AbortedByCrossslot,
        BatchOutcome::AbortedByMoved,
        BatchOutcome::Unserved,
    ];

    /// Whether the batch is refused because its keys are in several slots.
    pub(crate) fn is_cross_slot(self) -> bool {
        !matches!(self, BatchOutcome::Served | BatchOutcome::Unserved)
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

/// The state of a transaction while its commands are queued.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Transaction {
    /// The node it is sent to: the owner of the first slot.
    target: Option<Option<usize>>,
    /// The slot of the queued commands.
    slot: Option<u16>,
    several: bool,
    refused: Option<BatchOutcome>,
}

impl Transaction {
    /// Queues a command with keys in `slots`, in order.
    pub(crate) fn queue(&mut self, slots: &[u16], topology: &Topology) {
        // After a refused command, the server queues nothing more.
        let Some(first) = slots.first().filter(|_| self.refused.is_none()) else {
            return;
        };
        let owner = topology.owner(*first);
        let target = *self.target.get_or_insert(owner);
        let refused = match () {
            () if owner.is_none() => Some(BatchOutcome::Unserved),
            () if slots.iter().any(|slot| slot != first) => Some(BatchOutcome::AbortedByCrossslot),
            () if owner != target => Some(BatchOutcome::AbortedByMoved),
            () => None,
        };
        match refused {
            Some(_) => self.refused = refused,
            None => self.several |= *self.slot.get_or_insert(*first) != *first,
        }
    }

    /// The reply to EXEC. Slots of queued commands take precedence over refused ones.
    pub(crate) fn exec(self) -> BatchOutcome {
        if self.several {
            BatchOutcome::CrossslotAtExec
        } else {
            self.refused.unwrap_or(BatchOutcome::Served)
        }
    }
}

/// The reply to a single command with keys in `slots`, in order.
pub(crate) fn of_command(slots: &[u16], topology: &Topology) -> BatchOutcome {
    match slots {
        [first, ..] if topology.owner(*first).is_none() => BatchOutcome::Unserved,
        [first, rest @ ..] if rest.iter().any(|slot| slot != first) => BatchOutcome::Crossslot,
        _ => BatchOutcome::Served,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_in_a_set_once() {
        let mut set = DistinctSlots::default();
        [5, 16383, 5, 0]
            .into_iter()
            .for_each(|slot| set.insert(slot));
        assert_eq!(set.members(), [5, 16383, 0]);
        set.clear();
        set.insert(5);
        assert_eq!(set.members(), [5]);
    }

    #[test]
    fn exec_answers_for_what_was_queued_first() {
        let topology = Topology::even(3, String::new()).unwrap();
        let exec = |commands: &[&[u16]]| {
            let mut queue = Transaction::default();
            commands
                .iter()
                .for_each(|slots| queue.queue(slots, &topology));
            queue.exec()
        };
        assert_eq!(exec(&[&[1], &[], &[1, 1]]), BatchOutcome::Served);
        assert_eq!(exec(&[&[1], &[2]]), BatchOutcome::CrossslotAtExec);
        assert_eq!(exec(&[&[1], &[16000]]), BatchOutcome::AbortedByMoved);
        assert_eq!(exec(&[&[1, 2], &[1]]), BatchOutcome::AbortedByCrossslot);
        assert_eq!(exec(&[&[1], &[16000], &[2]]), BatchOutcome::AbortedByMoved);
        assert_eq!(exec(&[&[1], &[2], &[16000]]), BatchOutcome::CrossslotAtExec);
    }
}
