//! Files on a web server.

use std::collections::BTreeSet;
use std::ops::Range;

use super::server::{Fault, Server};
use super::{report_of, run, run_with};
use testkit::dumps::gzip;
use testkit::forms;
use testkit::prelude::*;
use testkit::rng::Rng;
use testkit::tls::Authority;

/// More than is fetched in one part.
const LONG: usize = 14 << 20;

#[test]
fn a_report_from_a_server_is_that_of_the_same_file() {
    let scratch = Scratch::new();
    let dump = |format: &str, bytes| forms::dump(format, bytes, &mut Rng::new(7));
    let dumps = [
        ("long.keys", dump("lines", LONG)),
        ("d.csv", dump("csv", 1 << 20)),
        ("d.csv.gz", gzip(&dump("csv", 1 << 20))),
        ("dump.rdb", dump("rdb", 1 << 20)),
        ("appendonly.aof", dump("aof", 1 << 20)),
        ("keys.json", dump("redis-json", 3 << 20)),
        ("short.keys", b"a\nb\n{c}d".to_vec()),
    ];
    let files = dumps
        .each_ref()
        .map(|(name, content)| (*name, &content[..]));
    let server = Server::start(files);
    for (name, content) in &dumps {
        let file = scratch.file(name, content).display().to_string();
        let [here, there] = [file, server.url(name)].map(|input| report_of(&input, &[]).0);
        assert!(here == there, "{name}");
    }
}
#[test]
fn an_empty_file_is_an_empty_dump() {
    let server = Server::start([("empty.keys", b"")]);
    let output = run(&format!("analyze --json {}", server.url("empty.keys")));
    assert_eq!(code(&output), 2);
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(made["verdict"]["state"], "empty");
    assert_eq!(made["input"]["files"][0]["object"]["size_bytes"], 0);
}

#[test]
fn every_request_but_the_first_is_for_the_version_that_was_found() {
    let long = forms::dump("lines", LONG, &mut Rng::new(1));
    let server = Server::start([("long.keys", &*long)]);
    let url = server.url("long.keys");
    let made = report(&run(&format!("analyze --json --only slots {url}")));
    let asked = server.asked();
    // A range that a busy machine serves slowly may be requested twice, even the first one.
    let first = Some(0..65536);
    assert_eq!(asked[0].range, first);
    let others: Vec<_> = asked.iter().filter(|of| of.range != first).collect();
    let tags: Vec<_> = others.iter().map(|of| of.if_match.as_deref()).collect();
    // A chunk that ends in a part not yet fetched requests only the first bytes of it.
    let is_whole = |of: &&Range<u64>| of.end - of.start > 4096;
    let ranges = others.iter().filter_map(|of| of.range.as_ref());
    let ranges = ranges.filter(is_whole).map(|of| format!("{of:?}"));
    let ranges: BTreeSet<String> = ranges.collect();
    let parts = long.len().div_ceil(8 << 20);
    assert!(parts >= 2 && ranges.len() == parts, "{ranges:?}");
    assert_eq!(tags, vec![Some("\"v1\""); tags.len()]);
    let object = json!({"etag": "\"v1\"", "size_bytes": long.len()});
    made["input"].has(json!({"files": [{"object": object}]}));
}

#[test]
fn a_server_without_tags_is_read_as_long_as_nothing_changes() {
    let server = Server::with_faults([("d.keys", &*b"key\n".repeat(100_000))], |_| {
        Some(Fault::NoTag)
    });
    let made = report(&run(&format!("analyze --json {}", server.url("d.keys"))));
    assert_eq!(made["input"]["keys"], 100_000);
}

#[test]
fn a_certificate_is_verified_with_those_that_the_system_or_the_user_trusts() {
    let authority = Authority::new();
    let keys = b"key\n".repeat(100_000);
    let server = Server::with_tls([("d.keys", &*keys)], &authority, |_| None);
    let line = format!("analyze --json {}", server.url("d.keys"));
    let ca = authority.ca();
    let made = report(&run_with(&line, &[("SSL_CERT_FILE", ca.to_str().unwrap())]));
    assert_eq!(made["input"]["keys"], 100_000);
    made["input"]["files"][0]["name"].text().begins("https://");
    let asked = server.asked().len();
    run(&line).refused("cannot be reached | certificate | SSL_CERT_FILE");
    assert_eq!(server.asked().len(), asked);
}
