//! Servers that abort or corrupt the TLS handshake: a run ends soon, in little memory, and reports the problem.

use testkit::hostile::{Answer, Hostile};
use testkit::run::{Scratch, words};
use testkit::tls::Authority;
use testkit::usage;

const MOST_MIB: u64 = 64;
const MOST_SECS: f64 = 60.0;

/// A TLS 1.2 record.
fn record(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let [high, low] = (bytes.len() as u16).to_be_bytes();
    [&[kind, 3, 3, high, low], bytes].concat()
}

/// The start of a TLS 1.2 handshake.
fn server_hello() -> Vec<u8> {
    let mut hello = vec![3, 3];
    hello.extend_from_slice(&[7; 32]);
    // No session, ECDHE with ECDSA and AES-128-GCM, no compression; the renegotiation extension as sent by servers.
    hello.extend_from_slice(&[0, 0xC0, 0x2B, 0, 0, 5, 0xFF, 1, 0, 1, 0]);
    let message = [&[2, 0, 0, hello.len() as u8], &hello[..]].concat();
    record(22, &message)
}

#[test]
fn a_handshake_that_is_cut_endless_or_too_large_ends_soon_and_is_said() {
    let (authority, hello) = (Authority::new(), server_hello());
    let certificate = [&[11, 0xA0, 0, 0], &[0; 16_000][..]].concat();
    let started = [hello.clone(), record(22, &certificate)].concat();
    let web = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    println!("| handshake | peak MiB | s | said |\n|---|--:|--:|---|");
    let mut wrong = Vec::new();
    for (case, answer, said) in [
        ("cut before a byte", Answer::Close, "closed the connection"),
        ("cut in it", Answer::of(&hello), "closed the connection"),
        (
            "cut record",
            Answer::of(&hello[..20]),
            "closed the connection",
        ),
        // A certificate of 10 MiB.
        (
            "certificate",
            Answer::Endless(started, record(22, &[0; 16_000])),
            "TLS",
        ),
        (
            "records without content",
            Answer::Endless(Vec::new(), record(22, &[])),
            "TLS",
        ),
        (
            "changes of the cipher",
            Answer::Endless(hello.clone(), record(20, &[1])),
            "TLS",
        ),
        (
            "a byte now and then",
            Answer::Drip(hello),
            "no answer within",
        ),
        (
            "plain text",
            Answer::of("-ERR unknown command\r\n"),
            "; write redis://",
        ),
        (
            "a web server",
            Answer::Endless(web.to_vec(), vec![b'x'; 9000]),
            "no TLS is spoken there",
        ),
    ] {
        let limit_secs = answer.limit_secs();
        let (scratch, server) = (Scratch::new(), Hostile::at_once(answer));
        let line = format!(
            "collect rediss://{} -o all --timeout {limit_secs} --tls-ca",
            server.address()
        );
        let mut command = scratch.command(&words(&line));
        command.arg(authority.ca());
        let run = usage::of(command);
        let (peak, secs, message) = (run.peak_mib(), run.secs, run.stderr.trim());
        println!("| {case} | {peak} | {secs:.1} | {message} |");
        let is_said = message.contains(said) && !message.contains("panicked");
        let is_bounded = peak <= MOST_MIB && secs <= MOST_SECS;
        let is_clean = scratch.entries("").is_empty();
        if run.code != Some(2) || !is_said || !is_bounded || !is_clean {
            wrong.push(format!("{case}: {run:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
