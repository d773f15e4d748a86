//! Readings of servers, and servers that are down or refuse: a collection has the others, and reports what is missing.

use std::time::{Duration, Instant};

use crate::collect::collected::{manifest, rows};
use slotscope::slot::slot;
use slotscope::source::collection::manifest::Level;
use slotscope::source::collection::servers::Role;
use testkit::cluster::Cluster;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Server;
/// Keys in a slot of their own.
const KEYS: usize = 600;

fn fill(cluster: &Cluster) {
    cluster.set_all((0..KEYS).map(|id| (format!("user:{id}"), "0123456789")));
}

#[test]
fn each_primary_says_its_memory_and_its_limits_also_where_replicas_are_read() {
    let options = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let cluster = Cluster::with_replicas(Kind::Installed, &options.map(String::from));
    fill(&cluster);
    cluster.wait_for_replicas();
    for level in ["--max-load 100", "--keys", "--slots-only"] {
        println!("{level}");
        let (scratch, address) = (Scratch::new(), cluster.address(0));
        scratch.text(&format!("collect {address} -o out {level}"));
        let of = manifest(&scratch);
        let servers = of.servers.iter();
        let primaries = servers.filter(|server| server.role == Role::Primary);
        let primaries: Vec<_> = primaries.collect();
        assert_eq!(primaries.len(), 3, "{:?}", of.servers);
        for (at, id) in cluster.ids.iter().take(3).enumerate() {
            let mut found = primaries.iter();
            let found = found.find(|server| server.id.as_ref() == Some(id)).unwrap();
            assert_eq!(found.is_read, level == "--slots-only");
            let (before, after) = (found.before.as_ref(), found.after.as_ref().unwrap());
            assert!(before.unwrap().uptime_in_seconds <= after.uptime_in_seconds);
            assert_eq!(after.maxmemory, Some(100 << 20));
            assert_eq!(after.maxmemory_policy.as_deref(), Some("allkeys-lru"));
            assert_eq!(after.cluster_state.as_deref(), Some("ok"));
            assert_eq!(after.connected_slaves, Some(1));
            let now = cluster.servers[at].used_memory();
            assert!(after.used_memory.unwrap().abs_diff(now) < now / 2);
        }
        let replicas = of.servers.len() - primaries.len();
        assert_eq!(replicas, if level == "--slots-only" { 0 } else { 3 });
        of.skipped.concat().lacks("NO-TOUCH");
    }
}

#[test]
fn a_cluster_that_is_down_is_named_within_seconds_and_its_names_are_read() {
    let mut cluster = Cluster::even(3);
    fill(&cluster);
    let lost = cluster.address(2);
    cluster.lose(2);
    for server in &cluster.servers[..2] {
        server.until("CLUSTER INFO", "cluster_state:fail");
    }
    let is_there = |id: &usize| cluster.owner(slot(format!("user:{id}").as_bytes())) != 2;
    let expected = (0..KEYS).filter(is_there).count();
    for (flags, level) in [
        ("--keys", Level::Keys),
        ("--force", Level::Keys),
        ("--slots-only", Level::Slots),
    ] {
        let (scratch, start) = (Scratch::new(), Instant::now());
        let run = scratch.run(&format!("collect {} -o out {flags}", cluster.address(0)));
        let took = start.elapsed();
        assert!(took < Duration::from_secs(55), "{took:?}");
        assert_eq!(code(&run), 2, "{}", stderr(&run));
        stderr(&run).says(&format!("{lost} does not answer and has no replica"));
        stdout(&run).says("the cluster is down: 2 of 2 primaries");
        let of = manifest(&scratch);
        assert_eq!((of.level, of.incomplete), (level, true));
        assert_eq!(of.slots_missing, [(10923, 16383)]);
        if level == Level::Keys {
            assert_eq!(rows(&scratch).len(), expected, "{flags}");
        }
    }
}

#[test]
fn a_server_without_memory_usage_gives_all_else() {
    let server = Server::start(&words("--cluster-enabled no --rename-command MEMORY xyz"));
    server.connect().call(&["SET", "k", "v"]);
    let scratch = Scratch::new();
    let said = scratch.text(&format!("collect {} -o out", server.address()));
    said.says("not collected: sizes: the server does not know MEMORY USAGE");
    let of = manifest(&scratch);
    assert!(of.without_sizes && !of.incomplete);
    assert_eq!(of.servers.len(), 1);
    assert!(of.servers[0].after.as_ref().unwrap().used_memory > Some(0));
    let row = &rows(&scratch)[0];
    assert_eq!(
        (row.cell("type"), row.cell("memory")),
        (Some("string"), None)
    );
    scratch
        .text("analyze out --json")
        .lacks("are estimated by the server");
}
