//! Redirects: another server must not learn secrets of the first, and the report names the server that answered.

use super::server::{Fault, Server};
use super::{run, run_with};
use testkit::run::{Ran, Said, Scratch, assert_fails, report, stderr, stdout};
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
        assert!(
            !head.contains(SECRET) && !head.contains("referer"),
            "{head}"
        );
        assert!(!head.contains("authorization"), "{head}");
    }
}

#[test]
fn another_server_is_told_nothing_and_is_named_in_the_report() {
    let other = Server::start([("e.keys", &*DUMP.repeat(100_000))]);
    for status in [301, 302, 303, 307, 308] {
        let first = leading_to(status, &other.url("e.keys"));
        let url = first.url("d.keys").replace("://", "://user:hunter2@") + "?sig=hunter2&x=1";
        let option = ["--storage-option", "user_agent=hunter2"];
        let scratch = Scratch::new();
        let out = scratch.path("out");
        let args = ["analyze", &url, "--full", "--out", out.to_str().unwrap()];
        let output = run(&[&args[..], &option].concat());
        let mut said = [stdout(&output), stderr(&output)].concat();
        let host = other.url("");
        let host = host.trim_start_matches("http://").trim_end_matches('/');
        said.says("a redirect led away from")
            .says(&format!("sent by {host}"));
        for name in scratch.entries("out") {
            said += &String::from_utf8_lossy(&std::fs::read(out.join(name)).unwrap());
        }
        assert!(!said.contains(SECRET) && !said.contains("sig="), "a secret");
        let made = std::fs::read_to_string(out.join("report.json")).unwrap();
        let made: serde_json::Value = serde_json::from_str(&made).unwrap();
        let file = &made["input"]["files"][0];
        assert_eq!(file["object"]["answered_by"], host);
        assert_eq!(made["input"]["keys"], 100_000);
        // The first server received its own secrets.
        let asked = first.asked()[0].head.join("\n");
        assert!(asked.contains("sig=hunter2") && asked.contains("uthorization: Basic"));
        assert!(asked.contains("user-agent: hunter2"), "{asked}");
    }
    assert_told_nothing(&other);
    assert!(other.asked().iter().all(|asked| asked.range.is_some()));
    // Redaction also hides names of servers.
    let first = leading_to(302, &other.url("e.keys"));
    let url = first.url("d.keys");
    let output = run(&["analyze", &url, "--redact", "--no-files", "--full"]);
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
    let made = report(&run(&["analyze", "--json", &url]));
    let file = &made["input"]["files"][0];
    assert!(file["object"]["answered_by"].is_null(), "{file}");
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.authorization.is_some()));
    assert!(!asked[1].head.join("\n").to_lowercase().contains("referer"));
}

#[test]
fn no_redirect_leads_to_less_protection_to_a_file_or_for_ever() {
    let plain = Server::start([("e.keys", DUMP)]);
    let authority = Authority::new();
    let ca = authority.ca();
    let location = plain.url("e.keys");
    let protected = Server::with_tls_and_faults([("d.keys", DUMP)], &authority, move |_| {
        Some(Fault::Redirect(302, location.clone()))
    });
    let trusted = [("SSL_CERT_FILE", ca.to_str().unwrap())];
    let output = run_with(&["analyze", &protected.url("d.keys")], &trusted);
    assert_fails(&output, &["d.keys: a redirect leads from https to http"]);
    assert!(plain.asked().is_empty());
    let file = leading_to(302, "file:///etc/passwd");
    let output = run(&["analyze", &file.url("d.keys")]);
    output.refused("d.keys: a redirect leads to something other than a web address");
    let round = Server::with_faults([("d.keys", DUMP)], |_| {
        Some(Fault::Redirect(302, "/d.keys".into()))
    });
    let output = run(&["analyze", &round.url("d.keys")]);
    assert_fails(&output, &["d.keys: over 10 redirects; check the address"]);
    assert_eq!(round.asked().len(), 11);
}

#[test]
fn a_store_is_not_followed_and_says_where_the_bucket_seems_to_be() {
    let other = Server::start([("bk/d.keys", DUMP)]);
    let host = other.url("");
    let host = host.trim_start_matches("http://").trim_end_matches('/');
    for status in [301, 302, 307, 308] {
        let first = leading_to(status, &other.url("bk/d.keys"));
        let url = first.url("");
        let endpoint = url.trim_end_matches('/');
        let s3 = [
            ("AWS_ENDPOINT_URL", endpoint),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("AWS_SESSION_TOKEN", "hunter2"),
        ];
        let azure = [
            ("AZURE_STORAGE_ACCOUNT_NAME", "me"),
            ("AZURE_STORAGE_SAS_KEY", "sv=2020&sig=hunter2"),
            ("AZURE_STORAGE_ENDPOINT", endpoint),
        ];
        let google = [
            ("GOOGLE_BASE_URL", endpoint),
            ("GOOGLE_SKIP_SIGNATURE", "true"),
        ];
        let said = ["another region", "points elsewhere", "points elsewhere"];
        let places: [(&str, &[(&str, &str)]); 3] = [
            ("s3://bk/d.keys", &s3),
            ("az://bk/d.keys", &azure),
            ("gs://bk/d.keys", &google),
        ];
        for ((address, variables), said) in places.into_iter().zip(said) {
            let output = run_with(&["analyze", address], variables);
            println!("{address} {status}");
            assert_fails(&output, &[address, said, host]);
            assert!(!stderr(&output).contains(SECRET), "{}", stderr(&output));
        }
    }
    assert!(other.asked().is_empty(), "the other server was asked");
}
