//! `timeline` on CLUSTER SLOT-STATS: a burst of a real server is found on its slot and node, from differences of
//! counters alone, and incomparable counters are noted.

use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::rng::Rng;

/// 2026-11-22 10:00:00.
const START: u64 = 1_795_341_600;
/// Seconds between samples.
const EVERY: u64 = 10;

/// A node's line in a sample.
fn line(number: u64, node: &str, slots: &str) -> String {
    let secs = number * EVERY;
    let (hour, minute, second) = (10 + secs / 3600, secs / 60 % 60, secs % 60);
    format!(
        "{{\"time\":\"2026-11-22T{hour:02}:{minute:02}:{second:02}.000Z\",\"node\":\"{node}\",\"slots\":{slots}}}\n"
    )
}

/// Samples of three equally busy nodes. Slot 6000 takes 4 s of CPU time more in samples 20 to 25 if there is a burst.
fn series(count: u64, seed: u64, is_burst: bool) -> String {
    let mut rng = Rng::new(seed);
    let mut counters = vec![0u64; 16384];
    let mut text = String::new();
    for number in 0..count {
        for cpu in &mut counters {
            *cpu += (rng.unit() * 8000.0) as u64;
        }
        if is_burst && (20..26).contains(&number) {
            counters[6000] += 4_000_000;
        }
        for node in 0..3usize {
            let slots = (node * 5461)..((node + 1) * 5461 + node / 2);
            let pairs = slots.filter(|slot| slot % 16 == 0).map(|slot| {
                let (cpu, sent, received) = (counters[slot], counters[slot] * 40, counters[slot] / 2);
                json!([slot, {"key-count": 3, "cpu-usec": cpu, "network-bytes-in": received, "network-bytes-out": sent}])
            });
            let slots = Value::from_iter(pairs).to_string();
            text += &line(number, &format!("10.0.0.{node}:7001"), &slots);
        }
    }
    text
}
#[test]
fn a_planted_burst_is_found_by_cpu_time_and_by_network_traffic() {
    let scratch = Scratch::new();
    scratch.file("slot-stats.json", series(60, 1, true));
    for (by, unit) in [("cpu", "% of a core"), ("network", "iB/s")] {
        let found = scratch.report(&format!("timeline --json slot-stats.json --by {by}"));
        found.has(json!({"by": by, "bucket_secs": 16}));
        let bursts = found["bursts"].list();
        assert_eq!(bursts.len(), 1, "{bursts:?}");
        let burst = &bursts[0];
        burst.has(json!({"slot": 6000, "node": "10.0.0.1:7001"}));
        // The counters of a sample cover the time since the previous one.
        for (end, number) in [("from", 19), ("to", 25)] {
            let end = burst[end].whole();
            assert!(end.abs_diff(START + number * EVERY) <= 16, "{burst}");
        }
        let nodes = found["nodes"].list();
        let sum: u64 = nodes.iter().map(|node| node["ops"].whole()).sum();
        assert_eq!(found["ops"], sum);
        // The page has its units.
        scratch.text(&format!("timeline slot-stats.json --by {by} --out {by}"));
        let page = scratch.read(format!("{by}/timeline.html"));
        page.says(unit).says(&format!("\"heat\":\"{by}\""));
    }
    let found = scratch.report("timeline --json slot-stats.json");
    assert_eq!(found["by"], "cpu", "the default");
    let rate = found["bursts"][0]["rate"].float();
    assert!((300_000.0..420_000.0).contains(&rate), "{rate}");

    let text = scratch.text("timeline slot-stats.json").replace('\n', " ");
    text.says("one burst: slot 6000 (10.0.0.1): ")
        .says(" of a core from 2026-11-22 10:0")
        .says(" of its node's CPU time meanwhile");
}
#[test]
fn steady_counters_have_no_burst_and_all_differences_are_counted() {
    let (scratch, text) = (Scratch::new(), series(40, 2, false));
    scratch.file("slot-stats.json", &text);
    let found = scratch.report("timeline --json slot-stats.json");
    let cpu = |lines: &[&str]| -> u64 {
        let lines = lines.iter().map(|line| serde_json::from_str(line).unwrap());
        let counters = lines.flat_map(|line: Value| line["slots"].list().clone());
        counters.map(|pair| pair[1]["cpu-usec"].whole()).sum()
    };
    let lines: Vec<&str> = text.lines().collect();
    let grown = cpu(&lines[lines.len() - 3..]) - cpu(&lines[..3]);
    assert_eq!(
        (&found["bursts"], &found["ops"]),
        (&json!([]), &grown.into())
    );

    // With an incomplete last line.
    scratch.file("torn.json", format!("{text}{}", &lines[0][..5000]));
    let output = scratch.run("timeline --json torn.json");
    assert_eq!(code(&output), 2);
    let torn: Value = serde_json::from_slice(&output.stdout).unwrap();
    torn.has(json!({"ops": grown, "incomplete": [{"byte": text.len()}]}));
}
#[test]
fn files_of_nodes_and_the_directory_of_collect_are_read_as_one() {
    let (scratch, text) = (Scratch::new(), series(12, 3, false));
    scratch.file("whole.json", &text);
    let whole = scratch.report("timeline --json whole.json");
    for node in 0..3 {
        let name = format!("10.0.0.{node}:");
        let lines = text.lines().filter(|line| line.contains(&name));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        scratch.file(&format!("{node}.json"), lines);
    }
    assert_eq!(
        scratch.report("timeline --json 2.json 0.json 1.json"),
        whole
    );
    std::fs::create_dir(scratch.path("collected")).unwrap();
    scratch.file("collected/collect.json", "{}");
    scratch.file("collected/10.0.0.1-7001.csv.zst", "");
    scratch.refuses(
        "timeline 2.json 2.json | at times that are in | name one of them
         timeline collected | no slot-stats.json | --every",
    );
    scratch.file("collected/slot-stats.json", &text);
    assert_eq!(scratch.report("timeline --json collected"), whole);
}
#[test]
fn what_has_no_times_or_counters_is_refused_with_the_way_out() {
    let scratch = Scratch::new();
    let answer = "[[0,{\"key-count\":3,\"cpu-usec\":5}]]";
    scratch.file("answer.json", answer);
    scratch.file("one.json", line(0, "a", answer));
    scratch.file("two.json", line(0, "a", answer) + &line(1, "a", answer));
    scratch.file("a.monitor", "1795242395.000001 [0 h:1] \"GET\" \"a\"\n");
    scratch.refuses(
        "timeline answer.json | has no time | collect --every
         timeline one.json | one sample of each slot | collect --every
         timeline two.json --by ops | --by ops | --by cpu
         timeline two.json --by network | line 1 | network-bytes-in | cluster-slot-stats-enabled yes
         timeline a.monitor --by cpu | --by cpu | SLOT-STATS",
    );
}
/// A burst of commands on one list, between samples of a running cluster, for each of `kinds`.
#[test]
fn a_burst_on_a_slot_of_real_servers_is_found() {
    at_once(2, [Kind::Valkey91, Kind::Redis82], |kind| {
        let (cluster, scratch) = (Cluster::of(kind, &even(2)), Scratch::new());
        cluster.tell_all("CONFIG SET cluster-slot-stats-enabled yes");
        scratch.file("slot-stats.json", sampled(&cluster));
        for by in ["cpu", "network"] {
            println!("{kind:?} {by}");
            let found = scratch.report(&format!("timeline --json slot-stats.json --by {by}"));
            let burst = &found["bursts"][0];
            let (slot, owner) = (slotscope::slot(HOT), cluster.owner_address(HOT));
            burst.has(json!({"slot": slot, "node": owner}));
            let from = burst["from"].whole();
            assert!(from.abs_diff(START + 11 * EVERY) <= 16, "{burst}");
            assert!(burst["share"].float() > 0.5);
        }
        // The same file as present counts.
        let report = scratch.report("analyze --json slot-stats.json");
        assert_eq!(report["input"]["keys"], 2001);
    });
}

const HOT: &[u8] = b"{hot}:list";

/// Samples with timestamps ten seconds apart, without waiting.
fn sampled(cluster: &Cluster) -> String {
    let mut rng = Rng::new(5);
    let mut hot = cluster.owner_of(HOT);
    hot.pipeline(&vec![
        vec![&b"RPUSH"[..], HOT, b"an element of some length"];
        500
    ]);
    let mut text = String::new();
    for number in 0..30 {
        let id = |i| match number {
            0..20 => number * 100 + i,
            _ => (rng.unit() * 2000.0) as u64,
        };
        let keys = (0..100).map(id).map(|id| format!("key:{id}"));
        cluster.set_all(keys.map(|key| (key, "v")));
        let reads = if (12..16).contains(&number) { 3000 } else { 0 };
        hot.pipeline(&vec![vec![&b"LRANGE"[..], HOT, b"0", b"-1"]; reads]);
        for (i, server) in cluster.servers.iter().enumerate() {
            let ask = words("--json CLUSTER SLOT-STATS SLOTSRANGE 0 16383");
            let answer = String::from_utf8(server.redis_cli(&ask)).unwrap();
            text += &line(number, &cluster.address(i), answer.trim());
        }
    }
    text
}
