//! Passwords reach the server and nothing else.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Server;
/// Recognizable even where it is escaped.
const SECRET: &str = "hunter2%47/x";
/// Parts that must not occur anywhere: one for the plain form, one for escaped forms.
const TRACES: [&str; 2] = ["hunter2", "47/x"];

fn server() -> Server {
    let server = Kind::Installed.start(&["--requirepass", SECRET, "--cluster-enabled", "no"]);
    let rows: Vec<_> = (0..20).map(|id| (format!("user:{id}"), "x")).collect();
    server.connect().set_all(&rows);
    server
}

/// Writes the password into a file that others may read or not.
fn password(scratch: &Scratch, mode: u32) {
    let path = scratch.file("the.password", format!("{SECRET}\n"));
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}
/// Asserts that no output contains a trace of the password.
#[track_caller]
fn assert_hidden(scratch: &Scratch, run: &Output) {
    let mut texts = scratch.files();
    texts.retain(|(name, _)| !name.ends_with(".password"));
    texts.push(("stdout".into(), stdout(run).into()));
    texts.push(("stderr".into(), stderr(run).into()));
    for (name, text) in texts {
        println!("{name}");
        for trace in TRACES {
            text.lacks(trace);
        }
    }
}

#[test]
fn a_password_from_a_variable_a_file_or_a_url_opens_the_server_and_is_nowhere() {
    let server = server();
    let address = server.address();
    let in_url = format!("redis://:hunter2%2547%2Fx@{address}");
    let in_file = format!("{address} --password-file the.password");
    for (url, variable) in [
        (&address, Some("REDISCLI_AUTH")),
        (&address, Some("SLOTSCOPE_PASSWORD")),
        (&address, Some("VALKEYCLI_AUTH")),
        (&in_file, None),
        (&in_url, None),
    ] {
        let scratch = Scratch::new();
        password(&scratch, 0o600);
        for line in ["collect -o all", "analyze --out report"] {
            let line = format!("{line} {url}");
            let mut command = scratch.command(&words(&line));
            command.envs(variable.map(|name| (name, SECRET)));
            let run = command.output().unwrap();
            assert_eq!(code(&run), 0, "{line}: {}", stderr(&run));
            let warns = stderr(&run).contains("a password in a URL is seen");
            assert_eq!(warns, url == &in_url, "{}", stderr(&run));
            assert_hidden(&scratch, &run);
        }
    }
}

#[test]
fn a_password_that_is_wrong_or_missing_is_an_error_without_it() {
    let server = server();
    let address = server.address();
    for [line, part] in rows(
        "collect IN | REDISCLI_AUTH
        collect redis://me:hunter2@IN | does not take this user and password
        collect redis://:hunter2@IN/7 | databases
        analyze redis://me:hunter2@IN --no-files | does not take this user and password
        collect IN --user me | --ask-password
        collect IN --password-file no.password | no such file
        collect IN --password-file empty.password | first line is empty
        analyze empty.password --topology redis://me:hunter2@IN | an address in place of a file
        timeline redis://me:hunter2@IN | slotscope collect URL
        plan redis://me:hunter2@IN --nodes 3 | does not take this user and password",
    ) {
        let scratch = Scratch::new();
        scratch.file("empty.password", "");
        let run = scratch.run(&line.replace("IN", &address));
        println!("{line}");
        assert_eq!(code(&run), 2);
        stderr(&run).says(part);
        assert_hidden(&scratch, &run);
        assert_eq!(scratch.entries(""), ["empty.password"]);
    }
}

#[test]
fn others_who_may_read_the_file_of_a_password_are_pointed_out() {
    let (server, scratch) = (server(), Scratch::new());
    password(&scratch, 0o644);
    let flags = "-o all --password-file the.password";
    let run = scratch.run(&format!("collect {} {flags}", server.address()));
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    stderr(&run).says("chmod 600");
    assert_hidden(&scratch, &run);
}

#[test]
#[cfg(target_os = "linux")]
fn a_password_is_asked_for_on_the_terminal_without_an_echo() {
    let (server, scratch) = (server(), Scratch::new());
    let line = format!(
        "slotscope collect {} -o all --ask-password",
        server.address()
    );
    let run = feed(scratch.on_terminal(&line), format!("{SECRET}\n").as_bytes());
    assert_eq!(code(&run), 0, "{run:?}");
    stdout(&run).says("Password: ");
    assert!(scratch.path("all/collect.json").is_file());
    // If typed ahead, the terminal itself echoes it once, before the program can disable that.
    let run = scratch.shell("setsid -w slotscope collect 127.0.0.1:1 --ask-password");
    run.refused("no terminal to ask on");
}
