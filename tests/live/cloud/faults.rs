//! Servers that refuse, fail, or send something else: one line, in bounded time.

use std::process::Output;
use std::time::{Duration, Instant};

use super::server::{Asked, Fault, Server};
use super::{run, run_with};
use testkit::prelude::*;
/// A dump whose middle is not in its prefetched head.
fn dump() -> Vec<u8> {
    b"user:{1}:name\n".repeat(100_000)
}

/// Analyzes a dump from a server whose responses are faulty, with few retries.
fn analyze(fault: impl Fn(&Asked) -> Option<Fault> + Send + Sync + 'static) -> (Output, Server) {
    analyze_within("60s", fault)
}

/// The same with a limit for each response.
fn analyze_within(
    limit: &str,
    fault: impl Fn(&Asked) -> Option<Fault> + Send + Sync + 'static,
) -> (Output, Server) {
    let server = Server::with_faults([("d.keys", &*dump())], fault);
    let quick = format!("--storage-option max_retries=2 --storage-option timeout={limit}");
    let line = format!("analyze --json {} {quick}", server.url("d.keys"));
    (run(&line), server)
}

/// The same fault for all requests after the first.
fn later(fault: Fault) -> impl Fn(&Asked) -> Option<Fault> + Send + Sync {
    move |asked| (asked.nth > 0).then(|| fault.clone())
}

#[test]
fn what_is_refused_is_one_line_with_the_way_out() {
    let of_region = "<Error><Code>PermanentRedirect</Code><Region>eu-west-1</Region></Error>";
    let other_bytes = "other bytes than it was asked for | copy";
    let no_range = Fault::Range("bytes 0-18446744073709551615/10");
    for (fault, parts) in [
        (
            Fault::Status(404),
            "no such object (404) | check the spelling",
        ),
        (
            Fault::Status(403),
            "access is denied (403) | check the address",
        ),
        (Fault::Status(401), "access is denied (401) | USER:PASSWORD"),
        (
            Fault::Status(500),
            "the server fails (500) | run again later",
        ),
        (
            Fault::Text(400, of_region.into()),
            "refuses (400 PermanentRedirect) | check",
        ),
        (
            Fault::Text(403, "<Code>\x1b[2J</Code>".into()),
            "denied (403) | check",
        ),
        (Fault::Whole, "whole files only | curl -fsS URL | slotscope"),
        (
            Fault::Range("bytes 5-9/10"),
            "cannot be used | check the address",
        ),
        (no_range, "a range that no object has | d.keys"),
        (Fault::Length(7), other_bytes),
        (Fault::Length(-7), other_bytes),
    ] {
        println!("{fault:?}");
        let (output, server) = analyze(move |_| Some(fault.clone()));
        output.refused(&format!("{} | {parts}", server.url("d.keys")));
    }
}
#[test]
fn an_object_that_changes_meanwhile_is_no_report() {
    let range = Fault::Range("bytes 0-9/10");
    for fault in [Fault::Status(412), Fault::Tag("\"v2\""), range] {
        println!("{fault:?}");
        let (output, server) = analyze(later(fault));
        output.refused(&server.url("d.keys"));
    }
}
#[test]
fn what_passes_is_tried_again() {
    let (output, server) = analyze(|asked| (asked.nth % 2 == 0).then_some(Fault::Status(503)));
    assert_eq!(report(&output)["input"]["keys"], 100_000);
    assert_eq!(server.asked().len(), 4);
    // A truncated body is resumed where it was cut.
    let (output, server) = analyze(|asked| (asked.nth == 1).then_some(Fault::Cut(1000)));
    assert_eq!(report(&output)["input"]["keys"], 100_000);
    assert_eq!(server.asked()[2].range.as_ref().unwrap().start, 1000);
}

#[test]
fn a_server_that_never_comes_to_an_end_is_given_up() {
    for (fault, limit) in [(Fault::Drip, "3s"), (Fault::Cut(1), "60s")] {
        println!("{fault:?}");
        let begun = Instant::now();
        let (output, server) = analyze_within(limit, later(fault));
        output.refused(&format!("{} | run again", server.url("d.keys")));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
#[test]
fn lists_without_an_end_and_refused_lists_are_named() {
    let list = |fault: Fault, parts: &str| {
        let server = Server::with_faults([("b/d/x.keys", b"a\n")], move |_| Some(fault.clone()));
        let endpoint = server.endpoint();
        let variables = [
            ("AWS_ENDPOINT_URL", &*endpoint),
            ("AWS_SKIP_SIGNATURE", "true"),
        ];
        let line = "analyze s3://b/d/*.keys --storage-option max_retries=1";
        run_with(line, &variables).refused(&format!("s3://b/d/*.keys | {parts}"));
        server.asked().len()
    };
    let pages = list(
        Fault::More,
        "a list of more than 1000 pages | longer prefix",
    );
    assert_eq!(pages, 1000);
    list(Fault::Status(403), "denied (403) | AWS_ACCESS");
    list(Fault::Status(503), "fails (503)");
}
#[test]
fn a_bucket_without_credentials_or_in_another_region_is_named_with_what_to_set() {
    let region =
        "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>";
    let fault = move |_: &Asked| Some(Fault::Text(400, region.into()));
    let server = Server::with_faults([("b/d", b"a\n")], fault);
    let endpoint = server.endpoint();
    let there = |variable, value, parts: &str| {
        let variables = [("AWS_ENDPOINT_URL", &*endpoint), (variable, value)];
        let output = run_with("analyze s3://b/d", &variables);
        output.refused(&format!("s3://b/d | {parts}"));
    };
    let other = "another region | set AWS_REGION=eu-west-1";
    there("AWS_SKIP_SIGNATURE", "true", other);
    let none = "no credentials | aws configure export-credentials";
    there("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1", none);
}

#[test]
fn a_place_that_cannot_be_reached_is_said_at_once() {
    let begun = Instant::now();
    let output = run("analyze http://127.0.0.1:1/d.keys");
    output.refused("http://127.0.0.1:1/d.keys: \"127.0.0.1:1\" cannot be reached");
    assert!(begun.elapsed() < Duration::from_secs(5));
    for [option, what] in rows(
        "nonsense=1 | no such option
        allow_invalid_certificates=true | no such option
        max_retries=x | whole number
        timeout=hunter2 | check the address
        hunter2 | NAME=VALUE",
    ) {
        let line = format!("analyze http://127.0.0.1:1/d --storage-option {option}");
        let output = run(&line);
        output.refused(what);
        stderr(&output).lacks("hunter2");
    }
}
