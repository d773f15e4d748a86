//! The few most frequent tags of a thread, which it counts by itself: no line of the table goes from core to core with every
//! key of a tag that most keys have. They are chosen anew now and then, from the keys of one batch.

use crate::tally::tagged::Tagged;

/// Tags at the front, each at the place that its hash says.
const TAGS: usize = 256;
/// They are chosen in the first batches, and then in one of this many.
const FIRST: u32 = 4;
const EVERY: u32 = 64;
/// Keys of a batch that a tag has at least.
const LEAST: u64 = 3;

/// The tags, and what of their keys the table does not know yet.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    tags: Vec<At>,
    candidates: Vec<At>,
    batches: u32,
}

/// A tag, by its hash and slot, and keys.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    hash: u64,
    slot: u16,
    keys: u64,
}

impl Default for Front {
    fn default() -> Self {
        Front {
            tags: vec![At::default(); TAGS],
            candidates: vec![At::default(); TAGS],
            batches: 0,
        }
    }
}

impl Front {
    /// Counts the keys of tags at the front; the others go to `rest`. No branch a key.
    #[inline]
    pub(super) fn split(&mut self, keys: &[u32], hashes: &[u64], rest: &mut Tagged) {
        rest.take_if(keys, hashes, |hash, _| {
            let at = &mut self.tags[place_of(hash)];
            let is_here = at.hash == hash;
            at.keys += u64::from(is_here);
            !is_here
        });
    }

    /// Chooses tags by a majority vote (Boyer & Moore) among the tags of a place, which are those of a batch that are not
    /// at the front; all of them are in the table. `add` takes what a tag holds before it leaves.
    pub(super) fn learn(
        &mut self,
        slots: &[u16],
        rest: &Tagged,
        mut add: impl FnMut((u64, u16), u64),
    ) {
        self.batches = self.batches.wrapping_add(1);
        if self.batches > FIRST && !self.batches.is_multiple_of(EVERY) {
            return;
        }
        self.candidates.fill(At::default());
        for (hash, key) in rest.hashes.iter().zip(&rest.keys) {
            let at = &mut self.candidates[place_of(*hash)];
            if at.hash == *hash {
                at.keys += 1;
            } else if at.keys <= 1 {
                *at = At {
                    hash: *hash,
                    slot: slots[*key as usize],
                    keys: 1,
                };
            } else {
                at.keys -= 1;
            }
        }
        // The keys of a tag since the last choice are those of many batches, except for the first ones.
        for (at, candidate) in self.tags.iter_mut().zip(&self.candidates) {
            let keys = std::mem::take(&mut at.keys);
            if keys > 0 {
                add((at.hash, at.slot), keys);
            }
            if candidate.keys >= LEAST && keys < candidate.keys {
                *at = At {
                    keys: 0,
                    ..*candidate
                };
            }
        }
    }

    /// Gives away what all tags hold.
    pub(super) fn flush(&mut self, mut add: impl FnMut((u64, u16), u64)) {
        for at in &mut self.tags {
            if let keys @ 1.. = std::mem::take(&mut at.keys) {
                add((at.hash, at.slot), keys);
            }
        }
    }
}

fn place_of(hash: u64) -> usize {
    (hash >> 20) as usize % TAGS
}
