//! Clusters of thousands of primaries, all of them one scripted server: what a collection takes grows with their number, and
//! not with its square.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use testkit::env;
use testkit::run::{Scratch, clean_environment};
use testkit::usage::{self, Usage};

const INFO: &str = "redis_version:7.2.4\r\nrun_id:a\r\nrole:master\r\ndb0:keys=4,expires=0\r\n";

/// The number of primaries for which docs/limits.md states the cost of a collection by a release build; that of the tests uses
/// more of its stacks.
const MOST_PRIMARIES: usize = 2000;
const MOST_MIB: u64 = 128;

/// A server that is all primaries of a cluster; its threads end with the test.
struct Crowd {
    port: u16,
}

/// Its replies.
struct Script {
    /// CLUSTER NODES without the word `myself`, and where each line has it.
    listing: String,
    myself: Vec<usize>,
    asked: AtomicUsize,
}

impl Crowd {
    fn start(primaries: usize) -> Crowd {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Script::new(primaries, port));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let script = Arc::clone(&script);
                thread::spawn(move || serve(&stream, &script));
            }
        });
        Crowd { port }
    }

    /// `slotscope collect` of the names of its keys, with enough descriptors.
    fn collect(&self, scratch: &Scratch) -> Usage {
        let program = env!("CARGO_BIN_EXE_slotscope");
        let line = format!(
            "ulimit -n $(ulimit -H -n); exec {program} collect 127.0.0.1:{} -o all --keys --force --max-load 100",
            self.port
        );
        let mut command = Command::new("bash");
        command.args(["-c", &line]).current_dir(scratch.path(""));
        clean_environment(&mut command);
        usage::of(command)
    }
}

impl Script {
    fn new(primaries: usize, port: u16) -> Script {
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
        }
    }

    fn answer(&self, command: &str, out: &mut impl Write) -> std::io::Result<()> {
        let mut words = command.split(' ');
        match (words.next().unwrap_or_default(), words.next()) {
            ("CLUSTER", Some("NODES")) => {
                // Another node each time, as all of them are asked in turn.
                let at = self.asked.fetch_add(1, Relaxed) % self.myself.len();
                let (before, after) = self.listing.split_at(self.myself[at]);
                write!(
                    out,
                    "${}\r\n{before}myself,{after}\r\n",
                    self.listing.len() + 7
                )
            }
            ("CLUSTER", Some("COUNTKEYSINSLOT")) => write!(out, ":0\r\n"),
            ("CLUSTER", _) => write!(out, "-ERR unknown command\r\n"),
            ("INFO", _) => write!(out, "${}\r\n{INFO}\r\n", INFO.len()),
            ("DBSIZE", _) => write!(out, ":4\r\n"),
            ("SCAN", _) => write!(out, "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n"),
            _ => write!(out, "+OK\r\n"),
        }
    }
}

/// Answers the commands of a connection until it is closed.
fn serve(stream: &TcpStream, script: &Script) {
    let mut commands = BufReader::new(stream);
    while let Some(command) = next_command(&mut commands) {
        let mut answer = Vec::new();
        script.answer(&command, &mut answer).unwrap();
        if (&*stream).write_all(&answer).is_err() {
            return;
        }
    }
}

fn next_command(from: &mut impl BufRead) -> Option<String> {
    let number = |sign: char, from: &mut dyn BufRead| -> Option<usize> {
        let mut line = String::new();
        from.take(64).read_line(&mut line).ok()?;
        line.trim_end().strip_prefix(sign)?.parse().ok()
    };
    let words = number('*', from)?;
    let mut command = String::new();
    for _ in 0..words {
        let mut word = vec![0; number('$', from)? + 2];
        from.read_exact(&mut word).ok()?;
        word.truncate(word.len() - 2);
        command.push_str(std::str::from_utf8(&word).ok()?);
        command.push(' ');
    }
    Some(command.trim_end().to_owned())
}

/// Lets this process have a connection of each primary.
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
        let (crowd, scratch) = (Crowd::start(size), Scratch::new());
        let usage = crowd.collect(&scratch);
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
    // Eight times the primaries: eight times the time where it is in proportion, 64 times where it grows with the square, as the
    // lines of CLUSTER NODES do, which without optimization are a third of it. Between two sizes that are closer, a busy machine
    // makes the difference.
    let [(few, less), .., (all, more)] = &taken[..] else {
        unreachable!()
    };
    let times = more.cpu_secs / less.cpu_secs.max(0.2);
    assert!(times < 40.0, "{all} take {times:.1} times as long as {few}");
}
