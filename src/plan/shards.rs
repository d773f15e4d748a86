//! Slot ranges for shards that a managed service restores from a backup: one per shard, with loads as equal as ranges
//! allow. Formatted as NodeGroupConfiguration of Amazon ElastiCache.

use std::io::{self, Write};

use slotscope_base::metric::Metric;
use slotscope_model::Summary;
use slotscope_model::words::times;
use slotscope_planner::even_ranges::even_ranges;

/// A slot range for each shard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shards {
    /// The metric they are balanced by.
    pub by: Metric,
    /// First and last slot of each range.
    pub ranges: Vec<(u16, u16)>,
    /// The fullest shard in fair shares.
    pub max_over_mean: f64,
    /// The emptiest shard in fair shares.
    pub min_over_mean: f64,
}

impl Shards {
    /// This many shards for the counts of a summary, by the metric `asked` for if present; `None` if there are too many
    /// shards, or nothing was counted.
    pub(crate) fn of(summary: &Summary, count: usize, asked: Option<Metric>) -> Option<Shards> {
        let loads = &summary.slots.loads;
        let held = |metric: Metric| {
            let sum: u128 = loads
                .get(metric)?
                .iter()
                .map(|load| u128::from(*load))
                .sum();
            Some(sum).filter(|sum| *sum > 0)
        };
        let usual = [Metric::Bytes, Metric::Keys, Metric::Ops];
        let mut metrics = asked.into_iter().chain(usual);
        let metric = metrics.find(|metric| held(*metric).is_some())?;
        let (slots, total) = (loads.get(metric)?, held(metric)?);
        let ranges = even_ranges(slots, count)?;
        let sum = |(first, last): &(u16, u16)| -> u128 {
            let of_shard = &slots[usize::from(*first)..=usize::from(*last)];
            of_shard.iter().map(|load| u128::from(*load)).sum()
        };
        let in_shares = |load: u128| load as f64 * count as f64 / total as f64;
        let sums = || ranges.iter().map(sum);
        let (most, least) = (sums().max()?, sums().min()?);
        Some(Shards {
            by: metric,
            max_over_mean: in_shares(most),
            min_over_mean: in_shares(least),
            ranges,
        })
    }

    /// In one sentence.
    pub(crate) fn in_words(&self) -> String {
        format!(
            "{} shards with one range of slots each: the fullest holds {} its share of {}, the emptiest {}; \
             what is written after the backup is not in the new shards; restore it with \
             aws elasticache create-replication-group --snapshot-name NAME --node-group-configuration file://FILE",
            self.ranges.len(),
            times(self.max_over_mean),
            self.by.name(),
            times(self.min_over_mean)
        )
    }

    /// As JSON, one line per shard.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "[")?;
        for (at, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if at + 1 < self.ranges.len() { "," } else { "" };
            let id = at + 1;
            writeln!(
                out,
                "  {{\"NodeGroupId\": \"{id:04}\", \"Slots\": \"{first}-{last}\"}}{comma}"
            )?;
        }
        writeln!(out, "]")
    }
}
