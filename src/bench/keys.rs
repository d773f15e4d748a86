//! Batches of keys for timing kernels: one length each.

use rayon::ThreadPool;

use slotscope_base::batch::{BATCH_KEYS, Spans};
use slotscope_base::block::Block;
use slotscope_base::error::{Error, Result};
use slotscope_base::slot::{Kernel, slot_of_part};

use crate::bench::timing::Run;

/// Bytes of keys per batch, to stay in the L2 cache as in a scan.
const BATCH_BYTES: u32 = 256 << 10;

/// The lengths of keys to time, in bytes.
pub(super) const LENGTHS: &[u32] = &[8, 16, 32, 64, 256];

/// Consecutive keys.
pub(super) struct Batch {
    pub key_bytes: u32,
    block: Block,
    spans: Spans,
}

impl Batch {
    /// A batch of keys without a pattern.
    pub(super) fn of(key_bytes: u32) -> Self {
        let mut spans = Spans::default();
        let mut end = 0;
        let mut noise = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            noise = noise.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (noise >> 33) as u32
        };
        while spans.len() < BATCH_KEYS && (spans.len() < 64 || end < BATCH_BYTES) {
            // Leave a line end between keys, as in a dump.
            spans.push(end, end + key_bytes);
            end += key_bytes + 1;
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
