//! Concurrent runs into one directory.

use std::process::{Child, Stdio};

use crate::faults::{dump, keys_of_whole, title};
use testkit::env;
use testkit::run::{Scratch, stderr};

/// Starts run `number`, whose dump has as many keys, under the command `alone`.
fn start(scratch: &Scratch, number: u64, alone: &str) -> Child {
    scratch.file(&format!("{number}.csv"), dump(number));
    let flags = ["--only slots", ""][number as usize % 2];
    let out = format!("--out deep/out --title {} {flags}", title(number));
    let line = format!("exec {alone} slotscope analyze {number}.csv {out}");
    let mut run = scratch.bash(&line);
    run.stdout(Stdio::piped()).stderr(Stdio::piped());
    run.spawn().unwrap()
}

/// In a PID namespace each run has process id 1, as in containers; `None` if not permitted here.
fn namespace() -> Option<&'static str> {
    let as_root = "unshare --user --map-root-user --pid --fork";
    let works = |way: &&str| {
        let tried = Scratch::new().shell(format!("{way} true"));
        tried.status.success()
    };
    ["unshare --pid --fork", as_root].into_iter().find(works)
}

#[test]
fn sixteen_runs_at_once_leave_one_whole_report() {
    let ways = [Some(""), namespace()];
    if ways[1].is_none() {
        eprintln!("NOT TESTED: runs with the same process id; unshare is not allowed here");
    }
    for alone in ways.into_iter().flatten() {
        for _ in 0..env::cases("SLOTSCOPE_TOGETHER", 3) {
            let scratch = Scratch::new();
            let runs = (1..=16).map(|number| start(&scratch, number, alone));
            let runs: Vec<Child> = runs.collect();
            let mut done = 0;
            for run in runs {
                let run = run.wait_with_output().unwrap();
                match run.status.code() {
                    Some(0) => done += 1,
                    Some(2) => assert!(stderr(&run).starts_with("slotscope: "), "{run:?}"),
                    _ => panic!("{run:?}"),
                }
            }
            let keys = keys_of_whole(&scratch.path("deep/out")).unwrap();
            assert!(
                (1..=16).contains(&keys) && done > 0,
                "{keys} keys, {done} runs"
            );
        }
    }
}
