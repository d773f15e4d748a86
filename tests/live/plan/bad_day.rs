//! A real cluster on a bad day: uneven slots, one of which is open. The recommended commands, typed as printed, close it
//! and even the nodes out.

use testkit::cluster::{Cluster, call_ok};
use testkit::prelude::*;

/// The slots of each primary.
const SHARES: [(u16, u16); 3] = [(0, 5899), (5900, 11_199), (11_200, 16_383)];

/// Dumps each node, and returns the verdict on the dumps.
fn judged(cluster: &Cluster, scratch: &Scratch) -> Value {
    scratch.file("cluster.nodes", cluster.nodes(0).as_bytes());
    for (i, server) in cluster.servers.iter().enumerate() {
        let dump = server.redis_cli(&["--no-raw", "--scan"]);
        scratch.file(&format!("{i}.keys"), dump);
    }
    let files = "0.keys 1.keys 2.keys --topology cluster.nodes";
    scratch.report(&format!("analyze {files} --json"))["verdict"].take()
}

/// `redis-cli --cluster rebalance` refuses a cluster with an open slot.
#[test]
fn the_rebalance_of_the_report_works_while_a_slot_is_on_its_way() {
    let (cluster, scratch) = (
        Cluster::start(&SHARES.map(|range| vec![range])),
        Scratch::new(),
    );
    cluster.set_all((0..6000).map(|i| (format!("session:{i}"), "x")));
    for (i, state, other) in [(1, "IMPORTING", 0), (0, "MIGRATING", 1)] {
        let command = ["CLUSTER", "SETSLOT", "100", state, &cluster.ids[other]];
        call_ok(&mut cluster.servers[i].connect(), &command);
    }
    let verdict = judged(&cluster, &scratch);
    verdict.has(json!({"steps": [{"kind": "repair"}, {"kind": "move"}]}));
    succeeded(scratch.shell(verdict["steps"][0]["command"].text()));
    let verdict = judged(&cluster, &scratch);
    verdict.has(json!({"steps": [{"kind": "move"}]}));
    succeeded(scratch.shell(verdict["steps"][0]["command"].text()));
    succeeded(scratch.shell("bash moves.sh"));
    judged(&cluster, &scratch).has(json!({"state": "balanced"}));
}
