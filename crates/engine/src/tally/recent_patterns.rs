//! Patterns that were seen recently: a batch has few patterns, so a name is only made for a key whose shape is new, and a
//! shape only for a key whose outline is new.
//!
//! Names that were made to collide in their shapes are counted as one pattern.

use crate::format::batch::Number;
use crate::hash::hash;
use crate::metric::{Load, Metric};
use crate::pattern::outlines::Outlines;
use crate::pattern::{ids, shapes};
use crate::slot::SlotBatch;
use crate::tally::counted_pattern::{Counted, Lifetime, Traits};

/// Patterns that are remembered from batch to batch.
const REMEMBERED: usize = 4096;

/// Outlines that are remembered from batch to batch.
const OUTLINED: usize = 4096;

/// Bytes at the start of a key that its pattern is made of: the rest of a longer one shows in no table.
const LOOKED_AT: usize = 1024;

/// Added to the outline and the shape of keys that expire, twice, or do not, once.
const APART: u64 = 0x9E37_79B9_7F4A_7C15;

/// What the patterns of a batch are counted in.
pub(super) trait PatternCounts {
    /// Adds to a pattern.
    fn count(&mut self, hash: u64, name: &[u8], load: Load);
    /// A number for a pattern, for `add_slot`.
    fn set_of(&mut self, hash: u64) -> u32;
    /// Notes that a key of a pattern is in a slot.
    fn add_slot(&mut self, set: u32, slot: u16);
}

/// Patterns, in scratch columns that are kept from batch to batch.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentPatterns {
    outlines: Outlines,
    /// Each at one of two places that the outline determines.
    outlined: Vec<Outlined>,
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

/// Where the pattern of an outline is remembered, as long as that place has its shape.
#[derive(Debug, Clone, Copy, Default)]
struct Outlined {
    outline: u64,
    shape: u64,
    place: u32,
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
    pub(super) fn add(&mut self, keys: &SlotBatch<'_>, counts: &mut impl PatternCounts) {
        let mut outlines = std::mem::take(&mut self.outlines);
        let (base, spans) = (keys.batch.base, keys.batch.keys);
        outlines.of(keys.kernel, base, spans);
        self.known.resize_with(REMEMBERED, Known::default);
        self.outlined.resize_with(OUTLINED, Outlined::default);
        let is_weighed = keys.batch.values.are_weighed();
        let apart = Apart::of(keys);
        if apart.is_any() {
            let numbered = outlines.column.iter_mut().enumerate();
            numbered.for_each(|(i, outline)| *outline = outline.wrapping_add(apart.get(i)));
        }
        for (i, outline) in outlines.column.iter().enumerate() {
            let place = match self.outlined(*outline) {
                Some(place) => place,
                None => {
                    let shape = shapes::shape(keys.kernel, base, spans.start[i], spans.end[i]);
                    let shape = shape.wrapping_add(apart.get(i));
                    let place = self.place(shape, keys, i, counts);
                    self.remember_outline(*outline, shape, place);
                    place
                }
            };
            let known = &mut self.known[place];
            // Operations are not keys: their pattern may be listed more than once.
            if known.load[Metric::Keys] == 0 {
                self.used.push(place as u32);
            }
            if is_weighed {
                known.load += keys.batch.values.load(i)
            } else {
                known.load[Metric::Keys] += 1
            }
            counts.add_slot(known.set, keys.slots[i]);
        }
        self.outlines = outlines;
        for place in std::mem::take(&mut self.used) {
            self.store(place as usize, counts);
        }
    }

    /// Where the pattern of keys with this outline is remembered.
    #[inline]
    fn outlined(&self, outline: u64) -> Option<usize> {
        let has = |at: &usize| {
            let Outlined {
                outline: other,
                shape,
                place,
            } = self.outlined[*at];
            other == outline && self.known[place as usize].shape == Some(shape)
        };
        let at = places(outline, OUTLINED).into_iter().find(has)?;
        Some(self.outlined[at].place as usize)
    }

    /// Remembers where the pattern of an outline is, in place of one whose pattern is no longer remembered, if there is.
    #[cold]
    fn remember_outline(&mut self, outline: u64, shape: u64, place: usize) {
        let [first, second] = places(outline, OUTLINED);
        let old = &self.outlined[first];
        let is_used = self.known[old.place as usize].shape == Some(old.shape);
        self.outlined[if is_used { second } else { first }] = Outlined {
            outline,
            shape,
            place: place as u32,
        };
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
        let places = places(shape, REMEMBERED);
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

/// The two places of a number in a table of this many.
#[inline]
fn places(number: u64, of: usize) -> [usize; 2] {
    [number as usize % of, (number >> 32) as usize % of]
}

/// What keeps keys of one shape apart that are counted as two patterns.
struct Apart<'k> {
    keys: &'k SlotBatch<'k>,
    by_tag: bool,
    expiry: &'k [u64],
}

impl<'k> Apart<'k> {
    fn of(keys: &'k SlotBatch<'k>) -> Self {
        Apart {
            keys,
            by_tag: !keys.tags_are_in_braces(),
            expiry: keys.batch.values.number(Number::Expiry),
        }
    }

    fn is_any(&self) -> bool {
        self.by_tag || !self.expiry.is_empty()
    }

    /// Added to the outline and the shape of key `i`.
    fn get(&self, i: usize) -> u64 {
        let tagged = u64::from(self.by_tag && self.keys.is_tagged(i));
        let lifetime = if i < self.expiry.len() {
            APART.wrapping_mul(Lifetime::of(self.expiry, i) as u64)
        } else {
            0
        };
        tagged.wrapping_add(lifetime)
    }
}
