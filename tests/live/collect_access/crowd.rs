//! Clusters with thousands of primaries, all of them one scripted server: the cost of a run grows linearly, not
//! quadratically, and does not depend on data about slots that a primary does not own.

use std::fmt::Write as _;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::exporter::Exporter;
use testkit::env;
use testkit::hostile;
use testkit::redis::{free_port, wait_for};
use testkit::run::{Scratch, assert_contains, clean_environment};
use testkit::usage::{self, Usage};

const INFO: &str = "redis_version:7.2.4\r\nrun_id:a\r\nrole:master\r\ndb0:keys=4,expires=0\r\n";

/// The number of primaries for which docs/limits.md states the cost of a collection with a release build; a test build
/// uses more stack.
const MOST_PRIMARIES: usize = 2000;
const MOST_MIB: u64 = 128;
/// Primaries that count slots they do not own and nonexistent commands, and the number that each counts.
const HOSTILE_PRIMARIES: usize = 600;
const HOSTILE_ROWS: usize = 2048;
const HOSTILE_COMMANDS: usize = 1024;
/// The limit in docs/limits.md for these.
const MOST_HOSTILE_MIB: u64 = 192;
/// Readings until a screen has a verdict.
const READINGS: usize = 2;

/// A server that plays all primaries of a cluster; its threads end with the test.
struct Crowd {
    port: u16,
    script: Arc<Script>,
}

/// Its replies.
struct Script {
    /// CLUSTER NODES without the word `myself`, and its position for each line.
    listing: String,
    myself: Vec<usize>,
    asked: AtomicUsize,
    /// CLUSTER SLOT-STATS; empty if the server does not know it.
    stats: Vec<u8>,
    /// Number of requests for it.
    counted: AtomicUsize,
    /// INFO commandstats.
    commands: String,
}

impl Crowd {
    /// `rows` is the number of slots that each primary counts.
    fn start(primaries: usize, rows: usize) -> Crowd {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Script::new(primaries, rows, port));
        let crowd = Crowd {
            port,
            script: Arc::clone(&script),
        };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let script = Arc::clone(&script);
                thread::spawn(move || serve(&stream, &script));
            }
        });
        crowd
    }

    /// `slotscope COMMAND` for it, with enough descriptors.
    fn run(&self, scratch: &Scratch, command: &str, flags: &str) -> Command {
        let line = self.line(command, &format!("--max-load 100 {flags}"));
        let mut command = Command::new("bash");
        command.args(["-c", &line]).current_dir(scratch.path(""));
        clean_environment(&mut command);
        command
    }

    fn line(&self, command: &str, flags: &str) -> String {
        let (program, port) = (env!("CARGO_BIN_EXE_slotscope"), self.port);
        format!("ulimit -n $(ulimit -H -n); exec {program} {command} 127.0.0.1:{port} {flags}")
    }
}

impl Script {
    fn new(primaries: usize, rows: usize, port: u16) -> Script {
        let (mut listing, mut myself) = (String::new(), Vec::new());
        for i in 0..primaries {
            write!(listing, "{i:040x} 127.0.0.1:{port}@1 ").unwrap();
            myself.push(listing.len());
            let first = i * 16384 / primaries;
            let last = (i + 1) * 16384 / primaries - 1;
            writeln!(listing, "master - 0 0 {i} connected {first}-{last}").unwrap();
        }
        Script {
            listing,
            myself,
            asked: AtomicUsize::new(0),
            stats: if rows == 0 {
                Vec::new()
            } else {
                statistics(rows)
            },
            counted: AtomicUsize::new(0),
            commands: if rows == 0 {
                String::new()
            } else {
                commands(HOSTILE_COMMANDS)
            },
        }
    }

    fn answer(&self, command: &str, out: &mut impl Write) -> std::io::Result<()> {
        let mut words = command.split(' ');
        match (words.next().unwrap_or_default(), words.next()) {
            ("CLUSTER", Some("NODES")) => {
                // Another node each time, as all are queried in turn.
                let at = self.asked.fetch_add(1, Relaxed) % self.myself.len();
                let (before, after) = self.listing.split_at(self.myself[at]);
                write!(
                    out,
                    "${}\r\n{before}myself,{after}\r\n",
                    self.listing.len() + 7
                )
            }
            ("CLUSTER", Some("COUNTKEYSINSLOT")) => write!(out, ":0\r\n"),
            ("CLUSTER", Some("SLOT-STATS")) if !self.stats.is_empty() => {
                self.counted.fetch_add(1, Relaxed);
                out.write_all(&self.stats)
            }
            ("CLUSTER", _) => write!(out, "-ERR unknown command\r\n"),
            ("INFO", _) => {
                let info = format!("{INFO}{}", self.commands);
                write!(out, "${}\r\n{info}\r\n", info.len())
            }
            ("DBSIZE", _) => write!(out, ":4\r\n"),
            ("SCAN", _) => write!(out, "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n"),
            _ => write!(out, "+OK\r\n"),
        }
    }
}

/// CLUSTER SLOT-STATS for the first slots.
fn statistics(rows: usize) -> Vec<u8> {
    let mut stats = format!("*{rows}\r\n");
    for slot in 0..rows {
        write!(stats, "*2\r\n:{slot}\r\n*2\r\n$9\r\nkey-count\r\n:4\r\n").unwrap();
    }
    stats.into_bytes()
}

/// INFO commandstats with this many commands.
fn commands(number: usize) -> String {
    let line = |i: usize| format!("cmdstat_{i:064}:calls={i},usec={i}\r\n");
    (0..number).map(line).collect()
}

/// Answers the commands on a connection until it is closed.
fn serve(stream: &TcpStream, script: &Script) {
    let mut commands = BufReader::new(stream);
    while let Some(command) = hostile::command(&mut commands) {
        let mut answer = Vec::new();
        script.answer(&command, &mut answer).unwrap();
        if (&*stream).write_all(&answer).is_err() {
            return;
        }
    }
}

/// Allows this process a connection from each primary.
fn raise_descriptors() {
    let own = std::process::id().to_string();
    let raised = Command::new("bash")
        .args([
            "-c",
            &format!("prlimit --pid {own} --nofile=$(ulimit -H -n)"),
        ])
        .status();
    assert!(raised.unwrap().success());
}

#[test]
fn a_collection_takes_memory_and_time_in_proportion_to_the_primaries() {
    raise_descriptors();
    let most = env::size("SLOTSCOPE_PRIMARIES", MOST_PRIMARIES);
    let sizes = std::iter::successors(Some(most / 8), |size| Some(2 * size)).take(4);
    let mut taken: Vec<(usize, Usage)> = Vec::new();
    println!("| primaries | CPU s | s | peak MiB |\n|--:|--:|--:|--:|");
    for size in sizes {
        let (crowd, scratch) = (Crowd::start(size, 0), Scratch::new());
        let usage = usage::of(crowd.run(&scratch, "collect", "-o all --keys --force"));
        let (cpu, secs, peak) = (usage.cpu_secs, usage.secs, usage.peak_mib());
        println!("| {size} | {cpu:.2} | {secs:.1} | {peak} |");
        assert_eq!(usage.code, Some(0), "{size}: {}", usage.stderr);
        assert!(scratch.path("all/collect.json").exists());
        taken.push((size, usage));
    }
    for (size, usage) in &taken {
        let most = MOST_MIB * size.div_ceil(MOST_PRIMARIES) as u64;
        assert!(usage.peak_mib() < most, "{size}: {} MiB", usage.peak_mib());
    }
    // Eight times the primaries take eight times the time if it is linear, 64 times if quadratic, as are the lines of
    // CLUSTER NODES, a third of the total without optimization. Between closer sizes, the noise of a busy machine
    // dominates.
    let [(few, less), .., (all, more)] = &taken[..] else {
        unreachable!()
    };
    let times = more.cpu_secs / less.cpu_secs.max(0.2);
    assert!(times < 40.0, "{all} take {times:.1} times as long as {few}");
}

/// The peak memory of an exporter after two readings, in MiB.
fn peak_of_exporter(crowd: &Crowd) -> u64 {
    let (scratch, port) = (Scratch::new(), free_port());
    let flags = format!("--listen 127.0.0.1:{port} --interval 1s");
    let mut command = crowd.run(&scratch, "exporter", &flags);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let exporter = Exporter { child, port };
    let read_at = |not: Option<&str>| {
        wait_for(|| {
            let page = exporter.get("/metrics");
            let mut lines = page.lines();
            let at = lines.find(|line| line.starts_with("slotscope_read_timestamp_seconds"));
            let at = at.filter(|at| Some(*at) != not).map(str::to_owned);
            at.ok_or(page)
        })
    };
    let first = read_at(None);
    read_at(Some(&first));
    usage::peak(exporter.child.id()).unwrap().div_ceil(1024)
}

/// The peak memory of a screen with a verdict, in MiB.
fn peak_of_top(crowd: &Crowd, primaries: usize) -> u64 {
    let scratch = Scratch::new();
    let line = crowd.line("top", "--interval 250ms");
    let line = format!("echo $$ > pid; stty rows 50 cols 160; {line}");
    let mut terminal = Command::new("script");
    clean_environment(&mut terminal);
    terminal.args(["-qec", &line, "/dev/null"]);
    terminal.env("TERM", "xterm").current_dir(scratch.path(""));
    let keys = terminal.stdin(Stdio::piped()).stdout(Stdio::null());
    let before = crowd.script.counted.load(Relaxed);
    let mut terminal = keys.spawn().unwrap();
    wait_for(|| {
        let counted = crowd.script.counted.load(Relaxed) - before;
        let is_read = counted > READINGS * primaries;
        is_read.then_some(()).ok_or(counted.to_string())
    });
    let process = scratch.read("pid");
    let peak = usage::peak(process.trim().parse().unwrap()).unwrap();
    terminal.stdin.take().unwrap().write_all(b"q").unwrap();
    assert!(terminal.wait().unwrap().success());
    peak.div_ceil(1024)
}

#[test]
fn slots_that_primaries_count_and_do_not_own_take_no_memory() {
    raise_descriptors();
    let primaries = env::size("SLOTSCOPE_HOSTILE_PRIMARIES", HOSTILE_PRIMARIES);
    let rows = env::size("SLOTSCOPE_HOSTILE_ROWS", HOSTILE_ROWS);
    let (crowd, scratch) = (Crowd::start(primaries, rows), Scratch::new());
    let collected = usage::of(crowd.run(&scratch, "collect", "-o all --slots-only --load 1s"));
    assert_eq!(collected.code, Some(0), "{}", collected.stderr);
    let peaks = [
        collected.peak_mib(),
        peak_of_exporter(&crowd),
        peak_of_top(&crowd, primaries),
    ];
    println!("| primaries | rows each | commands each | collect MiB | exporter MiB | top MiB |");
    println!("|--:|--:|--:|--:|--:|--:|");
    let [collect, exporter, top] = peaks;
    println!("| {primaries} | {rows} | {HOSTILE_COMMANDS} | {collect} | {exporter} | {top} |");
    // All rows of one reading would take 94 MiB more.
    let most = MOST_HOSTILE_MIB * primaries.div_ceil(MOST_PRIMARIES) as u64;
    assert!(peaks.iter().all(|peak| *peak <= most), "{peaks:?} MiB");
    let manifest = scratch.read("all/collect.json");
    assert_contains(&manifest, &["of slots that the node does not own"]);
}
