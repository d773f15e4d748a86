//! Clusters with thousands of primaries, all of them one scripted server: the cost of a run grows linearly, not
//! quadratically, and does not depend on data about slots that a primary does not own.

use std::fmt::Write as _;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::exporter::Exporter;
use testkit::env;
use testkit::hostile::{Answer, Hostile};
use testkit::prelude::*;
use testkit::redis::free_port;
use testkit::usage::{self, Usage};
const INFO: &str = "redis_version:7.2.4\r\nrun_id:a\r\nrole:master\r\ndb0:keys=4,expires=0\r\n";

/// The number of primaries for which docs/limits.md states the cost of a collection with a release build; a test build
/// uses more stack.
const MOST_PRIMARIES: usize = 2000;
const MOST_MIB: u64 = 128;
/// Primaries that count slots they do not own and nonexistent commands; the last number in campaigns, with a release build.
const HOSTILE_PRIMARIES: [usize; 3] = [64, 600, MOST_PRIMARIES];
/// The number that each counts.
const HOSTILE_ROWS: usize = 2048;
const HOSTILE_COMMANDS: usize = 1024;
/// The limit in docs/limits.md for these.
const MOST_HOSTILE_MIB: u64 = 192;
/// Readings until a screen has a verdict.
const READINGS: usize = 2;

/// A server that plays all primaries of a cluster.
struct Crowd {
    server: Hostile,
    /// Number of requests for CLUSTER SLOT-STATS.
    counted: Arc<AtomicUsize>,
}

impl Crowd {
    /// `rows` is the number of slots that each primary counts; without, the server knows no such command.
    fn start(primaries: usize, rows: usize) -> Crowd {
        let stats = (rows > 0).then(|| statistics(rows));
        Crowd::that_says(primaries, stats, commands(rows.min(HOSTILE_COMMANDS)))
    }

    /// With these replies to CLUSTER SLOT-STATS and of INFO commandstats.
    fn that_says(primaries: usize, stats: Option<String>, commands: String) -> Crowd {
        let counted = Arc::<AtomicUsize>::default();
        let (asked, own) = (AtomicUsize::new(0), Arc::clone(&counted));
        let server = Hostile::at_port(move |port, command| match command {
            "CLUSTER NODES" => {
                // Another node each time, as all are queried in turn.
                let me = asked.fetch_add(1, Relaxed) % primaries;
                listing(primaries, me, port)
            }
            of if of.starts_with("CLUSTER COUNTKEYSINSLOT") => Answer::of(":0\r\n"),
            of if of.starts_with("CLUSTER SLOT-STATS") => {
                own.fetch_add(1, Relaxed);
                Answer::of(stats.as_deref().unwrap_or("-ERR unknown command\r\n"))
            }
            of if of.starts_with("CLUSTER") => Answer::of("-ERR unknown command\r\n"),
            of if of.starts_with("INFO") => Answer::text(&format!("{INFO}{commands}")),
            "DBSIZE" => Answer::of(":4\r\n"),
            of if of.starts_with("SCAN") => Answer::of("*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n"),
            _ => Answer::of("+OK\r\n"),
        });
        Crowd { server, counted }
    }

    /// `slotscope COMMAND` for it, with enough descriptors.
    fn run(&self, scratch: &Scratch, command: &str, flags: &str) -> Command {
        scratch.bash(&self.line(command, &format!("--max-load 100 {flags}")))
    }

    /// Waits until a program that runs has asked for more counts than `least`, however long that takes it.
    fn has_counted(&self, least: usize, program: &mut Child) {
        while self.counted.load(Relaxed) <= least {
            assert_eq!(program.try_wait().unwrap(), None, "it ended");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn line(&self, command: &str, flags: &str) -> String {
        let address = self.server.address();
        format!("ulimit -n $(ulimit -H -n); exec slotscope {command} {address} {flags}")
    }
}

/// CLUSTER NODES as primary `me` says it.
fn listing(primaries: usize, me: usize, port: u16) -> Answer {
    Answer::text(&listed(primaries, me, port))
}

fn listed(primaries: usize, me: usize, port: u16) -> String {
    let mut listing = String::new();
    for i in 0..primaries {
        let [first, end] = [i, i + 1].map(|at| at * 16384 / primaries);
        let myself = if i == me { "myself," } else { "" };
        let flags = format_args!("127.0.0.1:{port}@1 {myself}master - 0 0 {i} connected");
        writeln!(listing, "{i:040x} {flags} {first}-{}", end - 1).unwrap();
    }
    listing
}
/// CLUSTER SLOT-STATS for the first slots.
fn statistics(rows: usize) -> String {
    let mut stats = format!("*{rows}\r\n");
    for slot in 0..rows {
        write!(stats, "*2\r\n:{slot}\r\n*2\r\n$9\r\nkey-count\r\n:4\r\n").unwrap();
    }
    stats
}

/// INFO commandstats with this many commands.
fn commands(number: usize) -> String {
    let line = |i: usize| format!("cmdstat_{i:064}:calls={i},usec={i}\r\n");
    (0..number).map(line).collect()
}

/// Allows this process a connection from each primary.
fn raise_descriptors() {
    let own = std::process::id();
    let raised = Scratch::new().shell(format!("prlimit --pid {own} --nofile=$(ulimit -H -n)"));
    assert!(raised.status.success());
}
#[test]
fn a_collection_takes_memory_and_time_in_proportion_to_the_primaries() {
    raise_descriptors();
    let most = env::cases("SLOTSCOPE_PRIMARIES", MOST_PRIMARIES);
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

/// The peak memory of an exporter after two readings of all, in MiB.
fn peak_of_exporter(crowd: &Crowd, primaries: usize) -> u64 {
    let (scratch, port) = (Scratch::new(), free_port());
    let flags = format!("--listen 127.0.0.1:{port} --interval 1s");
    let mut command = crowd.run(&scratch, "exporter", &flags);
    let before = crowd.counted.load(Relaxed);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut exporter = Exporter { child, port };
    crowd.has_counted(before + READINGS * primaries, &mut exporter.child);
    usage::peak(exporter.child.id()).unwrap().div_ceil(1024)
}

/// The peak memory of a screen with a verdict, in MiB.
fn peak_of_top(crowd: &Crowd, primaries: usize) -> u64 {
    let scratch = Scratch::new();
    let line = crowd.line("top", "--interval 250ms");
    let line = format!("echo $$ > pid; stty rows 50 cols 160; {line}");
    let mut terminal = scratch.on_terminal(&line);
    let keys = terminal.stdin(Stdio::piped()).stdout(Stdio::null());
    let before = crowd.counted.load(Relaxed);
    let mut terminal = keys.spawn().unwrap();
    crowd.has_counted(before + READINGS * primaries, &mut terminal);
    let process = scratch.read("pid");
    let peak = usage::peak(process.trim().parse().unwrap()).unwrap();
    terminal.stdin.take().unwrap().write_all(b"q").unwrap();
    assert!(terminal.wait().unwrap().success());
    peak.div_ceil(1024)
}

#[test]
fn slots_that_primaries_count_and_do_not_own_take_no_memory() {
    raise_descriptors();
    let sizes = if env::is_campaign() { 0..3 } else { 1..2 };
    println!("| primaries | collect, MiB | exporter | top |\n|--:|--:|--:|--:|");
    for primaries in &HOSTILE_PRIMARIES[sizes] {
        let (crowd, scratch) = (Crowd::start(*primaries, HOSTILE_ROWS), Scratch::new());
        let collected = usage::of(crowd.run(&scratch, "collect", "-o all --slots-only --load 1s"));
        assert_eq!(collected.code, Some(0), "{}", collected.stderr);
        let (collect, exporter) = (collected.peak_mib(), peak_of_exporter(&crowd, *primaries));
        let top = peak_of_top(&crowd, *primaries);
        println!("| {primaries} | {collect} | {exporter} | {top} |");
        // All rows of one reading of 600 would take 94 MiB more.
        let highest = collect.max(exporter).max(top);
        assert!(highest <= MOST_HOSTILE_MIB, "{primaries}: {highest} MiB");
        let manifest = scratch.read("all/collect.json");
        manifest.says("of slots that the node does not own");
    }
}

/// Replies that are small on the way and large as values: arrays of one inside of each other, and as many values as may be.
#[test]
fn replies_of_many_small_values_take_no_memory_each() {
    raise_descriptors();
    let deep = format!(
        "*74000\r\n{}",
        format!("{}:1\r\n", "*1\r\n".repeat(6)).repeat(74_000)
    );
    let wide = {
        let row = format!("*2\r\n:7\r\n*28\r\n{}", ":1\r\n".repeat(28));
        format!("*16384\r\n{}", row.repeat(16_384))
    };
    for (what, stats) in [("deep", deep), ("wide", wide)] {
        let primaries = if env::is_campaign() { 64 } else { 16 };
        let (crowd, scratch) = (
            Crowd::that_says(primaries, Some(stats), String::new()),
            Scratch::new(),
        );
        let flags = "-o all --slots-only --load 1s --force";
        let collected = usage::of(crowd.run(&scratch, "collect", flags));
        let (collect, exporter) = (collected.peak_mib(), peak_of_exporter(&crowd, primaries));
        let mut peaks = vec![collect, exporter];
        // The screen reads by the code of the exporter.
        if env::is_campaign() {
            peaks.push(peak_of_top(&crowd, primaries));
        }
        println!("{what}: collect, exporter and top take {peaks:?} MiB");
        assert!(
            crowd.counted.load(Relaxed) > primaries,
            "{}",
            collected.stderr
        );
        assert!(
            peaks.iter().all(|peak| *peak <= MOST_HOSTILE_MIB),
            "{what}: {peaks:?} MiB"
        );
    }
}

/// All but the one that is asked are where nothing listens.
#[test]
fn primaries_that_do_not_answer_are_three_warnings_and_a_count() {
    const SILENT: usize = 500;
    let server = Hostile::at_port(|port, command| match command {
        "CLUSTER NODES" => {
            let (here, there) = (listed(SILENT + 1, 0, port), listed(SILENT + 1, 0, 1));
            let lines = here.lines().take(1).chain(there.lines().skip(1));
            Answer::text(&lines.map(|line| format!("{line}\n")).collect::<String>())
        }
        of if of.starts_with("CLUSTER COUNTKEYSINSLOT") => Answer::of(":0\r\n"),
        of if of.starts_with("CLUSTER") => Answer::of("-ERR unknown command\r\n"),
        of if of.starts_with("INFO") => Answer::text(INFO),
        "DBSIZE" => Answer::of(":0\r\n"),
        _ => Answer::of("+OK\r\n"),
    });
    let scratch = Scratch::new();
    let flags = "-o all --slots-only --timeout 2s";
    let output = scratch.run(&format!("collect {} {flags}", server.address()));
    let lines = stderr(&output)
        .lines()
        .filter(|line| line.contains("answer"));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    lines[3].says("and 496 more do not answer either");
}
