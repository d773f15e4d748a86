//! The slots of each input's keys: inputs without common slots are dumps of different nodes.

use serde::{Deserialize, Serialize};

use slotscope_base::slot::{SLOTS, SlotBatch};

use crate::tally::Tally;
use crate::tally::slot_sets::SlotSets;

/// Sets of slots by input; nothing is counted if not needed, or if there are too many inputs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SlotsByInput(Option<SlotSets>);

impl SlotsByInput {
    /// For `inputs` inputs. A single one has nothing to be compared with.
    pub fn new(inputs: usize) -> Self {
        SlotsByInput((inputs > 1).then(SlotSets::default))
    }

    /// Whether sets are counted.
    pub(crate) fn is_counted(&self) -> bool {
        self.0.is_some()
    }

    /// Adds a slot to an input's set; slots out of range are ignored.
    pub fn note(&mut self, input: usize, slot: u16) {
        let sets = self.0.as_mut().filter(|_| usize::from(slot) < SLOTS);
        let Some(sets) = sets else { return };
        let place = sets.place(input as u64);
        sets.add(place, slot);
    }

    /// The slots of an input, ascending.
    pub fn of(&self, input: usize) -> Vec<u16> {
        let set = self.0.as_ref().and_then(|sets| sets.of(input as u64));
        let mut slots: Vec<u16> = set.into_iter().flatten().collect();
        slots.sort_unstable();
        slots
    }
}

impl Tally for SlotsByInput {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let Some(sets) = &mut self.0 else { return };
        let place = sets.place(u64::from(keys.input));
        keys.slots.iter().for_each(|slot| sets.add(place, *slot));
    }

    fn merge(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (none @ None, theirs) => *none = theirs,
            (Some(_), None) => {}
        }
    }
}
