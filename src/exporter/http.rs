//! HTTP, as much as a scrape needs: a bounded number of connections, each one request of a bounded size and time.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use httparse::{EMPTY_HEADER, Request, Status};

use slotscope_engine::error::{Error, Result, reason};

/// Connections that are served at once. Of more, the one that has been silent for longest gives way.
const CONNECTIONS: usize = 16;
/// The longest head of a request, and how many headers it has.
const MAX_HEAD: usize = 8 << 10;
const MAX_HEADERS: usize = 64;
/// A client that has not asked or read the answer by then is given up.
const DEADLINE: Duration = Duration::from_secs(5);
/// Where no thread can be started or no connection be accepted, for now.
const PAUSE: Duration = Duration::from_millis(20);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status line after the version.
    pub status: &'static str,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

impl Answer {
    /// A line of text.
    pub(crate) fn text(status: &'static str, line: &str) -> Self {
        Answer {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{line}\n"),
        }
    }
}

/// Listens at `address`.
///
/// # Errors
/// The address is not one of this machine, or is taken.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| {
        let what = format!("{}; name another address", reason(&error));
        Error::option("listen", address.to_string(), what)
    })
}

/// The connections whose requests have not come yet, oldest first.
#[derive(Default)]
struct Silent(Mutex<VecDeque<TcpStream>>);

impl Silent {
    fn change<T>(&self, change: impl FnOnce(&mut VecDeque<TcpStream>) -> T) -> T {
        change(
            &mut self
                .0
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner()),
        )
    }

    fn add(&self, stream: &TcpStream) {
        self.change(|all| all.extend(stream.try_clone()));
    }

    fn remove(&self, stream: &TcpStream) {
        let peer = stream.peer_addr().ok();
        self.change(|all| all.retain(|other| other.peer_addr().ok() != peer));
    }

    /// Ends the one that has been silent for longest.
    fn end_oldest(&self) {
        // Its thread sees the end, and its client that nobody listens.
        if let Some(oldest) = self.change(VecDeque::pop_front) {
            drop(oldest.shutdown(Shutdown::Both));
        }
    }
}

/// Answers requests for ever: `answer` gets the path of a GET.
pub(crate) fn serve(listener: &TcpListener, answer: impl Fn(&str) -> Answer + Sync) {
    let (open, silent, answer) = (AtomicUsize::new(0), Silent::default(), &answer);
    thread::scope(|scope| {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // Too many open files, or a client that is gone already.
                thread::sleep(PAUSE);
                continue;
            };
            if open.load(SeqCst) >= CONNECTIONS {
                silent.end_oldest();
            }
            while open.load(SeqCst) >= CONNECTIONS {
                thread::sleep(PAUSE);
            }
            open.fetch_add(1, SeqCst);
            let (open, silent) = (&open, &silent);
            silent.add(&stream);
            let work = move || {
                // A client that goes away is not a fault of this program.
                drop(exchange(stream, silent, answer));
                open.fetch_sub(1, SeqCst);
            };
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                drop(silent.change(VecDeque::pop_back));
                open.fetch_sub(1, SeqCst);
                thread::sleep(PAUSE);
            }
        }
    });
}

/// Reads a request and answers it.
fn exchange(
    mut stream: TcpStream,
    silent: &Silent,
    answer: impl Fn(&str) -> Answer,
) -> io::Result<()> {
    let end = Instant::now() + DEADLINE;
    let asked = head(&mut stream, end);
    silent.remove(&stream);
    let head = match asked? {
        Some(head) => head,
        None => {
            let refusal = Answer::text("431 Request Header Fields Too Large", "too large");
            return send(&mut stream, &refusal, true, end);
        }
    };
    let (reply, has_body) = reply(&head, answer);
    send(&mut stream, &reply, has_body, end)
}

/// The head of a request; `None` where it is too long.
fn head(stream: &mut TcpStream, end: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut more = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(end)?))?;
        let len = stream.read(&mut more)?;
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&more[..len]);
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Some(head));
        }
        if head.len() > MAX_HEAD {
            return Ok(None);
        }
    }
}

/// The answer to a request, and whether its body is sent.
fn reply(head: &[u8], answer: impl Fn(&str) -> Answer) -> (Answer, bool) {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = Request::new(&mut headers);
    let parsed = request.parse(head);
    match (parsed, request.method, request.path) {
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
        reply(request, |path| Answer::text("200 OK", path)).0.status
    }

    #[test]
    fn the_client_that_was_silent_for_longest_gives_way() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || serve(&listener, |path| Answer::text("200 OK", path)));
        let connect = || TcpStream::connect(address).unwrap();
        let ask = |mut stream: TcpStream| {
            stream.write_all(b"GET /a HTTP/1.1\r\n\r\n").unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).unwrap();
            said
        };
        let mut silent: VecDeque<TcpStream> = (0..CONNECTIONS).map(|_| connect()).collect();
        assert!(ask(connect()).ends_with("/a\n"));
        // The first one is gone, and the others may still ask.
        let mut first = silent.pop_front().unwrap();
        assert_eq!(first.read(&mut [0]).unwrap_or(0), 0);
        assert!(ask(silent.pop_front().unwrap()).ends_with("/a\n"));
    }

    #[test]
    fn only_get_and_head_of_a_whole_request_are_answered() {
        for (request, expected) in [
            (&b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"[..], "200 OK"),
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
        let path = reply(b"GET /a?b=c HTTP/1.1\r\n\r\n", |path| {
            Answer::text("200 OK", path)
        })
        .0
        .body;
        assert_eq!(path, "/a\n");
    }
}
