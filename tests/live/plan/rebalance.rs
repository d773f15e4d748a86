//! The moves of plans compared with those of `redis-cli --cluster rebalance`.

use super::{flush, owners, promised};
use slotscope::slot::slot;
use testkit::cluster::Cluster;
use testkit::prelude::*;
use testkit::rng::Rng;

/// Keys with very different sizes and tags for `case`: SET on their nodes, and returned as lines of CSV.
fn load(cluster: &Cluster, rng: &mut Rng) -> (Vec<u64>, String) {
    flush(cluster);
    let mut sets: Vec<(String, String)> = Vec::new();
    let (mut bytes, mut csv) = (vec![0; 16384], String::from("key,size\n"));
    let tags = 10 + rng.below(3000);
    for i in 0..12_000 {
        let most = 1 + rng.below(tags);
        let tag = rng.below(most);
        let key = if i % 2 == 0 {
            format!("user:{i}")
        } else {
            format!("{{tag{tag}}}:{i}")
        };
        let most = 1 + rng.below(800);
        let size = 1 + rng.below(most);
        bytes[usize::from(slot(key.as_bytes()))] += size as u64;
        csv += &format!("{key},{size}\n");
        sets.push((key, "x".repeat(size)));
    }
    cluster.set_all(sets);
    (bytes, csv)
}

/// The fullest node in fair shares, and the bytes that change nodes, for the owners `after`.
fn judge(bytes: &[u64], weights: &[f64], before: &[usize], after: &[usize]) -> (f64, u64) {
    let (mut loads, mut moved) = (vec![0; weights.len()], 0);
    for slot in 0..bytes.len() {
        loads[after[slot]] += bytes[slot];
        let has_moved = before[slot] != after[slot];
        moved += u64::from(has_moved) * bytes[slot];
    }
    let fair = bytes.iter().sum::<u64>() as f64 / weights.iter().sum::<f64>();
    let over = loads.iter().zip(weights).filter(|of| *of.1 > 0.0);
    let over = over.map(|(load, weight)| *load as f64 / (fair * weight));
    (over.fold(0.0, f64::max), moved)
}

pub(super) fn bytes_are_evener_than_after_a_rebalance_of_slots(cluster: &Cluster, case: u64) {
    let rng = &mut Rng::new(case + 77);
    let (bytes, csv) = load(cluster, rng);
    let with_empty = case.is_multiple_of(2);
    let weights: Vec<f64> = (0..4)
        .map(|i| match i {
            3 if !with_empty => 0.0,
            _ => [1.0, 1.0, 1.5, 2.0][rng.below(4)],
        })
        .collect();
    let before = owners(cluster);
    let theirs = rebalanced(cluster, &weights, &before);

    let scratch = Scratch::new();
    scratch.file("cluster.nodes", cluster.nodes(0).as_bytes());
    scratch.file("dump.csv", csv.as_bytes());
    let nodes = cluster.ids.iter().zip(&weights);
    let nodes = nodes.map(|(id, weight)| match *weight {
        0.0 => format!(" --remove {id}"),
        weight => format!(" --weight {id}={weight}"),
    });
    let nodes: String = nodes.collect();
    let plan = "plan dump.csv --topology cluster.nodes --by bytes --json";
    let plan = scratch.report(&format!("{plan}{nodes}"));
    let ours = promised(cluster, &plan, &before);

    let (they, they_moved) = judge(&bytes, &weights, &before, &theirs);
    let (we, we_moved) = judge(&bytes, &weights, &before, &ours);
    let floor = plan["floor"]["bytes"].float();
    println!(
        "case {case}: floor {floor:.4}; plan {we:.4}, {we_moved} bytes; rebalance {they:.4}, {they_moved} bytes"
    );
    assert!(
        (we - plan["goals"][0]["after"].float()).abs() < 1e-6 && plan["bytes_moved"] == we_moved,
        "{plan}"
    );
    // A load of up to 1.02 times its target is left alone.
    let near = |found: f64| found <= 1.02 * 1.03 * floor + 1e-9;
    assert!(
        we < they || near(we) && near(they),
        "case {case}: {we} against {they}, floor {floor}"
    );
}

/// The owners after `redis-cli --cluster rebalance`. It prints how many slots move between which nodes; those are the
/// first that the node then has.
fn rebalanced(cluster: &Cluster, weights: &[f64], before: &[usize]) -> Vec<usize> {
    let given = cluster.ids.iter().zip(weights).filter(|of| *of.1 > 0.0);
    let given: String = given
        .map(|(id, weight)| format!(" {id}={weight}"))
        .collect();
    let empty = ["", "--cluster-use-empty-masters"][usize::from(weights[3] > 0.0)];
    let line = format!("redis-cli --cluster rebalance {}", cluster.address(0));
    let line = format!("{line} --cluster-simulate {empty} --cluster-weight{given}");
    let output = Scratch::new().shell(line);
    let text = stdout(&output);
    let server = |address: &str| (0..4).find(|i| cluster.address(*i) == address).unwrap();
    let mut owner = before.to_vec();
    for line in text.lines() {
        if let ["Moving", count, "slots", "from", from, "to", to] =
            *line.split(' ').collect::<Vec<_>>()
        {
            let (from, to) = (server(from), server(to));
            let own = owner.iter_mut().filter(|of| **of == from);
            own.take(count.parse().unwrap()).for_each(|of| *of = to);
        }
    }
    let balanced = text.contains("No rebalancing needed");
    assert!(balanced != (owner != before), "{output:?}");
    owner
}
