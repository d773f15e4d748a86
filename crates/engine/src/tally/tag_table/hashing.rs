//! Hashes of hash tags, seeded anew for every table, so that no input can be made to collide.
//!
//! Names of up to 64 bytes are hashed with the vectors of a kernel, where it has some, others like any name.

use std::hash::{BuildHasher, RandomState};

use hashslot::simd::{Bytes64, LANES, Pass};
use hashslot::{Batch, Kernel, PAD, Padded};

use crate::format::batch::Spans;
use crate::hash::{fold, hash_span_seeded};
use crate::slot::SlotBatch;
use crate::tally::tagged::Tagged;

/// Random numbers, and the kernel that hashes.
#[derive(Debug, Clone)]
pub(super) struct Hashing {
    kernel: &'static Kernel,
    random: [u64; 8],
    seed: u64,
}

impl Hashing {
    /// Hashes that nobody knows beforehand.
    pub(super) fn new(kernel: &'static Kernel) -> Self {
        let state = RandomState::new();
        Hashing {
            kernel,
            random: std::array::from_fn(|i| state.hash_one(i)),
            seed: state.hash_one("seed"),
        }
    }

    /// Finds the tagged keys of a batch, with these hashes.
    pub(super) fn find_tagged(&self, keys: &SlotBatch<'_>, tagged: &mut Tagged) {
        tagged.list(keys, |_| true);
        let Tagged {
            keys: wanted,
            hashes,
        } = tagged;
        self.of_spans(keys.batch.base, keys.hashed, wanted, hashes);
    }

    /// Writes the hash of each of `wanted`, numbers of spans, none of them 0.
    fn of_spans(&self, base: Padded<'_>, spans: &Spans, wanted: &[u32], hashes: &mut Vec<u64>) {
        hashes.resize(wanted.len(), 0);
        self.kernel.run(HashSpans {
            hashing: self,
            spans: spans.in_block(base),
            wanted,
            hashes,
        });
    }

    /// The same hash of a name.
    pub(super) fn of_name(&self, name: &[u8]) -> u64 {
        let mut buffer = vec![0; PAD + name.len() + PAD];
        buffer[PAD..PAD + name.len()].copy_from_slice(name);
        let (mut spans, mut hashes) = (Spans::default(), Vec::new());
        spans.push(0, name.len() as u32);
        self.of_spans(Padded::new(&buffer), &spans, &[0], &mut hashes);
        hashes[0]
    }

    #[inline(always)]
    fn of_long(&self, base: Padded<'_>, start: u32, end: u32) -> u64 {
        hash_span_seeded(self.seed, base, start, end).max(1)
    }
}

struct HashSpans<'a> {
    hashing: &'a Hashing,
    spans: Batch<'a>,
    wanted: &'a [u32],
    hashes: &'a mut [u64],
}

impl Pass for HashSpans<'_> {
    type Output = ();

    fn scalar(self) {
        let (base, spans) = (self.spans.base(), self.spans);
        for (hash, wanted) in self.hashes.iter_mut().zip(self.wanted) {
            let i = *wanted as usize;
            *hash = self
                .hashing
                .of_long(base, spans.starts()[i], spans.ends()[i]);
        }
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) {
        self.spans.assert_in_bounds();
        let base = self.spans.base();
        let (starts, ends) = (self.spans.starts(), self.spans.ends());
        let Hashing { random, seed, .. } = self.hashing;
        for (hash, wanted) in self.hashes.iter_mut().zip(self.wanted) {
            let (start, end) = (starts[*wanted as usize], ends[*wanted as usize]);
            let len = end - start;
            if len > LANES as u32 {
                *hash = self.hashing.of_long(base, start, end);
                continue;
            }
            // SAFETY: the span is in the buffer, after which 64 bytes may be read, and the CPU has the instructions.
            let bytes = unsafe { B::load(base.as_ptr().add(start as usize)) };
            let kept = u64::MAX.checked_shr(LANES as u32 - len).unwrap_or(0);
            let mixed = bytes.hash_where(kept, random);
            let len = u64::from(len) << 32;
            *hash = fold(mixed as u64 ^ seed, (mixed >> 64) as u64 ^ len).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_have_hashes_of_their_own_that_spread_over_all_bits() {
        let names = (0..100_000u32).map(|i| match i % 4 {
            0 => format!("{i}").into_bytes(),
            1 => vec![0; i as usize % 200],
            2 => format!("user:{i}:of:a:shop:with:a:name:that:is:longer:than:lanes").into_bytes(),
            _ => format!("{i:065}").into_bytes(),
        });
        let names: HashSet<Vec<u8>> = names.collect();
        for kernel in hashslot::available() {
            let hashing = Hashing::new(kernel);
            let hashes: Vec<u64> = names.iter().map(|name| hashing.of_name(name)).collect();
            let distinct: HashSet<u64> = hashes.iter().map(|hash| hash >> 8).collect();
            assert_eq!(distinct.len(), names.len(), "{}", kernel.name);
            for shift in [0, 10, 25, 54] {
                let mut counts = [0f64; 1024];
                for hash in &hashes {
                    counts[(hash >> shift) as usize % 1024] += 1.0;
                }
                let mean = hashes.len() as f64 / 1024.0;
                let squares = counts.iter().map(|count| (count - mean).powi(2));
                let dispersion = squares.sum::<f64>() / mean / 1023.0;
                assert!(
                    (0.7..1.3).contains(&dispersion),
                    "{}: {dispersion}",
                    kernel.name
                );
            }
        }
    }

    #[test]
    fn a_name_has_one_hash_wherever_it_is() {
        let content: Vec<u8> = (0..=255).cycle().take(600).collect();
        let block = crate::source::block::Block::from_bytes(&content);
        for kernel in hashslot::available() {
            let hashing = Hashing::new(kernel);
            for len in (0..200).filter(|len| len % 8 < 3) {
                let (mut spans, mut hashes) = (Spans::default(), Vec::new());
                for start in [0, 1, 77, 600 - len] {
                    spans.push(start, start + len);
                }
                hashing.of_spans(block.padded(), &spans, &[3, 1], &mut hashes);
                let name = |start: u32| &content[start as usize..(start + len) as usize];
                let truth = [name(600 - len), name(1)].map(|name| hashing.of_name(name));
                assert_eq!(hashes, truth, "{}: {len} bytes", kernel.name);
            }
        }
    }
}
