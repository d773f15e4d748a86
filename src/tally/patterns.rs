//! Patterns of key names: keys that differ in their ids only are counted together, with the machinery of hash tags.
//!
//! A batch has few patterns, so each is looked up by a hash of what stands between the ids, and only made into a name
//! where it is new. That hash has 64 bits and is fixed: names made to collide in it are counted as one pattern.

use serde::{Deserialize, Serialize};

use super::Tally;
use super::hash::{hash, mix_span};
use super::heavy::{HeavyTags, TagCounts};
use crate::metric::Load;
use crate::slot::SlotBatch;
use crate::slot::ids::{self, Found, Ids};

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
    ids: Ids,
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
        let mut ids = std::mem::take(&mut self.scratch.ids);
        keys.kernel.ids(base, spans, &mut ids);
        self.scratch.known.resize_with(REMEMBERED, Known::default);
        let mut first = 0;
        for i in 0..keys.len() {
            let (start, end) = (spans.start[i], spans.end[i]);
            let of_key = &ids.found[first..ids.ends[i] as usize];
            first = ids.ends[i] as usize;
            // What stands between ids, and the ids: each piece mixed into what came before.
            let (mut state, mut from) = (1, start);
            for id in of_key {
                state = mix_span(state, base, from, id.start, 1 + id.id as u64);
                from = id.end;
            }
            let state = mix_span(state, base, from, end, 0).max(1);
            let place = state as usize % REMEMBERED;
            if self.scratch.known[place].key != state {
                let name = &base.bytes()[start as usize..end as usize];
                let in_key = |id: &Found| Found { start: id.start - start, end: id.end - start, id: id.id };
                self.remember(place, state, ids::pattern(name, of_key.iter().map(in_key)));
            }
            let known = &mut self.scratch.known[place];
            if known.load == Load::default() {
                self.scratch.used.push(place as u32);
            }
            known.load += keys.batch.values.load(i);
        }
        self.scratch.ids = ids;
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
                *truth.entry(ids::pattern(key, Ids::of_key(key).into_iter())).or_default() += 1;
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
