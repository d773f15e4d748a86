//! Dumps on web servers and in object stores yield the same reports as files, and every failure is one line that names
//! the object.

mod azure;
mod faults;
mod google;
mod redirects;
mod s3;
pub(crate) mod server;
mod web;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use testkit::dumps::gzip;
use testkit::forms;
use testkit::prelude::*;
use testkit::rng::Rng;

/// `slotscope LINE`, without the proxies and credentials of the user who runs the tests, and with few retries.
pub(crate) fn run(line: &str) -> Output {
    run_with(line, &[])
}

/// The same with these variables.
pub(crate) fn run_with(line: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = slotscope(&words(line));
    let taken = ["AWS_", "AZURE_", "GOOGLE_", "HTTP_", "HTTPS_", "ALL_"];
    for (name, _) in std::env::vars_os() {
        let upper = name.to_string_lossy().to_ascii_uppercase();
        if taken.iter().any(|prefix| upper.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied());
    command.output().unwrap()
}

/// A directory with a few dumps, one compressed, one an RDB file; and their names.
fn dumps() -> (Scratch, [&'static str; 4]) {
    let scratch = Scratch::new();
    let names = ["a.keys", "b.csv.gz", "c.rdb", "d e.csv"];
    let dump = |format, bytes, seed| forms::dump(format, bytes, &mut Rng::new(seed));
    let contents = [
        dump("lines", 2 << 20, 1),
        gzip(&dump("csv", 1 << 18, 2)),
        dump("rdb", 1 << 18, 3),
        dump("csv", 1 << 18, 4),
    ];
    std::fs::create_dir(scratch.path("dumps")).unwrap();
    for (name, content) in names.iter().zip(contents) {
        scratch.file(&format!("dumps/{name}"), content);
    }
    (scratch, names)
}

/// The report on an input without its location, and the names of its files.
fn report_of(input: &str, variables: &[(&str, &str)]) -> (Value, Vec<String>) {
    let line = format!("analyze --json --threads 3 {input}");
    let made = report(&run_with(&line, variables));
    let files = made["input"]["files"].list().iter();
    let names = files.map(|file| file["name"].text().into()).collect();
    (without_origin(made), names)
}

/// The report on the files themselves.
fn report_here(scratch: &Scratch) -> Value {
    report_of(&scratch.path("dumps").display().to_string(), &[]).0
}

/// The dumps by the ends of their URLs.
fn contents(scratch: &Scratch, names: &[&str]) -> Vec<(String, Vec<u8>)> {
    let content = |name: &str| std::fs::read(scratch.path("dumps").join(name)).unwrap();
    let names = names.iter();
    names
        .map(|name| (name.replace(' ', "%20"), content(name)))
        .collect()
}

/// A server started by a test, which kills it by its id.
struct Started {
    child: Child,
    address: String,
}

impl Started {
    /// Starts a server that prints its address on a line containing `mark`.
    fn new(command: &mut Command, mark: &'static str) -> Self {
        let command = command.stdin(Stdio::null());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("tests/run installs it");
        let (tell, said) = mpsc::channel();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let pipes: [Box<dyn Read + Send>; 2] = [Box::new(out), Box::new(err)];
        for pipe in pipes {
            let tell = tell.clone();
            // Read to its end, or the server would block on a full pipe.
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    if let Some((_, address)) = line.split_once("http://")
                        && line.contains(mark)
                    {
                        drop(tell.send(address.trim().to_owned()));
                    }
                }
            });
        }
        drop(tell);
        let address = said.recv_timeout(Duration::from_secs(300));
        let address = address.unwrap_or_else(|_| {
            drop(child.kill());
            panic!("{mark}: no server came up within five minutes")
        });
        Started { child, address }
    }

    /// Sends a request that must succeed.
    fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let length = body.len();
        head += &format!("Connection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 20"), "{target}: {answer}");
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The place where tests/run installs tools that are not on the PATH.
fn installed(path: &str) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_slotscope"));
    program.ancestors().nth(2).unwrap().join(path)
}
