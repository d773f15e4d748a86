//! Plans on a real cluster: compared with `redis-cli --cluster rebalance`, and executed under load by the script.
//! PLAN_LIVE_CASES: number of loads and weights to compare.

mod bad_day;
mod beside;
pub(crate) mod follower;
mod hostile_replies;
mod obstacles;
mod only_planned;
mod rebalance;
mod scaled;
mod script;
mod shell;
mod stops;
mod uneven;

use rebalance::bytes_are_evener_than_after_a_rebalance_of_slots;
use script::the_script_moves_what_was_planned_and_loses_nothing;
use slotscope::topology::Topology;
use testkit::cluster::Cluster;
use testkit::env::size;
use testkit::prelude::*;

/// A single cluster, since starting one takes seconds: with unequal shares; the last primary is empty.
#[test]
fn plans_on_a_real_cluster() {
    // A primary that gives its last slot away would become a replica, with another node's keys.
    let stays_primary = ["--cluster-allow-replica-migration", "no"].map(String::from);
    let shares = [
        vec![(0, 6999)],
        vec![(7000, 12999)],
        vec![(13000, 16383)],
        vec![],
    ];
    let cluster = Cluster::with_options(&shares, |_| stays_primary.to_vec());
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
    let id = |slot| &topology.nodes[topology.owner(slot).unwrap()].id;
    let server = |slot| cluster.ids.iter().position(|other| other == id(slot));
    (0..16384).map(|slot| server(slot).unwrap()).collect()
}

/// The owners after the moves of `plan`; `new-1` is the last server.
fn promised(cluster: &Cluster, plan: &Value, before: &[usize]) -> Vec<usize> {
    let server = |id: &Value| {
        let known = cluster.ids.iter().position(|other| id == other.as_str());
        known.unwrap_or(3)
    };
    let mut owner = before.to_vec();
    for of in plan["moves"].list() {
        for range in of["ranges"].list() {
            let [first, last] = [0, 1].map(|end| range[end].whole() as usize);
            let from = server(&of["from"]);
            assert!(owner[first..=last].iter().all(|of| *of == from), "{of}");
            owner[first..=last].fill(server(&of["to"]));
        }
    }
    owner
}
