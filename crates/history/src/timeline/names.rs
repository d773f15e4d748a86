//! Passes for names: the heaviest tags, with their loads over time, and names in bursts.

use std::collections::HashMap;
use std::sync::Arc;

use slotscope_app::pipeline::reading::Reading;
use slotscope_base::error::Result;
use slotscope_base::hash::hash;
use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::{SLOTS, SlotBatch};
use slotscope_count::tally::Tally;
use slotscope_count::tally::recount::Recount;
use slotscope_count::tally::tags::TagCounter;

use crate::timeline::bursts::SlotBurst;
use crate::timeline::counts::{Counts, timed};
use crate::timeline::grid::{Grid, TimeAxis};

/// Bytes kept of a long name.
const MAX_NAME: usize = 512;

/// The heaviest tags, which are tracked over time; recounts them in another pass if there are too many.
pub(super) fn heavy_tags(
    reading: &Reading,
    counts: &Counts,
    grid: &Grid,
    top: usize,
) -> Result<Vec<Name>> {
    let needed = counts.tags.recount(&slot_loads(grid));
    let recount = |empty: Recount| reading.scan("counting tags", || empty.clone());
    let recounted = needed.map(recount).transpose()?;
    let mut tags = counts
        .tags
        .listed(recounted.as_ref().map(|scanned| &scanned.tally))
        .tags;
    tags.sort_by(|a, b| {
        let by_load = b.load[Metric::Ops].cmp(&a.load[Metric::Ops]);
        by_load.then_with(|| a.name.cmp(&b.name))
    });
    tags.truncate(top);
    Ok(tags.into_iter().map(|tag| tag.name).collect())
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

/// The names and bursts that the second pass counts.
struct Wanted {
    axis: TimeAxis,
    /// The index of each tag.
    tags: HashMap<Vec<u8>, usize>,
    /// Each slot's bursts: their numbers and buckets.
    bursts: Vec<Vec<(u16, usize, usize)>>,
}

impl Wanted {
    /// These tags, and operations in these bursts.
    fn new(axis: TimeAxis, tags: &[Name], bursts: &[SlotBurst]) -> Self {
        let tags = tags.iter().enumerate();
        let mut of_slots = vec![Vec::new(); SLOTS];
        for (number, burst) in bursts.iter().enumerate() {
            let (from, to) = burst.buckets;
            of_slots[usize::from(burst.slot)].push((number as u16, from, to));
        }
        Wanted {
            axis,
            tags: tags.map(|(place, tag)| (tag.0.clone(), place)).collect(),
            bursts: of_slots,
        }
    }
}

/// The kind of a name in a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A key without a hash tag.
    Key,
    /// A hash tag.
    Tag,
}

/// The heaviest name of a burst, with its operations.
pub(super) type Heaviest = (Kind, Name, u64);

pub(super) struct Names {
    wanted: Arc<Wanted>,
    /// By tag, over time.
    pub tags: Vec<Vec<u64>>,
    /// By burst, kind and name in one, while they fit.
    in_bursts: TagCounter,
}

impl Names {
    /// Reads the loads of these tags and of names in all bursts.
    pub(super) fn read(
        reading: &Reading,
        tags: &[Name],
        axis: TimeAxis,
        bursts: &[SlotBurst],
    ) -> Result<Self> {
        let wanted = Arc::new(Wanted::new(axis, tags, bursts));
        let empty = || Names {
            tags: vec![vec![0; axis.len]; tags.len()],
            wanted: wanted.clone(),
            in_bursts: TagCounter::default(),
        };
        Ok(reading.scan("counting names", empty)?.tally)
    }

    fn count_in_burst(&mut self, burst: u16, kind: Kind, name: &[u8], ops: u64) {
        let mut written = burst.to_le_bytes().to_vec();
        written.push(kind as u8);
        written.extend_from_slice(&name[..name.len().min(MAX_NAME)]);
        let mut load = Load::default();
        load[Metric::Ops] = ops;
        let hash = hash(&written);
        self.in_bursts.add_known(hash, &written, load);
    }

    /// For each burst, the heaviest tag or key; `None` if names do not fit.
    pub(super) fn heaviest(&self, bursts: usize) -> Option<Vec<Option<Heaviest>>> {
        let table = self.in_bursts.table()?;
        let mut heaviest: Vec<Option<Heaviest>> = vec![None; bursts];
        for (written, _, load) in table.iter() {
            let ([low, high, kind], name) = written.split_first_chunk()?;
            let kind = if *kind == 0 { Kind::Key } else { Kind::Tag };
            let best = heaviest.get_mut(usize::from(u16::from_le_bytes([*low, *high])))?;
            let ops = load[Metric::Ops];
            let is_heavier = best.as_ref().is_none_or(|(_, leader, most)| {
                ops > *most || ops == *most && name < leader.0.as_slice()
            });
            if is_heavier {
                *best = Some((kind, Name(name.to_vec()), ops));
            }
        }
        Some(heaviest)
    }
}

impl Tally for Names {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let wanted = self.wanted.clone();
        for (i, time, ops) in timed(keys) {
            // The scan rejects an input that has grown.
            let Some(bucket) = wanted.axis.place(time) else {
                continue;
            };
            let hashed = keys.hashed.get(keys.batch.base, i);
            let is_tagged = keys.is_tagged(i);
            if is_tagged && let Some(place) = wanted.tags.get(hashed) {
                self.tags[*place][bucket] += ops;
            }
            for (burst, from, to) in &wanted.bursts[usize::from(keys.slots[i])] {
                if (*from..*to).contains(&bucket) {
                    let kind = if is_tagged { Kind::Tag } else { Kind::Key };
                    self.count_in_burst(*burst, kind, hashed, ops);
                }
            }
        }
    }

    fn merge(&mut self, other: Self) {
        let tags = self.tags.iter_mut().flatten();
        tags.zip(other.tags.into_iter().flatten())
            .for_each(|(mine, theirs)| *mine += theirs);
        self.in_bursts.merge(other.in_bursts);
    }
}
