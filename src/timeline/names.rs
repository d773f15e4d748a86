//! The second pass: the heaviest tags over time, and names in bursts.

use std::collections::HashMap;
use std::sync::Arc;

use slotscope_engine::hash::hash;
use slotscope_engine::metric::{Load, Metric};
use slotscope_engine::name::Name;
use slotscope_engine::slot::{SLOTS, SlotBatch};
use slotscope_engine::tally::Tally;
use slotscope_engine::tally::recount::Recount;
use slotscope_engine::tally::tags::{TagCounter, TagCounts};

use crate::timeline::bursts::SlotBurst;
use crate::timeline::counts::timed;
use crate::timeline::grid::TimeAxis;

/// Bytes kept of a long name.
const MAX_NAME: usize = 512;

/// The names and bursts that the second pass counts.
pub(super) struct Wanted {
    axis: TimeAxis,
    /// The index of each tag.
    tags: HashMap<Vec<u8>, usize>,
    /// Each slot's bursts: their numbers and buckets.
    bursts: Vec<Vec<(u16, usize, usize)>>,
}

impl Wanted {
    /// These tags, and operations in these bursts.
    pub(super) fn new(axis: TimeAxis, tags: &[Name], bursts: &[SlotBurst]) -> Self {
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

/// Operations by burst and name: all while they fit, then those worth recounting.
#[derive(Clone)]
pub(super) enum InBursts {
    /// All of them.
    First(Box<TagCounter>),
    /// Heavy ones only.
    Again(Box<Recount>),
}

impl InBursts {
    fn count(&mut self, burst: u16, kind: Kind, name: &[u8], ops: u64) {
        let mut written = burst.to_le_bytes().to_vec();
        written.push(kind as u8);
        written.extend_from_slice(&name[..name.len().min(MAX_NAME)]);
        let mut load = Load::default();
        load[Metric::Ops] = ops;
        match self {
            InBursts::First(counter) => counter.add_known(hash(&written), &written, load),
            InBursts::Again(heavy) => heavy.count_name(hash(&written), &written, load),
        }
    }

    /// The rows that tell which names are worth another pass; `None` if all fit.
    pub(super) fn overflowed(
        &self,
    ) -> Option<&slotscope_engine::tally::sketch::count_min::CountMin> {
        match self {
            InBursts::First(counter) => match &counter.counts {
                TagCounts::CountMin(rows) => Some(rows),
                _ => None,
            },
            InBursts::Again(_) => None,
        }
    }

    /// For each burst, the heaviest tag or key.
    pub(super) fn heaviest(&self, bursts: usize) -> Vec<Option<Heaviest>> {
        let mut heaviest: Vec<Option<Heaviest>> = vec![None; bursts];
        let mut see = |written: &[u8], load: Load| {
            let Some(([low, high, kind], name)) = written.split_first_chunk() else {
                return;
            };
            let kind = if *kind == 0 { Kind::Key } else { Kind::Tag };
            let burst = usize::from(u16::from_le_bytes([*low, *high]));
            let Some(best) = heaviest.get_mut(burst) else {
                return;
            };
            let ops = load[Metric::Ops];
            let is_heavier = best.as_ref().is_none_or(|(_, leader, most)| {
                ops > *most || ops == *most && name < leader.0.as_slice()
            });
            if is_heavier {
                *best = Some((kind, Name(name.to_vec()), ops));
            }
        };
        match self {
            InBursts::First(counter) => {
                if let TagCounts::Exact(table) = &counter.counts {
                    table.iter().for_each(|(name, _, load)| see(name, load));
                }
            }
            InBursts::Again(heavy) => heavy.tags().for_each(|(name, load)| see(&name.0, load)),
        }
        heaviest
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (InBursts::First(mine), InBursts::First(theirs)) => mine.merge(*theirs),
            (InBursts::Again(mine), InBursts::Again(theirs)) => mine.merge(*theirs),
            _ => unreachable!("tallies of one scan count the same"),
        }
    }
}

pub(super) struct Names {
    wanted: Arc<Wanted>,
    /// By tag, over time.
    pub tags: Vec<Vec<u64>>,
    /// In bursts.
    pub in_bursts: InBursts,
}

impl Names {
    pub(super) fn new(wanted: &Arc<Wanted>, in_bursts: InBursts) -> Self {
        Names {
            tags: vec![vec![0; wanted.axis.len]; wanted.tags.len()],
            wanted: wanted.clone(),
            in_bursts,
        }
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
                    self.in_bursts.count(*burst, kind, hashed, ops);
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
