//! Histograms of slots and hash tags, compared with chance.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::{amount_cell, grouped};
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::model::bins::Bins;
use slotscope_findings::summary::model::compound::CompoundPoisson;

use crate::view::{Block, Scope, Section};

/// Approximate number of bars.
const BARS: u64 = 48;
/// The tail is drawn up to this multiple of the 99% quantile; a longer one is described in words.
const TAIL: f64 = 1.5;
/// With more keys per tag on average, tags are not compared with chance: it would not be visible.
const MOST_KEYS: f64 = 1_000.0;

/// A distribution of amounts.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The metric of the amounts.
    pub metric: Metric,
    /// The counted things: `slots`, `hash tags`.
    pub what: &'static str,
    /// The counts by amount.
    pub bins: Bins,
    /// The number expected by chance, by bin; empty if unknown.
    pub expected: Vec<f64>,
    /// The meaning of "by chance".
    pub chance: &'static str,
}

impl Distribution {
    /// Slots by their load in the metric of the report.
    pub(crate) fn of_slots(summary: &Summary) -> Option<Self> {
        let metric = summary.by;
        let loads = summary.slots.loads.get(metric)?;
        let stats = summary.slots.stats.get(metric)?;
        let chance = CompoundPoisson::of(&summary.units, metric);
        let high = chance
            .as_ref()
            .map_or(0, |chance| chance.middle_98_percent().1.ceil() as u64);
        let empty = bins(stats.max, stats.p99.max(high));
        let bins = empty.count(loads.iter().map(|load| (*load, 1)));
        let within =
            |chance: &CompoundPoisson, at| chance.slots_between(bins.edge(at), bins.edge(at + 1));
        let chances = chance.iter();
        let expected = chances
            .flat_map(|chance| (0..bins.len()).map(|at| within(chance, at)))
            .collect();
        (stats.max > 0).then_some(Distribution {
            metric,
            what: "slots",
            bins,
            expected,
            chance: "a perfect hash of the same keys and tags",
        })
    }

    /// Hash tags by their keys.
    pub(crate) fn of_tags(summary: &Summary) -> Option<Self> {
        let sizes = &summary.tag_sizes.as_ref()?.keys;
        let bins = bins(sizes.max, sizes.p99).count(sizes.counts.iter().copied());
        let known: u64 = sizes.counts.iter().map(|(_, tags)| tags).sum();
        let mean = known_mean(&sizes.counts);
        let expected = match mean {
            Some(mean) if mean <= MOST_KEYS => expected_tags(&bins, mean, known as f64),
            _ => Vec::new(),
        };
        (sizes.count > 0 && known > 0).then_some(Distribution {
            metric: Metric::Keys,
            what: "hash tags",
            bins,
            expected,
            chance: "the same keys on the same number of tags, at random",
        })
    }

    /// The counts beyond the last bar, in words; empty if there are none.
    pub(crate) fn beyond(&self) -> String {
        match self.bins.beyond {
            0 => String::new(),
            count => format!(
                "; {} with {} or more not drawn",
                grouped(count),
                amount_cell(self.metric, self.bins.end())
            ),
        }
    }
}

/// Bins for amounts up to `max`, or if that is far out, up to a multiple of `usual`.
fn bins(max: u64, usual: u64) -> Bins {
    let last = (TAIL * usual as f64) as u64;
    Bins::uniform(0, max.min(last.max(8)), BARS)
}

fn known_mean(counts: &[(u64, u64)]) -> Option<f64> {
    let tags: f64 = counts.iter().map(|(_, tags)| *tags as f64).sum();
    let keys: f64 = counts
        .iter()
        .map(|(keys, tags)| *keys as f64 * *tags as f64)
        .sum();
    (tags > 0.0).then_some(keys / tags)
}

/// Tags by number of keys if keys hit tags at random and every known tag has at least one: a zero-truncated Poisson
/// distribution.
fn expected_tags(bins: &Bins, mean: f64, tags: f64) -> Vec<f64> {
    // Its rate: rate / (1 - exp(-rate)) is the mean, which exceeds the rate.
    let (mut rate, mut above) = (0.0, mean);
    for _ in 0..60 {
        let middle = (rate + above) / 2.0;
        if middle < -mean * f64::exp_m1(-middle) {
            rate = middle;
        } else {
            above = middle;
        }
    }
    let (mut log_factorial, mut keys) = (0.0, 0u64);
    let mut at_least_one = -f64::exp_m1(-rate);
    if at_least_one <= 0.0 {
        // Every tag has one key.
        (rate, at_least_one) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
    }
    let mut probability = |wanted: u64| {
        while keys < wanted {
            keys += 1;
            log_factorial += (keys as f64).ln();
        }
        match wanted {
            0 => 0.0,
            wanted => (wanted as f64 * rate.ln() - rate - log_factorial).exp() / at_least_one,
        }
    };
    let sizes = |at: usize| bins.edge(at)..bins.edge(at + 1);
    let within = |at: usize| sizes(at).map(&mut probability).sum::<f64>() * tags;
    (0..bins.len()).map(within).collect()
}

/// Slots by load, for the page.
pub(crate) fn slots(summary: &Summary) -> Option<Section<'_>> {
    let picture = Distribution::of_slots(summary)?;
    let title = format!("How many slots hold how many {}", summary.by.title());
    let section = Section::titled(title).anchored("slot-sizes", "Slots by load");
    let scoped = section.scoped(Scope::Page).narrow();
    Some(scoped.with(Block::Distribution(picture)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_gives_adds_up_to_the_tags_and_the_keys() {
        let bins = Bins::uniform(0, 59, 60); // one bar per number
        for mean in [1.0, 1.5, 4.0, 20.0] {
            let expected = expected_tags(&bins, mean, 1000.0);
            let keys = expected
                .iter()
                .enumerate()
                .map(|(keys, tags)| keys as f64 * tags);
            assert!(
                (expected.iter().sum::<f64>() - 1000.0).abs() < 1.0,
                "{mean}"
            );
            assert!(
                (keys.sum::<f64>() - 1000.0 * mean).abs() < 1.0 + mean,
                "{mean}"
            );
            assert_eq!(expected[0], 0.0);
        }
    }

    #[test]
    fn a_tail_far_out_makes_no_bar_wide() {
        let all = bins(1_000_000, 40).count([(5, 100), (1_000_000, 1)].into_iter());
        assert_eq!((all.end(), all.beyond), (62, 1));
        assert_eq!(bins(30, 40).end(), 31);
    }
}
