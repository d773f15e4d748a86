//! Patterns of key names: keys that differ in their ids only are counted together, with the machinery of hash tags.
//!
//! A batch has few patterns, so each is looked up by a hash of what stands between the ids, and only made into a name
//! where it is new. That hash has 64 bits and is fixed: names made to collide in it are counted as one pattern.

use serde::{Deserialize, Serialize};

use super::Tally;
use super::hash::{hash, hash_span, mix};
use super::heavy::{HeavyTags, TagCounts};
use super::ids;
use crate::metric::Load;
use crate::slot::SlotBatch;
use crate::slot::kernel::classes::Classes;

/// Patterns that are remembered from batch to batch.
const REMEMBERED: usize = 4096;

/// Loads by pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Patterns {
    counts: HeavyTags,
    #[serde(skip)]
    scratch: Scratch,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    classes: Vec<Classes>,
    /// By the low bits of the hash of what stands between ids.
    known: Vec<Known>,
    /// Places of `known` that hold a load.
    used: Vec<u32>,
}

/// A pattern that was met lately.
#[derive(Debug, Clone, Default)]
struct Known {
    key: u64,
    name_hash: u64,
    name: Vec<u8>,
    load: Load,
}

/// Scratch is not part of the value.
impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts
    }
}

impl Default for Patterns {
    fn default() -> Self {
        // Past the table the heavy ones are followed by name: no second pass is made for them.
        Patterns { counts: HeavyTags::new(true), scratch: Scratch::default() }
    }
}

impl Patterns {
    /// What is known of the patterns.
    pub fn counts(&self) -> &TagCounts {
        &self.counts.counts
    }

    fn flush(&mut self) {
        for place in self.scratch.used.drain(..) {
            let known = &mut self.scratch.known[place as usize];
            self.counts.add_known(known.name_hash, &known.name, std::mem::take(&mut known.load));
        }
    }

    /// Makes room for a pattern and remembers it.
    #[cold]
    fn remember(&mut self, place: usize, key: u64, name: Vec<u8>) {
        let known = &mut self.scratch.known[place];
        if known.load != Load::default() {
            self.counts.add_known(known.name_hash, &known.name, std::mem::take(&mut known.load));
        }
        *known = Known { key, name_hash: hash(&name).max(1), name, load: Load::default() };
    }
}

impl Tally for Patterns {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let (base, spans) = (keys.batch.base, keys.batch.keys);
        let mut classes = std::mem::take(&mut self.scratch.classes);
        keys.kernel.classes(base, spans, &mut classes);
        self.scratch.known.resize_with(REMEMBERED, Known::default);
        for (i, classes) in classes.iter().enumerate() {
            let (start, end) = (spans.start[i], spans.end[i]);
            let name = &base.bytes()[start as usize..end as usize];
            // What stands between ids, and the ids: each piece mixed into what came before.
            let (mut state, mut from) = (0, start);
            ids::each(name, *classes, |at, to, id| {
                state = mix(state, hash_span(base, from, start + at as u32) ^ id as u64);
                from = start + to as u32;
            });
            let state = mix(state, hash_span(base, from, end)).max(1);
            let place = state as usize % REMEMBERED;
            if self.scratch.known[place].key != state {
                self.remember(place, state, ids::pattern(name, *classes));
            }
            let known = &mut self.scratch.known[place];
            if known.load == Load::default() {
                self.scratch.used.push(place as u32);
            }
            known.load += keys.batch.values.load(i);
        }
        self.scratch.classes = classes;
        self.flush();
    }

    fn merge(&mut self, other: Self) {
        self.counts.merge(other.counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{KeyBatch, Spans, Values};
    use crate::metric::Metric;
    use crate::slot::SlotColumns;
    use crate::slot::kernel;
    use crate::source::block::Block;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn every_kernel_counts_what_a_map_counts(keys in prop::collection::vec("(user|v1|s:)?(:[0-9a-f]{1,9}){0,3}|.{0,80}", 1..200)) {
            let mut truth: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            let (mut content, mut spans) = (Vec::new(), Spans::default());
            for key in keys.iter().map(String::as_bytes) {
                *truth.entry(ids::pattern(key, Classes::of(key))).or_default() += 1;
                spans.push(content.len() as u32, (content.len() + key.len()) as u32);
                content.extend_from_slice(key);
            }
            let block = Block::from_bytes(&content);
            let values = Values::default();
            for kernel in kernel::available() {
                let mut patterns = Patterns::default();
                let mut columns = SlotColumns::default();
                let batch = KeyBatch { base: block.padded(), keys: &spans, values: &values };
                patterns.add(&columns.compute(kernel, batch, 0));
                let TagCounts::Exact(table) = patterns.counts() else { panic!("few patterns are exact") };
                let found: BTreeMap<Vec<u8>, u64> =
                    table.iter().map(|(name, _, load)| (name.to_vec(), load[Metric::Keys])).collect();
                prop_assert_eq!(&found, &truth, "{}", kernel.name);
            }
        }
    }
}
