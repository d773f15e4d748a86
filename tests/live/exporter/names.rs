//! Names announced by primaries: identical ones, and ones that a terminal obeys. Figures are kept apart by id.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::{Exporter, memory_of};
use testkit::hostile::{Answer, Hostile};
use testkit::prelude::*;
/// Text that a terminal obeys: a title, a bell, a right-to-left override.
const OBEYED: &str = "\u{1b}]0;PWN\u{7}\u{202e}";

/// Three primaries that announce these `places`, `IP:PORT@BUS,HOSTNAME` with `{}` for the own port. Their memory is 1,
/// 2 and 3 MB; their CPU times differ so much that replies that are late do not change the order of their loads.
fn cluster(places: [&str; 3]) -> Vec<Hostile> {
    let ports: Arc<Mutex<Vec<u16>>> = Arc::default();
    let start = |me: usize| {
        let (ports, places) = (Arc::clone(&ports), places.map(str::to_owned));
        let begun = std::time::Instant::now();
        Hostile::start(move |command| {
            let ports = ports.lock().unwrap().clone();
            let ms = begun.elapsed().as_millis() as u64;
            let line = |(node, port): (usize, &u16)| {
                let place = places[node].replace("{}", &port.to_string());
                let flags = ["master", "myself,master"][usize::from(node == me)];
                let (first, last) = [(0, 5460), (5461, 10_922), (10_923, 16_383)][node];
                format!("{node:040x} {place} {flags} - 0 0 {node} connected {first}-{last}\n")
            };
            let nodes: String = ports.iter().enumerate().map(line).collect();
            match command {
                "CLUSTER NODES" => Answer::text(&nodes),
                "CLUSTER INFO" => Answer::text("cluster_state:ok\r\n"),
                of if of.starts_with("INFO") => Answer::text(&format!(
                    "redis_version:7.0.15\r\nrole:master\r\nuptime_in_seconds:{}\r\nused_memory:{}\r\nused_cpu_user:{}\r\nused_cpu_sys:0\r\n\
                     total_commands_processed:{ms}\r\ncmdstat_get{OBEYED}:calls={ms},usec={ms}\r\n",
                    1000 + ms / 1000,
                    1_000_000 * (me + 1),
                    (ms as f64 / 1000.0) * [0.01, 0.1, 1.0][me]
                )),
                of if of.starts_with("CLUSTER COUNTKEYSINSLOT") => Answer::of(":1\r\n"),
                of if of.starts_with("CLUSTER S") => Answer::of("-ERR unknown subcommand\r\n"),
                "DBSIZE" => Answer::of(":100\r\n"),
                _ => Answer::of("+OK\r\n"),
            }
        })
    };
    let servers: Vec<Hostile> = (0..3).map(start).collect();
    *ports.lock().unwrap() = servers.iter().map(|server| server.port).collect();
    servers
}

/// The series of a family on the page of an exporter, with their values, once there are loads.
fn values(exporter: &Exporter, family: &str) -> Vec<(String, f64)> {
    let page = exporter.page_with("slotscope_node_cpu_ratio{");
    let lines = page.lines().filter(|line| line.starts_with(family));
    let values = lines.map(|line| line.rsplit_once(' ').unwrap());
    values
        .map(|(series, value)| (series.to_owned(), value.parse().unwrap()))
        .collect()
}

#[test]
fn primaries_that_announce_one_hostname_keep_their_own_figures() {
    let servers = cluster([
        "10.99.0.1:6379@16379,lb.example",
        "10.99.0.2:6379@16379,lb.example",
        "10.99.0.3:6379@16379,lb.example",
    ]);
    let names = [1, 2, 3].map(|at| format!("10.99.0.{at}:6379"));
    let pairs = names.iter().zip(&servers);
    let map: String = pairs
        .map(|(name, server)| format!(" --address-map {name}={}", server.address()))
        .collect();
    let seed = servers[0].address();
    let exporter = Exporter::of(&seed, &words(&map));
    let rising = |cpu: [f64; 3]| assert!(cpu.is_sorted_by(|a, b| a < b), "{cpu:?}");
    for _ in 0..5 {
        let found = values(&exporter, "slotscope_node_memory_bytes{");
        let expected = names.iter().zip([1e6, 2e6, 3e6]);
        let expected: Vec<_> = expected
            .map(|(name, bytes)| (memory_of(name), bytes))
            .collect();
        assert_eq!(found, expected);
        let cpu = values(&exporter, "slotscope_node_cpu_ratio{");
        rising([0, 1, 2].map(|at: usize| cpu[at].1));
    }
    let scratch = Scratch::new();
    scratch.text(&format!(
        "collect {seed} --slots-only --load 1s -o shop{map}"
    ));
    let manifest: Value = serde_json::from_str(&scratch.read("shop/collect.json")).unwrap();
    rising([0, 1, 2].map(|at: usize| manifest["load"]["nodes"][at]["cpu"].float()));
    let report = scratch.report("analyze shop --json");
    let slots = [0, 1, 2].map(|at: usize| &report["nodes"]["list"][at]["keys"]);
    assert_eq!(slots, [5461, 5462, 5461], "{}", report["nodes"]);
    scratch.text("analyze shop --openmetrics metrics.txt --no-files");
    let page = scratch.read("metrics.txt");
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    let mut series = lines.map(|line| line.rsplit_once(' ').unwrap().0);
    let mut seen = BTreeSet::new();
    assert!(series.all(|series| seen.insert(series)), "{page}");
}

#[test]
fn what_a_primary_calls_itself_moves_no_terminal() {
    let hostname = format!("127.0.0.1:{{}}@1,{OBEYED}");
    let servers = cluster([&hostname, &hostname, "127.0.0.1:{}@1,plain"]);
    let seed = servers[0].address();
    let page = Exporter::of(&seed, &[]).page_with("slotscope_node_cpu_ratio{");
    let scratch = Scratch::new();
    let load = scratch.run(&format!(
        "collect {seed} -o a --color always --slots-only --load 1s"
    ));
    let counts = scratch.run(&format!("collect {seed} -o b --color always --slots-only"));
    for run in [&load, &counts] {
        assert_eq!(code(run), 0, "{}", stderr(run));
    }
    let said = [&load, &counts].map(|run| [stdout(run), stderr(run)].concat());
    // The program's own colours are the only escapes.
    for text in [page, said.concat().replace("\u{1b}[", "")] {
        let is_obeyed = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
        assert!(!text.contains(is_obeyed), "{}", text.escape_debug());
    }
}
