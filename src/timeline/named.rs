//! Passes for names: the heaviest ones, with their loads over time and in bursts.

use std::sync::Arc;

use slotscope_engine::error::Result;
use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_engine::slot::SLOTS;
use slotscope_engine::tally::recount::{Candidates, Recount};
use slotscope_engine::tally::tags::TagCounts;

use crate::pipeline::reading::Reading;
use crate::timeline::bursts::SlotBurst;
use crate::timeline::counts::Counts;
use crate::timeline::grid::{Grid, TimeAxis};
use crate::timeline::names::{Heaviest, Names, Wanted};

/// The heaviest tags, which are tracked over time; recounts them in another pass if there are too many.
pub(super) fn heavy_tags(
    reading: &Reading,
    counts: &Counts,
    grid: &Grid,
    top: usize,
) -> Result<Vec<Name>> {
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
    Ok(heaviest(tags, top))
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
    /// The heaviest tag or key of each burst; `None` if they have too many names.
    pub in_bursts: Option<Vec<Option<Heaviest>>>,
}

impl Named {
    /// Reads the loads of the heaviest names and of all bursts.
    pub(super) fn read(
        reading: &Reading,
        tags: Vec<Name>,
        axis: TimeAxis,
        bursts: &[SlotBurst],
    ) -> Result<Self> {
        let wanted = Arc::new(Wanted::new(axis, &tags, bursts));
        let names = reading
            .scan("counting names", || Names::new(&wanted))?
            .tally;
        Ok(Named {
            in_bursts: names.heaviest(bursts.len()),
            tags: tags.into_iter().zip(names.tags).collect(),
        })
    }
}
