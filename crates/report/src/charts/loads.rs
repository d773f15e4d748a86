//! The loads shown by a chart, in the metric of the verdict, and their number format.

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::slot::SLOTS;
use slotscope_engine::text::grouped;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::balance;
use slotscope_findings::summary::balance::Balance;
use slotscope_findings::summary::independent_units::Units;
use slotscope_findings::summary::model::compound::CompoundPoisson;

use crate::charts::number::counted;
use crate::plot::numbers::Numbers;

/// The loads of slots and nodes in one metric.
#[derive(Clone, Copy)]
pub(super) struct Loads<'a> {
    pub by: Metric,
    /// The load of each slot.
    pub slots: &'a [u64],
    /// Their balance.
    pub stats: &'a Balance,
    /// The balance of the nodes that own slots.
    pub nodes: &'a Balance,
    /// The independent units they consist of.
    pub units: &'a Units,
}

impl<'a> Loads<'a> {
    /// In the metric of the verdict; keys if the summary lacks it.
    pub(super) fn of(summary: &'a Summary) -> Self {
        Loads::by(summary, summary.by)
    }

    /// In this metric; keys if the summary lacks it.
    pub(super) fn by(summary: &'a Summary, metric: Metric) -> Self {
        let (slots, nodes) = (&summary.slots, &summary.nodes.balance);
        let (loads, stats) = (slots.loads.get(metric), slots.stats.get(metric));
        match (loads, stats, nodes.get(metric)) {
            (Some(loads), Some(stats), Some(nodes)) => Loads {
                by: metric,
                slots: loads,
                stats,
                nodes,
                units: &summary.units,
            },
            _ => Loads {
                by: Metric::Keys,
                slots: &slots.loads.keys,
                stats: &slots.stats.keys,
                nodes: &nodes.keys,
                units: &summary.units,
            },
        }
    }

    /// The distribution of slot loads under a perfect hash; `None` if units were not counted.
    pub(super) fn expected(&self) -> Option<CompoundPoisson> {
        CompoundPoisson::of(self.units, self.by)
    }

    pub(super) fn held(&self, load: &PerMetric<u64>) -> u64 {
        load.get(self.by).copied().unwrap_or(0)
    }

    /// The load of all slots.
    pub(super) fn total(&self) -> f64 {
        balance::sum(self.slots) as f64
    }

    pub(super) fn mean(&self) -> f64 {
        self.total() / SLOTS as f64
    }

    /// `keys`, `bytes`, `ops`.
    pub(super) fn noun(&self) -> &'static str {
        self.by.title()
    }

    /// `Keys`, `Bytes`, `Ops`: for the start of a title.
    pub(super) fn title(&self) -> String {
        let (first, rest) = self.by.title().split_at(1);
        format!("{}{rest}", first.to_uppercase())
    }

    /// The number format of axes.
    pub(super) fn numbers(&self) -> Numbers {
        Numbers::of(self.by)
    }

    /// `4,120`, `12.3 MiB`.
    pub(super) fn short(&self, load: f64) -> String {
        self.numbers().short(load)
    }

    /// `4,120 keys`, `1 op`, `12.3 MiB`.
    pub(super) fn counted(&self, load: u64) -> String {
        match self.by {
            Metric::Keys => counted(load, "key"),
            by if by.has_unit() => self.short(load as f64),
            Metric::Accesses => format!("≈ {} accesses/min", grouped(load)),
            // The short name, as space is limited.
            by => counted(load, by.name().trim_end_matches('s')),
        }
    }

    /// The text for no load.
    pub(super) fn nothing(&self) -> String {
        format!("no {} in this dump", self.noun())
    }
}
