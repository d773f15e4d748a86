//! The first pass: operations by time and slot, and whatever is needed to select the heaviest tags.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use slotscope_base::batch::MISSING;
use slotscope_base::metric::Metric;
use slotscope_base::slot::SlotBatch;
use slotscope_count::tally::Tally;
use slotscope_count::tally::slots_by_input::SlotsByInput;
use slotscope_count::tally::tags::TagCounter;

use crate::timeline::grid::Grid;

/// The counts of the first pass.
pub(super) struct Counts {
    /// By time and slot: shared by all threads, because it is large. Sums do not depend on order.
    grid: Arc<Mutex<Grid>>,
    /// The slots of each input: inputs without common slots are different nodes.
    pub inputs: SlotsByInput,
    /// By tag.
    pub tags: TagCounter,
    /// Operations with a time, by input.
    pub timed: BTreeMap<u32, u64>,
    /// Operations without a time.
    pub untimed: u64,
}

impl Counts {
    /// An empty count; operations by time and slot go to `grid`.
    pub(super) fn new(grid: &Arc<Mutex<Grid>>, inputs: usize) -> Self {
        Counts {
            inputs: SlotsByInput::new(inputs),
            grid: grid.clone(),
            tags: TagCounter::default(),
            timed: BTreeMap::new(),
            untimed: 0,
        }
    }
}

/// The operations of a batch with a time: their indices, times and counts.
pub(super) fn timed<'a>(keys: &'a SlotBatch<'_>) -> impl Iterator<Item = (usize, u64, u64)> + 'a {
    let values = keys.batch.values;
    let times = if values.are_operations && values.extremes.is_empty() {
        values.times.as_slice()
    } else {
        &[]
    };
    let known = times
        .iter()
        .enumerate()
        .filter(|(_, time)| **time != MISSING);
    known.map(move |(i, time)| (i, *time, values.load(i)[Metric::Ops]))
}

impl Tally for Counts {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut count = 0;
        let shared = self.grid.clone();
        let mut grid = shared.lock().unwrap_or_else(PoisonError::into_inner);
        for (i, time, ops) in timed(keys) {
            grid.add(time, keys.slots[i], ops);
            count += 1;
        }
        drop(grid);
        if keys.batch.values.are_operations {
            self.untimed += keys.len() as u64 - count;
        }
        if count > 0 {
            *self.timed.entry(keys.input).or_default() += count;
            self.inputs.add(keys);
            self.tags.add(keys);
        }
    }

    fn merge(&mut self, other: Self) {
        self.inputs.merge(other.inputs);
        self.tags.merge(other.tags);
        for (input, count) in other.timed {
            *self.timed.entry(input).or_default() += count;
        }
        self.untimed += other.untimed;
    }
}
