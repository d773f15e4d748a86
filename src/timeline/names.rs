//! The second pass: the heaviest tags and patterns over time, and names in bursts.

use std::collections::HashMap;
use std::sync::Arc;

use slotscope_engine::hash::hash;
use slotscope_engine::metric::{Load, Metric};
use slotscope_engine::name::Name;
use slotscope_engine::pattern::shapes;
use slotscope_engine::slot::{SLOTS, SlotBatch};
use slotscope_engine::tally::Tally;
use slotscope_engine::tally::recount::Recount;
use slotscope_engine::tally::tags::{TagCounter, TagCounts};
use slotscope_keyname::ids;

use crate::timeline::bursts::SlotBurst;
use crate::timeline::counts::timed;
use crate::timeline::grid::TimeAxis;

/// Bytes kept of a long name, and of names that patterns are derived from.
const MAX_NAME: usize = 512;
const LOOKED_AT: usize = 1024;
/// Shapes whose patterns are cached.
const REMEMBERED: usize = 1 << 14;

/// The names and bursts that the second pass counts.
pub(super) struct Wanted {
    axis: TimeAxis,
    /// The index of each tag and pattern.
    tags: HashMap<Vec<u8>, usize>,
    patterns: HashMap<Vec<u8>, usize>,
    /// Each slot's bursts: their numbers and buckets.
    bursts: Vec<Vec<(u16, usize, usize)>>,
}

impl Wanted {
    /// These tags and patterns, and operations in these bursts.
    pub(super) fn new(
        axis: TimeAxis,
        tags: &[Name],
        patterns: &[Name],
        bursts: &[SlotBurst],
    ) -> Self {
        let places = |names: &[Name]| {
            let names = names.iter().enumerate();
            names.map(|(place, name)| (name.0.clone(), place)).collect()
        };
        let mut of_slots = vec![Vec::new(); SLOTS];
        for (number, burst) in bursts.iter().enumerate() {
            let (from, to) = burst.buckets;
            of_slots[usize::from(burst.slot)].push((number as u16, from, to));
        }
        Wanted {
            axis,
            tags: places(tags),
            patterns: places(patterns),
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
    /// A pattern of keys.
    Pattern,
}

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
            InBursts::First(all) => all.add_known(hash(&written), &written, load),
            InBursts::Again(heavy) => heavy.count_name(hash(&written), &written, load),
        }
    }

    /// The rows that tell which names are worth another pass; `None` if all fit.
    pub(super) fn overflowed(
        &self,
    ) -> Option<&slotscope_engine::tally::sketch::count_min::CountMin> {
        match self {
            InBursts::First(all) => match &all.counts {
                TagCounts::CountMin(rows) => Some(rows),
                _ => None,
            },
            InBursts::Again(_) => None,
        }
    }

    /// For each burst, the heaviest tag or key and the heaviest pattern, with operations.
    pub(super) fn heaviest(&self, bursts: usize) -> Vec<[Option<(Kind, Name, u64)>; 2]> {
        let mut heaviest: Vec<[Option<(Kind, Name, u64)>; 2]> = vec![[None, None]; bursts];
        let mut see = |written: &[u8], load: Load| {
            let Some(([low, high, kind], name)) = written.split_first_chunk() else {
                return;
            };
            let (place, kind) = match kind {
                0 => (0, Kind::Key),
                1 => (0, Kind::Tag),
                _ => (1, Kind::Pattern),
            };
            let burst = usize::from(u16::from_le_bytes([*low, *high]));
            let Some(best) = heaviest.get_mut(burst).map(|of| &mut of[place]) else {
                return;
            };
            let ops = load[Metric::Ops];
            let is_heavier = best.as_ref().is_none_or(|(_, other, most)| {
                ops > *most || ops == *most && name < other.0.as_slice()
            });
            if is_heavier {
                *best = Some((kind, Name(name.to_vec()), ops));
            }
        };
        match self {
            InBursts::First(all) => {
                if let TagCounts::Exact(table) = &all.counts {
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
    /// By pattern, over time.
    pub patterns: Vec<Vec<u64>>,
    /// In bursts.
    pub in_bursts: InBursts,
    /// A cache of patterns by shape.
    recent: HashMap<u64, (Arc<[u8]>, Option<usize>)>,
    shapes: Vec<u64>,
}

impl Names {
    pub(super) fn new(wanted: &Arc<Wanted>, in_bursts: InBursts) -> Self {
        let series = |count| vec![vec![0; wanted.axis.len]; count];
        Names {
            tags: series(wanted.tags.len()),
            patterns: series(wanted.patterns.len()),
            wanted: wanted.clone(),
            in_bursts,
            recent: HashMap::new(),
            shapes: Vec::new(),
        }
    }

    /// The pattern of a key, and its index.
    fn pattern(&mut self, shape: u64, key: &[u8]) -> (Arc<[u8]>, Option<usize>) {
        if let Some(known) = self.recent.get(&shape) {
            return known.clone();
        }
        if self.recent.len() == REMEMBERED {
            self.recent.clear();
        }
        let pattern = ids::pattern_of(&key[..key.len().min(LOOKED_AT)]);
        let place = self.wanted.patterns.get(&pattern).copied();
        let known = (Arc::from(pattern), place);
        self.recent.insert(shape, known.clone());
        known
    }
}

impl Tally for Names {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let wanted = self.wanted.clone();
        let (base, spans) = (keys.batch.base, keys.batch.keys);
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes::shapes(keys.kernel, base, spans, &mut shapes);
        for (i, time, ops) in timed(keys) {
            // The scan rejects an input that has grown.
            let Some(bucket) = wanted.axis.place(time) else {
                continue;
            };
            let hashed = keys.hashed.get(base, i);
            let is_tagged = keys.is_tagged(i);
            if is_tagged && let Some(place) = wanted.tags.get(hashed) {
                self.tags[*place][bucket] += ops;
            }
            let (pattern, place) = self.pattern(shapes[i], spans.get(base, i));
            if let Some(place) = place {
                self.patterns[place][bucket] += ops;
            }
            for (burst, from, to) in &wanted.bursts[usize::from(keys.slots[i])] {
                if (*from..*to).contains(&bucket) {
                    let kind = if is_tagged { Kind::Tag } else { Kind::Key };
                    self.in_bursts.count(*burst, kind, hashed, ops);
                    self.in_bursts.count(*burst, Kind::Pattern, &pattern, ops);
                }
            }
        }
        self.shapes = shapes;
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in [
            (&mut self.tags, other.tags),
            (&mut self.patterns, other.patterns),
        ] {
            for (mine, theirs) in mine.iter_mut().flatten().zip(theirs.into_iter().flatten()) {
                *mine += theirs;
            }
        }
        self.in_bursts.merge(other.in_bursts);
    }
}
