//! An authenticated connection to one server, with or without TLS; its errors name the server and a suggested fix.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::secret::{Credentials, Secret};
use slotscope_base::text;

use crate::address::Address;
use crate::large_replies::Reserved;
use crate::resp::{self, Commands, NoReply, Reply};
use crate::silent::Silent;
use crate::tls::TlsConfig;
use crate::transport::{Timed, is_timeout};
use crate::unreachable::{self, unreachable};
use crate::wrong_port;

/// How to connect to the servers of a run.
#[derive(Debug, Clone)]
pub struct Access {
    /// The user to log in as; without a password, AUTH is skipped.
    pub credentials: Credentials,
    /// TLS for all TCP connections.
    pub tls: Option<TlsConfig>,
    /// Maps announced addresses to reachable ones.
    pub address_map: Vec<(Address, Address)>,
    /// Reply timeout.
    pub timeout: Duration,
    /// Servers that do not answer.
    pub silent: Silent,
}

impl Access {
    /// With a short timeout, for optional replies: a hanging server must not delay the run.
    pub(crate) fn brief(&self) -> Access {
        Access {
            timeout: self.timeout.min(BRIEF),
            ..self.clone()
        }
    }

    /// Where to reach the server that announces `address`.
    fn mapped<'a>(&'a self, address: &'a Address) -> &'a Address {
        let mapping = self.address_map.iter().find(|(from, _)| from == address);
        mapping.map_or(address, |(_, to)| to)
    }
}

/// An authenticated connection.
pub struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    is_tls: bool,
    /// The server's name in messages.
    place: String,
    timeout: Duration,
    /// A password that messages must not repeat.
    secret: Option<Secret>,
    /// Time spent waiting for replies.
    busy: Duration,
    /// The memory reservation for the last replies, if large.
    large: Option<Reserved>,
    silent: Silent,
    /// Whether it waits even if others have given up on the server.
    is_patient: bool,
}

/// The timeout for optional replies.
const BRIEF: Duration = Duration::from_secs(2);

/// Read size for short replies. There are two connections per node, hence small.
const BUFFER: usize = 8 << 10;

/// Maximum bytes kept of a line that a server sends unasked.
const MAX_LINE: usize = 64 << 10;

/// Plain text or TLS.
trait Stream: Read + Write + Send {
    fn timed(&mut self) -> &mut Timed;
}

impl Stream for Timed {
    fn timed(&mut self) -> &mut Timed {
        self
    }
}

impl Stream for StreamOwned<ClientConnection, Timed> {
    fn timed(&mut self) -> &mut Timed {
        &mut self.sock
    }
}

/// The fault of a reply that cannot be read at all.
pub(crate) const NONSENSE: &str = "is not that of a Redis or Valkey server; check the address";

impl Connection {
    /// Connects, authenticates and sets the client name.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub(crate) fn open(address: &Address, access: &Access) -> Result<Connection> {
        crate::arenas::limit();
        let place = address.to_string();
        let start = Instant::now();
        let timeout = access.silent.patience(&place, access.timeout)?;
        let opened = Connection::connect(&place, address, access, timeout);
        let mut connection = access.silent.noted(&place, (start, timeout), opened)?;
        connection.timeout = access.timeout;
        Ok(connection)
    }

    /// The same for a long-running reader, which waits for a server that is busy with its requests.
    pub(crate) fn open_patiently(address: &Address, access: &Access) -> Result<Connection> {
        let mut connection = Connection::open(address, access)?;
        connection.is_patient = true;
        Ok(connection)
    }

    fn connect(
        place: &str,
        address: &Address,
        access: &Access,
        timeout: Duration,
    ) -> Result<Connection> {
        let reached = access.mapped(address);
        let failed = |error| unreachable(place, timeout, &error);
        let timed = Timed::connect(reached, timeout).map_err(failed)?;
        let (stream, is_tls): (Box<dyn Stream>, bool) = match (&access.tls, reached) {
            (Some(tls), Address::Tcp(host, _)) => {
                let mut stream = StreamOwned::new(tls.session(host)?, timed);
                wrong_port::shake_hands(&mut stream, reached, timeout)
                    .map_err(|error| unreachable::with_tls(place, timeout, &error))?;
                (Box::new(stream), true)
            }
            _ => (Box::new(timed), false),
        };
        let mut connection = Connection {
            stream: BufReader::with_capacity(BUFFER, stream),
            is_tls,
            place: place.to_owned(),
            timeout,
            secret: access.credentials.password.clone(),
            busy: Duration::ZERO,
            large: None,
            silent: access.silent.clone(),
            // Authentication is part of the same attempt.
            is_patient: true,
        };
        if let Err(error) = connection.sign_in(access) {
            let is_tls_wanted = error.is_silence() && !is_tls && wrong_port::speaks_tls(reached);
            return Err(if is_tls_wanted {
                unreachable::wants_tls(place)
            } else {
                error
            });
        }
        connection.is_patient = false;
        Ok(connection)
    }

    /// The error for a failed connection.
    fn failed(&self, error: &io::Error) -> Error {
        let failed = if self.is_tls {
            unreachable::with_tls
        } else {
            unreachable
        };
        failed(&self.place, self.timeout, error)
    }

    fn sign_in(&mut self, access: &Access) -> Result<()> {
        if let Some(password) = &access.credentials.password {
            let password = password.reveal().as_bytes();
            let words = match &access.credentials.user {
                Some(user) => vec![b"AUTH", user.as_bytes(), password],
                None => vec![&b"AUTH"[..], password],
            };
            self.call("AUTH", &words)?;
        }
        // Name and no-touch are optional: older servers and restricted users lack them.
        self.ask("CLIENT SETNAME", &[b"CLIENT", b"SETNAME", b"slotscope"])?;
        Ok(())
    }

    /// The name of the server in messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Call when replies are no longer needed: releases the memory reserved for large ones.
    pub fn forget(&mut self) {
        self.large = None;
    }

    /// The time spent waiting for replies since the last call.
    pub(crate) fn take_busy(&mut self) -> Duration {
        std::mem::take(&mut self.busy)
    }

    /// Sends a command that must succeed.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    pub fn call(&mut self, name: &'static str, words: &[&[u8]]) -> Result<Reply> {
        match self.ask(name, words)? {
            Reply::Error(refusal) => Err(self.refused(name, &refusal)),
            reply => Ok(reply),
        }
    }

    /// Sends a command that the server may refuse.
    ///
    /// # Errors
    /// The server does not answer.
    pub(crate) fn ask(&mut self, name: &'static str, words: &[&[u8]]) -> Result<Reply> {
        let mut commands = Commands::default();
        commands.add(name, words);
        let replies = self.pipeline(&commands)?;
        replies.into_iter().next().ok_or_else(|| self.odd(name))
    }

    /// Sends commands, and reads all replies.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn pipeline(&mut self, commands: &Commands) -> Result<Vec<Reply>> {
        let start = Instant::now();
        let timeout = if self.is_patient {
            self.timeout
        } else {
            self.silent.patience(&self.place, self.timeout)?
        };
        self.stream.get_mut().timed().begin(timeout);
        let replies = self.exchange(commands);
        self.busy += start.elapsed();
        let replies = replies.map_err(|error| {
            let line = error.get_ref().and_then(|inner| inner.downcast_ref());
            let without = line.map(|NoReply(line)| {
                let line = self.repeatable(&String::from_utf8_lossy(line));
                io::Error::other(NoReply(line.into_bytes()))
            });
            self.failed(&without.unwrap_or(error))
        });
        self.silent.noted(&self.place, (start, timeout), replies)
    }

    /// Reads a line that the server sends unasked, without its line end, and its length in bytes; `None` at `end`. Only
    /// the start of a long line is kept.
    ///
    /// # Errors
    /// The server does not answer.
    pub(crate) fn line(&mut self, end: Instant, into: &mut Vec<u8>) -> Result<Option<u64>> {
        into.clear();
        let mut bytes = 0;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.get_mut().timed().begin(left);
            let chunk = match self.stream.fill_buf() {
                Ok([]) => Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(part) => Ok(part
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or((part.len(), part, false), |at| (at + 1, &part[..at], true))),
                Err(error) if is_timeout(&error) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let (len, text, is_end) = match chunk {
                Ok(chunk) => chunk,
                Err(error) => return Err(self.failed(&error)),
            };
            into.extend_from_slice(&text[..text.len().min(MAX_LINE - into.len())]);
            self.stream.consume(len);
            bytes += len as u64;
            if is_end {
                into.truncate(into.trim_ascii_end().len());
                return Ok(Some(bytes));
            }
        }
    }

    /// The server's message without the password.
    fn repeatable(&self, refusal: &str) -> String {
        let hide = |secret: &Secret| secret.hidden_in(refusal);
        self.secret.as_ref().map_or(refusal.to_owned(), hide)
    }

    fn exchange(&mut self, commands: &Commands) -> io::Result<Vec<Reply>> {
        self.stream.get_mut().write_all(commands.bytes())?;
        self.stream.get_mut().flush()?;
        let (timeout, large) = (self.timeout, &mut self.large);
        let mut on_large = |stream: &mut BufReader<Box<dyn Stream>>, bytes| {
            if large.is_none() {
                *large = Some(Reserved::new(bytes)?);
            }
            // Waiting for other replies was not this server's fault.
            stream.get_mut().timed().begin(timeout);
            Ok(())
        };
        resp::read_all(&mut self.stream, commands.names(), &mut on_large)
    }

    /// The error for a refused command.
    pub(crate) fn refused(&self, name: &str, refusal: &str) -> Error {
        let code = refusal.split(' ').next().unwrap_or_default();
        let answer = text::name(&Name::from(self.repeatable(refusal).as_str()), 200);
        let reason = match code {
            "NOAUTH" => "a password is needed; give it in REDISCLI_AUTH, or with --password-file or --ask-password".to_owned(),
            "NOPERM" if name == "MONITOR" => format!(
                "MONITOR is refused to this user; slotscope collect --acl SERVER --monitor prints the rights that are needed (\"{answer}\")"
            ),
            "NOPERM" => format!(
                "{name} is refused to this user; slotscope collect --acl prints the rights that are needed (\"{answer}\")"
            ),
            "LOADING" => "the server is loading its data; run this again when that is done".to_owned(),
            "ERR" if name == "CLUSTER SLOT-STATS" => "CLUSTER SLOT-STATS is not known; Valkey 8.0 and Redis 8.2 have it".to_owned(),
            "MASTERDOWN" => "the replica has lost its primary; run this again when it is back, or with --from primaries".to_owned(),
            _ if refusal.contains("without any password configured") => "the server has no password, and one was given".to_owned(),
            _ if name == "AUTH" || code == "WRONGPASS" => "the server does not take this user and password; check both".to_owned(),
            _ => format!("{name} is refused: \"{answer}\""),
        };
        Error::bad(self.place.clone(), reason)
    }

    /// The error for a nonsensical reply to command `name`.
    pub fn odd(&self, name: &str) -> Error {
        self.wrong(name, NONSENSE)
    }

    /// The error for a reply to command `name` that breaks a rule.
    pub(crate) fn wrong(&self, name: &str, rule: &str) -> Error {
        Error::bad(self.place.clone(), format!("the answer to {name} {rule}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{access, start};

    fn ask(answer: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static) -> Result<Reply> {
        let mut connection = Connection::open(&start(answer), &access())?;
        connection.call("SCAN", &[b"SCAN", b"0"])
    }

    #[test]
    fn what_a_server_refuses_is_said_with_the_way_out() {
        for (refusal, expected) in [
            ("-MASTERDOWN Link with MASTER is down", "--from primaries"),
            ("-ERR \x1b[2Jboom", "SCAN is refused: \"ERR \\x1b[2Jboom\""),
        ] {
            let reply = format!("{refusal}\r\n").into_bytes();
            let message = ask(move |_| Some(reply.clone())).unwrap_err().to_string();
            assert!(
                message.starts_with("127.0.0.1:") && message.contains(expected),
                "{message}"
            );
        }
    }

    #[test]
    fn a_password_that_a_server_repeats_is_not_shown() {
        let mut access = access();
        access.credentials.password = Some(Secret::new("hunter2"));
        assert!(!format!("{access:?}").contains("hunter2"));
        for reply in ["-NOPERM hunter2secret", "-ERR no hunter2", "HTTP hunter2"] {
            let server = start(move |command| {
                if command.starts_with("SCAN") {
                    Some(format!("{reply}\r\n").into_bytes())
                } else {
                    Some(b"+OK\r\n".to_vec())
                }
            });
            let mut connection = Connection::open(&server, &access).unwrap();
            let error = connection.call("SCAN", &[b"SCAN", b"0"]).unwrap_err();
            let message = error.to_string();
            assert!(
                message.contains("...") && !message.contains("hunter2"),
                "{message}"
            );
        }
    }
}
