//! Detects a port with the wrong protocol: TLS expected from a plain-text server, or vice versa. A plain-text server
//! stays silent, waiting for a line end; a TLS server closes the connection. Each is then probed over a separate
//! connection that sends nothing secret.

use std::io::{self, Read, Write};
use std::time::Duration;

use rustls::{ClientConnection, InvalidMessage, StreamOwned};

use crate::address::Address;
use crate::transport::{Timed, is_timeout};

/// How long to wait for a server's first bytes.
const PATIENCE: Duration = Duration::from_secs(1);
/// The start of a TLS handshake: an empty message, which every server rejects with an alert.
const HELLO: &[u8] = &[22, 3, 1, 0, 4, 1, 0, 0, 0];

/// Whether these are the first bytes of a TLS alert.
pub(crate) fn is_alert(bytes: &[u8]) -> bool {
    bytes.starts_with(&[21, 3])
}

/// Whether a server that gave no answer in plain text speaks TLS.
pub(crate) fn speaks_tls(address: &Address) -> bool {
    first_bytes(address, HELLO).is_ok_and(|bytes| is_alert(&bytes))
}

fn speaks_plain(address: &Address) -> bool {
    first_bytes(address, b"PING\r\n").is_ok_and(|[first, _]| b"+-".contains(&first))
}

/// The first two bytes of the server's reply.
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
/// Why the handshake failed; `InvalidContentType` if the server speaks plain text.
pub(crate) fn shake_hands(
    stream: &mut StreamOwned<ClientConnection, Timed>,
    address: &Address,
    timeout: Duration,
) -> io::Result<()> {
    stream.sock.begin(timeout.min(PATIENCE));
    match stream.conn.complete_io(&mut stream.sock) {
        // Of invalid data, it is known already.
        Err(error) if error.kind() != io::ErrorKind::InvalidData && speaks_plain(address) => {
            let plain = InvalidMessage::InvalidContentType;
            Err(io::Error::other(rustls::Error::InvalidMessage(plain)))
        }
        Err(error) if is_timeout(&error) => {
            stream.sock.begin(timeout.saturating_sub(PATIENCE));
            stream.conn.complete_io(&mut stream.sock).map(drop)
        }
        outcome => outcome.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Connection;
    use crate::scripted::access;
    use crate::tls::TlsConfig;
    use std::net::{Shutdown, TcpListener};
    use std::thread;

    /// A server that reacts to the first bytes of each connection: with silence, or with bytes followed by closing.
    fn start(answer: fn(&[u8]) -> Option<&'static [u8]>) -> Address {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let mut waiting = Vec::new();
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut bytes = [0; 512];
                let len = stream.read(&mut bytes).unwrap_or(0);
                match answer(&bytes[..len]) {
                    None => waiting.push(stream),
                    Some(answer) => {
                        stream.write_all(answer).unwrap();
                        stream.shutdown(Shutdown::Both).unwrap();
                    }
                }
            }
        });
        Address::Tcp("127.0.0.1".into(), port)
    }

    #[test]
    fn a_server_of_the_other_protocol_is_named() {
        const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 50];
        let plain = ["speaks plain text", "redis://"];
        let tls = ["speaks TLS", "rediss://"];
        let neither = ["closed the connection", ""];
        const PING: &[u8] = b"PING\r\n";
        // Redis waits for a line end, others close the connection.
        let waiting =
            start(|bytes| (bytes == PING).then_some(b"-NOAUTH Authentication required.\r\n"));
        let closing = start(|bytes| Some(if bytes == PING { b"+PONG\r\n" } else { b"" }));
        let refusing = start(|_| Some(b"-ERR unknown command\r\n"));
        let alerting = start(|_| Some(ALERT));
        let of_tls = start(|bytes| {
            Some(if bytes.starts_with(&[22, 3]) {
                ALERT
            } else {
                b""
            })
        });
        let mute = start(|_| Some(b""));
        for (server, wants_tls, parts) in [
            (&waiting, true, plain),
            (&closing, true, plain),
            (&refusing, true, plain),
            (&alerting, false, tls),
            (&of_tls, false, tls),
            (&mute, true, neither),
            (&mute, false, neither),
        ] {
            // Longer than the probe for the other protocol.
            let access = crate::connection::Access {
                tls: wants_tls.then(TlsConfig::trusting_nobody),
                timeout: Duration::from_secs(20),
                ..access()
            };
            let said = Connection::open(server, &access).err().unwrap().to_string();
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
    }
}
