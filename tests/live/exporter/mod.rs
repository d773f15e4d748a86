//! `slotscope exporter`, scraped: metrics of a real cluster, promtool's verdict on the page, and hostile clients.

mod down;
mod names;
mod prometheus;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use slotscope::slot::slot;
use testkit::cluster::Cluster;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{free_port, wait_for};

/// A running exporter.
pub(crate) struct Exporter {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

/// The response of a server on this machine to a request.
fn ask(port: u16, request: &[u8]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The start of the line with a node's memory.
fn memory_of(node: &str) -> String {
    format!("slotscope_node_memory_bytes{{cluster=\"shop\",node=\"{node}\"}}")
}

impl Exporter {
    fn start(cluster: &Cluster, flags: &[&str]) -> Exporter {
        Exporter::of(&cluster.address(0), flags)
    }

    /// For the cluster of the server at `seed`.
    fn of(seed: &str, flags: &[&str]) -> Exporter {
        let port = free_port();
        let listen = format!("--listen 127.0.0.1:{port} --interval 500ms");
        let line = format!("exporter {seed} {listen} --cluster shop");
        let args = [&words(&line), flags].concat();
        let child = slotscope(&args).stderr(Stdio::null()).spawn().unwrap();
        Exporter { child, port }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        ask(self.port, request.as_bytes()).unwrap_or_else(|error| error.to_string())
    }

    /// The page, once it contains this text.
    fn page_with(&self, text: &str) -> String {
        wait_for(|| {
            let answer = self.get("/metrics");
            let body = answer
                .split_once("\r\n\r\n")
                .map(|(_, body)| body.to_owned());
            body.filter(|body| body.contains(text)).ok_or(answer)
        })
    }

    /// Waits until it says this of its last readings, which may be late on a busy machine.
    fn has_health(&self, status: u16) {
        wait_for(|| {
            let health = self.get("/healthz");
            let is_so = health.starts_with(&format!("HTTP/1.1 {status} "));
            is_so.then_some(()).ok_or(health)
        });
    }

    /// Sends this many requests that no scraper would send.
    fn harass(&self, requests: usize) {
        for at in 0..requests {
            let request = match at % 4 {
                0 => vec![at as u8; 20_000],
                1 => format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(1300)).into_bytes(),
                2 => b"GET /metrics HTTP/9.9\r\n\r\n".to_vec(),
                _ => format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(at)).into_bytes(),
            };
            // A reset is an answer too.
            drop(ask(self.port, &request));
        }
    }

    /// Its present memory in KiB.
    fn memory(&self) -> u64 {
        testkit::usage::memory(self.child.id(), "VmRSS:").unwrap()
    }
}
impl Drop for Exporter {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn promtool(args: &[&str], folder: &Path, input: &[u8]) {
    let mut command = Command::new("promtool");
    command.args(args).current_dir(folder);
    succeeded(feed(command, input));
}
#[test]
fn promtool_sees_rules_fire_as_their_tests_say() {
    let folder = root().join("packaging/prometheus");
    promtool(&["check", "rules", "alerts.yml"], &folder, b"");
    promtool(&["test", "rules", "alerts-test.yml"], &folder, b"");
}

#[test]
fn promtool_takes_a_page() {
    let cluster = Cluster::counting(Kind::Valkey91, 500);
    let page = Exporter::start(&cluster, &[]).page_with("slotscope_state{");
    promtool(&["check", "metrics"], root(), page.as_bytes());
}

#[test]
fn a_page_has_the_nodes_the_verdict_and_the_hottest_slot() {
    for kind in [Kind::Installed, Kind::Redis82, Kind::Valkey91] {
        println!("{kind:?}");
        let cluster = Cluster::counting(kind, 500);
        let exporter = Exporter::start(&cluster, &[]);
        let rate = "slotscope_node_operations_per_second{";
        let page = exporter.page_with(rate);
        // Counting keys does not load an idle cluster.
        let rates = page.lines().filter(|line| line.starts_with(rate));
        let rates = rates.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>());
        let rates: Vec<f64> = rates.map(Result::unwrap).collect();
        let is_idle = rates.iter().all(|rate| *rate < 300.0);
        assert!(rates.len() == 3 && is_idle, "{rates:?}");
        let hot = format!("slot=\"{}\"", slot(b"user:7"));
        let mut client = cluster.owner_of(b"user:7");
        let page = wait_for(|| {
            client.pipeline(&vec![vec![&b"GET"[..], b"user:7"]; 2000]);
            let page = exporter.page_with("slotscope_state{");
            let mut lines = page.lines();
            let first = lines.find(|line| line.starts_with("slotscope_slot_cpu_ratio"));
            let is_found = first.is_some_and(|line| line.contains(&hot));
            let is_done = is_found || kind == Kind::Installed;
            is_done.then_some(page.clone()).ok_or(page)
        });
        page.says("slotscope_primaries{cluster=\"shop\"} 3\n");
        page.says("slotscope_primaries_silent{cluster=\"shop\"} 0\n");
        for at in 0..3 {
            page.says(&memory_of(&cluster.address(at)));
        }
        page.ends("# EOF\n").lacks("user:");
        exporter.has_health(200);
    }
}
#[test]
fn hostile_requests_are_refused_and_take_no_memory() {
    let cluster = Cluster::counting(Kind::Valkey91, 500);
    let exporter = Exporter::start(&cluster, &[]);
    exporter.page_with("slotscope_state{");
    for [request, status, text] in rows(
        r"GET /other HTTP/1.1\r\n\r\n | 404 | HTTP
        GET /metrics/../../etc/passwd HTTP/1.1\r\n\r\n | 404 | HTTP
        POST /metrics HTTP/1.1\r\n\r\n | 405 | HTTP
        GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n | 403 | HTTP
        GET /metrics HTTP/1.1\r\nHost: localhost:9121\r\n\r\n | 200 | # EOF
        \x16\x03\x01\x02\r\n\r\n | 400 | HTTP",
    ) {
        let answer = ask(exporter.port, request.as_bytes()).unwrap();
        answer.begins(&format!("HTTP/1.1 {status} ")).says(text);
    }
    let before = exporter.memory();
    // Silent connections wait for their deadline without blocking the others.
    let connect = |_| TcpStream::connect(("127.0.0.1", exporter.port)).unwrap();
    let silent: Vec<TcpStream> = (0..10).map(connect).collect();
    exporter.harass(1000);
    exporter.get("/metrics").says("# EOF");
    let grown = exporter.memory().saturating_sub(before);
    // A page and a reading of the cluster are made meanwhile.
    assert!(grown < 24 << 10, "{grown} KiB");
    drop(silent);
}
#[test]
fn what_cannot_be_exported_is_said_at_once() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let output = Scratch::new().run(&format!("exporter 127.0.0.1:1 --listen {listen}"));
    output.refused("--listen | name another address");
}
