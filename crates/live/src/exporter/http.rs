//! A minimal HTTP server for scrapes: a bounded number of connections, each with one request of bounded size and time.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use httparse::{EMPTY_HEADER, Request, Status};

use slotscope_base::error::{Error, Result, reason};

/// Maximum concurrent connections. Beyond this, the one idle longest is closed.
const CONNECTIONS: usize = 16;
/// Maximum size of a request's head, and number of headers.
const MAX_HEAD: usize = 8 << 10;
const MAX_HEADERS: usize = 64;
/// A client that has not sent its request or read the reply by then is disconnected.
const DEADLINE: Duration = Duration::from_secs(5);
/// How much is read after a request, and for how long.
const MAX_REST: u64 = 1 << 20;
const LINGER: Duration = Duration::from_secs(1);
/// The reply on loopback to a request for a name.
const REFUSAL: &str = "the host of this request is neither an IP address nor localhost; use 127.0.0.1 or localhost in the URL, or --listen on another address";
/// Pause when no thread can be started or no connection accepted.
const PAUSE: Duration = Duration::from_millis(20);

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status line without the version.
    pub status: &'static str,
    /// The content type.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

impl Answer {
    /// A one-line text reply.
    pub(crate) fn text(status: &'static str, line: &str) -> Self {
        Answer {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{line}\n"),
        }
    }
}

/// Binds to `address`.
///
/// # Errors
/// The address is not local, or in use.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| {
        let refusal = format!("{}; name another address", reason(&error));
        Error::option("listen", address.to_string(), refusal)
    })
}

/// Connections that have not sent a request or are reading the reply, oldest first.
#[derive(Default)]
struct Idle(Mutex<VecDeque<(SocketAddr, TcpStream)>>);

impl Idle {
    fn change<T>(&self, change: impl FnOnce(&mut VecDeque<(SocketAddr, TcpStream)>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, client: SocketAddr, stream: &TcpStream) {
        let listed = stream.try_clone().map(|stream| (client, stream));
        self.change(|list| list.extend(listed));
    }

    fn remove(&self, client: SocketAddr) {
        self.change(|list| list.retain(|(listed, _)| *listed != client));
    }

    /// Closes the one idle longest.
    fn end_oldest(&self) {
        // Its thread gets an error, and its client sees the connection closed.
        if let Some((_, oldest)) = self.change(VecDeque::pop_front) {
            drop(oldest.shutdown(Shutdown::Both));
        }
    }
}

/// Serves requests forever: `answer` receives the path of a GET. A listener outside of loopback is meant to be public.
pub(crate) fn serve(listener: &TcpListener, answer: impl Fn(&str) -> Answer + Sync) {
    let (open, idle, answer) = (AtomicUsize::new(0), Idle::default(), &answer);
    let local = listener.local_addr();
    let is_local = local.is_ok_and(|address| address.ip().to_canonical().is_loopback());
    thread::scope(|scope| {
        loop {
            let Ok((stream, client)) = listener.accept() else {
                // Too many open files, or the client is already gone.
                thread::sleep(PAUSE);
                continue;
            };
            if open.load(SeqCst) >= CONNECTIONS {
                idle.end_oldest();
            }
            while open.load(SeqCst) >= CONNECTIONS {
                thread::sleep(PAUSE);
            }
            open.fetch_add(1, SeqCst);
            let (open, idle) = (&open, &idle);
            idle.add(client, &stream);
            let work = move || {
                // A client that disconnects is not an error of this program.
                drop(exchange(stream, (idle, client), is_local, answer));
                open.fetch_sub(1, SeqCst);
            };
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                idle.remove(client);
                open.fetch_sub(1, SeqCst);
                thread::sleep(PAUSE);
            }
        }
    });
}

/// Reads a request and replies.
fn exchange(
    mut stream: TcpStream,
    (idle, client): (&Idle, SocketAddr),
    is_local: bool,
    answer: impl Fn(&str) -> Answer,
) -> io::Result<()> {
    let end = Instant::now() + DEADLINE;
    let asked = head(&mut stream, end);
    idle.remove(client);
    let (reply, has_body) = match asked? {
        Some(head) => reply(&head, is_local, answer),
        None => {
            let refusal = Answer::text("431 Request Header Fields Too Large", "too large");
            (refusal, true)
        }
    };
    send(&mut stream, &reply, has_body, end)?;
    stream.shutdown(Shutdown::Write)?;
    idle.add(client, &stream);
    let drained = drain(&mut stream);
    idle.remove(client);
    drained
}

/// The head of a request; `None` if it is too long.
fn head(stream: &mut TcpStream, end: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(end)?))?;
        let len = stream.read(&mut buffer)?;
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&buffer[..len]);
        let empty_line = head.windows(4).position(|end| end == b"\r\n\r\n");
        let whole = empty_line.map(|at| at + 4);
        if whole.unwrap_or(head.len()) > MAX_HEAD {
            return Ok(None);
        }
        if let Some(whole) = whole {
            head.truncate(whole);
            return Ok(Some(head));
        }
    }
}

/// Reads remaining bytes until the client closes: closing with unread data would reset the connection and discard the
/// reply.
fn drain(stream: &mut TcpStream) -> io::Result<()> {
    let end = Instant::now() + LINGER;
    let mut rest = stream.take(MAX_REST);
    let mut buffer = [0; 8192];
    loop {
        rest.get_ref().set_read_timeout(Some(left(end)?))?;
        if rest.read(&mut buffer)? == 0 {
            return Ok(());
        }
    }
}

/// The reply to a request, and whether to send its body.
fn reply(head: &[u8], is_local: bool, answer: impl Fn(&str) -> Answer) -> (Answer, bool) {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = Request::new(&mut headers);
    let parsed = request.parse(head);
    let sent = request.headers.iter();
    let mut named = sent.filter(|header| is_local && header.name.eq_ignore_ascii_case("host"));
    match (parsed, request.method, request.path) {
        (Ok(Status::Complete(_)), ..) if named.any(|host| !is_address(host.value)) => {
            (Answer::text("403 Forbidden", REFUSAL), true)
        }
        (Ok(Status::Complete(_)), Some(method @ ("GET" | "HEAD")), Some(path)) => {
            let path = path.split('?').next().unwrap_or_default();
            (answer(path), method == "GET")
        }
        (Ok(Status::Complete(_)), ..) => {
            (Answer::text("405 Method Not Allowed", "GET or HEAD"), true)
        }
        _ => (Answer::text("400 Bad Request", "no HTTP request"), true),
    }
}

/// Whether a `Host` header is an address or localhost. A page opened in a browser on this machine can make its own name
/// resolve to a loopback address (DNS rebinding); its requests carry that name.
fn is_address(header: &[u8]) -> bool {
    let host = str::from_utf8(header).unwrap_or_default().trim();
    let name = host.split(':').next().unwrap_or_default();
    name.eq_ignore_ascii_case("localhost")
        || host.parse::<SocketAddr>().is_ok()
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

fn send(stream: &mut TcpStream, answer: &Answer, has_body: bool, end: Instant) -> io::Result<()> {
    let Answer {
        status,
        content_type,
        body,
    } = answer;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.set_write_timeout(Some(left(end)?))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(if has_body { body.as_bytes() } else { b"" })
}

fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        Err(io::ErrorKind::TimedOut.into())
    } else {
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &[u8]) -> &'static str {
        let (answer, _) = reply(request, true, |path| Answer::text("200 OK", path));
        answer.status
    }

    /// Starts a server that replies with the requested path.
    fn start() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let echo = |path: &str| Answer::text("200 OK", path);
        thread::spawn(move || serve(&listener, echo));
        address
    }

    fn ask(mut stream: TcpStream, request: &[u8]) -> io::Result<String> {
        stream.write_all(request)?;
        let mut said = String::new();
        stream.read_to_string(&mut said)?;
        Ok(said)
    }

    #[test]
    fn the_client_that_was_silent_for_longest_gives_way() {
        let address = start();
        let connect = || TcpStream::connect(address).unwrap();
        let ask = |stream| ask(stream, b"GET /a HTTP/1.1\r\n\r\n").unwrap();
        let mut silent: VecDeque<TcpStream> = (0..CONNECTIONS).map(|_| connect()).collect();
        assert!(ask(connect()).ends_with("/a\n"));
        // The first one was closed, and the others may still send requests.
        let mut first = silent.pop_front().unwrap();
        assert_eq!(first.read(&mut [0]).unwrap_or(0), 0);
        assert!(ask(silent.pop_front().unwrap()).ends_with("/a\n"));
    }

    #[test]
    fn only_get_and_head_of_a_whole_request_are_answered() {
        for (request, expected) in [
            (
                &b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
                "200 OK",
            ),
            (b"GET / HTTP/1.1\r\nhost: [::1]:9121\r\n\r\n", "200 OK"),
            (
                b"GET / HTTP/1.1\r\nHOST: evil.example\r\n\r\n",
                "403 Forbidden",
            ),
            (
                b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
                "403 Forbidden",
            ),
            (b"HEAD /metrics?x=1 HTTP/1.0\r\n\r\n", "200 OK"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            (b"\x16\x03\x01\r\n\r\n", "400 Bad Request"),
            (b"GET\r\n\r\n", "400 Bad Request"),
        ] {
            assert_eq!(status(request), expected, "{}", request.escape_ascii());
        }
        let many = [
            b"GET / HTTP/1.1\r\n".to_vec(),
            b"a: b\r\n".repeat(MAX_HEADERS + 1),
            b"\r\n".to_vec(),
        ];
        assert_eq!(status(&many.concat()), "400 Bad Request");
        let echo = |path: &str| Answer::text("200 OK", path);
        let elsewhere = b"GET /a?b=c HTTP/1.1\r\nHost: evil.example\r\n\r\n";
        assert_eq!(reply(elsewhere, false, echo).0.body, "/a\n");
    }

    #[test]
    fn on_loopback_a_request_names_an_address_or_localhost() {
        for host in [
            "LocalHost:9121",
            "127.0.0.1:9121",
            "10.0.0.7",
            "[::1]:9121",
            "[::1]",
        ] {
            assert!(is_address(host.as_bytes()), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:9121",
            "127.0.0.1.evil.example",
            "[::1]evil",
            "",
        ] {
            assert!(!is_address(host.as_bytes()), "{host}");
        }
        assert!(!is_address(b"localhost\xff"));
    }

    #[test]
    fn a_client_that_sends_more_than_a_head_still_has_its_answer() {
        let address = start();
        for (method, expected) in [("POST", "HTTP/1.1 405 "), ("GET", "HTTP/1.1 200 ")] {
            let head = format!("{method} /a HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
            let request = [head.as_bytes(), &[b'x'; 100_000]].concat();
            let said = ask(TcpStream::connect(address).unwrap(), &request).unwrap();
            assert!(said.starts_with(expected), "{said}");
        }
    }

    #[test]
    fn a_head_has_eight_kib_at_most() {
        let address = start();
        for (len, expected) in [(MAX_HEAD, "HTTP/1.1 200 "), (MAX_HEAD + 1, "HTTP/1.1 431 ")] {
            let (first, last) = ("GET /a HTTP/1.1\r\nA: ", "\r\n\r\n");
            let filler = "x".repeat(len - first.len() - last.len());
            let request = format!("{first}{filler}{last}");
            let said = ask(TcpStream::connect(address).unwrap(), request.as_bytes()).unwrap();
            assert!(said.starts_with(expected), "{len}: {said}");
        }
    }
}
