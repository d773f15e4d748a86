//! How captures become a timeline: one pass over slots and time, a second for names, a third where there are too many.

use std::sync::{Arc, Mutex, PoisonError};

use crate::analysis::reading::Reading;
use crate::analysis::rejected;
use crate::error::{Error, Result};
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::scan::Scanned;
use crate::slot::{SLOTS, slot_of_part};
use crate::summary::Incomplete;
use crate::tally::counted_pattern::Counted;
use crate::tally::recount::{Candidates, Recount};
use crate::tally::tags::TagCounts;
use crate::text;
use crate::timeline::bursts::{self, SlotBurst};
use crate::timeline::counts::Counts;
use crate::timeline::grid::{Grid, TimeAxis};
use crate::timeline::names::{InBursts, Kind, Names, Wanted};
use crate::timeline::{
    Bucket, Burst, Clock, NodeOverTime, PatternOverTime, SCHEMA, SLOTS_PER_ROW, SlotsOverTime,
    TagOverTime, Timeline,
};
use crate::topology::Topology;

/// Bursts that are listed.
const BURSTS: usize = 1000;

/// Reads captures and follows `top` tags and patterns; they and bursts have nodes where a `topology` names them.
///
/// # Errors
/// An input that cannot be read, or that has no times.
pub fn read(reading: &Reading, topology: Option<&Topology>, top: usize) -> Result<Timeline> {
    let grid = Arc::new(Mutex::new(Grid::default()));
    let scanned = reading.scan("counting", || Counts::new(&grid))?;
    let grid = std::mem::take(&mut *grid.lock().unwrap_or_else(PoisonError::into_inner));
    let axis = check_times(reading, &scanned, &grid)?;
    let nodes = OfNodes::new(&grid, topology, axis);
    let mut bursts = bursts::find(&grid, &nodes.ops, |slot| nodes.owner(slot));
    let more_bursts = bursts.len().saturating_sub(BURSTS) as u64;
    bursts.truncate(BURSTS);

    let mut notes = notes(&scanned.tally, &grid, axis, more_bursts);
    let names = match reading.is_rereadable() {
        true => {
            let heavy = Heavy::of(reading, &scanned.tally, &grid, top)?;
            Some(Named::read(reading, heavy, axis, &bursts)?)
        }
        false => {
            let what = "tags, patterns and the names in bursts need a second pass, and a pipe is read once: write the \
                        capture to a file";
            notes.push(what.into());
            None
        }
    };
    if names.as_ref().is_some_and(|names| names.patterns.is_none()) {
        notes.push("there are too many patterns to count all of them: none is listed".into());
    }
    let slots = slots_over_time(&grid, axis);
    let total: Vec<u64> = nodes.total(axis);
    let ops = total.iter().sum();
    let bucket = |(place, ops): (usize, &u64)| Bucket {
        from: axis.start(place),
        to: axis.start(place + 1),
        ops: *ops,
    };
    let found = found_bursts(&bursts, names.as_ref(), &nodes, axis);
    let (tags, patterns) = names.map_or((None, None), |names| {
        let tags = names.tags.into_iter();
        let tags = tags.map(|series| tag_over_time(series, ops, &nodes));
        (Some(tags.collect()), names.patterns)
    });
    let patterns = patterns.map(|patterns| {
        let patterns = patterns.into_iter();
        patterns
            .map(|series| pattern_over_time(series, ops))
            .collect()
    });
    Ok(Timeline {
        schema: SCHEMA,
        ops,
        bucket_secs: axis.bucket_secs(),
        buckets: total.iter().enumerate().map(bucket).collect(),
        slots,
        tags,
        patterns,
        bursts: found,
        more_bursts,
        clock: Clock {
            jumps_back: scanned.tally.jumps,
            longest_secs: scanned.tally.longest_jump / 1000,
        },
        untimed: scanned.tally.untimed,
        rejected: rejected::of(&reading.sources, &scanned.rejects),
        incomplete: incomplete(reading, &scanned),
        notes,
        nodes: nodes.over_time(),
    })
}

/// The buckets, where every input that has rows has times.
fn check_times(reading: &Reading, scanned: &Scanned<Counts>, grid: &Grid) -> Result<TimeAxis> {
    let timed = &scanned.tally.timed;
    let without = scanned.inputs.iter().enumerate().find(|(input, seen)| {
        seen.seen.keys + seen.seen.operations > 0 && !timed.contains_key(&(*input as u32))
    });
    let way_out = "timeline reads captures (redis-cli MONITOR > FILE) and append-only files with times \
                   (aof-timestamp-enabled yes); analyze reads key dumps";
    if let Some((input, seen)) = without {
        let file = Name::from(reading.sources[input].path());
        let what = format!("rows of {} that have no time; {way_out}", seen.format);
        return Err(Error::bad(file.to_string(), what));
    }
    let nothing = || Error::bad("no operations in the input", way_out);
    grid.axis().ok_or_else(nothing)
}

fn notes(counts: &Counts, grid: &Grid, axis: TimeAxis, more_bursts: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if counts.jumps > 0 {
        notes.push(format!(
            "the time jumps back in at least {}, by up to {}: each operation is counted at its time; clocks of several \
             nodes in one file, or one that was set",
            text::counted(counts.jumps, "place"),
            text::span(counts.longest_jump / 1000)
        ));
    }
    if counts.untimed > 0 {
        let rows = text::counted(counts.untimed, "row");
        notes.push(format!("{rows} without a time: not counted"));
    }
    let places: Vec<usize> = grid.columns().map(|(place, _)| place).collect();
    let longest = places.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
    if let Some((gap, at)) = longest.max_by_key(|(gap, at)| (*gap, std::cmp::Reverse(*at)))
        && gap * 2 > axis.len
        && axis.len > 8
    {
        let gap = text::span(gap as u64 * axis.bucket_secs());
        notes.push(format!(
            "nothing for {gap} after {}: captures of different times share one axis; read one at a time for shorter buckets",
            text::time(axis.start(at))
        ));
    }
    if more_bursts > 0 {
        let more = text::counted(more_bursts, "smaller burst");
        notes.push(format!("{more}: not listed"));
    }
    notes
}

/// The nodes, or one for all slots where none are named.
struct OfNodes<'a> {
    topology: Option<&'a Topology>,
    /// By node and bucket; slots that no node owns come last.
    ops: Vec<Vec<u64>>,
}

impl<'a> OfNodes<'a> {
    fn new(grid: &Grid, topology: Option<&'a Topology>, axis: TimeAxis) -> Self {
        let count = topology.map_or(0, |topology| topology.nodes.len()) + 1;
        let mut nodes = OfNodes {
            topology,
            ops: vec![vec![0; axis.len]; count],
        };
        for (place, ops) in grid.columns() {
            for (slot, ops) in ops.iter().enumerate() {
                let owner = nodes.owner(slot as u16);
                nodes.ops[owner][place] += u64::from(*ops);
            }
        }
        nodes
    }

    /// The place of a slot's node.
    fn owner(&self, slot: u16) -> usize {
        let owner = self.topology.and_then(|topology| topology.owner(slot));
        owner.unwrap_or(self.ops.len() - 1)
    }

    /// What people call the node of a slot.
    fn name(&self, slot: u16) -> Option<Name> {
        let topology = self.topology?;
        Some(name_of(&topology.nodes[topology.owner(slot)?]))
    }

    fn total(&self, axis: TimeAxis) -> Vec<u64> {
        let sum = |place| self.ops.iter().map(|ops| ops[place]).sum();
        (0..axis.len).map(sum).collect()
    }

    fn over_time(self) -> Option<Vec<NodeOverTime>> {
        let nodes = self.topology?.nodes.iter().zip(self.ops);
        let nodes = nodes.map(|(node, over_time)| NodeOverTime {
            id: Name::from(node.id.as_str()),
            name: name_of(node),
            ranges: node.ranges.clone(),
            ops: over_time.iter().sum(),
            over_time,
        });
        Some(nodes.collect())
    }
}

fn name_of(node: &crate::topology::Node) -> Name {
    let name = |text: &Option<String>| text.as_deref().map(Name::from);
    let (address, hostname) = (name(&node.address), name(&node.hostname));
    text::node_name(
        &Name::from(node.id.as_str()),
        address.as_ref(),
        hostname.as_ref(),
    )
}

fn slots_over_time(grid: &Grid, axis: TimeAxis) -> SlotsOverTime {
    let mut rows = vec![vec![0; axis.len]; SLOTS / SLOTS_PER_ROW];
    for (place, ops) in grid.columns() {
        for (row, ops) in rows.iter_mut().zip(ops.chunks(SLOTS_PER_ROW)) {
            row[place] = ops.iter().copied().map(u64::from).sum();
        }
    }
    SlotsOverTime {
        slots_per_row: SLOTS_PER_ROW,
        ops: rows,
    }
}

fn incomplete<T>(reading: &Reading, scanned: &Scanned<T>) -> Vec<Incomplete> {
    let stops = scanned.incomplete.iter().map(|stop| Incomplete {
        file: Name::from(reading.sources[stop.input].path()),
        byte: stop.byte,
        reason: stop.reason.clone(),
    });
    stops.collect()
}

/// The names that are followed over time.
struct Heavy {
    tags: Vec<Name>,
    /// `None` where there are too many.
    patterns: Option<Vec<Name>>,
}

impl Heavy {
    /// The heaviest, after a pass that counts tags again where there are too many.
    fn of(reading: &Reading, counts: &Counts, grid: &Grid, top: usize) -> Result<Self> {
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
            TagCounts::HeavyHitters(_) => Vec::new(),
        };
        let patterns = match counts.patterns.counts() {
            TagCounts::Exact(table) => {
                // Those of tagged keys are counted apart from those of others.
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
        pairs.for_each(|(sum, ops)| *sum += u64::from(*ops));
    }
    loads
}

/// What the second pass found.
struct Named {
    tags: Vec<(Name, Vec<u64>)>,
    patterns: Option<Vec<(Name, Vec<u64>)>>,
    /// Of each burst.
    in_bursts: Vec<[Option<(Kind, Name, u64)>; 2]>,
}

impl Named {
    fn read(reading: &Reading, heavy: Heavy, axis: TimeAxis, bursts: &[SlotBurst]) -> Result<Self> {
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

fn tag_over_time((tag, over_time): (Name, Vec<u64>), all: u64, nodes: &OfNodes<'_>) -> TagOverTime {
    let (slot, ops) = (slot_of_part(&tag.0), over_time.iter().sum());
    TagOverTime {
        node: nodes.name(slot),
        tag,
        slot,
        ops,
        share: ops as f64 / all as f64,
        over_time,
    }
}

fn pattern_over_time((pattern, over_time): (Name, Vec<u64>), all: u64) -> PatternOverTime {
    let ops = over_time.iter().sum();
    PatternOverTime {
        pattern,
        ops,
        share: ops as f64 / all as f64,
        over_time,
    }
}

fn found_bursts(
    bursts: &[SlotBurst],
    names: Option<&Named>,
    nodes: &OfNodes<'_>,
    axis: TimeAxis,
) -> Vec<Burst> {
    let found = |(number, burst): (usize, &SlotBurst)| {
        let [name, pattern] = names.map_or([None, None], |names| names.in_bursts[number].clone());
        let has_half = |of: &(Kind, Name, u64)| of.2 * 2 >= burst.ops;
        let name = name.filter(has_half);
        let of_kind = |kind| {
            let name = name.as_ref().filter(|(is, ..)| *is == kind);
            name.map(|(_, name, _)| name.clone())
        };
        let (from, to) = burst.buckets;
        let (from, to) = (axis.start(from), axis.start(to));
        Burst {
            tag: of_kind(Kind::Tag),
            key: of_kind(Kind::Key),
            pattern: pattern.filter(has_half).map(|(_, name, _)| name),
            slot: burst.slot,
            node: nodes.name(burst.slot),
            from,
            to,
            ops: burst.ops,
            share: burst.ops as f64 / burst.node_ops as f64,
            rate: burst.ops as f64 / (to - from) as f64,
            usual_rate: burst.usual as f64 / axis.bucket_secs() as f64,
            times_usual: burst.times_usual(),
        }
    };
    bursts.iter().enumerate().map(found).collect()
}
