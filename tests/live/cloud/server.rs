//! A loopback web server with ranges, entity tags and listings like those of S3 and Google, with configurable faults.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use testkit::tls::Authority;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Number of requests before it.
    pub nth: usize,
    /// Path and query.
    pub target: String,
    /// The requested range, if any.
    pub range: Option<Range<u64>>,
    pub if_match: Option<String>,
    pub authorization: Option<String>,
    /// All header lines.
    pub head: Vec<String>,
}

/// A fault in a response.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    Status(u16),
    /// The connection is closed after this many bytes of the body.
    Cut(usize),
    /// The body arrives at one byte per second.
    Drip,
    /// The body is this many bytes longer or shorter than the range.
    Length(isize),
    /// This range, instead of the requested one.
    Range(&'static str),
    /// The whole file.
    Whole,
    /// Another entity tag, ignoring If-Match.
    Tag(&'static str),
    /// No entity tag.
    NoTag,
    /// A listing page that announces more.
    More,
    /// This response, with this status.
    Text(u16, String),
    /// A redirect to this address, with this status.
    Redirect(u16, String),
}

type Choose = dyn Fn(&Asked) -> Option<Fault> + Send + Sync;

struct State {
    files: BTreeMap<String, Vec<u8>>,
    fault: Box<Choose>,
    asked: Mutex<Vec<Asked>>,
    is_closed: AtomicBool,
}

/// The server; it accepts no more connections once dropped.
pub(crate) struct Server {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
}

impl Server {
    /// A TLS server with faults by `fault`.
    pub(crate) fn with_tls<const N: usize>(
        files: [(&str, &[u8]); N],
        authority: &Authority,
        fault: impl Fn(&Asked) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        Server::new(files, fault, Some(tls(authority)))
    }
    /// A server for files by path, without faults.
    pub(crate) fn start<const N: usize>(files: [(&str, &[u8]); N]) -> Self {
        Server::with_faults(files, |_| None)
    }

    /// A server with faults by `fault`.
    pub(crate) fn with_faults<const N: usize>(
        files: [(&str, &[u8]); N],
        fault: impl Fn(&Asked) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        Server::new(files, fault, None)
    }

    fn new<const N: usize>(
        files: [(&str, &[u8]); N],
        fault: impl Fn(&Asked) -> Option<Fault> + Send + Sync + 'static,
        tls: Option<Arc<ServerConfig>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let files = files.map(|(path, bytes)| (format!("/{path}"), bytes.to_vec()));
        let server = Server {
            address: listener.local_addr().unwrap(),
            scheme: if tls.is_some() { "https" } else { "http" },
            state: Arc::new(State {
                files: BTreeMap::from(files),
                fault: Box::new(fault),
                asked: Mutex::default(),
                is_closed: AtomicBool::new(false),
            }),
        };
        let state = server.state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if state.is_closed.load(Relaxed) {
                    break;
                }
                drop(stream.set_nodelay(true));
                let (state, tls) = (state.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    None => serve(&state, &stream),
                    Some(tls) => {
                        let side = ServerConnection::new(tls).unwrap();
                        serve(&state, StreamOwned::new(side, stream));
                    }
                });
            }
        });
        server
    }

    /// The address of a file.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}/{path}", self.scheme, self.address)
    }

    /// Its own address, as stores want it.
    pub(crate) fn endpoint(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Relaxed);
        drop(TcpStream::connect(self.address));
    }
}

/// Answers the requests on a connection until either end closes it.
fn serve(state: &State, stream: impl Read + Write) {
    let mut lines = BufReader::new(stream);
    while let Some(asked) = request(state, &mut lines) {
        let fault = (state.fault)(&asked);
        match answer(state, &asked, fault.as_ref(), lines.get_mut()) {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
        }
    }
}

/// A TLS configuration with a certificate of this authority.
fn tls(authority: &Authority) -> Arc<ServerConfig> {
    let [certificate, key] = authority.certificate();
    let certificate = CertificateDer::from_pem_file(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_no_client_auth();
    Arc::new(config.with_single_cert(vec![certificate], key).unwrap())
}

fn request(state: &State, lines: &mut impl BufRead) -> Option<Asked> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let mut headers = head.iter().skip(1).filter_map(|line| line.split_once(": "));
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(found.1.to_owned())
    };
    let range = header("range").map(|range| {
        let (from, to) = range[6..].split_once('-').unwrap();
        from.parse().unwrap()..to.parse::<u64>().unwrap() + 1
    });
    let mut all = state.asked.lock().unwrap();
    let asked = Asked {
        nth: all.len(),
        target: head.first()?.split(' ').nth(1)?.to_owned(),
        range,
        if_match: header("if-match"),
        authorization: header("authorization"),
        head: head.clone(),
    };
    all.push(asked.clone());
    Some(asked)
}

/// Answers a request; returns whether the connection can be reused.
fn answer(
    state: &State,
    asked: &Asked,
    fault: Option<&Fault>,
    to: &mut impl Write,
) -> std::io::Result<bool> {
    let path = asked.target.split('?').next().unwrap();
    let path = &*decoded(path);
    let mut location = String::new();
    if let Some(Fault::Redirect(_, to)) = fault {
        location = format!("Location: {to}\r\n");
    }
    let mut status = |status: u16, text: &str| {
        let head = format!("{location}Content-Length: {}", text.len());
        let answer = format!("HTTP/1.1 {status} x\r\n{head}\r\n\r\n{text}");
        to.write_all(answer.as_bytes()).map(|()| true)
    };
    match fault {
        Some(Fault::Status(code) | Fault::Redirect(code, _)) => return status(*code, ""),
        Some(Fault::Text(code, text)) => return status(*code, text),
        _ => {}
    }
    if asked.target.contains("list-type=2") {
        return status(200, &page(state, asked, matches!(fault, Some(Fault::More))));
    }
    let Some(file) = state.files.get(path) else {
        return status(404, "");
    };
    let tag = match fault {
        Some(Fault::Tag(tag)) => tag,
        _ if asked.if_match.as_deref().is_some_and(|tag| tag != "\"v1\"") => {
            return status(412, "");
        }
        _ => "\"v1\"",
    };
    let size = file.len() as u64;
    let range = match (&asked.range, fault) {
        (None, _) | (_, Some(Fault::Whole)) => None,
        (Some(range), _) if range.start >= size => return status(416, ""),
        (Some(range), _) => Some(range.start..range.end.min(size)),
    };
    let body = match &range {
        None => &file[..],
        Some(range) => &file[range.start as usize..range.end as usize],
    };
    let mut head = String::from("Last-Modified: Sun, 22 Nov 2026 10:00:00 GMT\r\n");
    if let Some(Range { start, end }) = range {
        let usual = format!("bytes {start}-{}/{size}", end - 1);
        let range = match fault {
            Some(Fault::Range(other)) => other,
            _ => &*usual,
        };
        head += &format!("Content-Range: {range}\r\n");
    }
    if !matches!(fault, Some(Fault::NoTag)) {
        head += &format!("ETag: {tag}\r\n");
    }
    let code = if range.is_some() { 206 } else { 200 };
    let mut body = body.to_vec();
    if let Some(Fault::Length(more)) = fault {
        body.resize(body.len().saturating_add_signed(*more), b'x');
    }
    let length = body.len();
    let head = format!("HTTP/1.1 {code} x\r\n{head}Content-Length: {length}\r\n\r\n");
    to.write_all(head.as_bytes())?;
    match fault {
        Some(Fault::Cut(at)) => {
            to.write_all(&body[..(*at).min(length)])?;
            Ok(false)
        }
        Some(Fault::Drip) => {
            for byte in body {
                to.write_all(&[byte])?;
                std::thread::sleep(Duration::from_secs(1));
            }
            Ok(true)
        }
        _ => to.write_all(&body).map(|()| true),
    }
}

/// A percent-decoded path.
fn decoded(path: &str) -> String {
    let mut pieces = path.split('%');
    let mut text = pieces.next().unwrap().to_owned();
    for piece in pieces {
        text.push(u8::from_str_radix(&piece[..2], 16).unwrap().into());
        text += &piece[2..];
    }
    text
}

/// Names per page: few, so that there are several pages.
const PAGE: usize = 2;

/// A page of names in a bucket, as XML.
fn page(state: &State, asked: &Asked, is_endless: bool) -> String {
    let (bucket, query) = asked.target.split_once('?').unwrap();
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(known, _)| *known == name);
        found.map_or(String::new(), |(_, value)| value.replace("%2F", "/"))
    };
    let (prefix, from) = (value("prefix"), value("continuation-token"));
    let from: usize = from.parse().unwrap_or(0);
    let mut found = String::new();
    let mut seen = 0;
    for (path, bytes) in &state.files {
        let start = format!("{bucket}/{prefix}");
        let Some(rest) = path.strip_prefix(&start) else {
            continue;
        };
        let entry = match rest.split_once('/') {
            Some((folder, _)) if !value("delimiter").is_empty() => {
                format!("<CommonPrefixes><Prefix>{prefix}{folder}/</Prefix></CommonPrefixes>")
            }
            _ => format!(
                "<Contents><Key>{prefix}{rest}</Key><LastModified>2026-11-22T10:00:00Z</LastModified>\
                 <ETag>\"v1\"</ETag><Size>{}</Size></Contents>",
                bytes.len()
            ),
        };
        if (from..from + PAGE).contains(&seen) {
            found += &entry;
        }
        seen += 1;
    }
    if is_endless || seen > from + PAGE {
        let next = from + PAGE;
        found += &format!("<NextContinuationToken>{next}</NextContinuationToken>");
    }
    format!("<ListBucketResult>{found}</ListBucketResult>")
}
