//! A port that speaks the other protocol: TLS is wanted of a server in plain text, or the reverse. The first keeps silent,
//! as it waits for the end of a line; the second closes the connection. Each is then asked over a connection of its own,
//! which sends nothing secret.

use std::fmt;
use std::io::{self, Read, Write};
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};

use crate::address::Address;
use crate::transport::{Timed, is_timeout};

/// How long the first bytes of a server are waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// The start of a TLS handshake: a message without content, which every server rejects with an alert.
const HELLO: &[u8] = &[22, 3, 1, 0, 4, 1, 0, 0, 0];

/// A server that speaks plain text where TLS is wanted.
#[derive(Debug)]
pub(crate) struct NoTls;

impl fmt::Display for NoTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this port speaks plain text, and no TLS is spoken there; write redis:// in place of rediss://, or name the \
             port of TLS (tls-port)",
        )
    }
}

impl std::error::Error for NoTls {}

/// Whether these are the first bytes of a TLS alert.
pub(crate) fn is_alert(bytes: &[u8]) -> bool {
    bytes.starts_with(&[21, 3])
}

/// Whether a server that closed the connection speaks TLS.
pub(crate) fn speaks_tls(address: &Address) -> bool {
    first_bytes(address, HELLO).is_ok_and(|bytes| is_alert(&bytes))
}

fn speaks_plain(address: &Address) -> bool {
    first_bytes(address, b"PING\r\n").is_ok_and(|[first, _]| b"+-".contains(&first))
}

/// The first two bytes that the server answers to these.
fn first_bytes(address: &Address, sent: &[u8]) -> io::Result<[u8; 2]> {
    let mut stream = Timed::connect(address, PATIENCE)?;
    stream.write_all(sent)?;
    let mut bytes = [0; 2];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Completes the handshake with the server at `address`.
///
/// # Errors
/// `NoTls`, or what ended the handshake.
pub(crate) fn shake_hands(
    stream: &mut StreamOwned<ClientConnection, Timed>,
    address: &Address,
    timeout: Duration,
) -> io::Result<()> {
    stream.sock.begin(timeout.min(PATIENCE));
    let done = stream.conn.complete_io(&mut stream.sock);
    match done {
        Err(_) if !stream.sock.has_heard() && speaks_plain(address) => Err(io::Error::other(NoTls)),
        Err(error) if is_timeout(&error) => {
            stream.sock.begin(timeout.saturating_sub(PATIENCE));
            stream.conn.complete_io(&mut stream.sock).map(drop)
        }
        done => done.map(drop),
    }
}
