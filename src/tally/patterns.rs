//! Patterns of key names: keys that differ in their ids only are counted together, with the machinery of hash tags.
//!
//! A batch has few patterns, so each is looked up by the shapes of its keys, and only made into a name where it is new.
//! Names that were made to collide in their shapes are counted as one pattern.
//!
//! Past the table, coarser patterns are counted exactly, and the heavy ones are followed by name: no second pass is made.

use serde::{Deserialize, Serialize};

use crate::hash::hash;
use crate::metric::{Load, Metric};
use crate::pattern::{ids, shapes};
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::coarse_patterns::CoarsePatterns;
use crate::tally::counted_pattern::Counted;
use crate::tally::slot_sets::SlotSets;
use crate::tally::table::Full;
use crate::tally::tags::{TagCounter, TagCounts};

/// Patterns that are remembered from batch to batch.
const REMEMBERED: usize = 4096;

/// Loads by pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Patterns {
    counts: TagCounter,
    /// Past the table, coarser ones.
    coarse: Option<CoarsePatterns>,
    slots: SlotSets,
    separator: Vec<u8>,
    #[serde(skip)]
    scratch: Scratch,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    shapes: Vec<u64>,
    /// Each at one of two places that its shape determines.
    known: Vec<Known>,
    /// Places of `known` that hold a load.
    used: Vec<u32>,
}

/// A pattern that was seen recently.
#[derive(Debug, Clone, Default)]
struct Known {
    shape: Option<u64>,
    /// Where its set of slots is.
    set: u32,
    load: Load,
    name_hash: u64,
    name: Vec<u8>,
}

/// Scratch is not part of the value.
impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        (&self.counts, &self.coarse, &self.slots) == (&other.counts, &other.coarse, &other.slots)
    }
}

impl Patterns {
    /// Nothing counted yet, of keys whose segments are separated by `separator`.
    pub fn new(separator: &[u8]) -> Self {
        Patterns {
            counts: TagCounter::new(true),
            coarse: None,
            slots: SlotSets::default(),
            separator: separator.to_vec(),
            scratch: Scratch::default(),
        }
    }

    /// What is known of the patterns.
    pub fn counts(&self) -> &TagCounts {
        &self.counts.counts
    }

    /// Coarser patterns, where there are too many.
    pub fn coarse(&self) -> Option<&CoarsePatterns> {
        self.coarse.as_ref()
    }

    /// The slots of the keys of a pattern as it is counted, none of them twice; `None` where there are too many patterns.
    pub fn slots(&self, pattern: &[u8]) -> Option<impl Iterator<Item = u16>> {
        self.slots.of(hash(pattern))
    }

    /// Where the pattern of key `i` is remembered.
    #[inline]
    fn place(&mut self, shape: u64, keys: &SlotBatch<'_>, i: usize) -> usize {
        let places = [
            shape as usize % REMEMBERED,
            (shape >> 32) as usize % REMEMBERED,
        ];
        for place in places {
            if self.scratch.known[place].shape == Some(shape) {
                return place;
            }
        }
        let is_free = |place: &usize| self.scratch.known[*place].shape.is_none();
        let place = places.into_iter().find(is_free).unwrap_or(places[1]);
        let pattern = ids::pattern_of(keys.batch.keys.get(keys.batch.base, i));
        self.remember(place, shape, Counted::written(&pattern, keys.is_tagged(i)));
        place
    }

    /// Remembers a pattern, in place of the one that was there.
    #[cold]
    fn remember(&mut self, place: usize, shape: u64, name: Vec<u8>) {
        self.store(place);
        let name_hash = hash(&name);
        let set = self.slots.place(name_hash);
        self.scratch.known[place] = Known {
            shape: Some(shape),
            set,
            load: Load::default(),
            name_hash,
            name,
        };
    }

    /// Moves the load of a remembered pattern to the counts.
    fn store(&mut self, place: usize) {
        let known = &mut self.scratch.known[place];
        let load = std::mem::take(&mut known.load);
        if load != Load::default() {
            let (hash, name) = (known.name_hash, std::mem::take(&mut known.name));
            self.count(hash, &name, load);
            self.scratch.known[place].name = name;
        }
    }

    /// Adds to a pattern.
    fn count(&mut self, hash: u64, name: &[u8], load: Load) {
        if let TagCounts::Exact(table) = &mut self.counts.counts {
            match table.add(hash, name, load) {
                Ok(()) => return,
                Err(Full) => self.coarse = Some(CoarsePatterns::of(table, &self.separator)),
            }
        }
        if let Some(coarse) = &mut self.coarse {
            coarse.add(name, load);
        }
        self.counts.add_known(hash, name, load);
    }

    /// The coarser patterns, made now where all still fit the table.
    fn take_coarse(&mut self) -> Option<CoarsePatterns> {
        match &self.counts.counts {
            TagCounts::Exact(table) => Some(CoarsePatterns::of(table, &self.separator)),
            _ => self.coarse.take(),
        }
    }
}

impl Tally for Patterns {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut shapes = std::mem::take(&mut self.scratch.shapes);
        shapes::shapes(keys.kernel, keys.batch.base, keys.batch.keys, &mut shapes);
        self.scratch.known.resize_with(REMEMBERED, Known::default);
        let is_weighed = keys.batch.values.are_weighed();
        if !keys.tags_are_in_braces() {
            let tagged = (0..keys.len()).map(|i| u64::from(keys.is_tagged(i)));
            let shapes = shapes.iter_mut().zip(tagged);
            shapes.for_each(|(shape, tagged)| *shape = shape.wrapping_add(tagged));
        }
        for (i, shape) in shapes.iter().enumerate() {
            let place = self.place(*shape, keys, i);
            let known = &mut self.scratch.known[place];
            if known.load[Metric::Keys] == 0 {
                self.scratch.used.push(place as u32);
            }
            match is_weighed {
                true => known.load += keys.batch.values.load(i),
                false => known.load[Metric::Keys] += 1,
            }
            self.slots.add(known.set, keys.slots[i]);
        }
        self.scratch.shapes = shapes;
        for place in std::mem::take(&mut self.scratch.used) {
            self.store(place as usize);
        }
    }

    fn merge(&mut self, mut other: Self) {
        match (&self.counts.counts, &other.counts.counts) {
            (TagCounts::Exact(_), TagCounts::Exact(theirs)) => {
                let all = theirs.iter();
                all.for_each(|(name, hash, load)| self.count(hash, name, load));
            }
            _ => {
                self.coarse = self.take_coarse();
                let both = self.coarse.as_mut().zip(other.take_coarse());
                both.into_iter()
                    .for_each(|(mine, theirs)| mine.merge(theirs));
                self.counts.merge(other.counts);
            }
        }
        self.slots.merge(other.slots);
        // Sets may have been dropped, or moved.
        self.scratch = Scratch::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{KeyBatch, Spans, Values};
    use crate::slot::SlotColumns;
    use crate::slot::{slot, tag};
    use crate::source::block::Block;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn every_kernel_counts_what_a_map_counts(keys in prop::collection::vec("(user|v1|s:)?(:[0-9a-f]{1,9}){0,3}|.{0,80}", 1..200)) {
            let mut truth: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            let mut slots: BTreeMap<Vec<u8>, BTreeSet<u16>> = BTreeMap::new();
            let (mut content, mut spans) = (Vec::new(), Spans::default());
            for key in keys.iter().map(String::as_bytes) {
                let pattern = Counted::written(&ids::pattern_of(key), tag(key).is_some());
                *truth.entry(pattern.clone()).or_default() += 1;
                slots.entry(pattern).or_default().insert(slot(key));
                spans.push(content.len() as u32, (content.len() + key.len()) as u32);
                content.extend_from_slice(key);
            }
            let block = Block::from_bytes(&content);
            let values = Values::default();
            for kernel in hashslot::available() {
                let mut patterns = Patterns::new(b":");
                let mut columns = SlotColumns::default();
                let batch = KeyBatch { base: block.padded(), keys: &spans, values: &values };
                patterns.add(&columns.compute(kernel, batch, 0));
                let TagCounts::Exact(table) = patterns.counts() else { panic!("few patterns are exact") };
                let found: BTreeMap<Vec<u8>, u64> =
                    table.iter().map(|(name, _, load)| (name.to_vec(), load[Metric::Keys])).collect();
                prop_assert_eq!(&found, &truth, "{}", kernel.name);
                for (pattern, slots) in &slots {
                    let found = patterns.slots(pattern).map(|slots| slots.collect::<BTreeSet<_>>());
                    prop_assert_eq!(found.as_ref(), Some(slots), "{}", kernel.name);
                }
            }
        }
    }
}
