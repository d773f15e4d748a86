//! Quantiles of key lengths, key sizes and tag sizes.
//!
//! Two histograms with the same layout (exact below a power of two, then a fixed number of counters per doubling) share
//! the work. The tally's `tally::sketch::histogram` is in the hot loop: adding takes 1.1 ns per key, a quarter of
//! `hdrhistogram`, and merging adds counters. Once per report, its few thousand (value, count) pairs fill an
//! `hdrhistogram`, which computes the quantiles.

use hdrhistogram::Histogram as Hdr;

use slotscope_count::tally::sketch::histogram::Histogram;
use slotscope_count::tally::tags::TagCounter;
use slotscope_model::balance::tidy;
use slotscope_model::quantiles::{Quantiles, TagSizes};
use slotscope_model::tags::Tags;

/// Significant digits.
const DIGITS: u8 = 3;

/// The quantiles of key amounts or sizes.
pub fn of(amounts: &Histogram) -> Quantiles {
    // Reserve room for the maximum up front: a histogram clamps larger values.
    let built = Hdr::<u64>::new_with_max(amounts.max().max(2), DIGITS);
    let Ok(mut histogram) = built else {
        return Quantiles::default();
    };
    for (value, count) in amounts.pairs() {
        histogram.saturating_record_n(value, count);
    }
    let count = amounts.count();
    let quantile = |p: f64| histogram.value_at_quantile(p).min(amounts.max());
    Quantiles {
        count,
        min: amounts.min(),
        max: amounts.max(),
        mean: if count == 0 {
            0.0
        } else {
            tidy(amounts.sum() as f64 / count as f64)
        },
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        p999: quantile(0.999),
        counts: amounts.pairs().collect(),
    }
}

/// From the known tags; `None` if no key has one.
pub(crate) fn of_tags(tags: &TagCounter) -> Option<TagSizes> {
    let sizes = tags.sizes();
    let count = sizes.count();
    (count > 0).then(|| TagSizes {
        keys: of(&sizes),
        sampled: (!tags.is_counted()).then_some(count),
    })
}

/// The sizes of a sample, completed with facts about all tags.
pub(crate) fn of_all_tags(mut sizes: TagSizes, tags: &Tags) -> TagSizes {
    if sizes.sampled.is_some() && tags.distinct > 0 {
        let largest = tags.heaviest.keys.first().map_or(0, |tag| tag.load.keys);
        sizes.keys.max = sizes.keys.max.max(largest);
        sizes.keys.count = tags.distinct;
        sizes.keys.mean = tidy(tags.tagged_keys as f64 / tags.distinct as f64);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_key_is_exact_and_no_key_has_no_length() {
        let quantiles = |amounts: &[u64]| {
            let mut counted = Histogram::default();
            counted.add(amounts.iter().copied());
            let found = of(&counted);
            (found.count, found.min, found.p50, found.max, found.mean)
        };
        assert_eq!(quantiles(&[5001]), (1, 5001, 5001, 5001, 5001.0));
        assert_eq!(quantiles(&[]), (0, 0, 0, 0, 0.0));
    }
}
