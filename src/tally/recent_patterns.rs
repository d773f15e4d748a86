//! Patterns that were seen recently, by the shapes of their keys: a batch has few patterns, so a name is only made for a
//! key whose shape is new.
//!
//! Names that were made to collide in their shapes are counted as one pattern.

use crate::format::batch::Number;
use crate::hash::hash;
use crate::metric::{Load, Metric};
use crate::pattern::{ids, shapes};
use crate::slot::SlotBatch;
use crate::tally::counted_pattern::{Counted, Lifetime, Traits};

/// Patterns that are remembered from batch to batch.
const REMEMBERED: usize = 4096;

/// Bytes at the start of a key that its pattern is made of: the rest of a longer one shows in no table.
const LOOKED_AT: usize = 1024;

/// Added to the shape of keys that expire, twice, or do not, once.
const APART: u64 = 0x9E37_79B9_7F4A_7C15;

/// What the patterns of a batch are counted in.
pub trait PatternCounts {
    /// Adds to a pattern.
    fn count(&mut self, hash: u64, name: &[u8], load: Load);
    /// A number for a pattern, for `add_slot`.
    fn set_of(&mut self, hash: u64) -> u32;
    /// Notes that a key of a pattern is in a slot.
    fn add_slot(&mut self, set: u32, slot: u16);
}

/// Patterns, in scratch columns that are kept from batch to batch.
#[derive(Debug, Clone, Default)]
pub struct RecentPatterns {
    shapes: Vec<u64>,
    /// Each at one of two places that its shape determines.
    known: Vec<Known>,
    /// Places of `known` that hold a load.
    used: Vec<u32>,
}

/// Scratch is not part of the value that keeps it.
impl PartialEq for RecentPatterns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
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

impl RecentPatterns {
    /// Counts the patterns of a batch.
    pub fn add(&mut self, keys: &SlotBatch<'_>, counts: &mut impl PatternCounts) {
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes::shapes(keys.kernel, keys.batch.base, keys.batch.keys, &mut shapes);
        self.known.resize_with(REMEMBERED, Known::default);
        let is_weighed = keys.batch.values.are_weighed();
        if !keys.tags_are_in_braces() {
            let tagged = (0..keys.len()).map(|i| u64::from(keys.is_tagged(i)));
            let shapes = shapes.iter_mut().zip(tagged);
            shapes.for_each(|(shape, tagged)| *shape = shape.wrapping_add(tagged));
        }
        let expiry = keys.batch.values.number(Number::Expiry);
        for (i, shape) in shapes.iter_mut().enumerate().take(expiry.len()) {
            *shape = shape.wrapping_add(APART.wrapping_mul(Lifetime::of(expiry, i) as u64));
        }
        for (i, shape) in shapes.iter().enumerate() {
            let place = self.place(*shape, keys, i, counts);
            let known = &mut self.known[place];
            if known.load == Load::default() {
                self.used.push(place as u32);
            }
            match is_weighed {
                true => known.load += keys.batch.values.load(i),
                false => known.load[Metric::Keys] += 1,
            }
            counts.add_slot(known.set, keys.slots[i]);
        }
        self.shapes = shapes;
        for place in std::mem::take(&mut self.used) {
            self.store(place as usize, counts);
        }
    }

    /// Where the pattern of key `i` is remembered.
    #[inline]
    fn place(
        &mut self,
        shape: u64,
        keys: &SlotBatch<'_>,
        i: usize,
        counts: &mut impl PatternCounts,
    ) -> usize {
        let places = [
            shape as usize % REMEMBERED,
            (shape >> 32) as usize % REMEMBERED,
        ];
        for place in places {
            if self.known[place].shape == Some(shape) {
                return place;
            }
        }
        let is_free = |place: &usize| self.known[*place].shape.is_none();
        let place = places.into_iter().find(is_free).unwrap_or(places[1]);
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

    /// Remembers a pattern, in place of the one that was there.
    #[cold]
    fn remember(
        &mut self,
        place: usize,
        shape: u64,
        name: Vec<u8>,
        counts: &mut impl PatternCounts,
    ) {
        self.store(place, counts);
        let name_hash = hash(&name);
        self.known[place] = Known {
            shape: Some(shape),
            set: counts.set_of(name_hash),
            load: Load::default(),
            name_hash,
            name,
        };
    }

    /// Moves the load of a remembered pattern to the counts.
    fn store(&mut self, place: usize, counts: &mut impl PatternCounts) {
        let known = &mut self.known[place];
        let load = std::mem::take(&mut known.load);
        if load != Load::default() {
            counts.count(known.name_hash, &known.name, load);
        }
    }
}
