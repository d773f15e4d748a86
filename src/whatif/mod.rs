//! The same keys on other nodes, under another hash policy or with other names: both sides are counted in one pass.

pub mod findings;
pub mod tag_splits;
#[cfg(feature = "cli")]
pub(crate) mod view;
#[cfg(feature = "cli")]
pub(crate) mod wording;

use std::sync::Arc;

use slotscope_app::renaming::{RenameRules, Renaming};
use slotscope_base::batch::{KeyBatch, Spans, Values};
use slotscope_base::block::{Block, Padded};
use slotscope_base::metric::Load;
use slotscope_base::slot::policy::Policy;
use slotscope_base::slot::{SLOTS, SlotBatch, SlotColumns};
use slotscope_count::tally::tagged::Tagged;
use slotscope_count::tally::{Parts, Tallies, Tally};
use slotscope_topology::Topology;
use slotscope_topology::identity::identities;

use crate::whatif::tag_splits::TagSplits;

/// Bytes of renamed keys counted at a time.
const BATCH_BYTES: usize = 4 << 20;

/// The change to try.
pub struct WhatIfChange {
    rules: RenameRules,
    /// The new hash policy.
    policy: Policy,
    /// Each slot's node number, before and after; equal if it is the same node.
    nodes: [Vec<usize>; 2],
}

impl WhatIfChange {
    /// Renames by `rules` and hashes by `policy`; `topologies` are the nodes before and after.
    pub fn new(rules: RenameRules, policy: Policy, topologies: [&Topology; 2]) -> Self {
        let [before, after] = topologies;
        let unowned = before.nodes.len() + after.nodes.len();
        let numbered = (before.nodes.len()..).zip(identities(before, after));
        let numbers: Vec<usize> = numbered.map(|(new, old)| old.unwrap_or(new)).collect();
        let of_slots = |node: &dyn Fn(u16) -> Option<usize>| {
            let slots = 0..SLOTS as u16;
            slots.map(|slot| node(slot).unwrap_or(unowned)).collect()
        };
        let nodes = [
            of_slots(&|slot| before.owner(slot)),
            of_slots(&|slot| after.owner(slot).map(|node| numbers[node])),
        ];
        WhatIfChange {
            rules,
            policy,
            nodes,
        }
    }
}

/// Both sides, counted.
pub struct WhatIf {
    change: Arc<WhatIfChange>,
    /// The current keys.
    pub before: Tallies,
    /// The keys after the change; absent if only nodes change.
    after: Option<Tallies>,
    /// Keys that change slots.
    pub moved: Load,
    /// Keys that change nodes.
    pub changed_node: Load,
    /// Keys that are renamed.
    pub renamed: Load,
    /// Keys without a slot afterwards: no pattern of the policy matches, or the name is too long for a server.
    pub unplaced: Load,
    /// Tags whose keys are split up.
    pub tag_splits: TagSplits,
    scratch: Scratch,
}

/// Buffers, reused between batches.
#[derive(Default)]
struct Scratch {
    renaming: Renaming,
    names: Vec<u8>,
    block: Block,
    keys: Spans,
    values: Values,
    /// The indices of these keys in the batch.
    places: Vec<u32>,
    columns: SlotColumns,
    /// The slot of each key in the batch, if it has one.
    slots: Vec<Option<u16>>,
    tagged: Tagged,
}

impl WhatIf {
    /// An empty count.
    pub fn new(change: Arc<WhatIfChange>) -> Self {
        let tallies = || Tallies::new(Parts::InOnePass);
        WhatIf {
            before: tallies(),
            after: Some(tallies()),
            moved: Load::default(),
            changed_node: Load::default(),
            renamed: Load::default(),
            unplaced: Load::default(),
            tag_splits: TagSplits::default(),
            scratch: Scratch {
                renaming: change.rules.start(),
                ..Scratch::default()
            },
            change,
        }
    }

    /// From counts without names: only nodes change.
    pub(crate) fn of_counts(change: Arc<WhatIfChange>, counted: Tallies) -> Self {
        let mut what_if = WhatIf::new(change);
        let [before, after] = &what_if.change.nodes;
        let changed = |slot: &usize| before[*slot] != after[*slot];
        let moved = counted.slots.loads.map(|_, loads| {
            let slots = (0..SLOTS).filter(changed).map(|slot| loads[slot]);
            slots.fold(0, u64::saturating_add)
        });
        what_if.changed_node = Load::from_fn(|metric| moved.get(metric).copied().unwrap_or(0));
        (what_if.before, what_if.after) = (counted, None);
        what_if
    }

    /// Turns the operations on each key into its weight on both sides, once everything is counted.
    pub(crate) fn settle_operations(&mut self) {
        self.before.settle_operations();
        self.after.iter_mut().for_each(Tallies::settle_operations);
    }

    /// The keys after the change.
    pub fn after(&self) -> &Tallies {
        self.after.as_ref().unwrap_or(&self.before)
    }

    /// The parts of the change that match no key; for display.
    pub(crate) fn without_keys(&self) -> Vec<String> {
        let hits = &self.scratch.renaming.hits;
        self.change.rules.without_keys(hits)
    }
}

impl Scratch {
    /// Counts the keys of a batch after the change, and records their slots; returns those renamed.
    fn add_renamed(
        &mut self,
        change: &WhatIfChange,
        keys: &SlotBatch<'_>,
        to: &mut Tallies,
    ) -> Load {
        let (mut at, mut renamed) = (0, Load::default());
        while at < keys.len() {
            at = self.rename(change, keys, at, &mut renamed);
            self.add(change, keys, to);
        }
        renamed
    }

    /// Writes the new names of keys from `from` on into the block, and counts those that differ; returns the end index.
    fn rename(
        &mut self,
        change: &WhatIfChange,
        keys: &SlotBatch<'_>,
        from: usize,
        renamed: &mut Load,
    ) -> usize {
        self.names.clear();
        self.keys.clear();
        self.places.clear();
        let mut at = from;
        while at < keys.len() && self.names.len() < BATCH_BYTES {
            let start = self.names.len();
            let key = keys.batch.keys.get(keys.batch.base, at);
            let is_possible =
                change
                    .rules
                    .rename(key, &change.policy, &mut self.renaming, &mut self.names);
            if is_possible {
                self.keys.push(start as u32, self.names.len() as u32);
                self.places.push(at as u32);
                if self.names[start..] != *key {
                    *renamed += keys.batch.values.load(at);
                }
            }
            at += 1;
        }
        self.block.shrink(BATCH_BYTES);
        self.block.resize(self.names.len());
        self.block.content_mut().copy_from_slice(&self.names);
        at
    }

    /// Counts the keys in the block that have a slot.
    fn add(&mut self, change: &WhatIfChange, keys: &SlotBatch<'_>, after: &mut Tallies) {
        let Scratch {
            block,
            keys: spans,
            values,
            places,
            columns,
            slots,
            ..
        } = self;
        let base = block.padded();
        let misfits = columns.find_hashed(&change.policy, keys.kernel, batch(base, spans, values));
        if !misfits.is_empty() {
            let fits = |i: usize| misfits.binary_search(&(i as u32)).is_err();
            keep(&mut spans.start, fits);
            keep(&mut spans.end, fits);
            keep(places, fits);
            columns.find_hashed(&change.policy, keys.kernel, batch(base, spans, values));
        }
        let weights = |column: &[u64]| {
            let at_places = places.iter().filter_map(|i| column.get(*i as usize));
            at_places.copied().collect()
        };
        values.are_operations = keys.batch.values.are_operations;
        values.weights = keys
            .batch
            .values
            .weights
            .each_ref()
            .map(|column| weights(column));
        let renamed = batch(base, spans, values);
        let batch = SlotBatch {
            input: keys.input,
            offset: keys.offset,
            ..columns.hash(keys.kernel, renamed)
        };
        places
            .iter()
            .zip(batch.slots)
            .for_each(|(i, slot)| slots[*i as usize] = Some(*slot));
        if !batch.is_empty() {
            after.add(&batch);
        }
    }
}

fn batch<'b>(base: Padded<'b>, keys: &'b Spans, values: &'b Values) -> KeyBatch<'b> {
    KeyBatch { base, keys, values }
}

fn keep<T>(column: &mut Vec<T>, wanted: impl Fn(usize) -> bool) {
    let mut i = 0;
    column.retain(|_| {
        i += 1;
        wanted(i - 1)
    });
}

impl Tally for WhatIf {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.before.add(keys);
        self.scratch.slots.clear();
        if let Some(after) = &mut self.after {
            self.scratch.slots.resize(keys.len(), None);
            self.renamed += self.scratch.add_renamed(&self.change, keys, after);
        }
        let [before, after] = &self.change.nodes;
        for (i, (old, new)) in keys.slots.iter().zip(&self.scratch.slots).enumerate() {
            let Some(new) = new else {
                self.unplaced += keys.batch.values.load(i);
                continue;
            };
            if old != new {
                self.moved += keys.batch.values.load(i);
            }
            if before[usize::from(*old)] != after[usize::from(*new)] {
                self.changed_node += keys.batch.values.load(i);
            }
        }
        let Scratch { tagged, slots, .. } = &mut self.scratch;
        tagged.find(keys, |_| true);
        for (key, hash) in tagged.keys.iter().zip(&tagged.hashes) {
            if let Some(slot) = slots[*key as usize] {
                self.tag_splits.add(*hash, slot);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.before.merge(other.before);
        self.after.merge(other.after);
        let hits = self.scratch.renaming.hits.iter_mut().flatten();
        let others = other.scratch.renaming.hits.iter().flatten();
        hits.zip(others).for_each(|(mine, theirs)| *mine += theirs);
        self.moved += other.moved;
        self.changed_node += other.changed_node;
        self.renamed += other.renamed;
        self.unplaced += other.unplaced;
        self.tag_splits.merge(other.tag_splits);
    }
}
