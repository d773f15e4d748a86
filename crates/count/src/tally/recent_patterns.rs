//! A cache of recent patterns. A batch has few patterns, so a name is only built for a key with a new shape, and a
//! shape only computed for a key without a template.
//!
//! Names constructed to collide in their shapes are counted as one pattern.

use slotscope_keyname::ids;

use slotscope_base::batch::Number;
use slotscope_base::hash::hash;
use slotscope_base::metric::Load;
use slotscope_base::slot::SlotBatch;

use crate::pattern::shapes::shape;
use crate::pattern::templates::Templates;
use crate::tally::by_place::ByPlace;
use crate::tally::counted_pattern::{Counted, Lifetime, Traits};
use crate::tally::pattern_counts::PatternCounts;

/// Patterns kept between batches.
const REMEMBERED: usize = 4096;

/// Bytes of a key from which its pattern is derived: the rest appears in no table.
const LOOKED_AT: usize = 1024;

/// Multiplied by a key's trait number and added to its shape, to keep traits apart.
const APART: u64 = 0x9E37_79B9_7F4A_7C15;

/// A cache of patterns, with buffers reused between batches.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentPatterns {
    templates: Templates,
    /// Each in one of two entries determined by its shape; the extra entry stands for no pattern.
    known: Vec<Known>,
    counted: ByPlace,
}

/// Ignored when comparing the containing value.
impl PartialEq for RecentPatterns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A recent pattern.
#[derive(Debug, Clone, Default)]
struct Known {
    shape: Option<u64>,
    has_template: bool,
    name_hash: u64,
    name: Vec<u8>,
}

impl RecentPatterns {
    /// Counts the patterns of a batch.
    pub(super) fn add(&mut self, keys: &SlotBatch<'_>, counts: &mut PatternCounts) {
        self.known.resize_with(REMEMBERED + 1, Known::default);
        self.counted
            .begin(REMEMBERED + 1, keys.batch.values.are_operations);
        let apart = apart(keys);
        let spans = keys.batch.keys.in_block(keys.batch.base);
        self.templates
            .find(keys.kernel, spans, &apart, REMEMBERED as u32);
        self.count_found(keys, counts);
        self.count_missed(keys, &apart, counts);
        for place in self.counted.take_used() {
            self.store(place as usize, counts);
        }
    }

    /// Counts the keys that have a template; the rest goes to the extra entry.
    fn count_found(&mut self, keys: &SlotBatch<'_>, counts: &mut PatternCounts) {
        if self.templates.missed.len() == keys.len() {
            return;
        }
        let places = &self.templates.patterns;
        self.counted.add(places, keys.slots, &mut counts.slots);
        for (metric, weights) in keys.batch.values.weights.iter().enumerate() {
            if !weights.is_empty() {
                self.counted.add_weights(metric, places, weights);
            }
        }
    }

    /// Counts the keys without a template, and makes templates of them.
    fn count_missed(&mut self, keys: &SlotBatch<'_>, apart: &[u8], counts: &mut PatternCounts) {
        let missed = std::mem::take(&mut self.templates.missed);
        let (base, spans) = (keys.batch.base, keys.batch.keys);
        for key in &missed {
            let i = *key as usize;
            let apart = apart.get(i).copied().unwrap_or(0);
            let shape = shape(base, spans.start[i], spans.end[i]);
            let shape = shape.wrapping_add(APART.wrapping_mul(u64::from(apart)));
            let place = self.place(shape, keys, i, counts);
            let at = [place as u32];
            self.counted.add(&at, &keys.slots[i..=i], &mut counts.slots);
            for (metric, weights) in keys.batch.values.weights.iter().enumerate() {
                if let Some(weight) = weights.get(i) {
                    self.counted.add_weights(metric, &at, &[*weight]);
                }
            }
            if self.templates.may_learn() {
                let key = spans.get(base, i);
                self.known[place].has_template |= self.templates.learn(key, apart, place as u32);
            }
        }
        self.templates.missed = missed;
    }

    /// The entry of key `i`'s pattern.
    #[inline]
    fn place(
        &mut self,
        shape: u64,
        keys: &SlotBatch<'_>,
        i: usize,
        counts: &mut PatternCounts,
    ) -> usize {
        let places = places(shape);
        for place in places {
            if self.known[place].shape == Some(shape) {
                return place;
            }
        }
        let is_free = |place: &usize| self.known[*place].shape.is_none();
        let is_replaceable = |place: &usize| !self.known[*place].has_template;
        let free = places.into_iter().find(is_free);
        let usable = free.or_else(|| places.into_iter().find(is_replaceable));
        let place = usable.unwrap_or_else(|| {
            self.forget_templates();
            places[1]
        });
        let key = keys.batch.keys.get(keys.batch.base, i);
        let pattern = ids::pattern_of(&key[..key.len().min(LOOKED_AT)]);
        let traits = Traits {
            is_tagged: keys.is_tagged(i),
            lifetime: Lifetime::of(keys.batch.values.number(Number::Expiry), i),
        };
        let name = Counted::written(&pattern, traits);
        self.remember(place, shape, name, counts);
        place
    }

    /// Remembers a pattern in place of the one there.
    #[cold]
    fn remember(&mut self, place: usize, shape: u64, name: Vec<u8>, counts: &mut PatternCounts) {
        self.store(place, counts);
        let name_hash = hash(&name);
        self.known[place] = Known {
            shape: Some(shape),
            has_template: false,
            name_hash,
            name,
        };
        self.counted.replace(place, counts.slots.place(name_hash));
    }

    /// Moves a remembered pattern's load to the counts.
    fn store(&mut self, place: usize, counts: &mut PatternCounts) {
        let load = self.counted.take(place, &counts.slots);
        let known = &self.known[place];
        if known.shape.is_some() && load != Load::default() {
            counts.add(known.name_hash, &known.name, load);
        }
    }

    /// Drops the templates, which refer to entries, before one is replaced.
    fn forget_templates(&mut self) {
        self.templates.forget();
        let known = self.known.iter_mut();
        known.for_each(|known| known.has_template = false);
    }
}

/// The two possible entries of a shape.
#[inline]
fn places(shape: u64) -> [usize; 2] {
    [
        shape as usize % REMEMBERED,
        (shape >> 32) as usize % REMEMBERED,
    ]
}

/// A number below 8 per key that separates keys of one shape counted as different patterns; empty if not needed.
fn apart(keys: &SlotBatch<'_>) -> Vec<u8> {
    let by_tag = !keys.tags_are_in_braces();
    let expiry = keys.batch.values.number(Number::Expiry);
    if !by_tag && expiry.is_empty() {
        return Vec::new();
    }
    let number = |i| u8::from(by_tag && keys.is_tagged(i)) | (Lifetime::of(expiry, i) as u8) << 1;
    (0..keys.len()).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slotscope_base::batch::{KeyBatch, NEVER, Spans, Values};
    use slotscope_base::block::Block;
    use slotscope_base::metric::Metric;
    use slotscope_base::slot::policy::Policy;
    use slotscope_base::slot::{Kernel, SlotColumns, slot};
    use std::collections::{BTreeMap, BTreeSet};

    /// The counts of keys, and the keys and slots of each pattern one by one.
    struct Both {
        recent: RecentPatterns,
        counts: PatternCounts,
        keys: BTreeMap<Vec<u8>, u64>,
        slots: BTreeMap<Vec<u8>, BTreeSet<u16>>,
    }

    impl Both {
        fn new() -> Self {
            Both {
                recent: RecentPatterns::default(),
                counts: PatternCounts::new(b":"),
                keys: BTreeMap::new(),
                slots: BTreeMap::new(),
            }
        }

        /// Adds keys as a batch (every third with TTL if `expire`), and one by one.
        fn add(&mut self, kernel: &'static Kernel, keys: &[Vec<u8>], expire: bool) {
            let content = keys.concat();
            let (mut spans, mut values, mut end) = (Spans::default(), Values::default(), 0);
            for (i, key) in keys.iter().enumerate() {
                spans.push(end, end + key.len() as u32);
                end += key.len() as u32;
                if expire {
                    let at = if i % 3 == 0 { 7 } else { NEVER };
                    values.number_mut(Number::Expiry).push(at);
                }
                let traits = Traits {
                    is_tagged: slotscope_base::slot::tag(key).is_some(),
                    lifetime: Lifetime::of(values.number(Number::Expiry), i),
                };
                let name = Counted::written(&ids::pattern_of(key), traits);
                let slots = self.slots.entry(name.clone()).or_default();
                slots.insert(slot(key));
                *self.keys.entry(name).or_default() += 1;
            }
            let block = Block::from_bytes(&content);
            let batch = KeyBatch {
                base: block.padded(),
                keys: &spans,
                values: &values,
            };
            let mut columns = SlotColumns::default();
            columns.find_hashed(&Policy::Oss, kernel, batch);
            let keys = columns.hash(kernel, batch);
            self.recent.add(&keys, &mut self.counts);
        }

        fn assert_same(&self, kernel: &Kernel) {
            let rows = self.counts.table.as_ref().unwrap().iter();
            let keys = |(name, _, load): (&[u8], u64, Load)| (name.to_vec(), load[Metric::Keys]);
            let counted: BTreeMap<_, _> = rows.map(keys).collect();
            assert!(counted == self.keys, "{}", kernel.name);
            for (name, slots) in &self.slots {
                let noted = self.counts.slots.of(hash(name)).unwrap();
                assert!(noted.collect::<BTreeSet<_>>() == *slots, "{}", kernel.name);
            }
        }
    }

    /// A key similar to another: most bytes are replaced by others of their kind, some by another kind.
    fn like(key: &[u8], mut seed: u64) -> Vec<u8> {
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(0x5851_F42D_4C95_7F2D)
                .wrapping_add(0x1405_7B7E_F767_814F);
            (seed >> 33) % below
        };
        let digits = |byte: &u8| byte.is_ascii_digit();
        let breaks = random(3) == 0;
        let other = |byte: &u8| match () {
            () if breaks && random(24) == 0 => b"0a:zF-{}\xE9"[random(9) as usize],
            () if digits(byte) => b'0' + random(10) as u8,
            () if byte.is_ascii_hexdigit() && random(2) == 0 => {
                b"abcdefABCDEF0123"[random(16) as usize]
            }
            () if byte.is_ascii_alphabetic() && random(16) == 0 => b"ghxyzGX7"[random(8) as usize],
            () => *byte,
        };
        key.iter().map(other).collect()
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        let part = "user|v1|news[0-9]{3}|[0-9]{1,9}|[0-9a-f]{7,9}|[0-9A-F]{16}|[a-z0-9]{14,18}|ab[0-9]{1,4}|é|\
            [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
        let separated = format!("(({part})[:{{}}.-]{{1,2}}){{0,4}}({part})?|.{{0,80}}");
        proptest::string::string_regex(&separated)
            .unwrap()
            .prop_map(String::into_bytes)
    }

    proptest! {
        #[test]
        fn keys_like_those_before_are_counted_like_keys_alone(
            keys in prop::collection::vec(key(), 1..40), seeds: [u64; 5], expire: bool,
        ) {
            for kernel in hashslot::available() {
                let mut both = Both::new();
                for seed in seeds {
                    let batch: Vec<_> = (0..).zip(&keys).map(|(i, key)| like(key, seed ^ i)).collect();
                    both.add(kernel, &batch, expire);
                }
                both.assert_same(kernel);
            }
        }
    }

    /// `count` keys of a pattern.
    fn keys_of(kind: usize, from: u64, count: u64) -> Vec<Vec<u8>> {
        let key = |i: u64| {
            let bits = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            match kind {
                0 => format!("user:{}:cart", 10_000 + i % 10_000),
                1 => format!("sess:{:08x}a1:v{}", bits as u32, 1 + i % 2),
                2 => format!("{bits:016x}-:{{42}}").replacen("", "f0", 1),
                3 => format!(
                    "u:{:08x}-12d3-4e5f-a0b1-{:011x}1:x",
                    bits as u32,
                    bits >> 20
                ),
                _ => format!("{{tok}}:q7Z{bits:013x}:news{:03}", i % 1000),
            }
        };
        (from..from + count)
            .map(key)
            .map(String::into_bytes)
            .collect()
    }

    #[test]
    fn after_some_batches_every_kind_of_id_has_templates() {
        for kernel in
            hashslot::available().filter(|kernel| !["portable", "table"].contains(&kernel.name))
        {
            for kind in 0..5 {
                let mut both = Both::new();
                for from in 0..4 {
                    both.add(kernel, &keys_of(kind, from * 1000, 1000), false);
                }
                let missed = both.recent.templates.missed.len();
                assert!(missed <= 20, "{}: {kind}: {missed}", kernel.name);
                both.assert_same(kernel);
            }
        }
    }

    #[test]
    fn more_patterns_than_are_remembered_are_counted_all_the_same() {
        let name = |i: u64| -> String {
            (0..4)
                .map(|at| char::from(b'g' + (i >> (4 * at) & 15) as u8))
                .collect()
        };
        for kernel in hashslot::available() {
            let mut both = Both::new();
            for batch in 0..40_u64 {
                let keys: Vec<_> = (0..600)
                    .map(|i| format!("x:{}:{}", name(batch * 300 + i), 100 + i).into_bytes())
                    .chain(keys_of(0, batch, 900))
                    .collect();
                both.add(kernel, &keys, false);
            }
            assert!(both.keys.len() > REMEMBERED);
            both.assert_same(kernel);
        }
    }
}
