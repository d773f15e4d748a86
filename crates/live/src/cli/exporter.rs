//! The flags of `slotscope exporter`.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;

use slotscope_app::cli::live::{self, LiveArgs};
use slotscope_app::cli::{Command, Ending, Run, say, values};
use slotscope_app::options::headings::{ARGUMENTS, OUTPUT, RUN};
use slotscope_app::pipeline::running;
use slotscope_base::error::{Error, Result};
use slotscope_collect::live::{Live, Snapshot};
use slotscope_report::render::families::CONTENT_TYPE;

use crate::exporter::http::{self, Answer};
use crate::exporter::page::{self, Observed};

/// A cluster not read for this many intervals is unhealthy.
const STALE: u32 = 3;

/// The state of a running cluster for Prometheus
///
/// At most 200 series, whatever the size of the cluster. Servers are only read: INFO, CLUSTER NODES and, where they have it,
/// CLUSTER SLOT-STATS, at intervals.
#[derive(Args, Debug)]
#[command(next_help_heading = OUTPUT, after_help = EXAMPLES)]
pub struct ExporterArgs {
    /// A node: HOST:PORT, redis://HOST:PORT, rediss:// for TLS
    ///
    /// Any node of the cluster will do; with several, the first that answers is used.
    #[arg(value_name = "URL", required = true, help_heading = ARGUMENTS)]
    pub urls: Vec<String>,
    /// Listen address
    ///
    /// Serves GET /metrics and GET /healthz, without password or TLS: keep it on loopback or in a private network.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9121")]
    pub listen: SocketAddr,
    /// Time between two readings of the cluster
    ///
    /// A scrape returns the last one.
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "15s", help_heading = RUN)]
    pub interval: Duration,
    /// The label `cluster` of all series [default: the first URL's HOST-PORT]
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// How servers are reached
    #[command(flatten)]
    pub live: LiveArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope exporter redis://HOST:6379
  REDISCLI_AUTH=... slotscope exporter rediss://HOST:6379 --user slotscope --cluster shop";

struct Pages {
    metrics: String,
    /// The time of the last reading.
    read: Option<Instant>,
}

impl Run for ExporterArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let seeds = live::seeds(&self.urls)?;
        let access = self.live.access(&seeds)?;
        let cluster = self.cluster.clone().unwrap_or_else(|| live::name(&seeds));
        let listener = http::listen(self.listen)?;
        say(&format!(
            "http://{}/metrics, read every {:?}",
            self.listen, self.interval
        ));
        let pages = Mutex::new(Pages {
            metrics: page::NOTHING.to_owned(),
            read: None,
        });
        let addresses: Vec<_> = seeds.into_iter().map(|seed| seed.address).collect();
        thread::scope(|scope| {
            let reads = || {
                // After an outage, start over from the seeds: the cluster may come back elsewhere.
                let (mut last_text, mut was_read) = (String::new(), false);
                loop {
                    let connected = Live::connect(&addresses, &access);
                    was_read |= connected.is_ok();
                    let outcome = connected.and_then(|live| self.read_on(live, &cluster, &pages));
                    if let Err(error) = outcome {
                        let is_down = was_read && error.is_silence();
                        say_once(error.to_string(), &mut last_text);
                        *lock(&pages) = Pages {
                            metrics: page::without_cluster(&cluster, is_down),
                            read: None,
                        };
                    }
                    thread::sleep(self.interval);
                }
            };
            let reader = thread::Builder::new().name("reader".into());
            reader.spawn_scoped(scope, reads).map_err(|error| {
                Error::bad("exporter", format!("no thread can be started: {error}"))
            })?;
            http::serve(&listener, |path| self.answer(path, &pages));
            Ok(Ending::Done)
        })
    }
}

impl ExporterArgs {
    /// Reads the cluster at intervals until that fails.
    fn read_on(&self, mut live: Live<'_>, cluster: &str, pages: &Mutex<Pages>) -> Result<()> {
        let mut before: Option<Snapshot> = None;
        let mut last_failures = String::new();
        loop {
            let start = Instant::now();
            let snapshot = live.read()?;
            say_failures(&snapshot, &mut last_failures);
            if before.is_none() {
                lock(pages).metrics = page::once_read(cluster);
            }
            if let Some(before) = &before {
                let summary = running::summary(before, &snapshot);
                let observed = Observed {
                    cluster,
                    snapshots: [before, &snapshot],
                    summary: summary.as_ref().ok(),
                    read_at: now_secs(),
                    took: start.elapsed().as_secs_f64(),
                };
                let metrics = observed.page();
                let mut pages = lock(pages);
                (pages.metrics, pages.read) = (metrics, Some(Instant::now()));
            }
            before = Some(snapshot);
            thread::sleep(self.interval.saturating_sub(start.elapsed()));
        }
    }

    fn answer(&self, path: &str, pages: &Mutex<Pages>) -> Answer {
        match path {
            "/metrics" => Answer {
                status: "200 OK",
                content_type: CONTENT_TYPE,
                body: lock(pages).metrics.clone(),
            },
            "/healthz" => {
                let read = lock(pages).read;
                let is_fresh = read.is_some_and(|read| read.elapsed() <= self.interval * STALE);
                if is_fresh {
                    Answer::text("200 OK", "ok")
                } else {
                    Answer::text("503 Service Unavailable", "the cluster was not read lately")
                }
            }
            _ => Answer::text("404 Not Found", "GET /metrics or /healthz"),
        }
    }
}

/// Reports which primaries do not answer, whenever that changes.
fn say_failures(snapshot: &Snapshot, last: &mut String) {
    let primaries = snapshot.primaries.iter();
    let failures = primaries.filter_map(|primary| primary.reading.as_ref().err());
    let text = failures
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    say_once(text, last);
}

/// Prints a message unless it repeats the last one.
fn say_once(text: String, last: &mut String) {
    if text != *last && !text.is_empty() {
        say(&text);
    }
    *last = text;
}

fn lock(pages: &Mutex<Pages>) -> MutexGuard<'_, Pages> {
    pages.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_secs() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
