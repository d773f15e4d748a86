//! When no thread can be started, each command either says so in one line or does without.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::cloud::server::Server;
use testkit::env::size;
use testkit::run::{Scratch, clean_environment, stderr};

/// A user with no other processes.
const USER: &str = "64917";

/// The inputs, and the commands that read them.
fn commands(file: &str, web: &str) -> Vec<String> {
    let mut all: Vec<String> = ["lint", "find-tag a b", "plan", "whatif", "fanout --nodes 3"]
        .map(|command| format!("{command} {file}"))
        .into();
    all.push(format!("keyslot a {file}"));
    all.push(format!("advise --format lines --nodes 3 {file}"));
    for input in [file, web] {
        all.push(format!("analyze --no-files {input}"));
        all.push(format!("tally {input} -o /dev/null"));
        all.push(format!("timeline {input}"));
        all.push(format!("dump {input}"));
    }
    all
}

/// `slotscope LINE` as a user limited to `most` processes and threads.
fn limited(scratch: &Scratch, most: u64, line: &str) -> Output {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nproc={most}:{most}"));
    let as_user = [
        "setpriv",
        "--reuid",
        USER,
        "--regid",
        USER,
        "--clear-groups",
    ];
    command.args(as_user).arg(env!("CARGO_BIN_EXE_slotscope"));
    command.args(line.split(' ')).current_dir(scratch.path(""));
    clean_environment(&mut command);
    command.output().unwrap()
}

/// The reason why the test cannot run here.
fn hindrance(scratch: &Scratch) -> Option<String> {
    let probe = Command::new("setpriv")
        .args(["--reuid", USER, "--regid", USER, "--clear-groups"])
        .arg(env!("CARGO_BIN_EXE_slotscope"))
        .arg("--version")
        .current_dir(scratch.path(""))
        .output();
    match probe {
        Ok(probe) if probe.status.success() => None,
        Ok(probe) => Some(stderr(&probe).to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn a_thread_that_cannot_be_started_is_one_line() {
    let scratch = Scratch::new();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(scratch.path(""), open).unwrap();
    if let Some(why) = hindrance(&scratch) {
        eprintln!("NOT TESTED: no run as another user, which only root can start: {why}");
        return;
    }
    scratch.file("d.keys", "user:{1}:name\nb\n");
    let web = Server::start([("d.keys", b"user:{1}:name\nb\n")]);
    // Resolving a name takes a thread, too.
    let web = web.url("d.keys").replace("127.0.0.1", "localhost");
    let mut wrong = Vec::new();
    for most in [0, 1, 2, 3, 5, 8]
        .into_iter()
        .take(size("SLOTSCOPE_THREADS", 6))
    {
        for line in commands("d.keys", &web) {
            let output = limited(&scratch, most, &line);
            let said = stderr(&output);
            let is_error = output.status.code() == Some(2) && !said.contains("panicked");
            let is_fine = matches!(output.status.code(), Some(0 | 1));
            if !is_fine && !is_error {
                wrong.push(format!(
                    "{most}: {line}: {:?}: {said}",
                    output.status.code()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
