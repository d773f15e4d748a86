//! Passwords reach the server and nothing else.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::collect_access::files_below;
use testkit::kinds::Kind;
use testkit::redis::Server;
use testkit::run::{Scratch, assert_contains, code, stderr, words};

/// Recognizable even where it is escaped.
const SECRET: &str = "hunter2%47/x";
/// Parts that must not occur anywhere: one for the plain form, one for escaped forms.
const TRACES: [&str; 2] = ["hunter2", "47/x"];

fn server() -> Server {
    let server = Kind::Installed.start(&["--requirepass", SECRET, "--cluster-enabled", "no"]);
    for id in 0..20 {
        server.connect().call(&["SET", &format!("user:{id}"), "x"]);
    }
    server
}

/// Asserts that no output contains a trace of the password.
#[track_caller]
fn assert_hidden(scratch: &Scratch, run: &Output) {
    let mut texts = files_below(&scratch.path(""));
    texts.retain(|(name, _)| !name.ends_with(".password"));
    texts.push(("stdout".into(), run.stdout.clone()));
    texts.push(("stderr".into(), run.stderr.clone()));
    for (name, bytes) in texts {
        let text = String::from_utf8_lossy(&bytes);
        for trace in TRACES {
            assert!(!text.contains(trace), "{name}: {text}");
        }
    }
}

#[test]
fn a_password_from_a_variable_a_file_or_a_url_opens_the_server_and_is_nowhere() {
    let server = server();
    let address = format!("127.0.0.1:{}", server.port);
    let in_url = format!("redis://:hunter2%2547%2Fx@{address}");
    let file = ["--password-file", "the.password"];
    for (url, variable, flags) in [
        (&address, Some("REDISCLI_AUTH"), &[][..]),
        (&address, Some("SLOTSCOPE_PASSWORD"), &[]),
        (&address, Some("VALKEYCLI_AUTH"), &[]),
        (&address, None, &file),
        (&in_url, None, &[]),
    ] {
        let scratch = Scratch::new();
        let path = scratch.file("the.password", format!("{SECRET}\n"));
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        for words in [
            ["collect", url, "-o", "all"],
            ["analyze", url, "--out", "report"],
        ] {
            let mut command = scratch.command(&[&words, flags].concat());
            command.envs(variable.map(|name| (name, SECRET)));
            let run = command.output().unwrap();
            assert_eq!(code(&run), 0, "{words:?}: {}", stderr(&run));
            let warns = stderr(&run).contains("a password in a URL is seen");
            assert_eq!(warns, url == &in_url, "{}", stderr(&run));
            assert_hidden(&scratch, &run);
        }
    }
}

#[test]
fn a_password_that_is_wrong_or_missing_is_an_error_without_it() {
    let server = server();
    let address = format!("127.0.0.1:{}", server.port);
    let wrong = format!("redis://me:hunter2@{address}");
    let long = format!("redis://:hunter2@{address}/7");
    for (words, part) in [
        (&["collect", &address][..], "REDISCLI_AUTH"),
        (&["collect", &wrong], "does not take this user and password"),
        (&["collect", &long], "databases"),
        (
            &["analyze", &wrong, "--no-files"],
            "does not take this user and password",
        ),
        (&["collect", &address, "--user", "me"], "--ask-password"),
        (
            &["collect", &address, "--password-file", "no.password"],
            "no such file",
        ),
        (
            &["collect", &address, "--password-file", "empty.password"],
            "first line is empty",
        ),
        (
            &["analyze", "empty.password", "--topology", &wrong],
            "no such file",
        ),
        (&["timeline", &wrong], "slotscope collect URL"),
        (
            &["plan", &wrong, "--nodes", "3"],
            "does not take this user and password",
        ),
    ] {
        let scratch = Scratch::new();
        scratch.file("empty.password", "");
        let run = scratch.run(words);
        assert_eq!(code(&run), 2, "{words:?}");
        assert!(stderr(&run).contains(part), "{words:?}: {}", stderr(&run));
        assert_hidden(&scratch, &run);
        assert_eq!(scratch.entries(""), ["empty.password"], "{words:?}");
    }
}

#[test]
fn others_who_may_read_the_file_of_a_password_are_pointed_out() {
    let server = server();
    let scratch = Scratch::new();
    let path = scratch.file("the.password", SECRET);
    std::fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    let address = format!("127.0.0.1:{}", server.port);
    let run = scratch.run(&words(&format!(
        "collect {address} -o all --password-file the.password"
    )));
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert!(stderr(&run).contains("chmod 600"), "{}", stderr(&run));
    assert_hidden(&scratch, &run);
}

#[test]
#[cfg(target_os = "linux")]
fn a_password_is_asked_for_on_the_terminal_without_an_echo() {
    use std::process::Command;
    use testkit::run::feed;

    let server = server();
    let scratch = Scratch::new();
    let program = env!("CARGO_BIN_EXE_slotscope");
    let line = format!(
        "{program} collect 127.0.0.1:{} -o all --ask-password",
        server.port
    );
    // script(1) provides a terminal on which the program prompts; the typed text comes from its input.
    let mut terminal = Command::new("script");
    terminal
        .args(["-qec", &line, "/dev/null"])
        .current_dir(scratch.path(""));
    let run = feed(terminal, format!("{SECRET}\n").as_bytes());
    assert_eq!(code(&run), 0, "{run:?}");
    assert!(
        String::from_utf8_lossy(&run.stdout).contains("Password: "),
        "{run:?}"
    );
    assert!(scratch.path("all/collect.json").is_file());
    // If typed ahead, the terminal itself echoes it once, before the program can disable that.
    let mut without = Command::new("setsid");
    without.args([program, "collect", "127.0.0.1:1", "--ask-password"]);
    let run = feed(without, b"");
    assert_eq!(code(&run), 2);
    assert_contains(stderr(&run), &["no terminal to ask on"]);
}
