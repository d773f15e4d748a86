//! Quantiles of key lengths, key sizes and tag sizes.
//!
//! The histogram of the tally counts exactly below a power of two, then in a fixed number of ranges per doubling.

use slotscope_engine::metric::Metric;
use slotscope_engine::tally::sketch::histogram::Histogram;
use slotscope_engine::tally::tags::{TagCounter, TagCounts};
use slotscope_model::balance::tidy;
use slotscope_model::quantiles::{Quantiles, TagSizes};
use slotscope_model::tags::Tags;

/// Values of more bits are rounded up to this many: three significant digits.
const BITS: u32 = 11;

/// The quantiles of key amounts or sizes.
pub fn of(amounts: &Histogram) -> Quantiles {
    let (count, counts): (u64, Vec<_>) = (amounts.count(), amounts.pairs().collect());
    let quantile = |p: f64| {
        let rank = ((p * count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let at_rank = counts.iter().find(|(_, many)| {
            below += many;
            below >= rank
        });
        at_rank.map_or(0, |(value, _)| rounded(*value).min(amounts.max()))
    };
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
        counts: counts.clone(),
    }
}

/// The largest value with the same leading bits.
fn rounded(value: u64) -> u64 {
    let dropped = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    value | ((1 << dropped) - 1)
}

/// From the known tags; `None` if no key has one.
pub(crate) fn of_tags(tags: &TagCounter) -> Option<TagSizes> {
    let mut amounts = Histogram::default();
    let is_sampled = match &tags.counts {
        TagCounts::Exact(table) => {
            amounts.add(table.iter().map(|(_, _, load)| load[Metric::Keys]));
            false
        }
        TagCounts::Shared(counted) => {
            amounts = counted.sizes.clone();
            false
        }
        _ => {
            amounts.add(tags.sample.sizes());
            true
        }
    };
    let count = amounts.count();
    (count > 0).then(|| TagSizes {
        keys: of(&amounts),
        sampled: is_sampled.then_some(count),
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

    fn quantiles(amounts: &[u32]) -> Quantiles {
        let mut counted = Histogram::default();
        counted.add(amounts.iter().map(|amount| u64::from(*amount)));
        of(&counted)
    }

    #[test]
    fn quantiles_are_nearest_ranks_to_three_digits_at_every_size() {
        for scale in [1, 10, 100, 1000] {
            let amounts: Vec<u32> = (1..=1000).map(|i| i * scale).collect();
            let found = quantiles(&amounts);
            let ranks = [
                (found.p50, 500),
                (found.p90, 900),
                (found.p99, 990),
                (found.p999, 999),
            ];
            for (found, rank) in ranks {
                let truth = f64::from(rank * scale);
                assert!(
                    (found as f64 / truth - 1.0).abs() < 0.002,
                    "{found} for {truth}"
                );
            }
            assert_eq!(
                (found.min, found.max, found.count),
                (u64::from(scale), u64::from(1000 * scale), 1000)
            );
        }
    }

    #[test]
    fn one_long_key_is_all_quantiles() {
        let found = quantiles(&[5001]);
        assert_eq!(
            (found.min, found.p50, found.max, found.mean),
            (5001, 5001, 5001, 5001.0)
        );
    }

    #[test]
    fn no_key_has_no_length() {
        let found = quantiles(&[]);
        assert_eq!(
            (found.count, found.min, found.p50, found.max, found.mean),
            (0, 0, 0, 0, 0.0)
        );
    }
}
