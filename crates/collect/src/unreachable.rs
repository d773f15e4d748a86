//! The error for a server that does not answer, or for a local problem that prevents asking it.

use std::io;
use std::time::Duration;

use slotscope_base::error::{Error, reason};
use slotscope_base::name::Name;
use slotscope_base::text;

use crate::resp::NoReply;
use crate::tls_errors;
use crate::wrong_port;

/// EMFILE: the process's limit of open files is reached.
const TOO_MANY_FILES: i32 = 24;

const WANTS_TLS: &str = "this port speaks TLS; write rediss:// in place of redis:// (--tls-ca names the authority of its certificate)";

/// The error for a server without TLS.
pub(crate) fn unreachable(place: &str, timeout: Duration, error: &io::Error) -> Error {
    match inner::<NoReply>(error) {
        Some(NoReply(line)) if wrong_port::is_alert(line) => wants_tls(place),
        _ => failed(place, timeout, error, "whether it wants TLS (rediss://)"),
    }
}

/// The error for a server that requires TLS.
pub(crate) fn wants_tls(place: &str) -> Error {
    Error::bad(place, WANTS_TLS)
}

/// The error for a server with TLS.
pub(crate) fn with_tls(place: &str, timeout: Duration, error: &io::Error) -> Error {
    if let Some(tls) = inner::<rustls::Error>(error) {
        return Error::bad(place, tls_errors::in_words(tls));
    }
    let certificate = "whether it wants a certificate of its clients (--tls-cert, --tls-key)";
    failed(place, timeout, error, certificate)
}

/// `wants`: what a server that closes the connection may expect.
fn failed(place: &str, timeout: Duration, error: &io::Error, wants: &str) -> Error {
    if error.raw_os_error() == Some(TOO_MANY_FILES) {
        let message = "too many open files; raise the limit with ulimit -n: a cluster needs one for each primary, and 200 more";
        return Error::bad(place, message);
    }
    let message = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => format!(
            "no answer within {} s; check the address and the network (--address-map, where nodes announce other addresses), or wait longer with --timeout",
            timeout.as_secs_f64()
        ),
        io::ErrorKind::ConnectionRefused => {
            "nothing listens there; check host and port, and that the server runs (--address-map, where nodes announce other addresses)".to_owned()
        }
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::ConnectionAborted => {
            format!("the server closed the connection; check that it runs, and {wants}")
        }
        _ => {
            let reason = text::name(&Name::from(reason(error).as_str()), 200);
            format!("{reason}; check the address")
        }
    };
    Error::silent(place, message)
}

fn inner<E: std::error::Error + 'static>(error: &io::Error) -> Option<&E> {
    error.get_ref()?.downcast_ref()
}
