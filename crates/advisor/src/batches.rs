//! The batches that the model sees: all of a short capture or a sample of a long one, in order and in bounded memory.
//!
//! When memory is full, a batch survives only if the hash of its number has one more zero bit, which halves the sample:
//! it depends on nothing but the batches' numbers.

use slotscope_base::hash::fold;

use crate::tokens::MOST_BYTES;

/// Limits for the keys of the sample: bytes and number.
const MOST_KEY_BYTES: usize = 16 << 20;
const MOST_KEYS: usize = 1 << 19;
/// Keys kept per batch: the first ones of a very large batch represent all.
const MOST_KEYS_OF_BATCH: usize = 1024;

/// Batches: the distinct keys of a command or transaction.
#[derive(Debug, Clone)]
pub struct Batches {
    most: [usize; 2],
    batches: Vec<Batch>,
    /// End offset of each key.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    /// Batches are kept if the hash of their number has none of these bits.
    mask: u64,
    /// Number of batches seen.
    pub seen: u64,
}

/// A batch in the sample.
#[derive(Debug, Clone, Copy)]
struct Batch {
    number: u64,
    command: Option<&'static str>,
    must_be_together: bool,
    end: u32,
}

/// A batch of keys.
#[derive(Debug, Clone)]
pub struct BatchKeys<'a> {
    /// The command, in lower case; `None` for bare keys.
    pub command: Option<&'static str>,
    /// Whether a cluster refuses the command if its keys are in several slots, and no client can split it.
    pub must_be_together: bool,
    /// Its distinct keys.
    pub keys: Vec<&'a [u8]>,
}

impl Default for Batches {
    fn default() -> Self {
        Batches::with_room(MOST_KEYS, MOST_KEY_BYTES)
    }
}

impl Batches {
    /// An empty sample with room for this many keys and bytes.
    pub(crate) fn with_room(keys: usize, bytes: usize) -> Self {
        Batches {
            most: [keys, bytes],
            batches: Vec::new(),
            ends: Vec::new(),
            bytes: Vec::new(),
            mask: 0,
            seen: 0,
        }
    }

    /// Adds a batch. Overlong keys are truncated: no scheme renames them.
    pub fn push<K: AsRef<[u8]>>(
        &mut self,
        command: Option<&'static str>,
        must_be_together: bool,
        keys: &[K],
    ) {
        let number = self.seen;
        self.seen += 1;
        if keys.is_empty() || !self.keeps(number) {
            return;
        }
        let kept = keys.iter().take(MOST_KEYS_OF_BATCH).map(|key| {
            let key = key.as_ref();
            &key[..key.len().min(MOST_BYTES + 1)]
        });
        let mut kept: Vec<&[u8]> = kept.collect();
        kept.sort_unstable();
        kept.dedup();
        for key in kept {
            self.bytes.extend_from_slice(key);
            self.ends.push(self.bytes.len() as u32);
        }
        let end = self.ends.len() as u32;
        self.batches.push(Batch {
            number,
            command,
            must_be_together,
            end,
        });
        while self.ends.len() > self.most[0] || self.bytes.len() > self.most[1] {
            self.halve();
        }
    }

    fn keeps(&self, number: u64) -> bool {
        fold(number ^ 0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03) & self.mask == 0
    }

    fn halve(&mut self) {
        self.mask = self.mask * 2 + 1;
        let mut kept = Batches {
            mask: self.mask,
            ..Batches::with_room(self.most[0], self.most[1])
        };
        for at in 0..self.len() {
            let batch = self.batches[at];
            if !self.keeps(batch.number) {
                continue;
            }
            for key in self.keys(at) {
                kept.bytes.extend_from_slice(key);
                kept.ends.push(kept.bytes.len() as u32);
            }
            kept.batches.push(Batch {
                end: kept.ends.len() as u32,
                ..batch
            });
        }
        kept.seen = self.seen;
        *self = kept;
    }

    /// Number of batches in the sample.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether the sample is empty.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// The sampling factor: one batch in this many is kept.
    pub(crate) fn one_of(&self) -> u64 {
        self.mask + 1
    }

    /// The numbers of the keys of batch `at`.
    pub(crate) fn numbers(&self, at: usize) -> std::ops::Range<usize> {
        let from = at
            .checked_sub(1)
            .map_or(0, |before| self.batches[before].end as usize);
        from..self.batches[at].end as usize
    }

    /// The key with this number.
    pub(crate) fn key(&self, number: usize) -> &[u8] {
        let start = number
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        &self.bytes[start..self.ends[number] as usize]
    }

    /// The distinct keys of batch `at`, in order.
    pub(crate) fn keys(&self, at: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        self.numbers(at).map(|number| self.key(number))
    }

    /// The command of batch `at`.
    pub(crate) fn command(&self, at: usize) -> Option<&'static str> {
        self.batches[at].command
    }

    /// Whether the keys of batch `at` must be in one slot.
    pub(crate) fn must_be_together(&self, at: usize) -> bool {
        self.batches[at].must_be_together
    }

    /// Batch `at`.
    pub fn get(&self, at: usize) -> BatchKeys<'_> {
        let Batch {
            command,
            must_be_together,
            ..
        } = self.batches[at];
        BatchKeys {
            command,
            must_be_together,
            keys: self.keys(at).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_capture_is_halved_and_keeps_its_order_and_its_keys() {
        let mut batches = Batches::with_room(1000, 1 << 20);
        for i in 0..10_000 {
            batches.push(
                Some("mget"),
                i % 2 == 0,
                &[format!("a:{i}"), format!("b:{i}"), format!("a:{i}")],
            );
        }
        assert_eq!((batches.seen, batches.one_of()), (10_000, 32));
        assert!((200..=333).contains(&batches.len()), "{}", batches.len());
        let mut last = 0;
        for at in 0..batches.len() {
            let batch = batches.get(at);
            let [a, b] = batch.keys[..] else {
                panic!("{batch:?}")
            };
            let number: usize = str::from_utf8(&a[2..]).unwrap().parse().unwrap();
            assert_eq!(&b[2..], &a[2..]);
            assert_eq!(batch.must_be_together, number.is_multiple_of(2));
            assert!(at == 0 || number > last);
            last = number;
        }
    }
}
