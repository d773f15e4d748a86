//! A real cluster on a bad day: uneven slots, one of which is open. The recommended commands, typed as printed, close it
//! and even the nodes out.

use testkit::cluster::{Cluster, call_ok};
use testkit::prelude::*;

/// The slots of each primary.
const SHARES: [(u16, u16); 3] = [(0, 5899), (5900, 11_199), (11_200, 16_383)];

fn dump(cluster: &Cluster, scratch: &Scratch) {
    scratch.file("cluster.nodes", cluster.nodes(0).as_bytes());
    for (i, server) in cluster.servers.iter().enumerate() {
        scratch.file(
            &format!("{i}.keys"),
            server.redis_cli(&["--no-raw", "--scan"]),
        );
    }
}

fn analyzed(scratch: &Scratch) -> Value {
    let files = ["0.keys", "1.keys", "2.keys"];
    let args = ["analyze", "--topology", "cluster.nodes", "--json"];
    scratch.report(&[&args[..], &files].concat())
}

/// A cluster with uneven slots and these keys.
fn filled(keys: &[String]) -> Cluster {
    let cluster = Cluster::start(&SHARES.map(|range| vec![range]));
    cluster.set_all(keys.iter().map(|key| (key, "x")));
    cluster
}

/// `redis-cli --cluster rebalance` refuses a cluster with an open slot.
#[test]
fn the_rebalance_of_the_report_works_while_a_slot_is_on_its_way() {
    let sessions: Vec<String> = (0..6000).map(|i| format!("session:{i}")).collect();
    let cluster = filled(&sessions);
    let id = |i: usize| {
        cluster.servers[i]
            .connect()
            .call(&["CLUSTER", "MYID"])
            .text()
    };
    let (from, to) = (id(0), id(1));
    for (i, state, other) in [(1, "IMPORTING", &from), (0, "MIGRATING", &to)] {
        let command = ["CLUSTER", "SETSLOT", "100", state, other];
        call_ok(&mut cluster.servers[i].connect(), &command);
    }
    let scratch = Scratch::new();
    dump(&cluster, &scratch);
    let found = analyzed(&scratch)["verdict"]["steps"].take();
    let steps = found.list();
    assert_eq!(
        (&steps[0]["kind"], &steps[1]["kind"]),
        (&"repair".into(), &"move".into())
    );
    let command = |step: &Value| step["command"].text().to_owned();
    let works = |command: &str| scratch.shell(command).status.success();
    assert!(works(&command(&steps[0])), "{}", steps[0]);
    dump(&cluster, &scratch);
    let found = analyzed(&scratch)["verdict"]["steps"].take();
    assert_eq!(found[0]["kind"], "move", "the slot is closed: {found}");
    let plan = command(&found[0]);
    assert!(works(&plan), "{plan}");
    let said = scratch.shell("bash moves.sh");
    assert!(said.status.success(), "{said:?}");
    dump(&cluster, &scratch);
    let verdict = &analyzed(&scratch)["verdict"];
    assert_eq!(verdict["state"], "balanced", "{}", verdict["sentence"]);
}
