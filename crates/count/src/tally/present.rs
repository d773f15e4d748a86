//! Looks up keys of operations in the dumps. This takes a second pass, as a dump may be read after a capture. Memory is
//! bounded: the busiest keys by name, and a filter of fixed size.

use std::sync::Arc;

use slotscope_base::hash::{hash, hash_span};
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;
use crate::tally::operations::{Absent, BusyKey, MAX_NAME};

/// Bits of the filter: most keys that nothing asks for are skipped with one lookup.
const FILTER_BITS: u64 = 1 << 21;
/// Missing keys listed.
pub(crate) const LISTED: usize = 100;

/// Keys of operations, by hash of the kept part of their names, ascending.
struct Asked {
    keys: Vec<(u64, BusyKey)>,
    filter: Vec<u64>,
}

/// The keys found so far.
#[derive(Clone)]
pub struct Present {
    asked: Arc<Asked>,
    is_found: Vec<bool>,
}

impl Present {
    /// Starts a search for `keys`.
    pub fn of(keys: Vec<BusyKey>) -> Self {
        let hashed = keys.into_iter().map(|key| (hash(&key.name), key));
        let mut keys: Vec<_> = hashed.collect();
        keys.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
        let mut filter = vec![0; FILTER_BITS as usize / 64];
        for (hash, _) in &keys {
            let bit = hash % FILTER_BITS;
            filter[bit as usize / 64] |= 1 << (bit % 64);
        }
        Present {
            is_found: vec![false; keys.len()],
            asked: Arc::new(Asked { keys, filter }),
        }
    }

    /// Whether each key was found.
    pub fn into_found(self) -> Vec<bool> {
        self.is_found
    }

    /// Merges which of the same keys were found elsewhere; false if their number differs.
    pub fn take(&mut self, is_found: Vec<bool>) -> bool {
        merge(&mut self.is_found, &is_found);
        self.is_found.len() == is_found.len()
    }

    /// The keys that were not found.
    pub fn absent(&self) -> Absent {
        let keys = self.asked.keys.iter().map(|(_, key)| key);
        let looked_up = keys.clone().map(|key| key.ops).sum();
        let absent = keys.zip(&self.is_found).filter(|(_, is_found)| !**is_found);
        let mut missing: Vec<_> = absent.map(|(key, _)| key.clone()).collect();
        missing.sort_by(|a, b| (b.ops, &a.name).cmp(&(a.ops, &b.name)));
        Absent {
            looked_up,
            keys: missing.len() as u64,
            ops: missing.iter().map(|key| key.ops).sum(),
            top: {
                missing.truncate(LISTED);
                missing
            },
        }
    }
}

impl Asked {
    fn may_have(&self, hash: u64) -> bool {
        let bit = hash % FILTER_BITS;
        self.filter[bit as usize / 64] >> (bit % 64) & 1 != 0
    }

    /// The indices of keys with this hash, length and slot, and with `name` as their kept part.
    fn places(
        &self,
        hash: u64,
        (name, length, slot): (&[u8], u64, u16),
    ) -> impl Iterator<Item = usize> {
        let from = self.keys.partition_point(|(known, _)| *known < hash);
        let alike = self.keys[from..]
            .iter()
            .take_while(move |(known, _)| *known == hash);
        alike.enumerate().filter_map(move |(at, (_, key))| {
            let is_key = key.name == name && (key.length, key.slot) == (length, slot);
            is_key.then_some(from + at)
        })
    }
}

impl Tally for Present {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let (base, spans) = (keys.batch.base, keys.batch.keys);
        if keys.batch.values.are_operations {
            return;
        }
        for i in 0..keys.len() {
            let (start, end) = (spans.start[i], spans.end[i]);
            let kept = end.min(start + MAX_NAME as u32);
            let hash = hash_span(base, start, kept);
            if !self.asked.may_have(hash) {
                continue;
            }
            let name = &base.bytes()[start as usize..kept as usize];
            let key = (name, u64::from(end - start), keys.slots[i]);
            let is_found = &mut self.is_found;
            self.asked
                .places(hash, key)
                .for_each(|place| is_found[place] = true);
        }
    }

    fn merge(&mut self, other: Self) {
        merge(&mut self.is_found, &other.is_found);
    }
}

/// Adds keys found elsewhere.
pub fn merge(is_found: &mut [bool], other: &[bool]) {
    let pairs = is_found.iter_mut().zip(other);
    pairs.for_each(|(mine, theirs)| *mine |= theirs);
}
