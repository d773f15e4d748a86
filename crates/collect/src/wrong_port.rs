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

    fn error(server: &Address, tls: Option<TlsConfig>) -> String {
        // Longer than the probe for the other protocol.
        let access = crate::connection::Access {
            tls,
            timeout: Duration::from_secs(20),
            ..access()
        };
        let opened = Connection::open(server, &access);
        opened.err().unwrap().to_string()
    }

    fn tls() -> Option<TlsConfig> {
        Some(TlsConfig::trusting_nobody())
    }

    #[test]
    fn a_server_in_plain_text_is_named_where_tls_is_wanted() {
        // Redis waits for a line end, others close the connection.
        let silent = start(|bytes| {
            (bytes == b"PING\r\n").then_some(b"-NOAUTH Authentication required.\r\n")
        });
        let closing = start(|bytes| {
            Some(if bytes == b"PING\r\n" {
                b"+PONG\r\n"
            } else {
                b""
            })
        });
        let refusing = start(|_| Some(b"-ERR unknown command\r\n"));
        for server in [silent, closing, refusing] {
            let said = error(&server, tls());
            assert!(
                said.contains("speaks plain text") && said.contains("redis://"),
                "{said}"
            );
        }
    }

    #[test]
    fn a_server_with_tls_is_named_where_plain_text_is_wanted() {
        const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 50];
        let closing = start(|bytes| {
            Some(if bytes.starts_with(&[22, 3]) {
                ALERT
            } else {
                b""
            })
        });
        let alerting = start(|_| Some(ALERT));
        for server in [closing, alerting] {
            let said = error(&server, None);
            assert!(
                said.contains("speaks TLS") && said.contains("rediss://"),
                "{said}"
            );
        }
        let neither = start(|_| Some(b""));
        for tls in [tls(), None] {
            let said = error(&neither, tls);
            assert!(said.contains("closed the connection"), "{said}");
        }
    }
}
