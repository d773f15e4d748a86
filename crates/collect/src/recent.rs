//! Keys recently returned by SCAN. SCAN repeats keys when a table shrinks, and always recent ones: it visits buckets in
//! an order where those to be merged are neighbours.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// The last keys, by unpredictable hashes; at most twice `half`.
pub(crate) struct Recent {
    hasher: RandomState,
    half: usize,
    young: HashSet<u64>,
    old: HashSet<u64>,
}

impl Recent {
    /// Remembers at least the last `half` keys.
    pub(crate) fn new(half: usize) -> Self {
        Recent {
            hasher: RandomState::new(),
            half,
            young: HashSet::new(),
            old: HashSet::new(),
        }
    }

    /// Adds a key; returns whether it is new.
    pub(crate) fn note(&mut self, key: &[u8]) -> bool {
        let hash = self.hasher.hash_one(key);
        if self.young.contains(&hash) || self.old.contains(&hash) {
            return false;
        }
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash)
    }

    pub(crate) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once_among_the_last_ones() {
        let mut recent = Recent::new(100);
        let key = |i: u32| i.to_le_bytes();
        assert!((0..1000).all(|i| recent.note(&key(i))));
        assert!((900..1000).all(|i| !recent.note(&key(i))));
        assert!(recent.young.len() + recent.old.len() <= 200);
        assert!(recent.note(&key(0)), "long ago");
        recent.clear();
        assert!(recent.note(&key(0)));
    }
}
