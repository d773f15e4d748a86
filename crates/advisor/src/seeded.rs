//! Hash maps for keys that are already hashes: fast, with a seed that hostile names cannot predict.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

use slotscope_engine::hash::fold;

/// A map and a set that hash with `Seeded`.
pub(super) type SeededMap<K, V> = HashMap<K, V, Seeded>;
pub(super) type SeededSet<K> = HashSet<K, Seeded>;

/// Hashes with one multiplication per word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeded(u64);

impl Default for Seeded {
    fn default() -> Self {
        Seeded(RandomState::new().hash_one(0u64))
    }
}

impl BuildHasher for Seeded {
    type Hasher = SeededHasher;

    fn build_hasher(&self) -> SeededHasher {
        SeededHasher(self.0)
    }
}

/// The state of a hash.
#[derive(Debug)]
pub(crate) struct SeededHasher(u64);

impl Hasher for SeededHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        });
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, 0x9E37_79B9_7F4A_7C15);
    }
}
