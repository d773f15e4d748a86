//! System calls that fail or are delayed, injected by strace, which tests/run installs.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::faults::{Report, Rig};
use testkit::env;
use testkit::prelude::*;
use testkit::rng::Rng;

/// The calls that open and write files, with the maximum number of each in a run.
const CALLS: [(&str, usize); 13] = [
    ("openat", 90),
    ("write", 60),
    ("flock", 25),
    ("mkdir,mkdirat", 3),
    ("read", 40),
    ("pread64", 8),
    ("statx,newfstatat,fstat,stat,lstat", 60),
    ("getdents64", 4),
    ("getrandom", 25),
    ("clone,clone3", 5),
    ("pipe2,socketpair", 3),
    ("rt_sigaction", 30),
    ("fcntl", 30),
];

const RENAME: &str = "rename,renameat,renameat2";

const ERRORS: [&str; 7] = [
    "ENOSPC", "EIO", "EACCES", "EMFILE", "EINTR", "ENOMEM", "EDQUOT",
];

fn traced(rig: &mut Rig, inject: &str) -> Command {
    // -D: the process started here is the program, and strace is its child.
    let strace = format!("-D -f -qq -o /dev/null -e inject={inject}");
    let mut command = Command::new("strace");
    command.args(words(&strace)).arg(program());
    command.args(words(&rig.next_line())).stdin(Stdio::null());
    command.current_dir(rig.scratch.path("."));
    command
}

#[test]
fn a_system_call_that_fails_leaves_a_whole_report() {
    let mut rng = Rng::new(75);
    let mut rig = Rig::new();
    let mut seen = [0u32; 2];
    // The calls of a run depend on the machine: a few cases may all end well.
    let least = env::cases("SLOTSCOPE_FAULTS", 20);
    for case in 0..60 {
        if case >= least && seen[0] > 0 {
            break;
        }
        let (calls, most) = rng.pick(&CALLS);
        // The standard library would take any other error of this call for a broken kernel.
        let error = match *calls {
            "getrandom" => "ENOSYS",
            _ => *rng.pick(&ERRORS),
        };
        let inject = format!("{calls}:error={error}:when={}", 1 + rng.below(*most));
        let run = traced(&mut rig, &inject).output().unwrap();
        let outcome = rig.outcome(&run);
        let report = outcome.unwrap_or_else(|what| panic!("{inject}: {what}"));
        if run.status.code() == Some(0) {
            assert_eq!(report, Report::New, "{inject}: {run:?}");
        }
        seen[usize::from(run.status.code() == Some(0))] += 1;
    }
    println!("runs that failed, and that did not: {seen:?}");
    assert!(seen[0] > 0, "{seen:?}");
}

/// Any one of the calls that put files in place, by its number.
#[test]
fn whichever_file_cannot_be_placed_the_old_report_stays_whole() {
    let mut rig = Rig::new();
    for calls in [RENAME, "link,linkat"] {
        let mut failed = 0;
        for at in (1..40).step_by(if env::is_campaign() { 1 } else { 5 }) {
            let inject = format!("{calls}:error=EBUSY:when={at}");
            let run = traced(&mut rig, &inject).output().unwrap();
            let report = rig.outcome(&run);
            let report = report.unwrap_or_else(|what| panic!("{inject}: {what}"));
            let expected = match run.status.code() {
                Some(0) => Report::New,
                Some(2) => Report::Old,
                _ => panic!("{inject}: {run:?}"),
            };
            assert_eq!(report, expected, "{inject}: {run:?}");
            failed += u32::from(expected == Report::Old);
        }
        // A file that cannot have a second name is moved instead.
        assert_eq!(failed > 1, calls == RENAME, "{failed}");
    }
}

#[test]
fn a_signal_while_files_are_made_or_placed_leaves_a_whole_report() {
    let mut rng = Rng::new(76);
    let mut rig = Rig::new();
    for _ in 0..env::cases("SLOTSCOPE_FAULTS", 20) / 2 {
        let calls = [RENAME, "unlink,unlinkat", "flock"].map(|calls| (calls, 8000));
        let (calls, micros) = *rng.pick(&[&[("openat", 3000)], &calls[..]].concat());
        let when = *rng.pick(&["delay_exit", "delay_enter"]);
        println!("{calls}:{when}");
        let run = traced(&mut rig, &format!("{calls}:{when}={micros}"));
        let after = Duration::from_millis(rng.below(1500) as u64);
        let (report, run) = rig.disturb(run, after, "TERM");
        let expected = match (run.status.code(), run.status.signal()) {
            (Some(0), _) => Report::New,
            (Some(143), _) | (None, Some(15)) => Report::Old,
            _ => panic!("{calls}: {run:?}"),
        };
        assert_eq!(report, expected, "{calls}: {run:?}");
    }
}
