//! Expiry storms and upcoming expiry by pattern and node, from a sample of keys.

use std::collections::BTreeMap;

use slotscope_base::metric::{Load, Metric};
use slotscope_base::name::Name;
use slotscope_count::tally;
use slotscope_model::balance::tidy;
use slotscope_model::expiry::{Leaving, LeavingPart, Storm};

/// Minimum size of a storm, as a fraction of all keys.
const STORM: f64 = 0.1;
/// A storm also has this many times the keys of the median minute of the following hour.
const TIMES_USUAL: u64 = 10;
/// Keys that expire within this many seconds after the dump are ordinary churn.
const SOON: u64 = 600;
/// Minutes per span if times stretch over more than 45 days.
const TOGETHER: u64 = 4;
/// A pattern or node with this fraction of a storm is named.
const MOST: f64 = 0.6;
/// Maximum number of storms, patterns and nodes listed.
const STORMS: usize = 3;
const LISTED: usize = 20;
const HOUR: u64 = 3600;

/// Expiring keys: all of them by time, and a sample with names.
pub(crate) struct Expiring<'a> {
    /// The sample.
    pub sample: Vec<tally::expiry::Expiring>,
    /// All keys by expiry time, ascending, in milliseconds since 1970.
    pub spans: &'a [(u64, Load)],
    /// Minutes per span.
    pub units: u64,
    pub owner: &'a dyn Fn(u16) -> Option<Name>,
    /// Redacts a pattern for display, if required.
    pub shown_pattern: &'a dyn Fn(&Name) -> Name,
}

impl Expiring<'_> {
    /// The storms after a dump of `keys` keys that was `written` in the minute starting at that second.
    pub(crate) fn storms(&self, written: Option<u64>, keys: u64) -> Vec<Storm> {
        if self.units > TOGETHER {
            return Vec::new();
        }
        let is_storm = |(at, (start, load)): &(usize, &(u64, Load))| {
            let count = load[Metric::Keys];
            let is_due = written.is_none_or(|written| start / 1000 >= written + SOON);
            is_due
                && count as f64 >= STORM * keys.max(1) as f64
                && count >= TIMES_USUAL.saturating_mul(self.median_after(*at))
        };
        let mut storms: Vec<&(u64, Load)> = self
            .spans
            .iter()
            .enumerate()
            .filter(is_storm)
            .map(|(_, span)| span)
            .collect();
        storms.sort_by_key(|(start, load)| (std::cmp::Reverse(load[Metric::Keys]), *start));
        let storm = |(start, load): &(u64, Load)| {
            let (count, from) = (load[Metric::Keys], start / 1000);
            let until = from + 60 * self.units;
            Storm {
                at: from,
                after: written.map(|written| from.saturating_sub(written)),
                minutes: self.units,
                keys: count,
                share: tidy(count as f64 / keys.max(1) as f64),
                pattern: most(&self.patterns(from, until)),
                node: most(&self.nodes(from, until)),
            }
        };
        storms.into_iter().take(STORMS).map(storm).collect()
    }

    /// The median number of keys per span in the hour after index `at`.
    fn median_after(&self, at: usize) -> u64 {
        let start = self.spans[at].0;
        let later = self.spans[at + 1..].iter();
        let within = later.take_while(|(next, _)| *next <= start + 1000 * HOUR);
        let mut counts: Vec<u64> = within.map(|(_, load)| load[Metric::Keys]).collect();
        // Spans without expiring keys are not listed.
        counts.resize((HOUR / 60 / self.units) as usize, 0);
        counts.sort_unstable();
        counts[counts.len() / 2]
    }

    /// Keys that expire within an hour of `from`; `None` if there are none.
    pub(crate) fn leaving(&self, from: u64) -> Option<Leaving> {
        let until = from + HOUR;
        let is_within = |at: u64| (from..until).contains(&(at / 1000));
        let spans = self.spans.iter().filter(|(start, _)| is_within(*start));
        let keys: u64 = spans.map(|(_, load)| load[Metric::Keys]).sum();
        let parts = |counts: BTreeMap<Name, u64>| {
            let total: u64 = counts.values().sum();
            let mut parts: Vec<LeavingPart> = counts
                .into_iter()
                .map(|(name, count)| LeavingPart {
                    name,
                    keys: (u128::from(count) * u128::from(keys) / u128::from(total.max(1))) as u64,
                    share: tidy(count as f64 / total.max(1) as f64),
                })
                .collect();
            parts.sort_by(|a, b| (b.keys, &a.name).cmp(&(a.keys, &b.name)));
            parts.truncate(LISTED);
            parts
        };
        (keys > 0).then(|| Leaving {
            keys,
            estimated: self.sample.len() >= tally::expiry::SAMPLED,
            nodes: parts(self.nodes(from, until)),
            patterns: parts(self.patterns(from, until)),
        })
    }

    /// Sampled keys by pattern.
    fn patterns(&self, from: u64, until: u64) -> BTreeMap<Name, u64> {
        self.counted(from, until, |key| Some((self.shown_pattern)(&key.pattern)))
    }

    /// Sampled keys by node.
    fn nodes(&self, from: u64, until: u64) -> BTreeMap<Name, u64> {
        self.counted(from, until, |key| (self.owner)(key.slot))
    }

    fn counted(
        &self,
        from: u64,
        until: u64,
        name: impl Fn(&tally::expiry::Expiring) -> Option<Name>,
    ) -> BTreeMap<Name, u64> {
        let is_within = |key: &&tally::expiry::Expiring| (from..until).contains(&(key.at / 1000));
        let mut counts = BTreeMap::new();
        for name in self.sample.iter().filter(is_within).filter_map(name) {
            *counts.entry(name).or_default() += 1;
        }
        counts
    }
}

/// The most frequent name; `None` if there are none.
fn most(counts: &BTreeMap<Name, u64>) -> Option<Name> {
    let total: u64 = counts.values().sum();
    let (name, count) = counts.iter().max_by_key(|(_, count)| **count)?;
    (*count as f64 >= MOST * total as f64).then(|| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: u64 = 1_795_392_000;

    /// The storms if this many of `keys` keys expire in each minute after the dump.
    fn storms(minutes: &[(u64, u64)], keys: u64) -> Vec<(u64, u64)> {
        let span = |(minute, count): &(u64, u64)| {
            (
                1000 * (WRITTEN + 60 * minute),
                Load::of(Metric::Keys, *count),
            )
        };
        let spans: Vec<(u64, Load)> = minutes.iter().map(span).collect();
        let expiring = Expiring {
            sample: Vec::new(),
            spans: &spans,
            units: 1,
            owner: &|_| None,
            shown_pattern: &Name::clone,
        };
        let found = expiring.storms(Some(WRITTEN), keys);
        found
            .iter()
            .map(|storm| (storm.after.unwrap() / 60, storm.keys))
            .collect()
    }

    #[test]
    fn a_minute_is_a_storm_by_its_share_its_time_and_what_is_usual() {
        assert_eq!(storms(&[(120, 100)], 1000), [(120, 100)]);
        assert_eq!(storms(&[(120, 99)], 1000), [], "a smaller part");
        assert_eq!(storms(&[(9, 500)], 1000), [], "soon after the dump");
        assert_eq!(
            storms(&[(10, 500), (200, 300)], 1000),
            [(10, 500), (200, 300)]
        );
        // The median of an hour whose minutes are all alike, and of one with every other minute empty.
        let every = |step: usize, count: u64| -> Vec<(u64, u64)> {
            let rest = (121..=180).step_by(step).map(|minute| (minute, count));
            [(120, 200)].into_iter().chain(rest).collect()
        };
        assert_eq!(storms(&every(1, 21), 1000), [], "more is usual");
        assert_eq!(storms(&every(1, 20), 1000), [(120, 200)]);
        assert_eq!(storms(&every(3, 90), 1000), [(120, 200)]);
    }

    #[test]
    fn most_is_more_than_half() {
        let counts = |counts: [u64; 2]| {
            let names = ["a", "b"].map(Name::from);
            most(&names.into_iter().zip(counts).collect())
        };
        assert_eq!(counts([6, 4]), Some(Name::from("a")));
        assert_eq!(counts([5, 5]), None);
    }
}
