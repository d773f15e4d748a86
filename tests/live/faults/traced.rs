//! System calls that fail or are delayed, injected by strace, which tests/run installs.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::faults::{Report, Rig};
use testkit::env;
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
    let mut command = Command::new("strace");
    // -D: the process started here is the program, and strace is its child.
    command.args([
        "-D",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        &format!("inject={inject}"),
    ]);
    command.arg(env!("CARGO_BIN_EXE_slotscope"));
    command
        .args(rig.next_arguments())
        .current_dir(rig.scratch.path("."));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn a_system_call_that_fails_leaves_a_whole_report() {
    let mut rng = Rng::new(75);
    let mut rig = Rig::new();
    let mut seen = [0u32; 2];
    for _ in 0..env::cases("SLOTSCOPE_FAULTS", 20) {
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

#[test]
fn a_signal_while_files_are_made_or_placed_leaves_a_whole_report() {
    let mut rng = Rng::new(76);
    let mut rig = Rig::new();
    for _ in 0..env::cases("SLOTSCOPE_FAULTS", 20) / 2 {
        let (calls, micros) = rng.pick(&[
            ("openat", 3000),
            (RENAME, 8000),
            ("unlink,unlinkat", 8000),
            ("flock", 8000),
        ]);
        let when = if rng.one_in(2) {
            "delay_enter"
        } else {
            "delay_exit"
        };
        let mut child = traced(&mut rig, &format!("{calls}:{when}={micros}"))
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(rng.below(1500) as u64));
        let id = child.id().to_string();
        let _ = Command::new("kill")
            .args(["-s", "TERM", &id])
            .stderr(Stdio::null())
            .status();
        let _ = child.try_wait();
        let run = child.wait_with_output().unwrap();
        let report = rig
            .outcome(&run)
            .unwrap_or_else(|what| panic!("{calls}: {what}"));
        let expected = match (run.status.code(), run.status.signal()) {
            (Some(0), _) => Report::New,
            (Some(143), _) | (None, Some(15)) => Report::Old,
            _ => panic!("{calls}: {run:?}"),
        };
        assert_eq!(report, expected, "{calls}: {run:?}");
    }
}
