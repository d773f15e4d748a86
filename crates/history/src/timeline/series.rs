//! CLUSTER SLOT-STATS over time: monotonic counters, whose differences are a slot's load between two samples.
//!
//! A slot is compared with its previous sample in the same file. If that is from another node, not earlier, or has
//! larger counters, the slot was moved or reset, or a clock was adjusted: counting restarts, without assumptions about
//! the time in between.

use std::collections::BTreeMap;

use slotscope_base::slot::SLOTS;
use slotscope_base::text;
use slotscope_read::format::slot_stats::{Sample, Stats};
use slotscope_report::view::Heat;
use slotscope_topology::Topology;
use slotscope_topology::of_names::of_names;

use crate::timeline::grid::Grid;

/// More primaries than any cluster has.
const MAX_NODES: usize = SLOTS;
/// How late a sample may be, in percent of the interval, before buckets are doubled for it.
const LATE: u64 = 110;

/// The last samples of a slot.
#[derive(Debug, Clone, Copy)]
struct Last {
    node: usize,
    time: u64,
    count: u64,
}

/// The times covered by a node in a file, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
struct Span {
    file: usize,
    first: u64,
    last: u64,
}

pub(super) struct Series {
    heat: Heat,
    /// By time and slot.
    pub grid: Grid,
    /// The nodes by name.
    names: BTreeMap<String, usize>,
    /// By node; the current file comes last.
    spans: Vec<Vec<Span>>,
    /// The last owner of each slot, and when.
    owner: Vec<Option<(u64, usize)>>,
    /// By slot, in the current file.
    last: Vec<Option<Last>>,
    file: usize,
    /// How many intervals between samples fit a bucket of 2^i seconds.
    intervals: [u64; 64],
    /// Places where counting starts anew: counters that drop, slots that moved, samples that are not after their predecessors.
    breaks: u64,
}

impl Series {
    pub(super) fn new(heat: Heat) -> Self {
        Series {
            heat,
            grid: Grid::default(),
            names: BTreeMap::new(),
            spans: Vec::new(),
            owner: vec![None; SLOTS],
            last: vec![None; SLOTS],
            file: 0,
            intervals: [0; 64],
            breaks: 0,
        }
    }

    /// Starts the next file.
    pub(super) fn start_file(&mut self, file: usize) {
        self.file = file;
        self.last.fill(None);
    }

    /// Adds a sample.
    ///
    /// # Errors
    /// It lacks a time or this statistic, or there are too many nodes.
    pub(super) fn add(&mut self, sample: &Sample<'_>) -> Result<(), String> {
        let (Some(time), Some(name)) = (sample.time, &sample.node) else {
            return Err(
                "is one answer of redis-cli and has no time: analyze reads it; timeline reads lines with a time and \
                 a node, as slotscope collect --every 10s writes them"
                    .into(),
            );
        };
        let node = self.node(name)?;
        self.note_time(node, time);
        let mut amounts: BTreeMap<u64, Vec<(u16, u64)>> = BTreeMap::new();
        for (slot, stats) in &sample.slots {
            let count = self.count(*slot, stats)?;
            let now = Last { node, time, count };
            if let Some((since, amount)) = self.difference(*slot, now) {
                amounts.entry(since).or_default().push((*slot, amount));
            }
            let owner = &mut self.owner[usize::from(*slot)];
            *owner = (*owner).max(Some((time, node)));
        }
        for (since, amounts) in amounts {
            self.grid.spread((since, time), &amounts);
        }
        Ok(())
    }

    /// The counter of a slot.
    fn count(&self, slot: u16, stats: &Stats<'_>) -> Result<u64, String> {
        let names: &[&str] = match self.heat {
            Heat::Network => &["network-bytes-in", "network-bytes-out"],
            _ => &["cpu-usec"],
        };
        names.iter().try_fold(0, |sum, name| {
            let count = stats.get(name).ok_or_else(|| {
                format!(
                    "slot {slot} has no \"{name}\"; it has: {}; servers count it with cluster-slot-stats-enabled yes",
                    stats.names()
                )
            })?;
            Ok(sum + count)
        })
    }

    /// The increase of a slot and its start time; `None` if unknown.
    fn difference(&mut self, slot: u16, now: Last) -> Option<(u64, u64)> {
        let last = self.last[usize::from(slot)].replace(now)?;
        if last.node != now.node {
            self.breaks += 1;
            return None;
        }
        if last.time >= now.time {
            return None;
        }
        let amount = now.count.checked_sub(last.count);
        self.breaks += u64::from(amount.is_none());
        Some((last.time, amount?))
    }

    fn node(&mut self, name: &str) -> Result<usize, String> {
        if let Some(node) = self.names.get(name) {
            return Ok(*node);
        }
        if self.names.len() == MAX_NODES {
            return Err("more nodes than a cluster has".into());
        }
        self.names.insert(name.into(), self.spans.len());
        self.spans.push(Vec::new());
        Ok(self.spans.len() - 1)
    }

    fn note_time(&mut self, node: usize, time: u64) {
        let spans = &mut self.spans[node];
        let Some(span) = spans.last_mut().filter(|span| span.file == self.file) else {
            return spans.push(Span {
                file: self.file,
                first: time,
                last: time,
            });
        };
        match time.checked_sub(span.last) {
            None => self.breaks += 1,
            Some(0) => {}
            Some(ms) => self.intervals[power_of_two(ms)] += 1,
        }
        span.first = span.first.min(time);
        span.last = time;
    }

    /// Two files with the same node at the same time.
    pub(super) fn overlap(&self) -> Option<(usize, usize)> {
        let overlap = |spans: &Vec<Span>| {
            let mut spans = spans.clone();
            spans.sort_by_key(|span| span.first);
            let mut pairs = spans.windows(2);
            let pair = pairs.find(|pair| pair[1].first < pair[0].last)?;
            Some((
                pair[0].file.min(pair[1].file),
                pair[0].file.max(pair[1].file),
            ))
        };
        self.spans.iter().find_map(overlap)
    }

    /// Makes buckets at least as long as half of the intervals between samples. A single interval of each node is shown as long
    /// as it is.
    pub(super) fn fit_buckets(&mut self) {
        let total: u64 = self.intervals.iter().sum();
        if total <= self.names.len() as u64 {
            return;
        }
        let mut sum = 0;
        let is_half = |count: &u64| {
            sum += count;
            sum * 2 >= total
        };
        let power = self.intervals.iter().position(is_half).unwrap_or(0);
        self.grid.lengthen(1 << power);
    }

    /// The nodes by name, each with the slots it had last.
    pub(super) fn topology(&self) -> Topology {
        let mut names = vec![String::new(); self.names.len()];
        for (name, node) in &self.names {
            names[*node].clone_from(name);
        }
        let owner: Vec<_> = self
            .owner
            .iter()
            .map(|owner| owner.map(|(_, node)| node))
            .collect();
        of_names("CLUSTER SLOT-STATS".into(), &names, &owner)
    }

    /// A note on samples not counted.
    pub(super) fn note(&self) -> Option<String> {
        (self.breaks > 0).then(|| {
            format!(
                "counting starts anew in {} (a restart, CONFIG RESETSTAT, a slot that moved, a clock that went back): what came between is \
                 not counted, and a slot is shown with the node that had it last",
                text::counted(self.breaks, "place")
            )
        })
    }
}

/// The power of two of seconds that fits an interval, or nearly.
fn power_of_two(ms: u64) -> usize {
    let fits = |power: &usize| u128::from(ms) * 100 <= (1000u128 << power) * u128::from(LATE);
    (0..63).find(fits).unwrap_or(63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slotscope_read::format::slot_stats::line;

    const START: u64 = 1_795_341_600;

    /// A line: this many seconds after the start, for a node with CPU time by slot.
    fn sample(second: u64, node: &str, slots: &[(u16, u64)]) -> String {
        let slots: Vec<_> = slots
            .iter()
            .map(|(slot, cpu)| format!("[{slot},{{\"key-count\":1,\"cpu-usec\":{cpu}}}]"))
            .collect();
        let (minute, second) = (second / 60, second % 60);
        format!(
            "{{\"time\":\"2026-11-22T10:{minute:02}:{second:02}Z\",\"node\":\"{node}\",\"slots\":[{}]}}",
            slots.join(",")
        )
    }

    fn counted(files: &[&[String]]) -> Series {
        let mut series = Series::new(Heat::Cpu);
        for (file, lines) in files.iter().enumerate() {
            series.start_file(file);
            for text in *lines {
                series.add(&line(text.as_bytes()).unwrap()).unwrap();
            }
        }
        series.fit_buckets();
        series
    }

    /// The amounts of a slot by bucket: second after the start, and amount.
    fn amounts(series: &Series, slot: usize) -> Vec<(u64, u64)> {
        let axis = series.grid.axis().unwrap();
        let columns = series.grid.columns();
        let columns = columns.map(|(place, ops)| (axis.start(place), ops[slot]));
        columns
            .filter(|(_, amount)| *amount > 0)
            .map(|(start, amount)| (start.saturating_sub(START), amount))
            .collect()
    }

    #[test]
    fn buckets_are_as_long_as_half_of_the_intervals_between_samples() {
        let bucket = |seconds: &[u64]| {
            let lines = seconds.iter().map(|at| sample(*at, "a", &[(1, at * 9)]));
            let lines: Vec<String> = lines.collect();
            counted(&[&lines]).grid.axis().unwrap().bucket_secs()
        };
        assert_eq!(bucket(&[0, 10, 20, 30]), 16);
        assert_eq!(
            bucket(&[0, 8, 16, 25, 33]),
            8,
            "a sample that is a little late"
        );
        assert_eq!(bucket(&[0, 1, 2, 3, 40, 41]), 1, "one gap");
        assert_eq!(bucket(&[0, 30]), 1, "a single interval");
    }

    #[test]
    fn differences_are_counted_where_they_came() {
        let lines = [
            sample(0, "a", &[(1, 1000), (2, 7)]),
            sample(0, "b", &[(9, 50)]),
            sample(2, "a", &[(1, 1600), (2, 7)]),
            sample(4, "a", &[(1, 1601), (2, 7)]),
            sample(4, "b", &[(9, 90)]),
        ];
        let series = counted(&[&lines]);
        assert_eq!(series.grid.axis().unwrap().bucket_secs(), 2);
        assert_eq!(amounts(&series, 1), [(0, 600), (2, 1)]);
        assert_eq!(amounts(&series, 2), []);
        assert_eq!(amounts(&series, 9), [(0, 20), (2, 20)]);
        let topology = series.topology();
        let owner = |slot| topology.owner(slot).map(|at| topology.nodes[at].id.clone());
        assert_eq!(
            [owner(1), owner(9), owner(5)],
            [Some("a".into()), Some("b".into()), None]
        );
        assert_eq!(series.note(), None);
    }

    #[test]
    fn what_falls_or_jumps_back_is_counted_anew_and_noted() {
        let falls = counted(&[&[
            sample(0, "a", &[(1, 1000)]),
            sample(1, "a", &[(1, 10)]),
            sample(2, "a", &[(1, 15)]),
        ]]);
        assert_eq!(amounts(&falls, 1), [(1, 5)]);
        assert!(falls.note().unwrap().contains("anew in 1 place "));
        let moves = counted(&[&[
            sample(0, "a", &[(1, 1000), (2, 0)]),
            sample(1, "b", &[(1, 9000)]),
            sample(1, "a", &[(2, 0)]),
            sample(2, "b", &[(1, 9005)]),
        ]]);
        assert_eq!(amounts(&moves, 1), [(1, 5)]);
        assert!(moves.note().unwrap().contains("anew in 1 place "));
        assert_eq!(moves.topology().owner(1), Some(0));
        let jumps = counted(&[&[
            sample(60, "a", &[(1, 1000)]),
            sample(0, "a", &[(1, 1100)]),
            sample(1, "a", &[(1, 1107)]),
            sample(1, "a", &[(1, 1109)]),
        ]]);
        assert_eq!(amounts(&jumps, 1), [(0, 7)]);
        assert!(jumps.note().unwrap().contains("anew in 1 place "));
    }

    #[test]
    fn files_are_counted_apart_in_any_order_and_the_same_time_twice_is_found() {
        let early = [sample(0, "a", &[(1, 10)]), sample(5, "a", &[(1, 20)])];
        let late = [sample(5, "a", &[(1, 20)]), sample(9, "a", &[(1, 50)])];
        let [there, back] = [[&early, &late], [&late, &early]].map(|[a, b]| counted(&[a, b]));
        assert_eq!(amounts(&there, 1), amounts(&back, 1));
        assert_eq!(amounts(&there, 1).iter().map(|of| of.1).sum::<u64>(), 40);
        assert_eq!(there.overlap(), None);
        let again = [sample(8, "a", &[(1, 20)])];
        assert_eq!(counted(&[&late, &again]).overlap(), Some((0, 1)));
        assert_eq!(counted(&[&late, &late]).overlap(), Some((0, 1)));
    }

    proptest! {
        #[test]
        fn whatever_the_counters_do_no_more_is_counted_than_they_grew(
            samples in prop::collection::vec((0..2usize, 0u64..1 << 42, prop::collection::btree_map(0u16..4, 0u64..1 << 50, 0..4)), 0..30),
        ) {
            let mut series = Series::new(Heat::Cpu);
            series.start_file(0);
            let mut last = [[None; 4]; 2];
            let mut grown = 0u64;
            for (node, time, counters) in &samples {
                let pairs: Vec<_> = counters.iter().map(|(slot, cpu)| format!("[{slot},{{\"cpu-usec\":{cpu}}}]")).collect();
                let text = format!("[{}]", pairs.join(","));
                let mut sample = slotscope_read::format::slot_stats::answer(text.as_bytes()).unwrap();
                (sample.time, sample.node) = (Some(*time), Some(node.to_string()));
                series.add(&sample).unwrap();
                for (slot, cpu) in counters {
                    let before = last[*node][usize::from(*slot)].replace(*cpu);
                    grown += cpu.saturating_sub(before.unwrap_or(*cpu));
                }
            }
            series.fit_buckets();
            let counted: u64 = series.grid.columns().flat_map(|(_, ops)| ops[..4].to_vec()).sum();
            prop_assert!(counted <= grown);
            let _ = (series.topology(), series.note(), series.overlap());
        }
    }
}
