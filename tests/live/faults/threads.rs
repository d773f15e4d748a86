//! When no thread can be started, each command either says so in one line or does without.

use crate::cloud::server::Server;
use testkit::env::size;
use testkit::limited::Limited;
use testkit::prelude::*;
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

#[test]
fn a_thread_that_cannot_be_started_is_one_line() {
    // No other test has this user.
    let Some(limited) = Limited::user(64917) else {
        return;
    };
    let scratch = Scratch::new();
    scratch.file("d.keys", "user:{1}:name\nb\n");
    let web = Server::start([("d.keys", b"user:{1}:name\nb\n")]);
    // Resolving a name takes a thread, too.
    let web = web.url("d.keys").replace("127.0.0.1", "localhost");
    let mut wrong = Vec::new();
    let limits = [0, 1, 2, 3, 5, 8].into_iter();
    for most in limits.take(size("SLOTSCOPE_THREADS", 6)) {
        for line in commands("d.keys", &web) {
            let output = limited.run(&scratch, most, &line);
            let (code, said) = (output.status.code(), stderr(&output));
            let is_error = code == Some(2) && !said.contains("panicked");
            if !is_error && !matches!(code, Some(0 | 1)) {
                wrong.push(format!("{most}: {line}: {code:?}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
