//! `slotscope exporter`, scraped: metrics of a real cluster, promtool's verdict on the page, and hostile clients.

mod down;
mod names;
mod prometheus;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use slotscope::slot::slot;
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{free_port, wait_for};

/// A running exporter.
pub(crate) struct Exporter {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

impl Exporter {
    fn start(cluster: &Cluster) -> Exporter {
        let (address, port) = (cluster.address(0), free_port());
        let listen = format!("127.0.0.1:{port}");
        let line = format!("exporter {address} --listen {listen} --interval 500ms --cluster shop");
        let child = slotscope(&words(&line))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Exporter { child, port }
    }

    /// Sends `request` and reads the response.
    fn ask(&self, request: &[u8]) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(request)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let answer = self.ask(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        answer.unwrap_or_else(|error| error.to_string())
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

    /// Sends this many requests that no scraper would send.
    fn harass(&self, requests: usize) {
        for at in 0..requests {
            let request = match at % 4 {
                0 => vec![at as u8; 20_000],
                1 => [
                    b"GET / HTTP/1.1\r\n".to_vec(),
                    b"a: b\r\n".repeat(1300),
                    b"\r\n".to_vec(),
                ]
                .concat(),
                2 => b"GET /metrics HTTP/9.9\r\n\r\n".to_vec(),
                _ => format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(at)).into_bytes(),
            };
            // A reset is an answer too.
            drop(self.ask(&request));
        }
    }

    /// Its present memory in KiB.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn start(kind: Kind) -> Cluster {
    let counts = ["--cluster-slot-stats-enabled", "yes"].map(String::from);
    let cluster = Cluster::made_of(kind, &even(3), |_| match kind {
        Kind::Installed => Vec::new(),
        _ => counts.to_vec(),
    });
    for id in 0..500 {
        let key = format!("user:{id}");
        cluster
            .owner_of(key.as_bytes())
            .call(&["SET", &key, "a value"]);
    }
    cluster
}

fn promtool(args: &[&str], folder: &Path, input: &[u8]) {
    let mut command = Command::new("promtool");
    command.args(args).current_dir(folder);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = feed(command, input);
    assert_eq!(
        code(&output),
        0,
        "{}{}",
        stderr(&output),
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn promtool_sees_rules_fire_as_their_tests_say() {
    let folder = root().join("packaging/prometheus");
    promtool(&["check", "rules", "alerts.yml"], &folder, b"");
    promtool(&["test", "rules", "alerts-test.yml"], &folder, b"");
}

#[test]
fn promtool_takes_a_page() {
    let cluster = start(Kind::Valkey91);
    let page = Exporter::start(&cluster).page_with("slotscope_state{");
    promtool(&["check", "metrics"], root(), page.as_bytes());
}

#[test]
fn counting_keys_is_no_load_of_an_idle_cluster() {
    let cluster = start(Kind::Installed);
    let exporter = Exporter::start(&cluster);
    let page = exporter.page_with("slotscope_node_operations_per_second{");
    let rates = page.lines().filter_map(|line| {
        let rate = line.strip_prefix("slotscope_node_operations_per_second{")?;
        rate.rsplit(' ').next()?.parse::<f64>().ok()
    });
    let rates: Vec<f64> = rates.collect();
    assert!(
        rates.len() == 3 && rates.iter().all(|rate| *rate < 300.0),
        "{rates:?}"
    );
}

#[test]
fn a_page_has_the_nodes_the_verdict_and_the_hottest_slot() {
    for kind in [Kind::Installed, Kind::Redis82, Kind::Valkey91] {
        let cluster = start(kind);
        let exporter = Exporter::start(&cluster);
        exporter.page_with("slotscope_state{");
        let hot = slot(b"user:7");
        let mut client = cluster.owner_of(b"user:7");
        let page = wait_for(|| {
            let command: Vec<Vec<&[u8]>> =
                (0..2000).map(|_| vec![&b"GET"[..], b"user:7"]).collect();
            client.pipeline(&command);
            let page = exporter.page_with("slotscope_state{");
            let first = page
                .lines()
                .find(|line| line.starts_with("slotscope_slot_cpu_ratio"));
            let is_found = first.is_some_and(|line| line.contains(&format!("slot=\"{hot}\"")));
            (is_found || kind == Kind::Installed)
                .then_some(page.clone())
                .ok_or(page)
        });
        assert_contains(&page, &["slotscope_primaries{cluster=\"shop\"} 3\n"]);
        assert_contains(&page, &["slotscope_primaries_silent{cluster=\"shop\"} 0\n"]);
        for at in 0..3 {
            let node = format!(
                "slotscope_node_memory_bytes{{cluster=\"shop\",node=\"{}\"}}",
                cluster.address(at)
            );
            assert!(page.contains(&node), "{node}: {page}");
        }
        page.ends("# EOF\n").lacks("user:");
        assert!(exporter.get("/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
    }
}

#[test]
fn a_primary_that_dies_is_silent_and_the_others_have_their_figures() {
    let mut cluster = start(Kind::Valkey91);
    let exporter = Exporter::start(&cluster);
    exporter.page_with("slotscope_primaries_silent{cluster=\"shop\"} 0\n");
    cluster.servers[2].stop();
    let page = exporter.page_with("slotscope_primaries_silent{cluster=\"shop\"} 1\n");
    let other = format!(
        "slotscope_node_memory_bytes{{cluster=\"shop\",node=\"{}\"}}",
        cluster.address(1)
    );
    assert!(page.contains(&other), "{page}");
}

#[test]
fn hostile_requests_are_refused_and_take_no_memory() {
    let cluster = start(Kind::Valkey91);
    let exporter = Exporter::start(&cluster);
    exporter.page_with("slotscope_state{");
    for (request, expected) in [
        (&b"GET /other HTTP/1.1\r\n\r\n"[..], "404"),
        (b"GET /metrics/../../etc/passwd HTTP/1.1\r\n\r\n", "404"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
        (
            b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            "403",
        ),
        (b"\x16\x03\x01\x02\r\n\r\n", "400"),
    ] {
        let answer = exporter.ask(request).unwrap();
        answer.begins(&format!("HTTP/1.1 {expected}"));
    }
    let before = exporter.memory();
    // Silent connections wait for their deadline without blocking the others.
    let silent: Vec<TcpStream> = (0..10)
        .map(|_| TcpStream::connect(("127.0.0.1", exporter.port)).unwrap())
        .collect();
    exporter.harass(1000);
    assert!(exporter.get("/metrics").contains("# EOF"));
    let grown = exporter.memory().saturating_sub(before);
    // A page and a reading of the cluster are made meanwhile.
    assert!(grown < 24 << 10, "{grown} KiB");
    drop(silent);
}

#[test]
fn what_cannot_be_exported_is_said_at_once() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let output = slotscope(&["exporter", "127.0.0.1:1", "--listen", &listen])
        .output()
        .unwrap();
    assert_fails(&output, &["--listen", "name another address"]);
}
