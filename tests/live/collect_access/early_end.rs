//! Runs that end early, by a signal or for lack of space: the leftovers never look like a complete collection, and do
//! not disturb the next run.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use crate::collect_access::{collect, manifest};
use testkit::kinds::Kind;
use testkit::redis::{Server, wait_for};
use testkit::run::{Scratch, clean_environment, code, stderr};

const KEYS: usize = 30_000;

fn server() -> Server {
    let server = Kind::Installed.start(&["--cluster-enabled", "no"]);
    let rows = (0..KEYS).map(|id| (format!("user:{{{id}}}:profile"), "x"));
    server.connect().set_all(&rows.collect::<Vec<_>>());
    server
}

/// A throttled collection, a hundred times slower than necessary, in the middle of its scan.
fn slow_run(scratch: &Scratch, server: &Server, words: &[&str]) -> Child {
    let address = format!("127.0.0.1:{}", server.port);
    let words = [&[words[0], &address, "--max-load", "1"], &words[1..]].concat();
    let mut command = scratch.command(&words);
    let run = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(|| {
        let stats = server.connect().call(&["INFO", "commandstats"]).text();
        stats.contains("cmdstat_scan:").then_some(()).ok_or(stats)
    });
    run
}

#[test]
fn an_interrupted_run_leaves_nothing_and_says_so_by_its_exit_code() {
    for words in [
        &["collect", "-o", "all"][..],
        &["analyze", "--out", "report"],
    ] {
        for (signal, number) in [("INT", 2), ("TERM", 15)] {
            let (server, scratch) = (server(), Scratch::new());
            let tmp = scratch.path("tmp");
            std::fs::create_dir(&tmp).unwrap();
            let run = slow_run(&scratch, &server, words);
            let sent = Command::new("kill")
                .args(["-s", signal, &run.id().to_string()])
                .status();
            assert!(sent.unwrap().success());
            let run = run.wait_with_output().unwrap();
            assert_eq!(code(&run), 128 + number, "{words:?}: {run:?}");
            assert_eq!(scratch.entries(""), ["tmp"], "{words:?} {signal}");
        }
    }
}

#[test]
fn what_a_killed_run_leaves_is_no_collection_and_does_not_stop_the_next() {
    let (server, scratch) = (server(), Scratch::new());
    let mut run = slow_run(&scratch, &server, &["collect", "-o", "all"]);
    run.kill().unwrap();
    assert_eq!(run.wait().unwrap().signal(), Some(9));
    assert!(!scratch.path("all").exists(), "{:?}", scratch.entries(""));
    let address = format!("127.0.0.1:{}", server.port);
    let run = collect(&scratch, &address, None, &["--max-load", "100"]);
    assert_eq!(manifest(&scratch, &run)["keys"], KEYS);
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_collection() {
    let server = server();
    let mut failed = 0;
    for kib in [0, 1, 4, 16, 64, 100_000] {
        let scratch = Scratch::new();
        let program = env!("CARGO_BIN_EXE_slotscope");
        let line = format!(
            "ulimit -f {kib}; exec {program} collect 127.0.0.1:{} -o all --max-load 100",
            server.port
        );
        let mut command = Command::new("bash");
        command.args(["-c", &line]).current_dir(scratch.path(""));
        clean_environment(&mut command);
        let run = command.output().unwrap();
        if code(&run) == 0 {
            assert_eq!(manifest(&scratch, &run)["keys"], KEYS);
            continue;
        }
        failed += 1;
        assert_eq!(code(&run), 2, "{kib} KiB: {run:?}");
        assert!(
            stderr(&run).contains("file too large"),
            "{kib} KiB: {}",
            stderr(&run)
        );
        assert!(
            scratch.entries("").is_empty(),
            "{kib} KiB: {:?}",
            scratch.entries("")
        );
    }
    assert!((3..6).contains(&failed), "{failed}");
}
