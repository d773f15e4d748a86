//! The same keys on other nodes, by another hash policy or under other names: both sides are counted in one pass.

pub mod findings;
pub mod parted;
pub mod rules;
#[cfg(feature = "cli")]
pub(crate) mod view;

use std::sync::Arc;

use crate::format::batch::{KeyBatch, Spans, Values};
use crate::metric::Load;
use crate::slot::policy::Policy;
use crate::slot::{SLOTS, SlotBatch, SlotColumns};
use crate::source::block::Block;
use crate::tally::tagged::Tagged;
use crate::tally::{Parts, Tallies, Tally};
use crate::topology::Topology;
use crate::whatif::parted::TagSplits;
use crate::whatif::rules::{RenameRules, Renaming};

/// The longest key that a server takes, in bytes.
const MAX_KEY: usize = 512 << 20;
/// Bytes of renamed keys that are counted at a time.
const BATCH_BYTES: usize = 4 << 20;

/// What is to be tried.
pub struct WhatIfChange {
    rules: RenameRules,
    /// What is hashed afterwards.
    policy: Policy,
    /// Whether slots may change at all.
    same_slots: bool,
    /// For each slot a number of its node, before and after; the same where the node has the same id.
    nodes: [Vec<usize>; 2],
}

impl WhatIfChange {
    /// Renames by `rules` and hashes by `policies`, both on the nodes of `topologies`: before, then after.
    pub fn new(rules: RenameRules, policies: [&Policy; 2], topologies: [&Topology; 2]) -> Self {
        let [before, after] = topologies;
        let same_slots = rules.is_empty() && policies[0].to_string() == policies[1].to_string();
        let nobody = before.nodes.len() + after.nodes.len();
        let number = |after_node: usize| {
            let id = &after.nodes[after_node].id;
            let known = before.nodes.iter().position(|node| node.id == *id);
            known.unwrap_or(before.nodes.len() + after_node)
        };
        let numbers: Vec<usize> = (0..after.nodes.len()).map(number).collect();
        let nodes = [
            (0..SLOTS)
                .map(|slot| before.owner(slot as u16).unwrap_or(nobody))
                .collect(),
            (0..SLOTS)
                .map(|slot| {
                    after
                        .owner(slot as u16)
                        .map_or(nobody, |node| numbers[node])
                })
                .collect(),
        ];
        WhatIfChange {
            rules,
            policy: policies[1].clone(),
            same_slots,
            nodes,
        }
    }
}

/// Both sides, counted.
pub struct WhatIf {
    change: Arc<WhatIfChange>,
    /// The keys as they are.
    pub before: Tallies,
    /// As they would be; absent where no slot can change.
    after: Option<Tallies>,
    /// Keys that change their slot.
    pub moved: Load,
    /// Keys that change their node.
    pub changed_node: Load,
    /// Keys that get another name.
    pub renamed: u64,
    /// Keys that have no slot afterwards: no pattern of the policy matches them, or no server takes so long a name.
    pub unplaced: Load,
    /// What becomes of tags.
    pub tag_splits: TagSplits,
    scratch: Scratch,
}

/// What is kept from batch to batch.
struct Scratch {
    renaming: Renaming,
    names: Vec<u8>,
    block: Block,
    keys: Spans,
    values: Values,
    /// Which keys of the batch those are.
    of: Vec<u32>,
    columns: SlotColumns,
    /// For each key of the batch the slot that it comes to; none where it has none.
    slots: Vec<Option<u16>>,
    tagged: Tagged,
}

impl WhatIf {
    /// Nothing counted yet.
    pub fn new(change: Arc<WhatIfChange>) -> Self {
        let tallies = || Tallies::new(Parts::InOnePass);
        WhatIf {
            before: tallies(),
            after: (!change.same_slots).then(tallies),
            moved: Load::default(),
            changed_node: Load::default(),
            renamed: 0,
            unplaced: Load::default(),
            tag_splits: TagSplits::default(),
            scratch: Scratch {
                renaming: change.rules.start(),
                names: Vec::new(),
                block: Block::with_capacity(0),
                keys: Spans::default(),
                values: Values::default(),
                of: Vec::new(),
                columns: SlotColumns::default(),
                slots: Vec::new(),
                tagged: Tagged::default(),
            },
            change,
        }
    }

    /// The keys as they would be.
    pub fn after(&self) -> &Tallies {
        self.after.as_ref().unwrap_or(&self.before)
    }

    /// Counts the keys of a batch as they would be, and notes the slot of each.
    fn add_after(&mut self, keys: &SlotBatch<'_>) {
        let Some(after) = &mut self.after else {
            self.scratch
                .slots
                .extend(keys.slots.iter().map(|slot| Some(*slot)));
            return;
        };
        self.scratch.slots.resize(keys.len(), None);
        let mut from = 0;
        while from < keys.len() {
            let to = self.scratch.rename(&self.change, keys, from);
            self.renamed += self.scratch.count_renamed(keys);
            self.scratch.add(&self.change, keys, after);
            from = to;
        }
    }
}

impl Scratch {
    /// Puts the names of the keys from `from` on into the block; returns the number behind the last that is in it.
    fn rename(&mut self, change: &WhatIfChange, keys: &SlotBatch<'_>, from: usize) -> usize {
        self.names.clear();
        self.keys.clear();
        self.of.clear();
        let mut at = from;
        while at < keys.len() && self.names.len() < BATCH_BYTES {
            let start = self.names.len();
            let key = keys.batch.keys.get(keys.batch.base, at);
            change
                .rules
                .rename(key, &change.policy, &mut self.renaming, &mut self.names);
            if self.names.len() - start > MAX_KEY {
                self.names.truncate(start);
            } else {
                self.keys.push(start as u32, self.names.len() as u32);
                self.of.push(at as u32);
            }
            at += 1;
        }
        self.block.shrink(BATCH_BYTES);
        self.block.resize(self.names.len());
        self.block.content_mut().copy_from_slice(&self.names);
        at
    }

    fn count_renamed(&self, keys: &SlotBatch<'_>) -> u64 {
        let spans = keys.batch.keys;
        let name = |i: usize| &self.names[self.keys.start[i] as usize..self.keys.end[i] as usize];
        let is_new =
            |(i, of): &(usize, &u32)| name(*i) != spans.get(keys.batch.base, **of as usize);
        self.of.iter().enumerate().filter(is_new).count() as u64
    }

    /// Counts the keys in the block that have a slot.
    fn add(&mut self, change: &WhatIfChange, keys: &SlotBatch<'_>, after: &mut Tallies) {
        let Scratch {
            block,
            keys: spans,
            values,
            of,
            columns,
            slots,
            ..
        } = self;
        let base = block.padded();
        let misfits = columns.find_hashed(
            &change.policy,
            keys.kernel,
            KeyBatch {
                base,
                keys: spans,
                values,
            },
        );
        if !misfits.is_empty() {
            let fits = |i: usize| misfits.binary_search(&(i as u32)).is_err();
            keep(&mut spans.start, fits);
            keep(&mut spans.end, fits);
            keep(of, fits);
            columns.find_hashed(
                &change.policy,
                keys.kernel,
                KeyBatch {
                    base,
                    keys: spans,
                    values,
                },
            );
        }
        let weights = |column: &[u64]| match column.is_empty() {
            true => Vec::new(),
            false => of.iter().map(|i| column[*i as usize]).collect(),
        };
        values.weights = keys
            .batch
            .values
            .weights
            .each_ref()
            .map(|column| weights(column));
        let batch = columns.hash(
            keys.kernel,
            KeyBatch {
                base,
                keys: spans,
                values,
            },
            keys.input,
        );
        of.iter()
            .zip(batch.slots)
            .for_each(|(i, slot)| slots[*i as usize] = Some(*slot));
        if !batch.is_empty() {
            after.add(&batch);
        }
    }
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
        self.add_after(keys);
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
        if self.after.is_some() {
            let mut tagged = std::mem::take(&mut self.scratch.tagged);
            tagged.find(keys, |_| true);
            for (key, hash) in tagged.keys.iter().zip(&tagged.hashes) {
                if let Some(slot) = self.scratch.slots[*key as usize] {
                    self.tag_splits.add(*hash, slot);
                }
            }
            self.scratch.tagged = tagged;
        }
    }

    fn merge(&mut self, other: Self) {
        self.before.merge(other.before);
        self.after.merge(other.after);
        self.moved += other.moved;
        self.changed_node += other.changed_node;
        self.renamed += other.renamed;
        self.unplaced += other.unplaced;
        self.tag_splits.merge(other.tag_splits);
    }
}
