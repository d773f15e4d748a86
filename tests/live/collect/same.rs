//! Servers at rest: every key, type, size, expiry and count is the server's.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::collected::{Row, manifest, rows, slot_stats};
use crate::rdb::asked::{Policy, described, own_all_slots, say, usage};
use crate::rdb::fill::fill;
use slotscope::name::Name;
use slotscope::source::collection::manifest::Level;
use slotscope::source::collection::servers::Role;
use testkit::cluster::{Cluster, even, keyslots};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Client, Reply, Server};

/// At full speed, from primaries, into `out`.
const FAST: &str = "--max-load 100 --from primaries -o out";

fn collect(scratch: &Scratch, server: &Server, flags: &str) -> Vec<Row> {
    let url = format!("redis://127.0.0.1:{}", server.port);
    let args: Vec<&str> = ["collect", &url]
        .into_iter()
        .chain(flags.split(' '))
        .collect();
    succeeded(scratch.run(&args));
    rows(&scratch.path("out"))
}

fn by_name(rows: Vec<Row>) -> BTreeMap<Name, Row> {
    let count = rows.len();
    let rows: BTreeMap<Name, Row> = rows.into_iter().map(|row| (row.key.clone(), row)).collect();
    assert_eq!(rows.len(), count, "a key twice");
    rows
}

/// A collection with all kinds of values agrees with the server.
fn same_as_asked(kind: Kind, policy: &str) {
    let modules = kind.modules();
    let line = format!("--maxmemory 2gb --maxmemory-policy {policy} --lfu-decay-time 0");
    let options = words(&line);
    let options: Vec<&str> = options
        .into_iter()
        .chain(modules.iter().map(String::as_str))
        .collect();
    let server = kind.start(&options);
    let mut client = server.connect();
    own_all_slots(&mut client);
    fill(&mut client, kind);
    // The installed server counts the test's queries as accesses.
    let _ = client.call(&["CLIENT", "NO-TOUCH", "ON"]);
    let is_lfu = policy.contains("lfu");
    let scratch = Scratch::new();
    let collected = by_name(collect(&scratch, &server, FAST));
    let asked = described(
        &mut client,
        0,
        if is_lfu { Policy::Lfu } else { Policy::Lru },
    );
    let names: Vec<Vec<u8>> = asked.iter().map(|key| key.key.0.clone()).collect();
    let slots: BTreeMap<&[u8], u16> = names
        .iter()
        .map(Vec::as_slice)
        .zip(keyslots(&server, &names))
        .collect();
    let memory = usage(&mut client);
    assert_eq!(collected.len(), asked.len());
    for key in &asked {
        let row = &collected[&key.key];
        let said = |what: &str| format!("{kind:?}: {what} of {:?}", key.key);
        assert_eq!(
            row.cell("type"),
            Some(&key.type_name[..]),
            "{}",
            said("type")
        );
        assert_eq!(
            row.cell("encoding").unwrap_or(""),
            key.encoding,
            "{}",
            said("encoding")
        );
        assert_eq!(row.number("elements"), key.elements, "{}", said("elements"));
        assert_eq!(row.number("slot"), Some(u64::from(slots[&key.key.0[..]])));
        if kind != Kind::Installed {
            assert_eq!(
                row.number("lfu").map(|lfu| lfu as u8),
                key.lfu,
                "{}",
                said("lfu")
            );
        }
        assert_eq!(
            row.number("idle").is_some(),
            !is_lfu,
            "{}",
            said("idle time")
        );
        if key.elements.is_some_and(|elements| elements <= 1024) {
            assert_eq!(
                row.number("memory"),
                memory.get(&key.key).copied(),
                "{}",
                said("memory")
            );
        }
        match key.expires_ms {
            None => assert_eq!(row.cell("expiry"), None, "{}", said("expiry")),
            // Computed from the remaining time, by the clock of this machine.
            Some(expires) => {
                let found = ms(row.cell("expiry").unwrap());
                assert!(
                    found.abs_diff(expires) < 5000,
                    "{}: {found}",
                    said("expiry")
                );
            }
        }
    }
    let node = &manifest(&scratch.path("out")).nodes[0];
    let keys = Some(asked.len() as u64);
    assert_eq!(
        (node.dbsize.before, node.dbsize.after, node.counted),
        (keys, keys, keys)
    );
    assert!(node.complete && node.repeats + node.vanished + node.strays == 0);
}

/// Milliseconds since 1970 of `2100-01-01T00:00:00.123Z`.
fn ms(time: &str) -> i64 {
    let number = |from: usize, to: usize| time[from..to].parse::<i64>().unwrap();
    let (year, month) = match number(5, 7) {
        month @ 1..=2 => (number(0, 4) - 1, month + 9),
        month => (number(0, 4), month - 3),
    };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + number(8, 10)
            - 719_469;
    let seconds = 86_400 * days + 3600 * number(11, 13) + 60 * number(14, 16) + number(17, 19);
    1000 * seconds + number(20, 23)
}

#[test]
fn the_installed_server_has_what_is_collected() {
    same_as_asked(Kind::Installed, "allkeys-lfu");
}

#[test]
fn redis_7_4_with_modules_has_what_is_collected() {
    same_as_asked(Kind::Redis74, "allkeys-lfu");
}

#[test]
fn redis_8_2_has_what_is_collected() {
    same_as_asked(Kind::Redis82, "allkeys-lru");
}

#[test]
fn a_given_server_has_what_is_collected() {
    match Kind::given() {
        Some(kind) => same_as_asked(kind, "allkeys-lfu"),
        None => println!("NOT TESTED: a server of its source; REDIS_SERVER names none"),
    }
}

#[test]
fn valkey_9_0_has_what_is_collected() {
    same_as_asked(Kind::Valkey90, "noeviction");
}

#[test]
fn valkey_9_1_has_what_is_collected() {
    same_as_asked(Kind::Valkey91, "allkeys-lfu");
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
    for kind in [Kind::Installed, Kind::Valkey91] {
        let cluster = Cluster::with_replicas(kind, &[]);
        cluster.wait_for_replicas();
        // The replicas need not have these keys yet.
        let keys = filled(&cluster);
        let scratch = Scratch::new();
        let found = by_name(collect(
            &scratch,
            &cluster.servers[4],
            "--max-load 100 -o out",
        ));
        assert!(found.keys().map(|key| &key.0).eq(keys.iter()));
        let of = manifest(&scratch.path("out"));
        let are_replicas = of.nodes.iter().all(|node| node.role == Role::Replica);
        assert!(of.nodes.len() == 3 && are_replicas, "{of:?}");
        assert!(of.cluster && !of.incomplete && of.slots_moved.is_empty());
        let names = by_name(collect(
            &scratch,
            &cluster.servers[0],
            "--keys --force --max-load 100 -o out",
        ));
        assert!(names.keys().eq(found.keys()));
        assert!(
            names
                .values()
                .all(|row| row.cell("type").is_none() && row.cell("memory").is_none())
        );

        // A part of the slots, completely; the tag's slot exceeds one reply.
        for percent in [3.0, 60.0] {
            let flags = format!("--sample {percent} --force --max-load 100 -o out");
            let sampled = by_name(collect(&scratch, &cluster.servers[0], &flags));
            // Heavy slots are always read.
            let sample = manifest(&scratch.path("out")).sample;
            let heavy = sample.map_or_else(Vec::new, |sample| sample.heavy);
            let is_heavy = |slot: u16| {
                let mut ranges = heavy.iter();
                ranges.any(|(first, last)| (*first..=*last).contains(&slot))
            };
            let slots: BTreeSet<u16> = (0..16384)
                .filter(|slot| is_sampled(*slot, percent) || is_heavy(*slot))
                .collect();
            let expected = found
                .keys()
                .filter(|key| slots.contains(&slotscope::slot(&key.0)));
            assert!(sampled.keys().eq(expected), "{kind:?} {percent}");
            assert_eq!(
                manifest(&scratch.path("out")).settings.sample_percent,
                percent
            );
        }
        counted(&scratch, &cluster, &keys);
    }
}

fn is_sampled(slot: u16, percent: f64) -> bool {
    usize::from(slot) * 10_125 % 16384 < (percent / 100.0 * 16384.0).ceil() as usize
}

/// `--slots-only` yields the number of keys per slot, and no file of keys.
fn counted(scratch: &Scratch, cluster: &Cluster, keys: &BTreeSet<Vec<u8>>) {
    let rows = collect(scratch, &cluster.servers[0], "--slots-only --force -o out");
    assert!(rows.is_empty());
    let of = manifest(&scratch.path("out"));
    assert_eq!((of.level, of.incomplete), (Level::Slots, false));
    let sum: u64 = of.nodes.iter().filter_map(|node| node.counted).sum();
    assert_eq!(sum, keys.len() as u64);
    let mut counts = vec![0; 16384];
    keys.iter()
        .for_each(|key| counts[usize::from(slotscope::slot(key))] += 1);
    let lines = slot_stats(&scratch.path("out"));
    assert_eq!(lines.len(), 3);
    let slots = lines.iter().flat_map(|line| line["slots"].list());
    let mut found = vec![0; 16384];
    for pair in slots {
        found[pair[0].whole() as usize] += pair[1]["key-count"].whole();
    }
    assert_eq!(found, counts);
    assert_eq!(
        scratch.entries("out"),
        ["cluster.nodes", "collect.json", "slot-stats.json"]
    );
}

#[test]
fn a_lone_server_is_read_with_all_its_databases() {
    let server = Server::start(&["--cluster-enabled", "no"]);
    let mut client = server.connect();
    for (database, keys) in [(0, 700), (9, 3)] {
        say(&mut client, &format!("SELECT {database}"));
        (0..keys).for_each(|i| drop(say(&mut client, &format!("SET key:{i} x"))));
    }
    let scratch = Scratch::new();
    let rows = collect(&scratch, &server, FAST);
    let of = |database: &str| {
        rows.iter()
            .filter(|row| row.cell("db") == Some(database))
            .count()
    };
    assert_eq!((of("0"), of("9"), rows.len()), (700, 3, 703));
    assert_eq!(scratch.entries("out").len(), 2);
    assert!(!manifest(&scratch.path("out")).cluster);
    let found = scratch.run(&["analyze", "out", "--json"]);
    assert!(stdout(&found).contains("the server is not in cluster mode"));
    let url = format!("127.0.0.1:{}", server.port);
    let refused = scratch.run(&["collect", &url, "--slots-only", "-o", "counts"]);
    assert_fails(&refused, &[&url, "not part of a cluster", "leave out"]);
    let again = scratch.run(&["collect", &url, "-o", "out"]);
    assert_fails(&again, &["out", "--force", "-o"]);
    assert_eq!(scratch.entries("").len(), 1, "nothing else is left");
}

#[test]
fn a_cluster_in_which_no_node_owns_a_slot_is_an_error_that_says_so() {
    let server = Server::start(&[]);
    let scratch = Scratch::new();
    let url = format!("redis://127.0.0.1:{}", server.port);
    for words in [&["collect", &url, "-o", "out"][..], &["analyze", &url]] {
        let output = scratch.run(words);
        output.refused("no node owns a slot | redis-cli --cluster check 127.0.0.1:");
        assert_eq!(scratch.entries(""), [""; 0]);
    }
}

#[test]
fn a_cluster_with_several_databases_is_read_with_all_of_them() {
    let server = Kind::Valkey91.start(&["--cluster-databases", "4"]);
    let mut client = server.connect();
    own_all_slots(&mut client);
    for (database, keys) in [(0, 40), (3, 50)] {
        say(&mut client, &format!("SELECT {database}"));
        (0..keys).for_each(|i| drop(say(&mut client, &format!("SET key:{i} x"))));
    }
    let scratch = Scratch::new();
    let rows = collect(&scratch, &server, FAST);
    let of = |database: &str| {
        rows.iter()
            .filter(|row| row.cell("db") == Some(database))
            .count()
    };
    assert_eq!((of("0"), of("3"), rows.len()), (40, 50, 90));
    let node = &manifest(&scratch.path("out")).nodes[0];
    assert_eq!((node.dbsize.after, node.counted), (Some(90), Some(40)));
}

#[test]
fn reading_leaves_no_trace_in_the_server() {
    let server = Kind::Valkey91.start(&["--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lfu"]);
    let mut client = server.connect();
    own_all_slots(&mut client);
    fill(&mut client, Kind::Valkey91);
    say(&mut client, "CLIENT NO-TOUCH ON");
    let changes = |client: &mut Client| {
        let info = say(client, "INFO persistence").text();
        let changes = info
            .lines()
            .find(|line| line.starts_with("rdb_changes_since_last_save:"));
        changes.unwrap().to_owned()
    };
    let counters = |client: &mut Client| -> Vec<Option<u8>> {
        described(client, 0, Policy::Lfu)
            .iter()
            .map(|key| key.lfu)
            .collect()
    };
    let before = (changes(&mut client), counters(&mut client));
    let scratch = Scratch::new();
    collect(&scratch, &server, FAST);
    assert_eq!(before, (changes(&mut client), counters(&mut client)));
}

#[test]
fn slot_stats_are_taken_at_regular_times() {
    let cluster = Cluster::made_of(Kind::Valkey91, &even(3), |_| {
        ["--cluster-slot-stats-enabled", "yes"]
            .map(String::from)
            .to_vec()
    });
    filled(&cluster);
    let scratch = Scratch::new();
    let url = format!("redis://{}", cluster.address(0));
    let run = scratch.run(&words(&format!(
        "collect {url} --slots-only --every 200ms --for 1s -o out --json"
    )));
    let of = report(&run);
    of.has(json!({"level": "slots", "series": {"nodes": 3}}));
    let lines = slot_stats(&scratch.path("out"));
    assert_eq!(of["series"]["samples"], lines.len() / 3);
    let keys = scratch.run(&["collect", &url, "-o", "keys"]);
    assert_eq!(keys.status.code(), Some(0));
    assert_eq!(
        slot_stats(&scratch.path("keys")).len(),
        3,
        "one of each node"
    );
    // A loaded machine may miss some.
    assert!(
        (6..=18).contains(&lines.len()) && lines.len().is_multiple_of(3),
        "{}",
        lines.len()
    );
    let line = &lines[0];
    assert!(line["time"].text().ends_with('Z') && line["node"] == cluster.address(0).as_str());
    let slots = line["slots"].list();
    assert_eq!(slots.len(), 5461);
    for metric in [
        "key-count",
        "cpu-usec",
        "network-bytes-in",
        "network-bytes-out",
    ] {
        assert!(slots[0][1][metric].is_u64(), "{metric}: {}", slots[0]);
    }
    let old = Cluster::start(&even(1));
    let url = format!("redis://{}", old.address(0));
    let refused = scratch.run(&["collect", &url, "--every", "1s", "--for", "2s", "-o", "old"]);
    refused.refused("CLUSTER SLOT-STATS | Valkey 8.0 | --slots-only");
}

#[test]
fn what_was_collected_is_printed() {
    let cluster = Cluster::start(&even(2));
    cluster.owner_of(b"k").call(&["SET", "k", "x"]);
    let scratch = Scratch::new();
    let run = scratch.run(&[
        "collect",
        &cluster.address(1),
        "-o",
        "out",
        "--progress",
        "always",
    ]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    for part in [
        "1 key of 2 nodes",
        "slotscope analyze out",
        &cluster.address(0),
        "DBSIZE",
        "redis 7.",
    ] {
        assert!(stdout(&run).contains(part), "{part}: {}", stdout(&run));
    }
    assert!(stderr(&run).contains("collecting"), "{}", stderr(&run));
    assert_eq!(Reply::Int(1), say(&mut cluster.owner_of(b"k"), "DBSIZE"));
}
