//! The load of each slot under a scheme, of all names and in every metric: the model has a sample of them.
//!
//! Only names with the prefix of a family that the scheme changes are tokenized; in most inputs a comparison skips all
//! others.

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::slot::{SLOTS, SlotBatch};
use slotscope_engine::tally::Tally;
use slotscope_engine::tally::slots::SlotCounts;

use crate::carried_out::{Scored, hashed};
use crate::families::Families;
use crate::model::Model;
use crate::scheme::Choice;
use crate::spelling::Renaming;
use crate::tokens::Tokens;

/// The load that a scheme removes from slots, and the load that it adds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SlotsMoved {
    from: SlotCounts,
    to: SlotCounts,
    /// Names that change.
    renamed: u64,
}

/// Counts that load.
pub struct Retagged<'a> {
    families: &'a Families,
    renaming: &'a Renaming,
    /// The prefixes of the names that change; none is a prefix of another.
    prefixes: Vec<Vec<u8>>,
    tokens: Tokens,
    new: Vec<u8>,
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
        let families = &model.families;
        let listed = families.list.iter().enumerate();
        let changed = listed.filter(|(at, _)| renaming.scheme.get(*at as u32) != Choice::Keep);
        let mut prefixes: Vec<Vec<u8>> = changed.map(|(_, family)| family.prefix()).collect();
        prefixes.sort();
        prefixes.dedup_by(|longer, shorter| longer.starts_with(shorter));
        Retagged {
            families,
            renaming,
            prefixes,
            tokens: families.tokens(),
            new: Vec::new(),
            moved: SlotsMoved::default(),
        }
    }

    /// The moved load.
    pub fn moved(self) -> SlotsMoved {
        self.moved
    }

    /// Whether the scheme may change a name.
    fn may_change(&self, name: &[u8]) -> bool {
        let after = self
            .prefixes
            .partition_point(|prefix| prefix.as_slice() <= name);
        let before = after.checked_sub(1);
        before.is_some_and(|at| name.starts_with(&self.prefixes[at]))
    }
}

impl Tally for Retagged<'_> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        for i in 0..keys.len() {
            let name = keys.batch.keys.get(keys.batch.base, i);
            if !self.may_change(name) {
                continue;
            }
            self.new.clear();
            self.renaming
                .apply(self.families, name, &mut self.tokens, &mut self.new);
            if self.new.is_empty() || self.new == name {
                continue;
            }
            let load = keys.batch.values.load(i);
            let slot = hashslot::slot_of_part(hashed(&self.new));
            let SlotsMoved { from, to, renamed } = &mut self.moved;
            *renamed += 1;
            for metric in Metric::ALL.into_iter().filter(|metric| load[*metric] > 0) {
                add(&mut from.loads, metric, keys.slots[i], load[metric]);
                add(&mut to.loads, metric, slot, load[metric]);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.moved.from.merge(other.moved.from);
        self.moved.to.merge(other.moved.to);
        self.moved.renamed += other.moved.renamed;
    }
}

fn add(loads: &mut PerMetric<Vec<u64>>, metric: Metric, slot: u16, load: u64) {
    let slots = loads.get_or_insert_with(metric, || vec![0; SLOTS]);
    let sum = &mut slots[usize::from(slot)];
    *sum = sum.saturating_add(load);
}

/// All names of an input, and what several schemes make of them.
pub struct AllRetagged<'a> {
    today: SlotCounts,
    schemes: Vec<Retagged<'a>>,
}

impl<'a> AllRetagged<'a> {
    /// Empty counts.
    pub fn new(model: &'a Model<'_>, renamings: &'a [Renaming]) -> Self {
        let schemes = renamings
            .iter()
            .map(|renaming| Retagged::new(model, renaming));
        AllRetagged {
            today: SlotCounts::default(),
            schemes: schemes.collect(),
        }
    }

    /// Replaces the slots and the names renamed of a sample by those of all names.
    pub fn finish(self, model: &Model<'_>, schemes: &mut [Scored]) {
        let metric = model.names.metric();
        let Some(slots) = self.today.loads.get(metric) else {
            return;
        };
        for (scored, retagged) in schemes.iter_mut().zip(self.schemes) {
            scored.names.slots = retagged.moved.after(metric, slots);
            scored.names.renamed = retagged.moved.renamed;
            scored.weigh(&model.owners);
        }
    }
}

impl Tally for AllRetagged<'_> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.today.add(keys);
        self.schemes.iter_mut().for_each(|scheme| scheme.add(keys));
    }

    fn merge(&mut self, other: Self) {
        self.today.merge(other.today);
        let pairs = self.schemes.iter_mut().zip(other.schemes);
        pairs.for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
