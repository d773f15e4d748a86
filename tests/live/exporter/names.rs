//! Names announced by primaries: identical ones, and ones that a terminal obeys. Figures are kept apart by id.

use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use testkit::hostile::{Answer, Hostile};
use testkit::prelude::*;
use testkit::redis::{free_port, wait_for};

use std::io::{Read, Write};
use std::net::TcpStream;

/// Text that a terminal obeys: a title, a bell, a right-to-left override.
const OBEYED: &str = "\u{1b}]0;PWN\u{7}\u{202e}";

/// Three primaries that announce these `places`, `IP:PORT@BUS,HOSTNAME` with `{}` for the own port. Their memory is 1,
/// 2 and 3 MB.
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
                let flags = if node == me {
                    "myself,master"
                } else {
                    "master"
                };
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
                    (ms as f64 / 1000.0) * 0.1 * (me + 1) as f64
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

/// The flags that map the announced addresses to the servers.
fn map(servers: &[Hostile], announced: impl Fn(usize, u16) -> String) -> Vec<String> {
    let pair = |(at, server): (usize, &Hostile)| {
        let from = announced(at, server.port);
        [
            "--address-map".to_owned(),
            format!("{from}=127.0.0.1:{}", server.port),
        ]
    };
    servers.iter().enumerate().flat_map(pair).collect()
}

struct Running(Child, u16);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Running {
    fn start(seed: u16, flags: &[String]) -> Running {
        let port = free_port();
        let (seed, listen) = (format!("127.0.0.1:{seed}"), format!("127.0.0.1:{port}"));
        let line = format!("exporter {seed} --listen {listen} --interval 300ms --cluster shop");
        let args = words(&line);
        let mut command = slotscope(&args);
        Running(
            command.args(flags).stderr(Stdio::null()).spawn().unwrap(),
            port,
        )
    }

    fn page(&self) -> String {
        wait_for(|| {
            let mut stream =
                TcpStream::connect(("127.0.0.1", self.1)).map_err(|error| error.to_string())?;
            stream
                .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .map_err(|error| error.to_string())?;
            let mut page = String::new();
            stream
                .read_to_string(&mut page)
                .map_err(|error| error.to_string())?;
            page.contains("slotscope_node_cpu_ratio{")
                .then_some(page.clone())
                .ok_or(page)
        })
    }
}

/// The value of each series of a family.
fn values<'p>(page: &'p str, family: &str) -> Vec<(&'p str, f64)> {
    let lines = page.lines().filter(|line| line.starts_with(family));
    lines
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            (series, value.parse().unwrap())
        })
        .collect()
}

#[test]
fn primaries_that_announce_one_hostname_keep_their_own_figures() {
    let places = [
        "10.99.0.1:6379@16379,lb.example",
        "10.99.0.2:6379@16379,lb.example",
        "10.99.0.3:6379@16379,lb.example",
    ];
    let servers = cluster(places);
    let flags = map(&servers, |at, _| format!("10.99.0.{}:6379", at + 1));
    let exporter = Running::start(servers[0].port, &flags);
    for _ in 0..5 {
        let page = exporter.page();
        let memory = values(&page, "slotscope_node_memory_bytes{");
        let expected = |at: usize| {
            (
                format!(
                    "slotscope_node_memory_bytes{{cluster=\"shop\",node=\"10.99.0.{}:6379\"}}",
                    at + 1
                ),
                1e6 * (at + 1) as f64,
            )
        };
        let expected: Vec<(String, f64)> = (0..3).map(expected).collect();
        let found: Vec<(String, f64)> = memory
            .iter()
            .map(|(series, value)| ((*series).to_owned(), *value))
            .collect();
        assert_eq!(found, expected);
        let cpu: Vec<f64> = values(&page, "slotscope_node_cpu_ratio{")
            .iter()
            .map(|(_, value)| *value)
            .collect();
        assert!(cpu[0] < cpu[1] && cpu[1] < cpu[2], "{cpu:?}");
    }
    let scratch = Scratch::new();
    let seed = format!("127.0.0.1:{}", servers[0].port);
    let mut collect = scratch.command(&words(&format!(
        "collect {seed} --slots-only --load 1s -o shop"
    )));
    let output = collect.args(&flags).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(scratch.path("shop/collect.json")).unwrap()).unwrap();
    let cpu = |at: usize| manifest["load"]["nodes"][at]["cpu"].float();
    assert!(
        cpu(0) < cpu(1) && cpu(1) < cpu(2),
        "{}",
        manifest["load"]["nodes"]
    );
    let analyzed = scratch.run(&["analyze", "shop", "--json"]);
    let report = testkit::run::report(&analyzed);
    let slots: Vec<&serde_json::Value> = report["nodes"]["list"]
        .list()
        .iter()
        .map(|node| &node["keys"])
        .collect();
    assert_eq!(slots, [5461, 5462, 5461], "{}", report["nodes"]);
    let page = scratch.run(&words("analyze shop --openmetrics metrics.txt --no-files"));
    assert_eq!(code(&page), 0, "{}", stderr(&page));
    let page = scratch.read("metrics.txt");
    let series = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').unwrap().0);
    let mut seen = std::collections::BTreeSet::new();
    assert!(
        series.into_iter().all(|series| seen.insert(series)),
        "{page}"
    );
}

#[test]
fn what_a_primary_calls_itself_moves_no_terminal() {
    let hostname = format!("127.0.0.1:{{}}@1,{}", OBEYED.replace(' ', ""));
    let servers = cluster([&hostname, &hostname, "127.0.0.1:{}@1,plain"]);
    let exporter = Running::start(servers[0].port, &[]);
    let page = exporter.page();
    let body = page.split_once("\r\n\r\n").unwrap().1;
    assert!(
        !body.contains(|c: char| c != '\n' && c.is_control() || c == '\u{202e}'),
        "{}",
        body.escape_debug()
    );
    let scratch = Scratch::new();
    let seed = format!("127.0.0.1:{}", servers[0].port);
    for (args, dir) in [
        (&["--slots-only", "--load", "1s"][..], "a"),
        (&["--slots-only"], "b"),
    ] {
        let args = [&["collect", &seed, "-o", dir, "--color", "always"], args].concat();
        let output = scratch.run(&args);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            assert!(
                !text.contains("\u{1b}]") && !text.contains(['\u{7}', '\u{202e}']),
                "{}",
                text.escape_debug()
            );
        }
    }
}
