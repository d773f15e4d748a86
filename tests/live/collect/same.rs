//! Servers at rest: every key, type, size, expiry and count is the server's.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::collected::{Row, manifest, rows, slot_stats};
use crate::rdb::asked::{Policy, described, say, usage};
use crate::rdb::fill::fill;
use slotscope::format::parse::time::timestamp;
use slotscope::name::Name;
use slotscope::source::collection::manifest::Level;
use slotscope::source::collection::servers::Role;
use testkit::cluster::{Cluster, keyslots};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Client, Server};

/// At full speed, from primaries.
const FAST: &str = "--max-load 100 --from primaries";

fn collect(scratch: &Scratch, server: &Server, flags: &str) -> Vec<Row> {
    let url = format!("redis://{}", server.address());
    scratch.text(&format!("collect {url} -o out --force {flags}"));
    rows(scratch)
}
fn by_name(rows: Vec<Row>) -> BTreeMap<Name, Row> {
    let count = rows.len();
    let rows: BTreeMap<Name, Row> = rows.into_iter().map(|row| (row.key.clone(), row)).collect();
    assert_eq!(rows.len(), count, "a key twice");
    rows
}

#[test]
fn every_server_has_what_is_collected() {
    at_once(3, Kind::all(), |kind| {
        let policy = match kind {
            Kind::Redis82 => "allkeys-lru",
            Kind::Valkey90 => "noeviction",
            _ => "allkeys-lfu",
        };
        let modules = kind.modules();
        let line = format!("--maxmemory 2gb --maxmemory-policy {policy} --lfu-decay-time 0");
        let options = words(&line).into_iter();
        let options = options.chain(modules.iter().map(String::as_str));
        let server = kind.start(&options.collect::<Vec<_>>());
        server.own_all_slots();
        let mut client = server.connect();
        fill(&mut client, kind);
        // The installed server counts the test's queries as accesses.
        let _ = client.call(&["CLIENT", "NO-TOUCH", "ON"]);
        let scratch = Scratch::new();
        let collected = by_name(collect(&scratch, &server, FAST));
        let is_lfu = policy.contains("lfu");
        let of = if is_lfu { Policy::Lfu } else { Policy::Lru };
        let asked = described(&mut client, 0, of);
        let names: Vec<&[u8]> = asked.iter().map(|key| &*key.key.0).collect();
        let slots = keyslots(&server, &names);
        let memory = usage(&mut client);
        assert_eq!(collected.len(), asked.len());
        for (key, slot) in asked.iter().zip(slots) {
            println!("{kind:?}: {:?}", key.key);
            let row = &collected[&key.key];
            let [type_name, encoding] = ["type", "encoding"].map(|of| row.cell(of).unwrap_or(""));
            assert_eq!((type_name, encoding), (&*key.type_name, key.encoding));
            assert_eq!(row.number("elements"), key.elements);
            assert_eq!(row.number("slot"), Some(slot.into()));
            if kind != Kind::Installed {
                assert_eq!(row.number("lfu"), key.lfu.map(u64::from));
            }
            assert_eq!(row.number("idle").is_some(), !is_lfu);
            if key.elements.is_some_and(|elements| elements <= 1024) {
                assert_eq!(row.number("memory"), memory.get(&key.key).copied());
            }
            let expiry = row
                .cell("expiry")
                .map(|at| timestamp(at.as_bytes()).unwrap() as i64);
            assert_eq!(expiry.is_some(), key.expires_ms.is_some());
            // Computed from the remaining time, by the clock of this machine.
            let off = expiry.unwrap_or(0).abs_diff(key.expires_ms.unwrap_or(0));
            assert!(off < 5000, "{expiry:?}, {:?}", key.expires_ms);
        }
        let node = &manifest(&scratch).nodes[0];
        let counts = [node.dbsize.before, node.dbsize.after, node.counted];
        assert_eq!(counts, [Some(asked.len() as u64); 3]);
        assert!(node.complete && node.repeats + node.vanished + node.strays == 0);
    });
}
/// 3,000 keys in a cluster, and a tag with as many.
fn filled(cluster: &Cluster) -> BTreeSet<Vec<u8>> {
    let keys = (0..3000).map(|i| format!("user:{i}"));
    let tagged = (0..3000).map(|i| format!("{{big}}:{i}"));
    let keys: BTreeSet<Vec<u8>> = keys.chain(tagged).map(String::into_bytes).collect();
    cluster.set_all(keys.iter().map(|key| (key, "x")));
    keys
}

#[test]
fn a_cluster_is_read_from_its_replicas_and_every_level_has_the_same_keys() {
    at_once(2, [Kind::Installed, Kind::Valkey91], |kind| {
        println!("{kind:?}");
        let cluster = Cluster::with_replicas(kind, &[]);
        cluster.wait_for_replicas();
        // The replicas need not have these keys yet.
        let keys = filled(&cluster);
        let (scratch, server) = (Scratch::new(), &cluster.servers[0]);
        let found = by_name(collect(&scratch, &cluster.servers[4], "--max-load 100"));
        assert!(found.keys().map(|key| &key.0).eq(keys.iter()));
        let of = manifest(&scratch);
        let are_replicas = of.nodes.iter().all(|node| node.role == Role::Replica);
        assert!(of.nodes.len() == 3 && are_replicas, "{of:?}");
        assert!(of.cluster && !of.incomplete && of.slots_moved.is_empty());
        let names = by_name(collect(&scratch, server, "--keys --max-load 100"));
        assert!(names.keys().eq(found.keys()));
        let mut rows = names.values();
        assert!(rows.all(|row| row.cell("type").or(row.cell("memory")).is_none()));

        // A part of the slots, completely; the tag's slot exceeds one reply.
        for percent in [3.0, 60.0] {
            let flags = format!("--sample {percent} --max-load 100");
            let sampled = by_name(collect(&scratch, server, &flags));
            let of = manifest(&scratch);
            // Heavy slots are always read.
            let sample = of.sample.unwrap();
            assert_eq!(sample.keys_of_all, Some(keys.len() as u64));
            let is_read = |slot: u16| {
                let mut ranges = sample.heavy.iter();
                is_sampled(slot, percent) || ranges.any(|of| (of.0..=of.1).contains(&slot))
            };
            assert!(is_read(slotscope::slot(b"{big}")), "{:?}", sample.heavy);
            let expected = found.keys().filter(|key| is_read(slotscope::slot(&key.0)));
            assert!(sampled.keys().eq(expected), "{percent}");
            assert_eq!(of.settings.sample_percent, percent);
        }
        counted(&scratch, &cluster, &keys);
    });
}
fn is_sampled(slot: u16, percent: f64) -> bool {
    usize::from(slot) * 10_125 % 16384 < (percent / 100.0 * 16384.0).ceil() as usize
}

/// `--slots-only` yields the number of keys per slot, and no file of keys.
fn counted(scratch: &Scratch, cluster: &Cluster, keys: &BTreeSet<Vec<u8>>) {
    let rows = collect(scratch, &cluster.servers[0], "--slots-only");
    assert!(rows.is_empty());
    let of = manifest(scratch);
    assert_eq!((of.level, of.incomplete), (Level::Slots, false));
    let sum: u64 = of.nodes.iter().filter_map(|node| node.counted).sum();
    assert_eq!(sum, keys.len() as u64);
    let (mut counts, mut found) = (vec![0; 16384], vec![0; 16384]);
    for key in keys {
        counts[usize::from(slotscope::slot(key))] += 1;
    }
    let lines = slot_stats(scratch);
    assert_eq!(lines.len(), 3);
    for pair in lines.iter().flat_map(|line| line["slots"].list()) {
        found[pair[0].whole() as usize] += pair[1]["key-count"].whole();
    }
    assert_eq!(found, counts);
    let files = ["cluster.nodes", "collect.json", "slot-stats.json"];
    assert_eq!(scratch.entries("out"), files);
}

/// Stores keys in two databases of a server; returns the rows of a collection of them, by database.
fn of_databases(scratch: &Scratch, server: &Server, wanted: [(&str, usize); 2]) {
    let mut client = server.connect();
    for (database, keys) in wanted {
        say(&mut client, &format!("SELECT {database}"));
        client.set_all(
            &(0..keys)
                .map(|i| (format!("key:{i}"), "x"))
                .collect::<Vec<_>>(),
        );
    }
    let rows = collect(scratch, server, FAST);
    for (database, keys) in wanted {
        let found = rows.iter().filter(|row| row.cell("db") == Some(database));
        assert_eq!(found.count(), keys, "{database}");
    }
    assert_eq!(rows.len(), wanted[0].1 + wanted[1].1);
}
#[test]
fn a_lone_server_is_read_with_all_its_databases() {
    let (scratch, server) = (Scratch::new(), Server::start(&["--cluster-enabled", "no"]));
    of_databases(&scratch, &server, [("0", 700), ("9", 3)]);
    assert_eq!(scratch.entries("out").len(), 2);
    assert!(!manifest(&scratch).cluster);
    scratch
        .text("analyze out --json")
        .says("the server is not in cluster mode");
    let url = server.address();
    scratch.refuses(&format!(
        "collect {url} --slots-only -o counts | {url} | not part of a cluster | leave out
         collect {url} -o out | out | --force | -o"
    ));
    assert_eq!(scratch.entries("").len(), 1, "nothing else is left");
}

#[test]
fn a_cluster_in_which_no_node_owns_a_slot_is_an_error_that_says_so() {
    let (scratch, server) = (Scratch::new(), Server::start(&[]));
    for line in ["collect -o out redis://", "analyze redis://"] {
        let output = scratch.run(&format!("{line}{}", server.address()));
        output.refused("no node owns a slot | redis-cli --cluster check 127.0.0.1:");
        assert_eq!(scratch.entries(""), [""; 0]);
    }
}

#[test]
fn a_cluster_with_several_databases_is_read_with_all_of_them() {
    let server = Kind::Valkey91.start(&["--cluster-databases", "4"]);
    server.own_all_slots();
    let scratch = Scratch::new();
    of_databases(&scratch, &server, [("0", 40), ("3", 50)]);
    let node = &manifest(&scratch).nodes[0];
    assert_eq!((node.dbsize.after, node.counted), (Some(90), Some(40)));
}

#[test]
fn reading_leaves_no_trace_in_the_server() {
    // Counters that decay do so whether or not keys are read.
    let options = "--maxmemory 1gb --maxmemory-policy allkeys-lfu --lfu-decay-time 0";
    let server = Kind::Valkey91.start(&words(options));
    server.own_all_slots();
    let mut client = server.connect();
    fill(&mut client, Kind::Valkey91);
    say(&mut client, "CLIENT NO-TOUCH ON");
    let state = |client: &mut Client| {
        let keys = described(client, 0, Policy::Lfu).into_iter();
        let counters: Vec<Option<u8>> = keys.map(|key| key.lfu).collect();
        (server.info("rdb_changes_since_last_save:"), counters)
    };
    let before = state(&mut client);
    collect(&Scratch::new(), &server, FAST);
    assert_eq!(before, state(&mut client));
}

#[test]
fn slot_stats_are_taken_at_regular_times() {
    let cluster = Cluster::counting(Kind::Valkey91, 3000);
    let (scratch, address) = (Scratch::new(), cluster.address(0));
    let series = "--slots-only --every 200ms --for 1s --json";
    let of = scratch.report(&format!("collect {address} -o out {series}"));
    of.has(json!({"level": "slots", "series": {"nodes": 3}}));
    let lines = slot_stats(&scratch);
    assert_eq!(of["series"]["samples"], lines.len() / 3);
    // A loaded machine may miss some.
    let count = lines.len();
    assert!(
        (6..=18).contains(&count) && count.is_multiple_of(3),
        "{count}"
    );
    let line = &lines[0];
    line["time"].text().ends("Z");
    assert_eq!(line["node"], address);
    let slots = line["slots"].list();
    assert_eq!(slots.len(), 5461);
    for metric in words("key-count cpu-usec network-bytes-in network-bytes-out") {
        assert!(slots[0][1][metric].is_u64(), "{metric}: {}", slots[0]);
    }
    scratch.text(&format!("collect {address} -o out --force"));
    assert_eq!(slot_stats(&scratch).len(), 3, "one of each node");
    let old = Cluster::even(1);
    let refused = scratch.run(&format!(
        "collect {} --every 1s --for 2s -o old",
        old.address(0)
    ));
    refused.refused("CLUSTER SLOT-STATS | Valkey 8.0 | --slots-only");
}

#[test]
fn what_was_collected_is_printed() {
    let (cluster, scratch) = (Cluster::even(2), Scratch::new());
    cluster.set_all([("k", "x")]);
    let run = scratch.run(&format!(
        "collect {} -o out --progress always",
        cluster.address(1)
    ));
    stdout(&run)
        .says("1 key of 2 nodes")
        .says("slotscope analyze out");
    stdout(&run)
        .says(&cluster.address(0))
        .says("DBSIZE")
        .says("redis 7.");
    stderr(&run).says("collecting");
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert_eq!(say(&mut cluster.owner_of(b"k"), "DBSIZE").int(), 1);
}
