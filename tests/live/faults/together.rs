//! Concurrent runs into one directory.

use std::process::{Child, Command, Stdio};

use crate::faults::{keys_of_whole, title};
use testkit::env;
use testkit::run::{Scratch, stderr};

/// Starts run `number`, whose dump has `keys` keys, under the command `alone`.
fn start(scratch: &Scratch, number: usize, alone: &[&str]) -> Child {
    let dump = format!("{number}.csv");
    let rows = (0..number).map(|i| format!("{{tag}}:{i},7\n"));
    scratch.file(&dump, format!("key,size\n{}", rows.collect::<String>()));
    let title = title(number as u64);
    let program = env!("CARGO_BIN_EXE_slotscope");
    let flags: &[&str] = if number.is_multiple_of(2) {
        &["--only", "slots"]
    } else {
        &[]
    };
    let words = [
        alone,
        &[
            program, "analyze", &dump, "--out", "deep/out", "--title", &title,
        ],
        flags,
    ]
    .concat();
    Command::new(words[0])
        .args(&words[1..])
        .current_dir(scratch.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// In a PID namespace each run has process id 1, as in containers; `None` if not permitted here.
fn namespace() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [
        &["unshare", "--pid", "--fork"],
        &["unshare", "--user", "--map-root-user", "--pid", "--fork"],
    ];
    let works = |way: &&&[&str]| {
        let tried = Command::new(way[0])
            .args(&way[1..])
            .arg("true")
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    };
    WAYS.iter().find(works).copied()
}

#[test]
fn sixteen_runs_at_once_leave_one_whole_report() {
    let ways = [Some(&[][..]), namespace()];
    if ways[1].is_none() {
        eprintln!("NOT TESTED: runs with the same process id; unshare is not allowed here");
    }
    for alone in ways.into_iter().flatten() {
        for _ in 0..env::cases("SLOTSCOPE_FAULTS", 60) / 20 {
            let scratch = Scratch::new();
            let runs: Vec<Child> = (1..=16)
                .map(|number| start(&scratch, number, alone))
                .collect();
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
