//! Passes for names: the heaviest ones, with their loads over time and in bursts.

use std::sync::Arc;

use slotscope_engine::error::Result;
use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_engine::slot::SLOTS;
use slotscope_engine::tally::counted_pattern::Counted;
use slotscope_engine::tally::recount::{Candidates, Recount};
use slotscope_engine::tally::tags::TagCounts;

use crate::pipeline::reading::Reading;
use crate::timeline::bursts::SlotBurst;
use crate::timeline::counts::Counts;
use crate::timeline::grid::{Grid, TimeAxis};
use crate::timeline::names::{InBursts, Kind, Names, Wanted};

/// The names tracked over time.
pub(super) struct Heavy {
    tags: Vec<Name>,
    /// `None` if there are too many.
    patterns: Option<Vec<Name>>,
}

impl Heavy {
    /// The heaviest names; recounts tags in another pass if there are too many.
    pub(super) fn of(reading: &Reading, counts: &Counts, grid: &Grid, top: usize) -> Result<Self> {
        let tags = match &counts.tags.counts {
            TagCounts::Exact(table) => {
                let rows = table.iter();
                rows.map(|(name, _, load)| (load[Metric::Ops], Name(name.to_vec())))
                    .collect()
            }
            TagCounts::CountMin(rows) => {
                let chosen = Candidates::choose(rows.clone(), &slot_loads(grid));
                let recount = Recount::new(Arc::new(chosen));
                let scanned = reading.scan("counting tags", || recount.clone())?;
                let rows = scanned.tally.tags();
                rows.map(|(name, load)| (load[Metric::Ops], name.clone()))
                    .collect()
            }
            TagCounts::HeavyHitters(_) | TagCounts::Shared(_) => Vec::new(),
        };
        let patterns = match counts.patterns.counts() {
            TagCounts::Exact(table) => {
                // Patterns of tagged and untagged keys are counted separately.
                let mut sums = std::collections::BTreeMap::new();
                for (written, _, load) in table.iter() {
                    *sums.entry(Counted::of(written).name).or_default() += load[Metric::Ops];
                }
                let rows = sums.into_iter();
                Some(rows.map(|(name, ops)| (ops, Name(name.to_vec()))).collect())
            }
            _ => None,
        };
        Ok(Heavy {
            tags: heaviest(tags, top),
            patterns: patterns.map(|patterns| heaviest(patterns, top)),
        })
    }
}

fn heaviest(mut names: Vec<(u64, Name)>, top: usize) -> Vec<Name> {
    names.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    names.truncate(top);
    names.into_iter().map(|(_, name)| name).collect()
}

fn slot_loads(grid: &Grid) -> PerMetric<Vec<u64>> {
    let mut loads = PerMetric::of_keys(vec![0; SLOTS]);
    let by_slot = loads.get_or_insert_with(Metric::Ops, || vec![0; SLOTS]);
    for (_, ops) in grid.columns() {
        let pairs = by_slot.iter_mut().zip(ops);
        pairs.for_each(|(sum, ops)| *sum += *ops);
    }
    loads
}

/// The result of the second pass.
pub(super) struct Named {
    /// The heaviest tags by bucket.
    pub tags: Vec<(Name, Vec<u64>)>,
    /// The heaviest patterns by bucket; `None` if there are too many.
    pub patterns: Option<Vec<(Name, Vec<u64>)>>,
    /// The heaviest tag or key and the heaviest pattern of each burst.
    pub in_bursts: Vec<[Option<(Kind, Name, u64)>; 2]>,
}

impl Named {
    /// Reads the loads of the heaviest names and of all bursts.
    pub(super) fn read(
        reading: &Reading,
        heavy: Heavy,
        axis: TimeAxis,
        bursts: &[SlotBurst],
    ) -> Result<Self> {
        let patterns = heavy.patterns.as_deref().unwrap_or_default();
        let wanted = Arc::new(Wanted::new(axis, &heavy.tags, patterns, bursts));
        let all = InBursts::First(Box::default());
        let scanned = reading.scan("counting names", || Names::new(&wanted, all.clone()))?;
        let mut names = scanned.tally;
        if let Some(rows) = names.in_bursts.overflowed() {
            let chosen = Candidates::of_names(Box::new(rows.clone()));
            let again = InBursts::Again(Box::new(Recount::new(Arc::new(chosen))));
            let wanted = Arc::new(Wanted::new(axis, &[], &[], bursts));
            let make = || Names::new(&wanted, again.clone());
            names.in_bursts = reading.scan("counting bursts", make)?.tally.in_bursts;
        }
        let series = |names: Vec<Name>, series: Vec<Vec<u64>>| {
            names.into_iter().zip(series).collect::<Vec<_>>()
        };
        Ok(Named {
            in_bursts: names.in_bursts.heaviest(bursts.len()),
            tags: series(heavy.tags, names.tags),
            patterns: heavy.patterns.map(|heavy| series(heavy, names.patterns)),
        })
    }
}
