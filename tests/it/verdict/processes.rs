//! Load by the CPU time of processes, if servers do not count it by slot.

use slotscope::source::collection::load::{LoadEntry, NodeWork};
use slotscope::source::collection::manifest::example;
use slotscope::source::collection::servers::{ServerEntry, ServerReading};
use testkit::run::{Scratch, code, report, stdout};

/// A collection from three primaries that use these fractions of a core; those with `None` do not report it.
fn collection(scratch: &Scratch, cpu: [Option<f64>; 3]) {
    std::fs::create_dir_all(scratch.path("shop")).unwrap();
    let keys = 6000;
    let mut manifest = example(&["a.csv"]);
    (manifest.keys, manifest.nodes[0].keys) = (keys, keys);
    let (ids, name) = (["a", "b", "c"], |at: usize| format!("10.0.0.{at}:6379"));
    let work = |(at, cpu): (usize, Option<f64>)| NodeWork {
        id: Some(ids[at].into()),
        name: name(at),
        secs: 10.0,
        ops_per_sec: Some(5000.0),
        cpu,
        ..NodeWork::default()
    };
    manifest.load = Some(LoadEntry {
        secs: 10.0,
        nodes: cpu.into_iter().enumerate().map(work).collect(),
        ..LoadEntry::default()
    });
    let server = |(at, id): (usize, &str)| ServerEntry {
        after: Some(ServerReading::default()),
        ..ServerEntry::of(Some(id.into()), name(at))
    };
    manifest.servers = ids.into_iter().enumerate().map(server).collect();
    let text = serde_json::to_string(&manifest).unwrap();
    scratch.file("shop/collect.json", text);
    let rows: String = (0..keys).map(|i| format!("user:{i},100\n")).collect();
    scratch.file("shop/a.csv", format!("key,size\n{rows}"));
    let ranges = ["0-5460", "5461-10922", "10923-16383"];
    let line = |at: usize| {
        let (id, name, range) = (ids[at], name(at), ranges[at]);
        format!("{id} {name}@1 master - 0 0 {at} connected {range}\n")
    };
    scratch.file("shop/cluster.nodes", (0..3).map(line).collect::<String>());
}

#[test]
fn a_collection_has_its_hot_process_as_a_finding() {
    let scratch = Scratch::new();
    collection(&scratch, [Some(0.1), Some(0.16), Some(0.4)]);
    let found = report(&scratch.run(&["analyze", "shop", "--json"]));
    let first = &found["verdict"]["findings"][0];
    assert_eq!(first["id"], "skew/load/c/", "{first:#}");
    assert_eq!(
        (&first["metric"], &first["state"]),
        (&"cpu".into(), &"skewed".into())
    );
    assert_eq!(first["limit_use"], 0.4);
    let share = &found["nodes"]["list"][2]["over_share"]["load"];
    assert_eq!(first["value"], *share);
    let text = scratch.run(&["analyze", "shop", "--no-files"]);
    let expected = "HOT  10.0.0.2 uses 1.82× its share of CPU time, 40.0% of a core";
    let shown: Vec<&str> = stdout(&text).split_whitespace().collect();
    let shown = shown.join(" ");
    assert!(shown.contains(&expected.replace("  ", " ")), "{shown}");
    assert!(
        shown.contains("1 find the hot slots and keys: MONITOR for a few seconds names them"),
        "{shown}"
    );
    let limited = [
        "analyze",
        "shop",
        "--no-files",
        "--fail-on",
        "verdict >= skewed",
    ];
    assert_eq!(code(&scratch.run(&limited)), 1);
}

#[test]
fn processes_that_are_even_idle_or_not_known_are_not_a_finding() {
    for cpu in [
        [Some(0.3), Some(0.3), Some(0.34)],
        [Some(0.005), Some(0.005), Some(0.019)],
        [Some(0.1), None, Some(0.4)],
    ] {
        let scratch = Scratch::new();
        collection(&scratch, cpu);
        let found = report(&scratch.run(&["analyze", "shop", "--json"]));
        assert_eq!(found["verdict"]["state"], "balanced", "{cpu:?}");
    }
}

#[test]
fn the_column_of_the_load_is_of_the_cpu_time_of_processes() {
    let scratch = Scratch::new();
    collection(&scratch, [Some(0.1), Some(0.16), Some(0.4)]);
    let text = scratch.run(&["analyze", "shop", "--no-files", "--full"]);
    let heads = stdout(&text).lines().find(|line| line.contains("× fair"));
    let heads = heads.unwrap_or_default();
    assert!(
        heads.contains("memory × fair") && heads.contains("load × fair"),
        "{heads}"
    );
}
