//! Dumps with a planted, and so known, truth: the expected verdict, and why.

use std::io::Write;

use crate::rng::Rng;
use slotscope::metric::Metric;
use slotscope::slot::slot;
use slotscope::topology::Topology;

/// A dump, the nodes it is judged on, and the metric.
pub struct Case {
    pub what: &'static str,
    pub dump: Vec<u8>,
    pub topology: Topology,
    pub by: Metric,
}

pub fn even(nodes: usize) -> Topology {
    Topology::even(nodes, format!("even {nodes}")).unwrap()
}

/// The ends of `nodes` nodes with equal numbers of slots.
pub fn even_ends(nodes: u64) -> Vec<u64> {
    let end = |node: u64| ((node + 1) * 16_384 + nodes / 2) / nodes - 1;
    (0..nodes).map(end).collect()
}

/// The ends of `nodes` nodes, of which the first has this part of an even share.
pub fn uneven_ends(nodes: usize, part: f64) -> Vec<u64> {
    let first = (16_384.0 / nodes as f64 * part) as u64;
    let rest = (16_384 - first) as f64 / (nodes - 1) as f64;
    let end = |node: usize| first + (rest * node as f64).round() as u64 - 1;
    (0..nodes).map(end).collect()
}

/// The address of a node in `lines_of`.
pub fn address(at: usize) -> String {
    format!("10.0.{}.{}:6379", at / 250, at % 250 + 1)
}

/// Nodes that end at these slots, one per line; the last slot is 16383.
pub fn lines_of(ends: &[u64]) -> String {
    let mut first = 0;
    let line = |(at, end): (usize, &u64)| {
        let (from, address) = (std::mem::replace(&mut first, end + 1), address(at));
        format!("node{at} {address}@16379 master - 0 0 1 connected {from}-{end}\n")
    };
    ends.iter().enumerate().map(line).collect()
}

/// The topology of `lines_of`.
pub fn listing(ends: &[u64]) -> Topology {
    Topology::parse("cluster.nodes", lines_of(ends).as_bytes()).unwrap()
}

fn push(dump: &mut Vec<u8>, key: std::fmt::Arguments<'_>) {
    writeln!(dump, "{key}").unwrap();
}

fn word(random: &mut Rng) -> String {
    let len = 1 + random.below(8);
    let letters = (0..len).map(|_| (b'a' + random.below(26) as u8) as char);
    letters.collect()
}

const NULL: &str = "uniform,sequential,hex,timestamps,2 a tag,5 a tag,20 a tag,sizes";

/// A dump with nothing to find, of up to `most` keys.
pub fn null(number: u64, most: f64) -> Case {
    let mut random = Rng::new(number);
    let what = nth(NULL, number);
    let keys = random.log_between(10_000.0, most) as u64;
    // If few keys have sizes of their own, one may be a large part of a node: that is not mere chance.
    let most_nodes = match what {
        "sizes" => (keys as f64 / 5000.0).clamp(3.1, 100.9),
        _ => 100.9,
    };
    let nodes = random.log_between(3.0, most_nodes) as usize;
    let (prefix, suffix, width) = (word(&mut random), word(&mut random), random.below(12));
    let has_suffix = random.below(2) == 0;
    let suffix = if has_suffix {
        format!(":{suffix}")
    } else {
        String::new()
    };
    let start = random.below(1 << 40) as u64;
    let mut dump = Vec::with_capacity(keys as usize * 24);
    if what == "sizes" {
        dump.extend_from_slice(b"key,size\n");
    }
    let sigma = 0.3 + 0.7 * random.unit();
    for i in 0..keys {
        let number = start % 100_000 + i;
        let written = match what {
            "uniform" => writeln!(dump, "{prefix}:{:016x}{suffix}", random.next()),
            "sequential" => writeln!(dump, "{prefix}:{number:0width$}{suffix}"),
            "hex" => writeln!(dump, "{prefix}:{:0width$x}{suffix}", start + i),
            "timestamps" => {
                let (days, second) = (i / 86_400, i % 86_400);
                let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
                let (month, day) = (1 + days / 28 % 12, 1 + days % 28);
                let date = format_args!("{}{month:02}{day:02}", 2020 + days / 336);
                let clock = format_args!("{hour:02}{minute:02}{second:02}");
                writeln!(dump, "{prefix}:{date}{clock}{suffix}")
            }
            "sizes" => {
                let size = (200.0 * (sigma * random.normal()).exp()) as u64;
                writeln!(dump, "{prefix}:{number}{suffix},{size}")
            }
            _ => {
                let a_tag: u64 = what.split(' ').next().unwrap().parse().unwrap();
                let tag = start % 100_000 + i / a_tag;
                writeln!(dump, "{prefix}:{{{tag}}}:{}{suffix}", i % a_tag)
            }
        };
        written.unwrap();
    }
    Case {
        what,
        dump,
        topology: even(nodes),
        by: match what {
            "sizes" => Metric::Bytes,
            _ => Metric::Keys,
        },
    }
}

const PLANTED: &str =
    "hot tag,zipf tags,huge value,unequal slots,missing node,cut names,node twice";

/// One of the names in a list, in turn.
fn nth(names: &'static str, number: u64) -> &'static str {
    let names: Vec<&str> = names.split(',').collect();
    names[(number % names.len() as u64) as usize]
}

/// A dump with something to find, of up to `most` keys; `None` if the expected verdict is too close to a threshold.
pub fn planted(number: u64, most: f64) -> Option<Case> {
    let mut random = Rng::new(!number);
    let what = nth(PLANTED, number);
    let keys = random.log_between(20_000.0, most) as u64;
    let prefix = word(&mut random);
    let mut dump = Vec::with_capacity(keys as usize * 24);
    let (topology, by) = match what {
        "hot tag" => {
            let (nodes, share) = heavy(&mut random)?;
            let hot = (keys as f64 * share) as u64;
            let tag = word(&mut random);
            (0..hot).for_each(|i| push(&mut dump, format_args!("{prefix}:{{{tag}}}:{i}")));
            (hot..keys).for_each(|i| push(&mut dump, format_args!("{prefix}:{i}")));
            (even(nodes), Metric::Keys)
        }
        "zipf tags" => {
            let tags = random.log_between(1000.0, 100_000.0) as u64;
            let harmonic: f64 = (1..=tags).map(|rank| 1.0 / rank as f64).sum();
            let nodes = random.log_between(3.0, 30.9) as usize;
            let topology = even(nodes);
            let mut loads = vec![0.0; nodes];
            for rank in 1..=tags {
                let count = (keys as f64 / harmonic / rank as f64).round() as u64;
                let tag = format!("{prefix}{rank}");
                loads[topology.owner(slot(tag.as_bytes())).unwrap()] += count as f64;
                (0..count).for_each(|i| push(&mut dump, format_args!("{{{tag}}}:{i}")));
            }
            let total: f64 = loads.iter().sum();
            let most = loads.iter().fold(0.0, |most: f64, load| most.max(*load));
            if !clear(most * nodes as f64 / total) {
                return None;
            }
            (topology, Metric::Keys)
        }
        "huge value" => {
            let (nodes, share) = heavy(&mut random)?;
            dump.extend_from_slice(b"key,size\n");
            let huge = (keys as f64 * 100.0 * share / (1.0 - share)) as u64;
            for i in 0..keys {
                let size = 50 + i * 7919 % 101;
                push(&mut dump, format_args!("{prefix}:{i},{size}"));
            }
            push(&mut dump, format_args!("huge,{huge}"));
            (even(nodes), Metric::Bytes)
        }
        "unequal slots" => {
            let nodes = 3 + random.below(8);
            let extra = 1.1 + 0.8 * random.unit();
            if !clear(extra) {
                return None;
            }
            (0..keys).for_each(|i| push(&mut dump, format_args!("{prefix}:{i}")));
            (listing(&uneven_ends(nodes, extra)), Metric::Keys)
        }
        "missing node" | "node twice" => {
            let nodes = 3 + random.below(10) as u64;
            let topology = listing(&even_ends(nodes));
            let node = random.below(nodes as usize);
            for i in 0..keys {
                let key = format!("{prefix}:{i}");
                let here = topology.owner(slot(key.as_bytes())) == Some(node);
                let times = match (here, what) {
                    (false, _) => 1,
                    (true, "node twice") => 2,
                    (true, _) => 0,
                };
                (0..times).for_each(|_| push(&mut dump, format_args!("{key}")));
            }
            (topology, Metric::Keys)
        }
        _ => {
            let cut = (keys as f64 * random.log_between(0.01, 0.1)) as u64;
            (0..cut).for_each(|_| push(&mut dump, format_args!("{prefix}-bin")));
            (cut..keys).for_each(|i| push(&mut dump, format_args!("{prefix}:{i}")));
            (even(3 + random.below(30)), Metric::Keys)
        }
    };
    Some(Case {
        what,
        dump,
        topology,
        by,
    })
}

/// A number of nodes, and the share of a heavy unit in their load.
fn heavy(random: &mut Rng) -> Option<(usize, f64)> {
    let nodes = random.log_between(3.0, 100.9) as usize;
    let share = random.log_between(0.01, 0.3);
    clear(1.0 + share * (nodes as f64 - 1.0)).then_some((nodes, share))
}

/// Whether a node's expected load is far enough from the thresholds of the verdicts.
fn clear(expected: f64) -> bool {
    (expected - 1.05).abs() > 0.03 && (expected - 1.20).abs() > 0.05
}
