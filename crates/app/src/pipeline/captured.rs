//! The extent of captures: the node and duration of each. Load is a rate: operations of nodes captured for 8, 12 and 31
//! seconds can only be compared per second.

use std::collections::BTreeMap;

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::redact::Redaction;
use slotscope_base::text;
use slotscope_count::scan::{Scanned, SeenInput};
use slotscope_count::tally::Tallies;
use slotscope_count::tally::captured::Captured;
use slotscope_count::tally::operations::SECOND;
use slotscope_findings::summary::commands::first;
use slotscope_findings::summary::observed::{Captures, CommandsOf, Observed};
use slotscope_read::format::capture::monitor::Monitor;
use slotscope_read::format::{Format, ReadStats};
use slotscope_read::source::collection::Collection;
use slotscope_read::source::collection::load::MonitorNode;
use slotscope_read::source::collection::manifest::Level;
use slotscope_read::source::collection::servers::Role;
use slotscope_topology::Topology;

use crate::pipeline::counters::{Counters, NodeReadings};
use crate::pipeline::inputs::Inputs;

/// If this fraction of a capture's slots is elsewhere, it is not from the node it is named after: it was taken at a
/// proxy, or the name is wrong.
const ELSEWHERE: f64 = 0.5;
/// Spans are disjoint if they overlap by less than this fraction of the shorter one.
const TOGETHER: f64 = 0.5;

/// If key dumps and captures are further apart than this, in seconds, a note says so.
const DAY: u64 = 86_400;

/// A capture among the inputs.
struct Capture {
    node: Option<usize>,
    is_named: bool,
    /// Whether no command has a key.
    is_idle: bool,
    /// Milliseconds since 1970.
    times: Option<(u64, u64)>,
}

/// Whether an input is a capture, be it of a node that ran nothing.
pub(crate) fn is_capture(input: &SeenInput) -> bool {
    input.seen.has_commands() || input.format == Monitor.name()
}

/// The extent of the captures among the inputs; `None` without captures.
pub fn captures(
    inputs: &Inputs,
    scanned: &Scanned<Tallies>,
    topology: &Topology,
) -> Option<Captures> {
    let seen = &scanned.inputs;
    let has_commands = |at: &usize| is_capture(&seen[*at]);
    if !(0..seen.len()).any(|at| has_commands(&at)) {
        return None;
    }
    let collected = collected(inputs, topology);
    let is_place = |at: &usize| has_commands(at) || collected.contains_key(at);
    let places: Vec<usize> = (0..seen.len()).filter(is_place).collect();
    let captured = &scanned.tally.captured;
    let capture = |at: &usize| {
        let of_path = inputs
            .files
            .get(*at)
            .and_then(|file| topology.of_path(&file.path))
            .filter(|node| part_on(captured, topology, *at, *node) >= ELSEWHERE);
        let of_collection = collected.get(at).map(|(node, _)| *node);
        let of_name = of_collection.or(of_path);
        Capture {
            node: of_name.or_else(|| owner_of(captured.slots(*at), topology)),
            is_named: of_name.is_some(),
            is_idle: seen[*at].seen.operations == 0,
            times: both(captured.times(*at), seen[*at].seen.keyless.times),
        }
    };
    let captures: Vec<Capture> = places.iter().map(capture).collect();
    let is_writes = |at: &usize| seen[*at].format != Monitor.name();
    let nodes = topology.nodes.len();
    let intervals: Vec<Vec<(u64, u64)>> = (0..nodes).map(|node| of_node(&captures, node)).collect();
    // An idle node has no command with a time.
    let secs = |node: usize| {
        let mut nodes = collected.values();
        nodes
            .find(|(other, _)| *other == node)
            .map(|(_, secs)| *secs)
    };
    // A node of whose capture no operation tells the time was idle for as long as the others were captured.
    let longest = intervals
        .iter()
        .filter_map(|intervals| span(intervals))
        .reduce(f64::max);
    let is_idle = |node: usize| {
        let mut own = captures
            .iter()
            .filter(|capture| capture.node == Some(node))
            .peekable();
        own.peek().is_some() && own.all(|capture| capture.is_idle)
    };
    let spans = intervals.iter().enumerate();
    let spans = spans.map(|(node, intervals)| {
        let of_others = || longest.filter(|_| is_idle(node));
        span(intervals).or_else(|| secs(node)).or_else(of_others)
    });
    let mut commands = vec![None; nodes];
    let mut commands_of_no_node = 0;
    for (at, capture) in places.iter().zip(&captures) {
        let ReadStats {
            operations,
            keyless,
            ..
        } = &seen[*at].seen;
        match capture.node {
            Some(node) => {
                let of: &mut CommandsOf = commands[node].get_or_insert_default();
                of.all += operations + keyless.count;
                of.keyless.merge(keyless.clone());
            }
            None => commands_of_no_node += keyless.count,
        }
    }
    for of in commands.iter_mut().flatten() {
        let client = first(&of.keyless.clients);
        of.client = client.map(|(name, count)| (name.clone(), count));
    }
    let range = captures
        .iter()
        .fold(None, |range, capture| both(range, capture.times));
    Some(Captures {
        seen: seen_nodes(&captures, nodes),
        spans: spans.collect(),
        are_apart: are_apart(&intervals),
        are_writes: places.iter().all(is_writes),
        is_one_reading: false,
        are_counters: false,
        counted_slots: None,
        commands,
        commands_of_no_node,
        range: range.map(|(first, last)| (first / SECOND, last / SECOND)),
    })
}

/// The extent of server counters: every node that was read is covered, for the time between its readings. A node whose
/// keys were collected during that time has no span, as that work is part of its load.
pub(crate) fn counters(inputs: &Inputs, topology: &Topology) -> Option<Captures> {
    let counters = inputs.counters.as_ref()?;
    counters.loads.iter().flatten().next()?;
    let nodes = topology.nodes.len();
    let places = places(counters, topology);
    let mut captures = Captures {
        seen: vec![Some(false); nodes],
        spans: vec![None; nodes],
        is_one_reading: counters.is_one_reading,
        are_counters: true,
        counted_slots: Some(counters.slots()),
        ..Captures::default()
    };
    let mut intervals = vec![Vec::new(); nodes];
    for (readings, node) in counters.nodes.iter().zip(places) {
        let Some(node) = node else { continue };
        captures.seen[node] = Some(true);
        if readings.times.0 > 0 {
            let range = captures.range.unwrap_or(readings.times);
            captures.range = Some((range.0.min(readings.times.0), range.1.max(readings.times.1)));
        }
        let name = readings.name.as_deref().unwrap_or_default();
        if readings.span().is_some() && !was_collected_from(inputs, name) {
            captures.spans[node] = readings.span();
            intervals[node] = vec![readings.times];
        }
    }
    captures.range = captures
        .range
        .map(|(first, last)| (first / SECOND, last / SECOND));
    captures.are_apart = are_apart(&intervals);
    Some(captures)
}

/// Replaces the clients of captures.
pub(crate) fn redact(observed: &mut Observed, redaction: &Redaction) {
    let captures = observed.captures.iter_mut();
    for of in captures.flat_map(|captures| captures.commands.iter_mut().flatten()) {
        if let Some((client, _)) = &mut of.client {
            *client = redaction.name(client);
        }
    }
}

/// Whether keys were read from replicas, whose LFU counters do not reflect clients.
pub fn accesses_from_replicas(inputs: &Inputs, tallies: &Tallies) -> bool {
    if tallies.slots.loads.get(Metric::Accesses).is_none() {
        return false;
    }
    let collections = inputs.collections.iter();
    let mut nodes = collections.flat_map(|collection| &collection.manifest.nodes);
    nodes.any(|node| node.file.is_some() && node.role == Role::Replica)
}

/// Notes on the loads, with node names if allowed.
pub(crate) fn notes(inputs: &Inputs, observed: &Observed, with_names: bool) -> Vec<String> {
    let name = |node: &NodeReadings| match &node.name {
        Some(name) if with_names => Name::from(name.as_str()).to_string(),
        _ => "a node".into(),
    };
    let counters = inputs.counters.as_ref();
    let mut notes = counters.map_or_else(Vec::new, |counters| counters.notes(name));
    if observed.accesses_from_replicas {
        notes.push(
            "keys were read from replicas, whose LFU counters do not show what clients do: accesses compare no nodes; slotscope \
             collect --from primaries has those of all nodes"
                .into(),
        );
    }
    notes
}

/// A note that keys and load are from different days.
pub(crate) fn note_of_times(written: Option<u64>, observed: &Observed) -> Option<String> {
    let written = written?;
    let captures = observed.captures.iter().chain(&observed.counters);
    let mut ranges = captures.filter_map(|captures| captures.range);
    let (first, last) = ranges.find(|(first, last)| *last > 0 && last >= first)?;
    let apart = first
        .saturating_sub(written)
        .max(written.saturating_sub(last));
    (apart > DAY).then(|| {
        format!(
            "the keys were dumped at {}, the load was measured at {}, {} apart: keys and owners of slots may have changed",
            text::time(written),
            text::time(first),
            text::span(apart)
        )
    })
}

/// The inputs that collections describe as captures, by place: their node, and for how many seconds. Without commands,
/// such a node was idle.
fn collected(inputs: &Inputs, topology: &Topology) -> BTreeMap<usize, (usize, f64)> {
    let of_collection = |collection: &Collection| {
        let load = collection.manifest.load.as_ref();
        let nodes = load.into_iter().flat_map(|load| &load.monitor);
        let nodes = nodes.flat_map(|monitor| &monitor.nodes);
        let place = |captured: &MonitorNode| {
            let path = collection.directory.join(&captured.file);
            let at = inputs.files.iter().position(|file| file.path == path)?;
            Some((at, (topology.find(&captured.name).ok()?, captured.secs)))
        };
        nodes.filter_map(place).collect::<Vec<_>>()
    };
    inputs.collections.iter().flat_map(of_collection).collect()
}

/// Whether each node was captured; `None` if only its operations can tell.
fn seen_nodes(captures: &[Capture], nodes: usize) -> Vec<Option<bool>> {
    let has_name = |node: usize| {
        let mut captures = captures.iter().filter(|capture| capture.is_named);
        captures.any(|capture| capture.node == Some(node))
    };
    let are_known = captures.iter().all(|capture| capture.is_named);
    let seen = |node: usize| {
        let is_seen = has_name(node);
        (is_seen || are_known).then_some(is_seen)
    };
    (0..nodes).map(seen).collect()
}

/// The fraction of a capture's slots owned by a node.
fn part_on(captured: &Captured, topology: &Topology, input: usize, node: usize) -> f64 {
    let (mut total, mut own) = (0u32, 0u32);
    for slot in captured.slots(input) {
        total += 1;
        own += u32::from(topology.owner(slot) == Some(node));
    }
    match total {
        0 => 1.0,
        total => f64::from(own) / f64::from(total),
    }
}

/// The node that owns all of these slots.
fn owner_of(slots: impl Iterator<Item = u16>, topology: &Topology) -> Option<usize> {
    let mut owners = slots.map(|slot| topology.owner(slot));
    let first = owners.next()??;
    owners.all(|owner| owner == Some(first)).then_some(first)
}

/// The times of a node's captures in order, with overlapping ones merged; empty if one of them has no times.
fn of_node(captures: &[Capture], node: usize) -> Vec<(u64, u64)> {
    let own = captures.iter().filter(|capture| capture.node == Some(node));
    let known: Option<Vec<(u64, u64)>> = own.map(|capture| capture.times).collect();
    let mut times = known.unwrap_or_default();
    times.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (from, to) in times {
        match joined.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(to),
            None => joined.push((from, to)),
        }
    }
    joined
}

/// Total seconds of intervals; `None` if zero.
fn span(intervals: &[(u64, u64)]) -> Option<f64> {
    let ms: u64 = intervals
        .iter()
        .map(|(from, to)| to.saturating_sub(*from))
        .sum();
    (ms > 0).then_some(ms as f64 / SECOND as f64)
}

/// Whether the times of any two nodes overlap by less than half of the shorter.
fn are_apart(intervals: &[Vec<(u64, u64)>]) -> bool {
    let known = intervals.iter().filter_map(|times| {
        let (first, last) = (times.first()?.0, times.last()?.1);
        (last > first).then_some((first, last))
    });
    let spans: Vec<(u64, u64)> = known.collect();
    let is_apart = |a: &(u64, u64), b: &(u64, u64)| {
        let overlap = a.1.min(b.1).saturating_sub(a.0.max(b.0));
        let shorter = (a.1 - a.0).min(b.1 - b.0);
        (overlap as f64) < TOGETHER * shorter as f64
    };
    let mut pairs = spans.iter().enumerate();
    pairs.any(|(at, a)| spans[..at].iter().any(|b| is_apart(a, b)))
}

/// The place in the topology of each node whose counters were read: by its name, or that of its file, or by its slots.
fn places(counters: &Counters, topology: &Topology) -> Vec<Option<usize>> {
    let of_slots = |at: usize| {
        let slots = (0..).zip(&counters.owners);
        let owned = slots.filter(|(_, node)| **node == Some(at));
        owner_of(owned.map(|(slot, _)| slot), topology)
    };
    let place = |(at, readings): (usize, &NodeReadings)| {
        let by_name = readings
            .name
            .as_deref()
            .and_then(|name| topology.find(name).ok());
        by_name.or_else(|| of_slots(at))
    };
    counters.nodes.iter().enumerate().map(place).collect()
}

/// Whether keys were collected from this primary, which its CPU time then includes.
fn was_collected_from(inputs: &Inputs, name: &str) -> bool {
    inputs.collections.iter().any(|collection| {
        let mut nodes = collection.manifest.nodes.iter();
        // Load was measured before the keys were read.
        let is_apart = collection.manifest.load.is_some();
        collection.manifest.level != Level::Slots
            && !is_apart
            && nodes
                .any(|node| node.role == Role::Primary && node.file.is_some() && node.name == name)
    })
}

/// The time from the earlier start to the later end.
fn both(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let times = a.into_iter().chain(b);
    times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::reading::{Options, Reading};
    use slotscope_base::slot::slot;
    use slotscope_count::tally::Parts;
    use slotscope_read::source::find;

    const NODES: &[u8] = b"a 127.0.0.1:7001@2 master - 0 0 1 connected 0-5460\n\
        b 127.0.0.1:7002@2 master - 0 0 1 connected 5461-10922\n\
        c 127.0.0.1:7003@2 master - 0 0 1 connected 10923-16383\n";

    fn topology() -> Topology {
        Topology::parse("cluster.nodes", NODES).unwrap()
    }

    /// MONITOR lines: a command on keys of these nodes, evenly spread over seconds starting at `from`.
    fn monitor(nodes: &[usize], (from, secs): (u64, u64)) -> String {
        let topology = topology();
        let keys = (0..300u32).map(|i| format!("k:{i}"));
        let is_of = |key: &String| {
            let owner = topology.owner(slot(key.as_bytes()));
            owner.is_some_and(|owner| nodes.contains(&owner))
        };
        let keys: Vec<String> = keys.filter(is_of).collect();
        let last = keys.len() as u64 - 1;
        let lines = keys.iter().zip(0..).map(|(key, at)| {
            let ms = secs * 1000 * at / last;
            let (second, ms) = (1_795_341_600 + from + ms / 1000, ms % 1000);
            format!("{second}.{ms:03}000 [0 127.0.0.1:5] \"get\" \"{key}\" \"1\"\n")
        });
        lines.collect()
    }

    /// The captures of inputs with these names and texts.
    fn of(files: &[(&str, String)]) -> Captures {
        let directory = tempfile::tempdir().unwrap();
        let paths = files.iter().map(|(name, text)| {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        });
        let paths: Vec<_> = paths.collect();
        let reading = Reading::new(find(&paths).unwrap(), Options::default()).unwrap();
        let scanned = reading
            .scan("counting", || Tallies::new(Parts::All))
            .unwrap();
        let inputs = Inputs::of(&reading, &scanned);
        captures(&inputs, &scanned, &topology()).unwrap()
    }

    #[test]
    fn each_node_has_its_own_span_and_captures_at_other_times_are_apart() {
        let files = |from: [u64; 3]| {
            [(0, 8), (1, 12), (2, 31)].map(|(node, secs)| {
                let name = ["7001.monitor", "7002.monitor", "7003.monitor"][node];
                (name, monitor(&[node], (from[node], secs)))
            })
        };
        let together = of(&files([0, 2, 0]));
        assert_eq!(together.spans, [8.0, 12.0, 31.0].map(Some));
        assert_eq!(together.seen, [Some(true); 3]);
        assert!(!together.are_apart);
        assert_eq!(together.range, Some((1_795_341_600, 1_795_341_631)));
        assert!(of(&files([0, 5, 0])).are_apart);
        assert!(of(&files([0, 3600, 0])).are_apart);
    }

    #[test]
    fn several_files_of_a_node_are_as_long_as_their_times_together() {
        let times = [(0, 10), (5, 10), (100, 10)];
        let files = times.map(|times| monitor(&[1], times));
        let names = ["7002.monitor.1", "7002.monitor.2", "7002.monitor.3"];
        let files: Vec<_> = names.into_iter().zip(files).collect();
        assert_eq!(of(&files).spans, [None, Some(25.0), None]);
    }

    #[test]
    fn one_file_of_several_nodes_is_of_none_whatever_its_name() {
        let text = monitor(&[0, 1, 2], (0, 10));
        for name in ["all.monitor", "7001.monitor"] {
            let found = of(&[(name, text.clone())]);
            assert_eq!((found.seen, found.spans), (vec![None; 3], vec![None; 3]));
        }
    }
}
