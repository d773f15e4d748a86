//! Servers that abort or corrupt the TLS handshake: a run ends soon, in little memory, and reports the problem.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::thread;
use std::time::Duration;

use testkit::run::Scratch;
use testkit::tls::Authority;
use testkit::usage;

const MOST_MIB: u64 = 64;
const MOST_SECS: f64 = 60.0;

/// A server's reaction to the first bytes of a client.
#[derive(Clone)]
enum Deed {
    /// Sends these bytes and closes.
    Cut(Vec<u8>),
    /// Sends the first bytes, then the others repeatedly.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends one of these bytes now and then.
    Drip(Vec<u8>),
}

/// Starts a server; its thread ends with the test.
fn start(deed: Deed) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (deed, mut hello) = (deed.clone(), [0; 16]);
            thread::spawn(move || {
                let came = stream.read(&mut hello);
                let sent = came.and_then(|_| match deed {
                    Deed::Cut(bytes) => stream.write_all(&bytes),
                    Deed::Endless(first, again) => {
                        stream.write_all(&first)?;
                        loop {
                            stream.write_all(&again)?;
                        }
                    }
                    Deed::Drip(bytes) => bytes.iter().try_for_each(|byte| {
                        thread::sleep(Duration::from_millis(100));
                        stream.write_all(&[*byte])
                    }),
                });
                drop(sent.and_then(|()| stream.shutdown(Shutdown::Both)));
            });
        }
    });
    port
}

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
    let authority = Authority::new();
    let certificate = [&[11, 0xA0, 0, 0], &[0; 16_000][..]].concat();
    let cases: Vec<(&str, Deed, &[&str])> = vec![
        (
            "cut before a byte",
            Deed::Cut(Vec::new()),
            &["closed the connection"],
        ),
        (
            "cut in the handshake",
            Deed::Cut(server_hello()),
            &["closed the connection"],
        ),
        (
            "cut in a record",
            Deed::Cut(server_hello()[..20].to_vec()),
            &["closed the connection"],
        ),
        (
            "a certificate of 10 MiB",
            Deed::Endless(
                [server_hello(), record(22, &certificate)].concat(),
                record(22, &[0; 16_000]),
            ),
            &["TLS"],
        ),
        (
            "records without content",
            Deed::Endless(Vec::new(), record(22, &[])),
            &["TLS"],
        ),
        (
            "changes of the cipher",
            Deed::Endless(server_hello(), record(20, &[1])),
            &["TLS"],
        ),
        (
            "a byte now and then",
            Deed::Drip(server_hello().repeat(100)),
            &["no answer within"],
        ),
        (
            "plain text",
            Deed::Cut(b"-ERR unknown command\r\n".to_vec()),
            &["no TLS is spoken there", "redis://"],
        ),
        (
            "a web server",
            Deed::Endless(
                b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
                vec![b'x'; 9000],
            ),
            &["no TLS is spoken there"],
        ),
    ];
    println!("| handshake | peak MiB | s | said |\n|---|--:|--:|---|");
    let mut wrong = Vec::new();
    for (case, deed, parts) in cases {
        let (scratch, port) = (Scratch::new(), start(deed));
        let (url, ca) = (format!("rediss://127.0.0.1:{port}"), authority.ca());
        let words = ["collect", &url, "-o", "all", "--timeout", "2", "--tls-ca"];
        let mut command = scratch.command(&words);
        command.arg(ca);
        let run = usage::of(command);
        let (peak, secs, said) = (run.peak_mib(), run.secs, run.stderr.trim());
        println!("| {case} | {peak} | {secs:.1} | {said} |");
        let is_said = parts.iter().all(|part| said.contains(part));
        let is_bounded = peak <= MOST_MIB && secs <= MOST_SECS;
        let is_clean = scratch.entries("").is_empty() && !said.contains("panicked");
        if run.code != Some(2) || !is_said || !is_bounded || !is_clean {
            wrong.push(format!("{case}: {run:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
