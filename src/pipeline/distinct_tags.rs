//! Estimates the number of distinct hash tags from a small sample, to avoid starting a table that would overflow.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use slotscope_engine::scan::Scan;
use slotscope_engine::slot::SlotBatch;
use slotscope_engine::source::Source;
use slotscope_engine::tally::Tally;
use slotscope_engine::tally::tagged::Tagged;

use crate::pipeline::likely_heavy::Sampling;

/// Maximum distinct tags kept from the sample. With this many, a table would fill up soon, or the sample is large.
const MOST: usize = 1 << 20;

/// A lower bound on the distinct tags in `sources`, estimated from a sample; `None` if a sample is not worthwhile.
///
/// The sample, and hence the estimate, does not depend on threads or chunks.
pub(crate) fn at_least(
    sampling: Sampling,
    scan: &Scan<'_>,
    sources: &[Box<dyn Source>],
) -> Option<f64> {
    let every = sampling.every(sources)?;
    let sample = scan.sample(sources, every, Seen::default).ok()?;
    Some(sample.at_least(every))
}

/// Frequencies of sampled tags. A tag counts once per batch, since keys of a tag are often neighbours.
#[derive(Default)]
struct Seen {
    times: HashMap<u64, u32>,
    /// The sum of `times` over all tags.
    total: u64,
    batch: HashSet<u64>,
    tagged: Tagged,
}

impl Seen {
    /// A lower bound for one in `every` keys, from the tags seen once and twice (Chao, Scand. J. Stat. 11, 1984). It
    /// assumes keys in random order; if all keys of a tag are neighbours, as in a sorted dump, there are `every` times
    /// as many tags as in the sample, which is the maximum.
    fn at_least(&self, every: u64) -> f64 {
        let tags = |times: u32| self.times.values().filter(|seen| **seen == times).count() as f64;
        let (once, twice) = (tags(1), tags(2));
        let unseen = once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0));
        (self.times.len() as f64 + unseen).min(every as f64 * self.total as f64)
    }

    fn add_times(&mut self, hash: u64, times: u32) {
        let room = self.times.len() < MOST;
        self.total += u64::from(times);
        match self.times.entry(hash) {
            Entry::Occupied(mut seen) => *seen.get_mut() += times,
            Entry::Vacant(new) if room => {
                new.insert(times);
            }
            Entry::Vacant(_) => {}
        }
    }
}

impl Tally for Seen {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut tagged = std::mem::take(&mut self.tagged);
        tagged.find(keys, |_| true);
        self.batch.clear();
        for hash in &tagged.hashes {
            if self.batch.insert(*hash) {
                self.add_times(*hash, 1);
            }
        }
        self.tagged = tagged;
    }

    fn merge(&mut self, other: Self) {
        for (hash, times) in other.times {
            self.add_times(hash, times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound for draws from this many equally likely tags.
    fn bound(tags: u64, draws: u64) -> f64 {
        let mut seen = Seen::default();
        for draw in 0..draws {
            // Multiplying by odd numbers scatters the draws.
            let scattered = (draw + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let scattered = (scattered ^ scattered >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            seen.add_times((scattered >> 32) % tags, 1);
        }
        seen.at_least(1000)
    }

    #[test]
    fn the_bound_is_near_the_number_of_equally_likely_tags() {
        for tags in [1000, 100_000, 2_000_000] {
            let found = bound(tags, 50_000);
            assert!((found / tags as f64 - 1.0).abs() < 0.12, "{tags}: {found}");
        }
    }

    #[test]
    fn few_tags_of_many_keys_are_no_more_than_they_are() {
        assert!((bound(10, 10_000) - 10.0).abs() < 0.01);
        assert_eq!(Seen::default().at_least(7), 0.0);
    }

    #[test]
    fn tags_of_neighbours_are_no_more_than_the_sample_says() {
        let mut seen = Seen::default();
        // A batch of a sorted dump: 20 tags that occur nowhere else.
        for tag in 0..20_000 {
            seen.add_times(tag, 1);
        }
        assert_eq!(seen.at_least(50), 1_000_000.0);
    }
}
