//! The tagged keys of a batch: found without a branch a key, then worked on in loops of their own.

use crate::hash::{hash_span, hash_span_seeded};
use crate::slot::SlotBatch;

/// The keys of a batch that have a hash tag, and the hashes of the tags. Scratch, kept from batch to batch.
#[derive(Debug, Clone, Default)]
pub struct Tagged {
    /// Their numbers in the batch.
    pub keys: Vec<u32>,
    /// The hash of the tag of each, never 0.
    pub hashes: Vec<u64>,
}

/// Scratch is not part of the value that keeps it.
impl PartialEq for Tagged {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tagged {
    /// Finds the tagged keys of `keys` whose slot is `wanted`.
    #[inline]
    pub fn find(&mut self, keys: &SlotBatch<'_>, wanted: impl Fn(u16) -> bool) {
        self.list(keys, wanted);
        let (base, hashed) = (keys.batch.base, keys.hashed);
        self.hash(|key| hash_span(base, hashed.start[key], hashed.end[key]).max(1));
    }

    /// Finds all tagged keys of `keys`, with seeded hashes.
    #[inline]
    pub(crate) fn find_seeded(&mut self, keys: &SlotBatch<'_>, seed: u64) {
        self.list(keys, |_| true);
        let (base, hashed) = (keys.batch.base, keys.hashed);
        self.hash(|key| hash_span_seeded(seed, base, hashed.start[key], hashed.end[key]));
    }

    #[inline(always)]
    fn list(&mut self, keys: &SlotBatch<'_>, wanted: impl Fn(u16) -> bool) {
        let mut listed = std::mem::take(&mut self.keys);
        list(&mut listed, keys.len(), |i| {
            keys.is_tagged(i) & wanted(keys.slots[i])
        });
        self.keys = listed;
    }

    #[inline(always)]
    fn hash(&mut self, hash_of: impl Fn(usize) -> u64) {
        let hashes = self.keys.iter().map(|key| hash_of(*key as usize));
        self.hashes.clear();
        self.hashes.extend(hashes);
    }
}

impl Tagged {
    /// Copies the keys that are `wanted`, with their hashes.
    #[inline]
    pub fn take_if(
        &mut self,
        keys: &[u32],
        hashes: &[u64],
        mut wanted: impl FnMut(u64, u32) -> bool,
    ) {
        self.keys.clear();
        self.keys.resize(keys.len(), 0);
        self.hashes.clear();
        self.hashes.resize(keys.len(), 0);
        let mut found = 0;
        for (key, hash) in keys.iter().zip(hashes) {
            (self.keys[found], self.hashes[found]) = (*key, *hash);
            found += usize::from(wanted(*hash, *key));
        }
        self.keys.truncate(found);
        self.hashes.truncate(found);
    }
}

/// Fills `listed` with the numbers below `len` that `concerns` names. No branch: which ones cannot be predicted.
#[inline]
pub(crate) fn list(listed: &mut Vec<u32>, len: usize, concerns: impl Fn(usize) -> bool) {
    listed.clear();
    listed.resize(len + 1, 0);
    let mut found = 0;
    for i in 0..len {
        listed[found] = i as u32;
        found += usize::from(concerns(i));
    }
    listed.truncate(found);
}
