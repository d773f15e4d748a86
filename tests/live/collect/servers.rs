//! Readings of servers, and servers that are down or refuse: a collection has the others, and reports what is missing.

use std::time::{Duration, Instant};

use crate::collect::collected::{manifest, rows};
use slotscope::slot::slot;
use slotscope::source::collection::manifest::{HeaviestBy, Level};
use slotscope::source::collection::servers::Role;
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::redis::{Server, wait_for};
use testkit::run::{Said, Scratch, assert_contains, code, stderr, stdout, succeeded, words};

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
    for level in ["--max-load", "--keys", "--slots-only"] {
        let scratch = Scratch::new();
        let address = cluster.address(0);
        let mut args = vec!["collect", &address, "-o", "out", level];
        args.extend((level == "--max-load").then_some("100"));
        succeeded(scratch.run(&args));
        let of = manifest(&scratch.path("out"));
        let primaries = of.servers.iter();
        let primaries: Vec<_> = primaries
            .filter(|server| server.role == Role::Primary)
            .collect();
        assert_eq!(primaries.len(), 3, "{level}: {:?}", of.servers);
        for (at, id) in cluster.ids.iter().take(3).enumerate() {
            let mut found = primaries.iter();
            let found = found.find(|server| server.id.as_ref() == Some(id)).unwrap();
            assert_eq!(found.is_read, level == "--slots-only", "{level}");
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
        assert_eq!(
            replicas,
            if level == "--slots-only" { 0 } else { 3 },
            "{level}"
        );
        assert!(of.skipped.iter().all(|what| !what.contains("NO-TOUCH")));
    }
}

#[test]
fn a_cluster_that_is_down_is_named_within_seconds_and_its_names_are_read() {
    let mut cluster = Cluster::even(3);
    fill(&cluster);
    let lost = cluster.address(2);
    cluster.servers[2].stop();
    wait_for(|| {
        let info = cluster.servers[0].connect().call(&["CLUSTER", "INFO"]);
        let info = info.text();
        info.contains("cluster_state:fail")
            .then_some(())
            .ok_or(info)
    });
    let expected = (0..KEYS).filter(|id| cluster.owner(slot(format!("user:{id}").as_bytes())) != 2);
    let expected = expected.count();
    for (flags, level) in [
        ("--keys", Level::Keys),
        ("--force", Level::Keys),
        ("--slots-only", Level::Slots),
    ] {
        let (scratch, start) = (Scratch::new(), Instant::now());
        let run = scratch.run(&["collect", &cluster.address(0), "-o", "out", flags]);
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(code(&run), 2, "{}", stderr(&run));
        let said = format!("{lost} does not answer and has no replica");
        assert!(stderr(&run).contains(&said), "{}", stderr(&run));
        assert_contains(stdout(&run), &["the cluster is down: 2 of 2 primaries"]);
        let of = manifest(&scratch.path("out"));
        assert_eq!((of.level, of.incomplete), (level, true));
        assert_eq!(of.slots_missing, [(10923, 16383)]);
        if level == Level::Keys {
            assert_eq!(rows(&scratch.path("out")).len(), expected, "{flags}");
        }
    }
}

#[test]
fn a_server_without_memory_usage_gives_all_else() {
    let server = Server::start(&words("--cluster-enabled no --rename-command MEMORY xyz"));
    server.connect().call(&["SET", "k", "v"]);
    let scratch = Scratch::new();
    let address = format!("127.0.0.1:{}", server.port);
    let said = succeeded(scratch.run(&["collect", &address, "-o", "out"]));
    let said = String::from_utf8(said).unwrap();
    said.says("not collected: sizes: the server does not know MEMORY USAGE");
    let of = manifest(&scratch.path("out"));
    assert!(of.without_sizes && !of.incomplete);
    assert_eq!(of.servers.len(), 1);
    assert!(of.servers[0].after.as_ref().unwrap().used_memory > Some(0));
    let rows = rows(&scratch.path("out"));
    assert_eq!(
        (rows[0].cell("type"), rows[0].cell("memory")),
        (Some("string"), None)
    );
    let report = succeeded(scratch.run(&["analyze", "out", "--json"]));
    let report = String::from_utf8(report).unwrap();
    assert!(!report.contains("are estimated by the server"), "{report}");
}

#[test]
fn a_sample_has_the_slot_with_most_keys() {
    let cluster = Cluster::of(Kind::Installed, &even(2));
    fill(&cluster);
    // This slot is not in the evenly sampled part.
    let tag = (0..).map(|id| format!("{{heavy:{id}}}"));
    let is_outside = |tag: &String| usize::from(slot(tag.as_bytes())) * 10_125 % 16_384 > 8000;
    let tag = tag.into_iter().find(is_outside).unwrap();
    cluster.set_all((0..50).map(|id| (format!("{tag}:{id}"), "x")));
    let scratch = Scratch::new();
    let args = [
        "collect",
        &cluster.address(0),
        "-o",
        "out",
        "--sample",
        "10",
    ];
    succeeded(scratch.run(&args));
    let of = manifest(&scratch.path("out"));
    let sample = of.sample.unwrap();
    assert_eq!(sample.heaviest_by, Some(HeaviestBy::Keys));
    assert_eq!(sample.keys_of_all, Some(KEYS as u64 + 50));
    let heavy = slot(tag.as_bytes());
    let is_in = |(first, last): &(u16, u16)| (*first..=*last).contains(&heavy);
    assert!(
        sample.heavy.iter().any(is_in),
        "{heavy}: {:?}",
        sample.heavy
    );
    let rows = rows(&scratch.path("out"));
    let held = rows
        .iter()
        .filter(|row| row.key.0.starts_with(tag.as_bytes()));
    assert_eq!(held.count(), 50);
}
