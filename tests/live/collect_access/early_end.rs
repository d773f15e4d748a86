//! Runs that end early, by a signal or for lack of space: the leftovers never look like a complete collection, and do
//! not disturb the next run.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};

use crate::collect_access::{collected, manifest};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Server;

const KEYS: usize = 30_000;

fn server() -> Server {
    let server = Kind::Installed.start(&["--cluster-enabled", "no"]);
    let rows = (0..KEYS).map(|id| (format!("user:{{{id}}}:profile"), "x"));
    server.connect().set_all(&rows.collect::<Vec<_>>());
    server
}

/// A throttled collection, a hundred times slower than necessary, in the middle of its scan.
fn slow_run(scratch: &Scratch, server: &Server, line: &str) -> Child {
    let line = format!("{line} {} --max-load 1", server.address());
    let mut command = scratch.command(&words(&line));
    let run = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    server.until("INFO commandstats", "cmdstat_scan:");
    run.unwrap()
}

#[test]
fn an_interrupted_run_leaves_nothing_and_says_so_by_its_exit_code() {
    for line in ["collect -o all", "analyze --out report"] {
        for (signal, number) in [("INT", 2), ("TERM", 15)] {
            let (server, scratch) = (server(), Scratch::new());
            let run = slow_run(&scratch, &server, line);
            testkit::signals::signal(run.id(), signal);
            let run = run.wait_with_output().unwrap();
            assert_eq!(code(&run), 128 + number, "{line}: {run:?}");
            assert_eq!(scratch.entries(""), [""; 0], "{line} {signal}");
        }
    }
}

#[test]
fn what_a_killed_run_leaves_is_no_collection_and_does_not_stop_the_next() {
    let (server, scratch) = (server(), Scratch::new());
    let mut run = slow_run(&scratch, &server, "collect -o all");
    run.kill().unwrap();
    assert_eq!(run.wait().unwrap().signal(), Some(9));
    assert!(!scratch.path("all").exists(), "{:?}", scratch.entries(""));
    let found = collected(&scratch, &server.address(), "--max-load 100");
    assert_eq!(found["keys"], KEYS);
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_collection() {
    let (server, mut failed) = (server(), 0);
    for kib in [0, 1, 4, 16, 64, 100_000] {
        println!("{kib} KiB");
        let scratch = Scratch::new();
        let line = format!(
            "slotscope collect {} -o all --max-load 100",
            server.address()
        );
        let run = scratch.shell(format!("ulimit -f {kib}; exec {line}"));
        if code(&run) == 0 {
            assert_eq!(manifest(&scratch, run)["keys"], KEYS);
            continue;
        }
        failed += 1;
        assert_eq!(code(&run), 2, "{run:?}");
        stderr(&run).says("file too large");
        assert_eq!(scratch.entries(""), [""; 0]);
    }
    assert!((3..6).contains(&failed), "{failed}");
}
