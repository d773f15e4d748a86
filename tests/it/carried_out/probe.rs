//! How long servers keep clients waiting: a PING every few milliseconds at each, and at a server that has nothing to do.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::cluster::bulks;
use crate::support::redis::{Reply, Server};

/// Between two PINGs.
const PAUSE: Duration = Duration::from_millis(2);
/// No client may wait longer unless a key was named.
pub const MOST: Duration = Duration::from_millis(100);

/// Pings all servers until `run` returns; gives back its result, and the longest wait at each server. The wait at an
/// idle server at the same time is taken off: this machine made it, not the cluster.
pub fn longest_waits<R>(servers: &[Server], run: impl FnOnce() -> R) -> (R, Vec<Duration>) {
    let idle = Server::start(&[]);
    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let ping = |server: &Server| {
        let mut client = server.connect();
        let mut waits: Vec<(Instant, Duration)> = Vec::new();
        while !is_over.load(Relaxed) {
            let asked = Instant::now();
            client.call(&["PING"]);
            waits.push((asked, asked.elapsed()));
            thread::sleep(PAUSE);
        }
        waits
    };
    let (result, of_servers, of_idle) = thread::scope(|threads| {
        let idle = threads.spawn(|| ping(&idle));
        let pinging: Vec<_> = servers
            .iter()
            .map(|server| threads.spawn(|| ping(server)))
            .collect();
        let over = OnDrop(&is_over);
        let result = run();
        drop(over);
        let waits: Vec<_> = pinging
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect();
        (result, waits, idle.join().unwrap())
    });
    let while_idle = |asked: Instant, wait: Duration| {
        let overlaps = |(other, took): &&(Instant, Duration)| {
            *other < asked + wait && *other + *took + 2 * PAUSE > asked
        };
        let lags = of_idle.iter().filter(overlaps).map(|(_, took)| *took);
        lags.max().unwrap_or_default()
    };
    let longest = |waits: Vec<(Instant, Duration)>| {
        let waits = waits
            .into_iter()
            .filter(|(_, wait)| *wait > Duration::from_millis(10));
        let own = waits.map(|(asked, wait)| wait.saturating_sub(while_idle(asked, wait)));
        own.max().unwrap_or_default()
    };
    println!("watched for {:?}", start.elapsed());
    (result, of_servers.into_iter().map(longest).collect())
}

struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// The commands that kept a server busy for longer than `MOST`, shortened.
pub fn slow_commands(server: &Server) -> Vec<String> {
    let Reply::Array(entries) = server.connect().call(&["SLOWLOG", "GET", "100"]) else {
        panic!("no slow log")
    };
    let entry = |entry: Reply| {
        let Reply::Array(mut fields) = entry else {
            panic!("an entry of the slow log: {entry:?}")
        };
        let words: Vec<String> = bulks(fields.remove(3))
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        format!("{:?}: {}", fields[2], words.join(" "))
    };
    entries.into_iter().map(entry).collect()
}
