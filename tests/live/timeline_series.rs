//! `timeline` on CLUSTER SLOT-STATS: a burst of a real server is found on its slot and node, from differences of
//! counters alone, and incomparable counters are noted.

use testkit::cluster::Cluster;
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

/// Samples of three equally busy nodes, with one slot that is hot for a while.
struct Planted {
    slot: u16,
    samples: std::ops::Range<u64>,
    /// Microseconds between two samples.
    micros: u64,
}

fn series(count: u64, seed: u64, burst: Option<&Planted>) -> String {
    let mut rng = Rng::new(seed);
    let mut counters = vec![0u64; 16384];
    let mut text = String::new();
    for number in 0..count {
        for (slot, cpu) in counters.iter_mut().enumerate() {
            *cpu += (rng.unit() * 8000.0) as u64;
            let is_hot = |burst: &&Planted| {
                usize::from(burst.slot) == slot && burst.samples.contains(&number)
            };
            *cpu += burst.filter(is_hot).map_or(0, |burst| burst.micros);
        }
        for node in 0..3usize {
            let slots = (node * 5461)..((node + 1) * 5461 + node / 2);
            let pairs: Vec<_> = slots
                .filter(|slot| slot % 16 == 0)
                .map(|slot| {
                    let cpu = counters[slot];
                    format!(
                        "[{slot},{{\"key-count\":3,\"cpu-usec\":{cpu},\"network-bytes-in\":{},\"network-bytes-out\":{}}}]",
                        cpu / 2,
                        cpu * 40
                    )
                })
                .collect();
            let slots = format!("[{}]", pairs.join(","));
            text += &line(number, &format!("10.0.0.{node}:7001"), &slots);
        }
    }
    text
}

fn timeline(args: &[&str]) -> Value {
    let output = slotscope(&[&["timeline", "--json"], args].concat())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(code(&output), 0, "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_planted_burst_is_found_by_cpu_time_and_by_network_traffic() {
    let planted = Planted {
        slot: 6000,
        samples: 20..26,
        micros: 4_000_000,
    };
    let scratch = Scratch::new();
    let file = scratch.file("slot-stats.json", series(60, 1, Some(&planted)));
    let file = file.to_str().unwrap();
    for by in ["cpu", "network"] {
        let found = timeline(&[file, "--by", by]);
        assert_eq!(found["by"], by);
        assert_eq!(found["bucket_secs"], 16);
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
    }
    let found = timeline(&[file]);
    assert_eq!(found["by"], "cpu", "the default");
    let rate = found["bursts"][0]["rate"].float();
    assert!((300_000.0..420_000.0).contains(&rate), "{rate}");

    let output = slotscope(&["timeline", file]).output().unwrap();
    let text = stdout(&output).replace('\n', " ");
    text.says("one burst: slot 6000 (10.0.0.1): ")
        .says(" of a core from 2026-11-22 10:0")
        .says(" of its node's CPU time meanwhile");
}

#[test]
fn steady_counters_have_no_burst_and_all_differences_are_counted() {
    let scratch = Scratch::new();
    let text = series(40, 2, None);
    let file = scratch.file("slot-stats.json", &text);
    let found = timeline(&[file.to_str().unwrap()]);
    assert_eq!(found["bursts"], json!([]));
    let cpu = |lines: &[&str]| -> u64 {
        let lines = lines
            .iter()
            .map(|line| -> Value { serde_json::from_str(line).unwrap() });
        let counters = lines.flat_map(|line| line["slots"].list().clone());
        counters.map(|pair| pair[1]["cpu-usec"].whole()).sum()
    };
    let lines: Vec<&str> = text.lines().collect();
    let grown = cpu(&lines[lines.len() - 3..]) - cpu(&lines[..3]);
    assert_eq!(found["ops"], grown);

    // Compressed, and with an incomplete last line.
    let torn = format!("{text}{}", &lines[0][..5000]);
    let torn = scratch.file("torn.json", torn);
    let output = slotscope(&["timeline", "--json", torn.to_str().unwrap()]);
    let output = { output }.output().unwrap();
    assert_eq!(code(&output), 2);
    let torn: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(torn["ops"], grown);
    assert_eq!(torn["incomplete"][0]["byte"], text.len());
}

#[test]
fn files_of_nodes_and_the_directory_of_collect_are_read_as_one() {
    let scratch = Scratch::new();
    let text = series(12, 3, None);
    let whole = scratch.file("whole.json", &text);
    let whole = timeline(&[whole.to_str().unwrap()]);
    let of_node = |node: u32| -> String {
        let name = format!("10.0.0.{node}:");
        let lines = text.lines().filter(|line| line.contains(&name));
        let path = scratch.file(
            &format!("{node}.json"),
            lines.map(|line| format!("{line}\n")).collect::<String>(),
        );
        path.to_str().unwrap().to_owned()
    };
    let parts = [2, 0, 1].map(of_node);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    assert_eq!(timeline(&parts), whole);
    let twice = slotscope(&["timeline", parts[0], parts[0]])
        .output()
        .unwrap();
    assert_fails(&twice, &[" as well: one file of each primary"]);

    let directory = scratch.path("collected");
    std::fs::create_dir(&directory).unwrap();
    let name = directory.to_str().unwrap();
    std::fs::write(directory.join("collect.json"), "{}").unwrap();
    std::fs::write(directory.join("10.0.0.1-7001.csv.zst"), "").unwrap();
    let output = slotscope(&["timeline", name]).output().unwrap();
    assert_fails(&output, &["no slot-stats.json", "--every"]);
    std::fs::write(directory.join("slot-stats.json"), &text).unwrap();
    assert_eq!(timeline(&[name]), whole);
}

#[test]
fn what_has_no_times_or_counters_is_refused_with_the_way_out() {
    let scratch = Scratch::new();
    let refused = |name: &str, text: String, args: &[&str], words: &[&str]| {
        let file = scratch.file(name, text);
        let args = [&["timeline", file.to_str().unwrap()], args].concat();
        assert_fails(&slotscope(&args).output().unwrap(), words);
    };
    let answer = "[[0,{\"key-count\":3,\"cpu-usec\":5}]]";
    refused(
        "answer.json",
        answer.into(),
        &[],
        &["has no time", "collect --every"],
    );
    let one = line(0, "a", answer);
    refused(
        "one.json",
        one.clone(),
        &[],
        &["one sample of each slot", "collect --every"],
    );
    let two = one + &line(1, "a", answer);
    refused(
        "two.json",
        two.clone(),
        &["--by", "ops"],
        &["--by ops", "--by cpu"],
    );
    let words = [
        "line 1",
        "network-bytes-in",
        "cluster-slot-stats-enabled yes",
    ];
    refused("two.json", two, &["--by", "network"], &words);
    let monitor = "1795242395.000001 [0 h:1] \"GET\" \"a\"\n";
    refused(
        "a.monitor",
        monitor.into(),
        &["--by", "cpu"],
        &["--by cpu", "SLOT-STATS"],
    );
}

#[test]
fn the_page_has_its_units() {
    let planted = Planted {
        slot: 6000,
        samples: 20..26,
        micros: 4_000_000,
    };
    let scratch = Scratch::new();
    let file = scratch.file("slot-stats.json", series(60, 4, Some(&planted)));
    for (by, unit) in [("cpu", "% of a core"), ("network", "iB/s")] {
        let out = scratch.path(by);
        let args = ["timeline", file.to_str().unwrap(), "--by", by, "--out"];
        let output = slotscope(&[&args[..], &[out.to_str().unwrap()]].concat());
        assert_eq!(code(&{ output }.output().unwrap()), 0);
        let page = std::fs::read_to_string(out.join("timeline.html")).unwrap();
        assert!(page.contains(unit) && page.contains(&format!("\"heat\":\"{by}\"")));
    }
}

/// A burst of commands on one list, between samples of a running cluster, for each of `kinds`.
#[test]
fn a_burst_on_a_slot_of_real_servers_is_found() {
    for kind in [Kind::Valkey91, Kind::Redis82] {
        let shares = [vec![(0, 8191)], vec![(8192, 16383)]];
        let mut cluster = Cluster::of(kind, &shares);
        for server in &cluster.servers {
            let on = ["CONFIG", "SET", "cluster-slot-stats-enabled", "yes"];
            server.connect().call(&on);
        }
        let text = sampled(&mut cluster);
        let scratch = Scratch::new();
        let file = scratch.file("slot-stats.json", text);
        let file = file.to_str().unwrap();
        let slot = slotscope::slot(b"{hot}:list");
        for by in ["cpu", "network"] {
            let found = timeline(&[file, "--by", by]);
            let bursts = found["bursts"].list();
            assert!(!bursts.is_empty(), "{kind:?} {by}");
            let owner = cluster.address(usize::from(slot >= 8192));
            assert_eq!(bursts[0]["slot"], slot, "{kind:?} {by}: {bursts:?}");
            assert_eq!(bursts[0]["node"], owner);
            let from = bursts[0]["from"].whole();
            assert!(from.abs_diff(START + 11 * EVERY) <= 16, "{:?}", bursts[0]);
            assert!(bursts[0]["share"].float() > 0.5);
        }
        // The same file as present counts.
        let output = slotscope(&["analyze", "--json", file]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["input"]["keys"], 2001);
    }
}

/// Samples with timestamps ten seconds apart, without waiting.
fn sampled(cluster: &mut Cluster) -> String {
    let mut rng = Rng::new(5);
    let mut hot = cluster.owner_of(b"{hot}:list");
    for _ in 0..500 {
        hot.call(&["RPUSH", "{hot}:list", "an element of some length"]);
    }
    let mut text = String::new();
    for number in 0..30 {
        for i in 0..100 {
            let key = match number {
                0..20 => format!("key:{}", number * 100 + i),
                _ => format!("key:{}", (rng.unit() * 2000.0) as u64),
            };
            cluster.owner_of(key.as_bytes()).call(&["SET", &key, "v"]);
        }
        for _ in 0..if (12..16).contains(&number) { 3000 } else { 0 } {
            hot.call(&["LRANGE", "{hot}:list", "0", "-1"]);
        }
        for (i, server) in cluster.servers.iter().enumerate() {
            let ask = words("--json CLUSTER SLOT-STATS SLOTSRANGE 0 16383");
            let answer = String::from_utf8(server.redis_cli(&ask)).unwrap();
            text += &line(number, &cluster.address(i), answer.trim());
        }
    }
    text
}
