//! Redirects: another server must not learn secrets of the first, and the report names the server that answered.

use super::server::{Fault, Server};
use super::{run, run_with};
use testkit::prelude::*;
use testkit::tls::Authority;

/// Present in addresses, headers and options for the first server.
const SECRET: &str = "hunter2";
const DUMP: &[u8] = b"user:{1}:name\n";

/// A server that redirects all requests to `location`.
fn leading_to(status: u16, location: &str) -> Server {
    let location = location.to_owned();
    Server::with_faults([("d.keys", DUMP)], move |_| {
        Some(Fault::Redirect(status, location.clone()))
    })
}

/// Asserts that no request to `server` contains the secret or its origin.
#[track_caller]
fn assert_told_nothing(server: &Server) {
    for asked in server.asked() {
        let head = asked.head.join("\n").to_lowercase();
        head.lacks(SECRET).lacks("referer").lacks("authorization");
    }
}
#[test]
fn another_server_is_told_nothing_and_is_named_in_the_report() {
    let other = Server::start([("e.keys", &*DUMP.repeat(100_000))]);
    let host = other.endpoint().replace("http://", "");
    for status in [301, 302, 303, 307, 308] {
        let first = leading_to(status, &other.url("e.keys"));
        let url = first.url("d.keys").replace("://", "://user:hunter2@") + "?sig=hunter2&x=1";
        let (scratch, option) = (Scratch::new(), "--storage-option user_agent=hunter2");
        let out = scratch.path("out");
        let output = run(&format!(
            "analyze {url} --full --out {} {option}",
            out.display()
        ));
        let mut said = [stdout(&output), stderr(&output)].concat();
        said.says("a redirect led away from")
            .says(&format!("sent by {host}"));
        said.extend(scratch.files().into_iter().map(|(_, text)| text));
        said.lacks(SECRET).lacks("sig=");
        let made: Value = serde_json::from_str(&scratch.read("out/report.json")).unwrap();
        let files = json!([{"object": {"answered_by": host}}]);
        made["input"].has(json!({"files": files, "keys": 100_000}));
        // The first server received its own secrets.
        let asked = first.asked()[0].head.join("\n");
        asked
            .says("sig=hunter2")
            .says("uthorization: Basic")
            .says("user-agent: hunter2");
    }
    assert_told_nothing(&other);
    assert!(other.asked().iter().all(|asked| asked.range.is_some()));
    // Redaction also hides names of servers.
    let first = leading_to(302, &other.url("e.keys"));
    let line = format!("analyze {} --redact --no-files --full", first.url("d.keys"));
    let output = run(&line);
    let said = [stdout(&output), stderr(&output)].concat();
    said.says("a redirect led away").lacks("127.0.0.1");
}
#[test]
fn the_same_server_gets_what_is_meant_for_it() {
    let server = Server::with_faults([("e.keys", DUMP)], |asked| {
        let is_first = asked.target.starts_with("/d.keys");
        is_first.then(|| Fault::Redirect(302, "/e.keys".into()))
    });
    let url = server.url("d.keys").replace("://", "://user:hunter2@");
    let made = report(&run(&format!("analyze --json {url}")));
    let file = &made["input"]["files"][0];
    assert!(file["object"]["answered_by"].is_null(), "{file}");
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.authorization.is_some()));
    assert!(!asked[1].head.join("\n").to_lowercase().contains("referer"));
}

#[test]
fn no_redirect_leads_to_less_protection_to_a_file_or_for_ever() {
    let plain = Server::start([("e.keys", DUMP)]);
    let (authority, location) = (Authority::new(), plain.url("e.keys"));
    let ca = authority.ca();
    let protected = Server::with_tls([("d.keys", DUMP)], &authority, move |_| {
        Some(Fault::Redirect(302, location.clone()))
    });
    let trusted = [("SSL_CERT_FILE", ca.to_str().unwrap())];
    let analyze = |server: &Server, parts: &str| {
        let line = format!("analyze {}", server.url("d.keys"));
        run_with(&line, &trusted).refused(parts);
    };
    analyze(&protected, "d.keys: a redirect leads from https to http");
    assert!(plain.asked().is_empty());
    let file = leading_to(302, "file:///etc/passwd");
    let other = "d.keys: a redirect leads to something other than a web address";
    analyze(&file, other);
    let round = leading_to(302, "/d.keys");
    analyze(&round, "d.keys: over 10 redirects; check the address");
    assert_eq!(round.asked().len(), 11);
}
#[test]
fn a_store_is_not_followed_and_says_where_the_bucket_seems_to_be() {
    let other = Server::start([("bk/d.keys", DUMP)]);
    let host = other.endpoint().replace("http://", "");
    for status in [301, 302, 307, 308] {
        let first = leading_to(status, &other.url("bk/d.keys"));
        let endpoint = first.endpoint();
        let endpoint = &*endpoint;
        let variables = [
            ("AWS_ENDPOINT_URL", endpoint),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("AWS_SESSION_TOKEN", "hunter2"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "me"),
            ("AZURE_STORAGE_SAS_KEY", "sv=2020&sig=hunter2"),
            ("AZURE_STORAGE_ENDPOINT", endpoint),
            ("GOOGLE_BASE_URL", endpoint),
            ("GOOGLE_SKIP_SIGNATURE", "true"),
        ];
        for (address, said) in [
            ("s3://bk/d.keys", "another region"),
            ("az://bk/d.keys", "points elsewhere"),
            ("gs://bk/d.keys", "points elsewhere"),
        ] {
            println!("{address} {status}");
            let output = run_with(&format!("analyze {address}"), &variables);
            output.refused(&format!("{address} | {said} | {host}"));
            stderr(&output).lacks(SECRET);
        }
    }
    assert!(other.asked().is_empty(), "the other server was asked");
}
