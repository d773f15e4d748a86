//! What a cluster says to a batch: the slots of its commands come in, served or refused and how goes out.
//!
//! A command over several slots is CROSSSLOT whoever owns them: the server looks at slots before it looks at nodes. Inside
//! MULTI each command is looked at when it is queued; EXEC is a CROSSSLOT where commands of different slots were queued, else
//! an EXECABORT where one was refused. The batch goes to the node that owns the slot of its first key.

use serde::Serialize;

use crate::slot::SLOTS;
use crate::topology::Topology;

/// How a batch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
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

impl Answer {
    /// All of them, in the order of their numbers.
    pub const ALL: [Answer; 6] = [
        Answer::Served,
        Answer::Crossslot,
        Answer::CrossslotAtExec,
        Answer::AbortedByCrossslot,
        Answer::AbortedByMoved,
        Answer::Unserved,
    ];

    /// Whether the batch is refused because its keys have several slots.
    pub fn is_cross_slot(self) -> bool {
        !matches!(self, Answer::Served | Answer::Unserved)
    }
}

/// A set of slots.
#[derive(Debug, Clone)]
pub struct SlotSet {
    words: Box<[u64; SLOTS / 64]>,
    members: Vec<u16>,
}

impl Default for SlotSet {
    fn default() -> Self {
        SlotSet { words: Box::new([0; SLOTS / 64]), members: Vec::new() }
    }
}

impl SlotSet {
    /// Takes in a slot.
    pub fn insert(&mut self, slot: u16) {
        let (word, bit) = (&mut self.words[usize::from(slot) / 64], 1 << (slot % 64));
        if *word & bit == 0 {
            *word |= bit;
            self.members.push(slot);
        }
    }

    /// Forgets all; costs as much as there is.
    pub fn clear(&mut self) {
        self.members.drain(..).for_each(|slot| self.words[usize::from(slot) / 64] = 0);
    }

    /// The slots, in the order in which they came.
    pub fn members(&self) -> &[u16] {
        &self.members
    }
}

/// What is known of a transaction while its commands are queued.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue {
    /// The node that it is sent to: the owner of the first slot.
    target: Option<Option<usize>>,
    /// The slot of the commands that were queued.
    slot: Option<u16>,
    several: bool,
    refused: Option<Answer>,
}

impl Queue {
    /// Queues a command whose keys are in `slots`, in their order.
    pub fn queue(&mut self, slots: &[u16], topology: &Topology) {
        // Once a command is refused, the server keeps none of those behind it.
        let Some(first) = slots.first().filter(|_| self.refused.is_none()) else { return };
        let owner = topology.owner(*first);
        let target = *self.target.get_or_insert(owner);
        let refused = match () {
            () if owner.is_none() => Some(Answer::Unserved),
            () if slots.iter().any(|slot| slot != first) => Some(Answer::AbortedByCrossslot),
            () if owner != target => Some(Answer::AbortedByMoved),
            () => None,
        };
        match refused {
            Some(_) => self.refused = refused,
            None => self.several |= *self.slot.get_or_insert(*first) != *first,
        }
    }

    /// What EXEC answers. It looks at the slots of what was queued before it looks at what was refused.
    pub fn exec(self) -> Answer {
        match self.several {
            true => Answer::CrossslotAtExec,
            false => self.refused.unwrap_or(Answer::Served),
        }
    }
}

/// What is said to one command whose keys are in `slots`, in their order.
pub fn of_command(slots: &[u16], topology: &Topology) -> Answer {
    match slots {
        [first, ..] if topology.owner(*first).is_none() => Answer::Unserved,
        [first, rest @ ..] if rest.iter().any(|slot| slot != first) => Answer::Crossslot,
        _ => Answer::Served,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_in_a_set_once() {
        let mut set = SlotSet::default();
        [5, 16383, 5, 0].into_iter().for_each(|slot| set.insert(slot));
        assert_eq!(set.members(), [5, 16383, 0]);
        set.clear();
        set.insert(5);
        assert_eq!(set.members(), [5]);
    }

    #[test]
    fn exec_answers_for_what_was_queued_first() {
        let topology = Topology::even(3, String::new()).unwrap();
        let exec = |commands: &[&[u16]]| {
            let mut queue = Queue::default();
            commands.iter().for_each(|slots| queue.queue(slots, &topology));
            queue.exec()
        };
        assert_eq!(exec(&[&[1], &[], &[1, 1]]), Answer::Served);
        assert_eq!(exec(&[&[1], &[2]]), Answer::CrossslotAtExec);
        assert_eq!(exec(&[&[1], &[16000]]), Answer::AbortedByMoved);
        assert_eq!(exec(&[&[1, 2], &[1]]), Answer::AbortedByCrossslot);
        assert_eq!(exec(&[&[1], &[16000], &[2]]), Answer::AbortedByMoved);
        assert_eq!(exec(&[&[1], &[2], &[16000]]), Answer::CrossslotAtExec);
    }
}
