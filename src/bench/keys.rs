//! Batches of keys for timing kernels: one fixed length each, and the lengths of real dumps.

use rayon::ThreadPool;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::format::batch::{BATCH_KEYS, Spans};
use slotscope_engine::slot::{Kernel, slot_of_part};
use slotscope_engine::source::block::Block;

use crate::bench::timing::Run;

/// Bytes of keys per batch, to stay in the L2 cache as in a scan.
const BATCH_BYTES: u32 = 256 << 10;

/// Key lengths in bytes as in a shop's dump, from `generate --profile commerce`; each stands for a tenth of the keys.
const REAL: [u32; 10] = [16, 20, 26, 31, 36, 36, 37, 40, 44, 49];

/// The keys to time.
pub(super) const LENGTHS: &[KeyBytes] = &[
    KeyBytes::Mixed,
    KeyBytes::Each(4),
    KeyBytes::Each(8),
    KeyBytes::Each(16),
    KeyBytes::Each(24),
    KeyBytes::Each(32),
    KeyBytes::Each(48),
    KeyBytes::Each(64),
    KeyBytes::Each(128),
    KeyBytes::Each(256),
    KeyBytes::Each(512),
    KeyBytes::Each(1024),
];

/// How long the keys of a batch are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyBytes {
    /// As in a real dump.
    Mixed,
    /// All equal.
    Each(u32),
}

impl JsonSchema for KeyBytes {
    fn schema_name() -> Cow<'static, str> {
        "KeyBytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "How long the keys are.", "type": ["integer", "string"]})
    }
}

impl Serialize for KeyBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            KeyBytes::Mixed => serializer.serialize_str("mixed"),
            KeyBytes::Each(bytes) => serializer.serialize_u32(*bytes),
        }
    }
}

/// Consecutive keys.
pub(super) struct Batch {
    pub key_bytes: KeyBytes,
    block: Block,
    spans: Spans,
}

impl Batch {
    /// A batch of keys without a pattern.
    pub(super) fn of(key_bytes: KeyBytes) -> Self {
        let mut spans = Spans::default();
        let mut end = 0;
        let mut noise = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            noise = noise.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (noise >> 33) as u32
        };
        while spans.len() < BATCH_KEYS && (spans.len() < 64 || end < BATCH_BYTES) {
            let len = match key_bytes {
                KeyBytes::Mixed => REAL[next() as usize % REAL.len()],
                KeyBytes::Each(len) => len,
            };
            // Leave a line end between keys, as in a dump.
            spans.push(end, end + len);
            end += len + 1;
        }
        let content: Vec<u8> = (0..end).map(|_| next() as u8).collect();
        Batch {
            key_bytes,
            block: Block::from_bytes(&content),
            spans,
        }
    }

    /// Compares all results of a kernel with the definition.
    ///
    /// # Errors
    /// A wrong slot.
    pub(super) fn check(&self, kernel: &Kernel) -> Result<()> {
        let parts = self.spans.in_block(self.block.padded());
        let mut slots = vec![0; parts.len()];
        kernel.slots(parts, &mut slots);
        let right = |i: usize| slot_of_part(parts.get(i));
        match (0..slots.len()).find(|i| slots[*i] != right(*i)) {
            None => Ok(()),
            Some(i) => {
                let reason = format!(
                    "gives slot {} where {} is right; do not use this kernel here",
                    slots[i],
                    right(i)
                );
                Err(Error::bad(format!("kernel {}", kernel.name), reason))
            }
        }
    }

    /// Runs `kernel` over the batch on every thread of `pool`.
    pub(super) fn runner<'a>(&'a self, kernel: &'static Kernel, pool: &'a ThreadPool) -> Run<'a> {
        let bytes: u64 = self
            .spans
            .start
            .iter()
            .zip(&self.spans.end)
            .map(|(start, end)| u64::from(end - start))
            .sum();
        let threads = pool.current_num_threads() as u64;
        let repeat = move |times: u64| {
            pool.broadcast(|_| {
                let parts = self.spans.in_block(self.block.padded());
                let mut slots = vec![0; parts.len()];
                for _ in 0..times {
                    kernel.slots(parts, &mut slots);
                    std::hint::black_box(&slots);
                }
            });
        };
        Run {
            keys: self.spans.len() as u64 * threads,
            bytes: bytes * threads,
            repeat: Box::new(repeat),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_stay_in_the_cache_and_every_kernel_answers_them_right() {
        for key_bytes in LENGTHS {
            let batch = Batch::of(*key_bytes);
            assert!((64..=BATCH_KEYS).contains(&batch.spans.len()));
            assert!(batch.block.len() <= BATCH_BYTES as usize + 1025);
            hashslot::available().for_each(|kernel| batch.check(kernel).unwrap());
        }
    }
}
