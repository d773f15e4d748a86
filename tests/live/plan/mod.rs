//! Plans on a real cluster: compared with `redis-cli --cluster rebalance`, and executed under load by the script.
//! PLAN_LIVE_CASES: number of loads and weights to compare.

mod bad_day;
mod beside;
pub(crate) mod follower;
mod hostile_replies;
mod obstacles;
mod rebalance;
mod scaled;
mod script;
mod shell;
mod stops;
mod uneven;

use rebalance::bytes_are_evener_than_after_a_rebalance_of_slots;
use script::the_script_moves_what_was_planned_and_loses_nothing;
use slotscope::topology::Topology;
use testkit::cluster::{Cluster, Ranges};
use testkit::env::size;
use testkit::prelude::*;

/// Unequal shares; the last primary is empty.
fn shares() -> [Ranges; 4] {
    [
        vec![(0, 6999)],
        vec![(7000, 12999)],
        vec![(13000, 16383)],
        vec![],
    ]
}

/// A single cluster, since starting one takes seconds.
#[test]
fn plans_on_a_real_cluster() {
    // A primary that gives its last slot away would become a replica, with another node's keys.
    let stays_primary = ["--cluster-allow-replica-migration", "no"].map(String::from);
    let cluster = Cluster::with_options(&shares(), |_| stays_primary.to_vec());
    for case in 0..size("PLAN_LIVE_CASES", 5) {
        bytes_are_evener_than_after_a_rebalance_of_slots(&cluster, case);
    }
    flush(&cluster);
    the_script_moves_what_was_planned_and_loses_nothing(&cluster);
}

fn flush(cluster: &Cluster) {
    (0..3).for_each(|i| drop(cluster.servers[i].connect().call(&["FLUSHALL"])));
}

/// The owner of each slot, as the number of the server.
fn owners(cluster: &Cluster) -> Vec<usize> {
    let topology = Topology::parse("CLUSTER NODES", cluster.nodes(0).as_bytes()).unwrap();
    let server = |id: &String| cluster.ids.iter().position(|other| other == id).unwrap();
    (0..16384)
        .map(|slot| server(&topology.nodes[topology.owner(slot).unwrap()].id))
        .collect()
}

/// The owners after the moves of `plan`; `new-1` is the last server.
fn promised(cluster: &Cluster, plan: &Value, before: &[usize]) -> Vec<usize> {
    let server = |id: &Value| {
        cluster
            .ids
            .iter()
            .position(|other| id == other.as_str())
            .unwrap_or(3)
    };
    let mut owner = before.to_vec();
    for of in plan["moves"].list() {
        for range in of["ranges"].list() {
            let [first, last] = [0, 1].map(|end| range[end].whole() as usize);
            assert!(
                owner[first..=last]
                    .iter()
                    .all(|owner| *owner == server(&of["from"])),
                "{of}"
            );
            owner[first..=last].fill(server(&of["to"]));
        }
    }
    owner
}
