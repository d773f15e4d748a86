//! Measures how long servers keep clients waiting: a PING every few milliseconds to each. A server that blocks is
//! working, or waiting for another one that works, so a wait counts only up to the servers' CPU time in it, and without the
//! time that the server was ready to work: the rest is due to the machine, which had no core or disk for them.

use std::fs;
use std::slice;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use testkit::cluster::bulks;
use testkit::redis::{Reply, Server};

/// Interval between PINGs.
const PAUSE: Duration = Duration::from_millis(2);
/// Fields of schedstat: the time on a core, and the time ready for one.
const ON_CORE: usize = 0;
const READY: usize = 1;
/// No client may wait longer unless a key was named.
pub(crate) const MOST: Duration = Duration::from_millis(100);

/// Pings all servers until `run` returns; returns its result, and the longest wait for each server.
pub(crate) fn longest_waits<R>(servers: &[Server], run: impl FnOnce() -> R) -> (R, Vec<Duration>) {
    let is_over = AtomicBool::new(false);
    let ping = |server: &Server| {
        let mut client = server.connect();
        let mut longest = Duration::ZERO;
        while !is_over.load(Relaxed) {
            let times = || spent(servers, ON_CORE).zip(spent(slice::from_ref(server), READY));
            let (asked, before) = (Instant::now(), times());
            client.call(&["PING"]);
            let wait = asked.elapsed();
            if wait > longest {
                let blocked = times().zip(before).map(|(now, before)| {
                    let (worked, ready) = (now.0 - before.0, now.1 - before.1);
                    worked.min(wait.saturating_sub(ready))
                });
                longest = longest.max(blocked.unwrap_or(wait));
            }
            thread::sleep(PAUSE);
        }
        longest
    };
    thread::scope(|threads| {
        let pinging = servers.iter().map(|server| threads.spawn(|| ping(server)));
        let pinging: Vec<_> = pinging.collect();
        let over = SetOnDrop(&is_over);
        let result = run();
        drop(over);
        let longest = pinging.into_iter().map(|thread| thread.join().unwrap());
        (result, longest.collect())
    })
}

/// The servers' time in a field of Linux's schedstat, if the system reports it.
fn spent(servers: &[Server], field: usize) -> Option<Duration> {
    let of = |server: &Server| {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", server.id())).ok()?;
        let nanos = text.split(' ').nth(field)?.parse().ok();
        nanos.map(Duration::from_nanos)
    };
    servers.iter().map(of).sum()
}

/// The commands that kept a server busy for longer than `MOST`, truncated.
pub(crate) fn slow_commands(server: &Server) -> Vec<String> {
    let entry = |entry: Reply| {
        let mut fields = entry.items();
        let words = bulks(fields.remove(3)).join(&b' ');
        format!("{:?}: {}", fields[2], String::from_utf8_lossy(&words))
    };
    let entries = server.connect().call(&["SLOWLOG", "GET", "100"]).items();
    entries.into_iter().map(entry).collect()
}

/// Sets a flag when dropped: a panicking test must not leave its threads running.
pub(crate) struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
