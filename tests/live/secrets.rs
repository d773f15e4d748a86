//! Secrets in addresses, options, variables and files: no output contains one, for any command and any failure.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cloud::server::{Fault, Server};
use testkit::hostile::{Answer, Hostile};
use testkit::prelude::*;
/// The part shared by all secrets.
const TRACE: &str = "hunter";

/// Variables that contain secrets.
const VARIABLES: [(&str, &str); 8] = [
    ("AWS_ACCESS_KEY_ID", "id"),
    ("AWS_SECRET_ACCESS_KEY", "hunter1"),
    ("AWS_SESSION_TOKEN", "hunter2"),
    ("AZURE_STORAGE_ACCOUNT_NAME", "me"),
    ("AZURE_STORAGE_SAS_KEY", "sv=2020&sig=hunter3"),
    ("GOOGLE_SKIP_SIGNATURE", "true"),
    ("REDISCLI_AUTH", "hunter4"),
    ("SLOTSCOPE_REDACT_KEY", "hunter5"),
];

/// The commands that read an input.
const COMMANDS: [&str; 12] = [
    "analyze IN --out out",
    "analyze IN --json",
    "analyze IN --redact --out out",
    "analyze IN --strict --full --one-pass",
    "tally IN -o out",
    "lint IN --json",
    "timeline IN --out out",
    "dump IN",
    "plan IN --nodes 3",
    "whatif IN --nodes 3 --to-nodes 4",
    "fanout --nodes 3 IN",
    "collect IN -o out --timeout 1",
];

#[test]
fn no_secret_is_in_any_output_of_any_command() {
    let dump = b"key,size\nuser:{1}:name,7\nb,9\nc,x\n";
    let fine = Server::start([("d.csv", dump)]);
    let damaged = Server::start([("d.csv", b"REDIS0011\xfe\x00\x00\x01ab")]);
    let missing = Server::start([]);
    let refusing = Server::with_faults([], |asked| {
        let said = format!("<Code>Denied</Code>{}", asked.target);
        Some(Fault::Text(403, said))
    });
    let location = fine.url("d.csv");
    let leading = Server::with_faults([], move |_| Some(Fault::Redirect(302, location.clone())));
    // It repeats everything it receives.
    let echo = Hostile::start(|command| match command.split_once(' ') {
        Some(("AUTH", _)) => Answer::of("+OK\r\n"),
        _ => Answer::of(format!("-NOPERM {command} hunter4\r\n")),
    });
    let mut inputs = vec![
        format!("redis://me:hunter4@{}", echo.address()),
        echo.address(),
        "redis://:hunter4@127.0.0.1:1/x".into(),
        "https://u:hunter7@127.0.0.1:1/d.csv?sig=hunter8".into(),
        "ftp://u:hunter7@h/d.csv".into(),
    ];
    for server in [&fine, &damaged, &missing, &refusing, &leading] {
        let url = server.url("d.csv").replace("://", "://u:hunter7@");
        let option = "--storage-option user_agent=hunter9";
        inputs.push(format!("{url}?sig=hunter8 {option}"));
    }
    for option in ["timeout=hunter9", "proxy_url=hunter://h"] {
        inputs.push(format!("{} --storage-option {option}", fine.url("d.csv")));
    }
    inputs.extend(["s3://b/d.csv", "az://b/d.csv", "gs://b/d/*"].map(String::from));
    let endpoints = [
        "AWS_ENDPOINT_URL",
        "AZURE_STORAGE_ENDPOINT",
        "GOOGLE_BASE_URL",
    ];
    let mut found = Vec::new();
    for input in &inputs {
        for line in COMMANDS {
            let (scratch, line) = (Scratch::new(), line.replace("IN", input));
            let mut command = scratch.command(&words(&line));
            command.envs(VARIABLES);
            command.envs(endpoints.map(|name| (name, refusing.endpoint())));
            let output = command.output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            // A mistyped secret is never echoed, so any word of it is a leak, too.
            if said.contains(TRACE) {
                found.push(format!("{line}: {said}"));
            }
            let mut files = scratch.files();
            files.retain(|(_, text)| text.contains(TRACE));
            found.extend(files.into_iter().map(|(file, _)| format!("{line}: {file}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_password_of_a_file_is_in_no_output() {
    let scratch = Scratch::new();
    let path = scratch.file("p", "hunter4\n");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    let echo = Hostile::start(|command| Answer::of(format!("-ERR {command} hunter4\r\n")));
    for command in ["collect", "analyze"] {
        let flags = "--password-file p --timeout 1";
        let output = scratch.run(&format!("{command} {} {flags}", echo.address()));
        stdout(&output).lacks(TRACE);
        stderr(&output).lacks(TRACE);
    }
}
