//! Applies a scheme: renames every name and every batch, and counts their real slots. The promised figures are from
//! this pass.

use std::collections::HashSet;

use slotscope_base::hash::hash;
use slotscope_base::slot::SLOTS;

use crate::batches::Batches;
use crate::joins::TouchedKey;
use crate::model::Model;
use crate::owners::Owners;
use crate::scheme::Scheme;
use crate::soundness::{Penalty, Soundness};
use crate::spelling::{Renaming, Spelling};

/// The outcome for names.
#[derive(Debug, Clone)]
pub struct NamesAfter {
    /// Load by slot.
    pub slots: Vec<u64>,
    /// Number of names that change.
    pub renamed: u64,
    /// The heaviest tag's share of the load of the sample.
    pub heaviest_share: f64,
    /// Text of the heaviest tag.
    pub tag: Vec<u8>,
    /// Whether that is a tag; otherwise a key without one.
    pub is_tag: bool,
    /// Number of distinct tags; each key without a tag counts as one.
    pub distinct: u64,
    /// New names that exist already, or that two names map to.
    pub collisions: u64,
}

/// The outcome for batches of two or more keys.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BatchesAfter {
    /// Number of batches.
    pub multi: u64,
    /// Number of batches in one slot.
    pub in_one_slot: u64,
    /// Number of batches that must be in one slot.
    pub must: u64,
    /// Number of these that are.
    pub must_in_one_slot: u64,
    /// Mean number of nodes of a batch.
    pub mean_nodes: f64,
}

impl BatchesAfter {
    /// The share of batches in one slot.
    pub fn share(&self) -> Option<f64> {
        (self.multi > 0).then(|| self.in_one_slot as f64 / self.multi as f64)
    }

    /// The same for batches that must be.
    pub(crate) fn must_share(&self) -> Option<f64> {
        (self.must > 0).then(|| self.must_in_one_slot as f64 / self.must as f64)
    }
}

/// A scheme, scored.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The renaming.
    pub renaming: Renaming,
    /// The names after renaming.
    pub names: NamesAfter,
    /// The batches after renaming.
    pub batches: BatchesAfter,
    /// The cost of its groups.
    pub penalty: Penalty,
    /// Its soundness.
    pub soundness: Soundness,
    /// Load of the fullest node in fair shares.
    pub max_over_mean: f64,
    /// The same for twice as many nodes.
    pub max_over_mean_2n: f64,
}

impl Scored {
    /// Computes the figures by node from the slots.
    pub fn weigh(&mut self, owners: &Owners) {
        let slots = &self.names.slots;
        self.max_over_mean = owners.max_over_mean(slots);
        self.max_over_mean_2n = Owners::even(2 * owners.nodes).max_over_mean(slots);
    }
}

impl Model<'_> {
    /// Applies a scheme to the sample and the batches, with the spelling that creates no duplicate names.
    pub fn score(&self, scheme: &Scheme, batches: &Batches) -> Scored {
        let penalty = self.penalty(scheme);
        let renaming = |is_other| Renaming {
            scheme: scheme.clone(),
            spelling: Spelling::of(self, scheme, is_other),
        };
        let mut tried = renaming(false);
        let mut names = self.names_after(&tried);
        if names.collisions > 0 {
            let respelled = renaming(true);
            let after_respelling = self.names_after(&respelled);
            if after_respelling.collisions == 0 {
                (tried, names) = (respelled, after_respelling);
            }
        }
        let soundness = match penalty.sum {
            0.0 => Soundness::Good,
            sum if sum < 1.0 => Soundness::Limited,
            _ => Soundness::Bad,
        };
        let batches = self.batches_after(&tried, batches);
        let mut scored = Scored {
            renaming: tried,
            names,
            batches,
            penalty,
            soundness,
            max_over_mean: 1.0,
            max_over_mean_2n: 1.0,
        };
        scored.weigh(&self.owners);
        scored
    }

    fn names_after(&self, renaming: &Renaming) -> NamesAfter {
        let mut slots = vec![0; SLOTS];
        let mut tags: Vec<(u64, u64, u32)> = Vec::with_capacity(self.names.len());
        let (mut renamed, mut collisions) = (0, 0);
        let mut made: HashSet<u64> = HashSet::default();
        let (mut tokens, mut new) = (self.families.tokens(), Vec::new());
        for (number, family) in self.families.list.iter().enumerate() {
            for at in &family.names {
                let (name, load) = self.names.get(*at as usize);
                new.clear();
                self.families.read(name, &mut tokens);
                renaming.rename(number as u32, family, &tokens, &mut new);
                let after: &[u8] = if new.is_empty() { name } else { &new };
                let part = hashed(after);
                slots[usize::from(hashslot::slot_of_part(part))] += load;
                tags.push((hash(part), load, *at));
                if after != name {
                    renamed += 1;
                    let hash = hash(after);
                    let exists = hash < self.names.limit() && self.names.has(hash);
                    collisions += u64::from(!made.insert(hash) || exists);
                }
            }
        }
        let (heaviest, first, distinct) = heaviest(tags);
        let (name, _) = first.map_or((&b""[..], 0), |at| self.names.get(at as usize));
        let mut after = name.to_vec();
        new.clear();
        renaming.apply(&self.families, name, &mut tokens, &mut new);
        if !new.is_empty() {
            after.clone_from(&new);
        }
        NamesAfter {
            heaviest_share: heaviest as f64 / (slots.iter().sum::<u64>() as f64).max(1.0),
            slots,
            renamed,
            is_tag: hashslot::tag(&after).is_some(),
            tag: hashed(&after).to_vec(),
            distinct,
            collisions,
        }
    }

    fn batches_after(&self, renaming: &Renaming, batches: &Batches) -> BatchesAfter {
        let slots = self.slots_after(renaming, batches);
        let mut after = BatchesAfter::default();
        let mut nodes_touched = 0;
        for at in 0..batches.len() {
            let numbers = self.joins.batch(at);
            if numbers.len() < 2 {
                continue;
            }
            let mut touched: Vec<u16> = numbers
                .iter()
                .map(|number| slots[*number as usize])
                .collect();
            touched.sort_unstable();
            touched.dedup();
            let must = batches.must_be_together(at);
            after.multi += 1;
            after.must += u64::from(must);
            after.in_one_slot += u64::from(touched.len() == 1);
            after.must_in_one_slot += u64::from(must && touched.len() == 1);
            touched
                .iter_mut()
                .for_each(|slot| *slot = self.owners.of(*slot));
            touched.sort_unstable();
            touched.dedup();
            nodes_touched += touched.len() as u64;
        }
        after.mean_nodes = nodes_touched as f64 / after.multi.max(1) as f64;
        after
    }

    /// The slot of each key in the batches.
    pub(crate) fn slots_after(&self, renaming: &Renaming, batches: &Batches) -> Vec<u16> {
        let (mut tokens, mut new) = (self.families.tokens(), Vec::new());
        let slot = |touched: &TouchedKey| {
            let key = batches.key(touched.place as usize);
            new.clear();
            renaming.apply(&self.families, key, &mut tokens, &mut new);
            hashslot::slot(if new.is_empty() { key } else { &new })
        };
        self.joins.keys.iter().map(slot).collect()
    }
}

/// The load of the heaviest tag, a name with it, and the number of distinct tags.
fn heaviest(mut tags: Vec<(u64, u64, u32)>) -> (u64, Option<u32>, u64) {
    tags.sort_unstable();
    let runs = tags.chunk_by(|a, b| a.0 == b.0);
    let sums = runs.map(|same| {
        let load: u64 = same.iter().map(|tag| tag.1).sum();
        (load, same[0].0, same[0].2)
    });
    let distinct = sums.clone().count() as u64;
    let heaviest = sums.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    let (load, name) = heaviest.map_or((0, None), |(load, _, at)| (load, Some(at)));
    (load, name, distinct)
}

/// The part of a key that the server hashes.
pub fn hashed(key: &[u8]) -> &[u8] {
    &key[hashslot::hashed_part(key)]
}
