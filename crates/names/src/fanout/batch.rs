//! A batch under construction: its slots, and its first keys.

use slotscope_read::format::parse::words::Word;

use crate::fanout::outcome::DistinctSlots;

/// Keys of a batch kept for its kind and for advice; slots and nodes are counted over all keys.
const KEPT_KEYS: usize = 1024;

/// A batch.
pub(super) struct Batch {
    pub slots: DistinctSlots,
    /// The number of keys.
    pub keys: u64,
    /// The first keys.
    pub kept: Vec<Vec<u8>>,
    kept_bytes: usize,
    room: usize,
}

impl Batch {
    /// An empty batch that keeps up to this many bytes of keys.
    pub(super) fn with_room(room: usize) -> Self {
        Batch {
            slots: DistinctSlots::default(),
            keys: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            room,
        }
    }

    /// Adds keys with their slots.
    pub(super) fn add(&mut self, slots: &[u16], keys: Vec<Word<'_>>) {
        slots.iter().for_each(|slot| self.slots.insert(*slot));
        self.keys += keys.len() as u64;
        for key in keys {
            if self.kept.len() < KEPT_KEYS && self.kept_bytes + key.len() <= self.room {
                self.kept_bytes += key.len();
                self.kept.push(key.into_owned());
            }
        }
    }

    /// Clears the batch, keeping its memory.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.keys = 0;
        self.kept.clear();
        self.kept_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_batch_holds_no_more_than_its_room() {
        let mut batch = Batch::with_room(1 << 20);
        let keys = (0..3000).map(|i| vec![b'x'; 1 + i].into());
        batch.add(&[1], keys.collect());
        assert_eq!(batch.keys, 3000);
        let bytes: usize = batch.kept.iter().map(Vec::len).sum();
        assert!(batch.kept.len() <= KEPT_KEYS && bytes <= 1 << 20);
        batch.clear();
        let left = (
            batch.kept.len(),
            batch.kept_bytes,
            batch.slots.members().len(),
        );
        assert_eq!(left, (0, 0, 0));
    }
}
