//! How long servers keep clients waiting: a PING every few milliseconds at each. What the machine took, as it had no core
//! for a server or for the one that pings, is taken off where the system tells it.

use std::fs;
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

/// Pings all servers until `run` returns; gives back its result, and the longest wait at each server.
pub fn longest_waits<R>(servers: &[Server], run: impl FnOnce() -> R) -> (R, Vec<Duration>) {
    let is_over = AtomicBool::new(false);
    let ping = |server: &Server| {
        let mut client = server.connect();
        let mut longest = Duration::ZERO;
        while !is_over.load(Relaxed) {
            let (asked, before) = (Instant::now(), without_core(servers));
            client.call(&["PING"]);
            let wait = asked.elapsed();
            if wait > longest {
                longest = longest.max(wait.saturating_sub(without_core(servers) - before));
            }
            thread::sleep(PAUSE);
        }
        longest
    };
    thread::scope(|threads| {
        let pinging: Vec<_> = servers
            .iter()
            .map(|server| threads.spawn(|| ping(server)))
            .collect();
        let over = SetOnDrop(&is_over);
        let result = run();
        drop(over);
        let longest = pinging.into_iter().map(|thread| thread.join().unwrap());
        (result, longest.collect())
    })
}

/// For how long the servers and this thread could have run and had no core to run on, and a host took cores away.
fn without_core(servers: &[Server]) -> Duration {
    let paths = servers
        .iter()
        .map(|server| format!("/proc/{}/schedstat", server.id()));
    let waited = paths
        .chain(["/proc/thread-self/schedstat".into()])
        .map(|path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            let nanos = text.split(' ').nth(1).and_then(|nanos| nanos.parse().ok());
            Duration::from_nanos(nanos.unwrap_or(0))
        });
    // The eighth number of the first line: ticks of 10 ms.
    let all = fs::read_to_string("/proc/stat").unwrap_or_default();
    let stolen = all.split_whitespace().nth(8);
    let stolen = stolen.and_then(|ticks| ticks.parse().ok()).unwrap_or(0);
    waited.sum::<Duration>() + Duration::from_millis(10 * stolen)
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

/// Sets a flag when it is dropped: a test that panics must not leave its threads running.
pub struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
