//! The loads shown by a picture, in the metric of the verdict, and their number format.

use crate::plot::perfect_slot::CompoundPoisson;
use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::slot::SLOTS;
use slotscope_base::text::{grouped, plural, three_digits};
use slotscope_model::Summary;
use slotscope_model::balance;
use slotscope_model::balance::Balance;
use slotscope_model::independent_units::Units;

use crate::plot::numbers::Numbers;

/// The loads of slots and nodes in one metric.
#[derive(Clone, Copy)]
pub(crate) struct Loads<'a> {
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
    pub(crate) fn of(summary: &'a Summary) -> Self {
        Loads::by(summary, summary.by)
    }

    /// In this metric; keys if the summary lacks it.
    pub(crate) fn by(summary: &'a Summary, metric: Metric) -> Self {
        let (slots, nodes) = (&summary.slots, &summary.nodes.balance);
        let by = match slots.loads.get(metric) {
            Some(_) => metric,
            None => Metric::Keys,
        };
        Loads {
            by,
            slots: slots.loads.get(by).unwrap_or(&slots.loads.keys),
            stats: slots.stats.get(by).unwrap_or(&slots.stats.keys),
            nodes: nodes.get(by).unwrap_or(&nodes.keys),
            units: &summary.units,
        }
    }

    /// The distribution of slot loads under a perfect hash; `None` if units were not counted.
    pub(crate) fn expected(&self) -> Option<CompoundPoisson> {
        CompoundPoisson::of(self.units, self.by)
    }

    pub(crate) fn held(&self, load: &PerMetric<u64>) -> u64 {
        load.get(self.by).copied().unwrap_or(0)
    }

    /// The load of all slots.
    pub(crate) fn total(&self) -> f64 {
        balance::sum(self.slots) as f64
    }

    pub(crate) fn mean(&self) -> f64 {
        self.total() / SLOTS as f64
    }

    /// `keys`, `bytes`, `ops`.
    pub(crate) fn noun(&self) -> &'static str {
        self.by.title()
    }

    /// `Keys`, `Bytes`, `Ops`: for the start of a title.
    pub(crate) fn title(&self) -> String {
        let (first, rest) = self.by.title().split_at(1);
        format!("{}{rest}", first.to_uppercase())
    }

    /// The number format of axes.
    pub(crate) fn numbers(&self) -> Numbers {
        Numbers::of(self.by)
    }

    /// `4,120`, `12.3 MiB`.
    pub(crate) fn short(&self, load: f64) -> String {
        self.numbers().short(load)
    }

    /// `4,120 keys`, `1 op`, `12.3 MiB`.
    pub(crate) fn counted(&self, load: u64) -> String {
        match self.by {
            Metric::Keys => counted(load, "key"),
            by if by.has_unit() => self.short(load as f64),
            Metric::Accesses => format!("≈ {} accesses/min", grouped(load)),
            // The short name, as space is limited.
            by => counted(load, by.name().trim_end_matches('s')),
        }
    }
}

/// A count with its noun: `1 key`, `4,120 keys`, `12.3 M keys`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", three_digits(count as f64), plural(count))
}
