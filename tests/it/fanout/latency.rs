//! The effect of the reach of batches on their latency, against the arithmetic of a reader with paper.

use std::collections::BTreeSet;

use slotscope::slot::policy::Policy;
use slotscope::summary::Rejected;
use slotscope::topology::Topology;
use slotscope_names::fanout::{Fanout, Lines};
use testkit::prelude::*;
use testkit::rng::Rng;

/// CRC-16/XMODEM, a bit at a time.
fn slot(key: &str) -> usize {
    let step = |crc: u16| crc << 1 ^ if crc >> 15 == 1 { 0x1021 } else { 0 };
    let byte = |crc: u16, byte: u8| (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| step(crc));
    usize::from(key.bytes().fold(0, byte)) % 16384
}

/// The node of a slot among `nodes` even ones: the first whose end, rounded, is above it.
fn node(slot: usize, nodes: usize) -> usize {
    let end = |node: usize| ((node + 1) as f64 * 16384.0 / nodes as f64).round() as usize;
    (0..nodes).find(|node| slot < end(*node)).unwrap()
}

#[test]
fn the_figures_are_those_of_own_arithmetic_on_a_hundred_logs() {
    let rng = &mut Rng::new(70);
    for log in 0..100 {
        let nodes = 1 + rng.below(40);
        let slow = [0.01, 0.001, 0.25, 1.0][log % 4];
        let (topology, policy) = (Topology::even(nodes, String::new()).unwrap(), Policy::Oss);
        let mut fanout = Fanout::new(&topology, &policy, Lines::Auto).with_slow(slow);
        let mut reached = Vec::new();
        for _ in 0..1 + rng.below(50) {
            let keys = (0..1 + rng.below(30)).map(|_| format!("k:{}", rng.below(1 << 20)));
            let keys: Vec<String> = keys.collect();
            fanout
                .add(format!("MGET {}", keys.join(" ")).as_bytes())
                .unwrap();
            let nodes: BTreeSet<usize> = keys.iter().map(|key| node(slot(key), nodes)).collect();
            reached.push(nodes.len());
        }
        let found = fanout.findings(Rejected::default(), Vec::new(), Vec::new());
        let found = found.latency.unwrap();
        let near = |found: f64, expected: f64| {
            // Of nine digits, and forty nodes.
            let is_near = (found - expected).abs() < 3e-8;
            assert!(is_near, "log {log}: {found} is not {expected}");
        };
        // All replies of a batch are fast with the product of their chances.
        let fast = |share: f64, nodes: usize| (0..nodes).fold(1.0, |all, _| all * share);
        let mean = |of: &dyn Fn(usize) -> f64| {
            reached.iter().map(|nodes| of(*nodes)).sum::<f64>() / reached.len() as f64
        };
        near(
            found.slow_batches,
            mean(&|nodes| 1.0 - fast(1.0 - slow, nodes)),
        );
        near(mean(&|nodes| fast(found.node_quantile, nodes)), 0.99);
        let most = *reached.iter().max().unwrap();
        let widest = reached.iter().filter(|nodes| **nodes == most).count();
        let (nodes, batches) = (found.widest.nodes, found.widest.batches);
        assert_eq!((nodes, batches), (most as u64, widest as u64), "log {log}");
        near(found.widest.slow_batches, 1.0 - fast(1.0 - slow, most));
        near(fast(found.widest.node_quantile, most), 0.99);
    }
}

#[test]
fn latency_has_three_lines_and_the_share_of_slow_replies_can_be_set() {
    // Ten keys on as many nodes, and one.
    let keys: Vec<String> = (0..10)
        .map(|part| {
            (0..)
                .map(|i| format!("k{i}"))
                .find(|key| node(slot(key), 10) == part)
        })
        .map(Option::unwrap)
        .collect();
    let batches = format!("MGET {}\nGET {}\n", keys.join(" "), keys[0]);
    let scratch = Scratch::with("batches", batches);
    scratch
        .text("fanout batches --nodes 10")
        .says("5.3% of the batches meet one of the slowest 1.0% of the replies of a node")
        .says("for 99.0% of the batches to meet a limit, each node has to meet it at its p99.82")
        .says("the batch over 10 nodes, the most here: 9.6%, p99.9");
    let found = scratch.report("fanout batches --nodes 10 --slow 10% --json");
    let expected = json!({"slow_replies": 0.1, "within": 0.99});
    found["latency"].has(expected);
    near(
        found["latency"]["slow_batches"].float(),
        (0.1 + 1.0 - 0.9f64.powi(10)) / 2.0,
        1e-8,
    );
    for (wrong, reason) in [
        ("0", "not above 0 and up to 100"),
        ("101%", "not above 0 and up to 100"),
        ("often", "not a number of percent"),
    ] {
        let refused = scratch.run(&format!("fanout batches --slow {wrong}"));
        assert_eq!(code(&refused), 2);
        stderr(&refused).says("--slow").says(reason);
    }
    // Where no node has a slot of a batch there is no latency.
    scratch.file("half.nodes", "a 10.0.0.1:1@2 master - 0 0 1 connected 1\n");
    let found = scratch.report("fanout batches --topology half.nodes --json");
    assert_eq!(found["latency"], Value::Null);
}
