//! A real Prometheus scrapes the exporter, and its alert fires while one shard is hot and its peers are idle.

use std::process::{Child, Command, Stdio};
use std::thread;

use super::{Exporter, ask};
use testkit::cluster::Cluster;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{free_port, wait_for};

/// A running Prometheus.
struct Prometheus {
    child: Child,
    port: u16,
    _folder: Scratch,
}

impl Prometheus {
    /// Scrapes the exporter every five seconds, which is also the limit for an answer, with the rules in packaging/ modified
    /// to wait for only a second, average over fifteen, and call a smaller part of a core hot: the test machine has other
    /// work.
    fn start(exporter: &Exporter) -> Prometheus {
        let folder = Scratch::new();
        let mut rules = folder.read(root().join("packaging/prometheus/alerts.yml"));
        for [from, to] in rows(
            r"for: 45s | for: 1s
            [1m] | [15s]
            > 0.5\n | > 0.1\n",
        ) {
            rules.says(from);
            rules = rules.replace(from, to);
        }
        folder.file("alerts.yml", rules);
        let config = format!(
            "global:\n  scrape_interval: 5s\n  evaluation_interval: 1s\nrule_files: [alerts.yml]\nscrape_configs:\n- job_name: slotscope\n  static_configs:\n  - targets: ['127.0.0.1:{}']\n",
            exporter.port
        );
        folder.file("prometheus.yml", config);
        let port = free_port();
        let mut command = Command::new("prometheus");
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.current_dir(folder.path("")).spawn();
        Prometheus {
            child: child.expect("prometheus is installed by tests/run"),
            port,
            _folder: folder,
        }
    }

    /// The response of its API about `what`.
    fn says(&self, what: &str) -> Result<String, String> {
        let request = format!("GET /api/v1/{what} HTTP/1.0\r\n\r\n");
        ask(self.port, request.as_bytes()).map_err(|error| error.to_string())
    }

    fn waits_for(&self, what: &str, texts: &[&str]) -> String {
        wait_for(|| {
            let answer = self.says(what)?;
            let has_all = texts.iter().all(|text| answer.contains(text));
            if has_all { Ok(answer) } else { Err(answer) }
        })
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn prometheus_scrapes_it_and_the_alert_of_a_hot_shard_fires() {
    let cluster = Cluster::counting(Kind::Valkey91, 500);
    let exporter = Exporter::start(&cluster, &[]);
    exporter.page_with("slotscope_state{");
    let prometheus = Prometheus::start(&exporter);
    prometheus.waits_for("targets", &["\"health\":\"up\"", "\"lastError\":\"\""]);
    let calm = prometheus.waits_for("query?query=slotscope_up", &["\"1\"]"]);
    calm.says("\"cluster\":\"shop\"");
    let before = prometheus.says("alerts").unwrap();
    before.lacks("SlotscopeHotShard");

    // Work for the server and hardly any for its client.
    let busy = "local sum = 0; for i = 1, 300000 do sum = sum + i end; return sum";
    let mut client = cluster.owner_of(b"user:7");
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let fired = thread::scope(|threads| {
        threads.spawn(move || {
            let empty = std::sync::mpsc::TryRecvError::Empty;
            while is_done.try_recv() == Err(empty) {
                let command: Vec<&[u8]> = vec![b"EVAL", busy.as_bytes(), b"1", b"user:7"];
                client.pipeline(&vec![command; 20]);
            }
        });
        let hot = [
            "\"alertname\":\"SlotscopeHotShard\"",
            "\"state\":\"firing\"",
        ];
        let fired = prometheus.waits_for("alerts", &hot);
        drop(done);
        fired
    });
    let owner = cluster.owner_address(b"user:7");
    fired.says(&format!("\"node\":\"{owner}\""));
    assert_eq!(fired.matches("SlotscopeHotShard").count(), 1, "{fired}");

    // Hostile requests do not stop scrapes: each is a sample of `up`, which was never 0.
    exporter.harass(1000);
    prometheus.waits_for("targets", &["\"health\":\"up\"", "\"lastError\":\"\""]);
    prometheus.waits_for("query?query=min_over_time(up[1m])", &["\"1\"]"]);
    // count({__name__=~"slotscope_.*"}) <= 200 is empty if there are more.
    let few = "query?query=count(%7B__name__=~%22slotscope_.*%22%7D)<=200";
    prometheus.waits_for(few, &["\"value\""]);

    // The load has ended, and so does the alert.
    wait_for(|| {
        let answer = prometheus.says("alerts")?;
        let is_over = !answer.contains("SlotscopeHotShard");
        if is_over { Ok(()) } else { Err(answer) }
    });
}
