//! The load of each slot under a scheme, in every metric, for reports that judge several.

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::slot::{SLOTS, SlotBatch};
use slotscope_engine::tally::Tally;
use slotscope_engine::tally::slots::SlotCounts;

use crate::carried_out::hashed;
use crate::changing::Changing;
use crate::model::Model;
use crate::spelling::Renaming;

/// The load that a scheme removes from slots, and the load that it adds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SlotsMoved {
    from: SlotCounts,
    to: SlotCounts,
}

/// Counts that load.
pub struct Retagged<'a> {
    changing: Changing<'a>,
    moved: SlotsMoved,
}

impl SlotsMoved {
    /// Whether any of its names has this metric.
    pub fn has(&self, metric: Metric) -> bool {
        let loads = self.from.loads.get(metric);
        loads.is_some_and(|slots| slots.iter().any(|load| *load > 0))
    }

    /// The load of each slot by `metric` under the scheme; `slots` is today's load.
    pub fn after(&self, metric: Metric, slots: &[u64]) -> Vec<u64> {
        let mut after = slots.to_vec();
        let moved = |counts: &SlotCounts| counts.loads.get(metric).cloned().unwrap_or_default();
        let [from, to] = [&self.from, &self.to].map(moved);
        for (load, moved) in after.iter_mut().zip(&from) {
            *load = load.saturating_sub(*moved);
        }
        for (load, moved) in after.iter_mut().zip(&to) {
            *load = load.saturating_add(*moved);
        }
        after
    }
}

impl<'a> Retagged<'a> {
    /// Empty counts.
    pub fn new(model: &'a Model<'_>, renaming: &'a Renaming) -> Self {
        Retagged {
            changing: Changing::new(&model.families, std::slice::from_ref(renaming)),
            moved: SlotsMoved::default(),
        }
    }

    /// The moved load.
    pub fn moved(self) -> SlotsMoved {
        self.moved
    }
}

impl Tally for Retagged<'_> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let SlotsMoved { from, to } = &mut self.moved;
        for i in 0..keys.len() {
            let name = keys.batch.keys.get(keys.batch.base, i);
            self.changing.each_new_name(name, |_, new| {
                let load = keys.batch.values.load(i);
                let slot = hashslot::slot_of_part(hashed(new));
                for metric in Metric::ALL.into_iter().filter(|metric| load[*metric] > 0) {
                    add(&mut from.loads, metric, keys.slots[i], load[metric]);
                    add(&mut to.loads, metric, slot, load[metric]);
                }
            });
        }
    }

    fn merge(&mut self, other: Self) {
        self.moved.from.merge(other.moved.from);
        self.moved.to.merge(other.moved.to);
    }
}

fn add(loads: &mut PerMetric<Vec<u64>>, metric: Metric, slot: u16, load: u64) {
    let slots = loads.get_or_insert_with(metric, || vec![0; SLOTS]);
    let sum = &mut slots[usize::from(slot)];
    *sum = sum.saturating_add(load);
}
