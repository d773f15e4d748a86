//! A real redis-server in cluster mode on loopback, in a folder of its own, and a client with just enough RESP. Nothing
//! is mocked: slotscope must agree with the server.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::kinds::Kind;
use crate::run::words;

const INSTALL: &str =
    "install it: tests/run does, or apt-get install redis-server, or brew install redis";

/// Longer than any wait on a loaded machine; a wait that takes longer means a defect.
const PATIENCE: Duration = Duration::from_secs(90);

/// Calls `ready` until it returns a value. Panics with its last error after `PATIENCE`.
pub fn wait_for<T>(mut ready: impl FnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match ready() {
            Ok(value) => return value,
            Err(complaint) => assert!(
                start.elapsed() < PATIENCE,
                "after {PATIENCE:?}: {complaint}"
            ),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A running server; dropping it stops it.
pub struct Server {
    child: Child,
    folder: tempfile::TempDir,
    pub port: u16,
    /// Its TLS port, if the options configure one.
    pub tls_port: Option<u16>,
    /// The default user's password, if the options set one.
    password: Option<String>,
    is_stopped: bool,
}

impl Server {
    /// Starts an isolated server of the installed kind with additional `options`.
    pub fn start(options: &[&str]) -> Server {
        Server::of(Kind::Installed, options)
    }

    /// Starts an isolated server of this kind with additional `options`.
    pub fn of(kind: Kind, options: &[&str]) -> Server {
        // Another process may take the port before the server binds it: then try another.
        let mut complaint = String::new();
        for _ in 0..10 {
            match Server::try_start(kind, free_port(), options) {
                Ok(server) => return server,
                Err(log) => complaint = log,
            }
        }
        panic!("{kind:?} (redis-server 7.0 or later, or Valkey's) does not stay up: {complaint}");
    }

    /// `Err` with its log if the server exits.
    fn try_start(kind: Kind, port: u16, options: &[&str]) -> Result<Server, String> {
        let folder = tempfile::tempdir().unwrap();
        let child = kind
            .command()
            .args([
                "--port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--daemonize",
                "no",
            ])
            .args([
                "--save",
                "",
                "--appendonly",
                "no",
                "--logfile",
                "server.log",
            ])
            .args(words(
                "--cluster-enabled yes --cluster-config-file nodes.conf",
            ))
            .args(options)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{kind:?} cannot be started ({error}); {INSTALL}"));
        let value = |flag: &str| {
            let at = options.iter().position(|option| *option == flag)?;
            Some(options[at + 1])
        };
        let mut server = Server {
            child,
            folder,
            port,
            tls_port: value("--tls-port").map(|port| port.parse().unwrap()),
            password: value("--requirepass").map(String::from),
            is_stopped: false,
        };
        wait_for(
            || match (server.child.try_wait().unwrap(), server.is_ready()) {
                (Some(_exited), _) => Ok(Err(std::fs::read_to_string(
                    server.folder.path().join("server.log"),
                )
                .unwrap_or_default())),
                (None, Ok(())) => Ok(Ok(())),
                (None, Err(complaint)) => Err(complaint),
            },
        )?;
        Ok(server)
    }

    /// Whether the server answers, and is this one rather than a stranger on the same port.
    fn is_ready(&self) -> Result<(), String> {
        let mut client = self.try_connect().map_err(|error| error.to_string())?;
        // A stranger may close the connection at any time.
        let asked = client.try_pipeline(&[vec![&b"INFO"[..], b"server"]]);
        let info = match asked.map_err(|error| error.to_string())?.remove(0) {
            Reply::Error(complaint) => return Err(complaint),
            info => info.text(),
        };
        let ours = format!("process_id:{}\r\n", self.child.id());
        if info.contains(&ours) {
            Ok(())
        } else {
            Err(format!("no {ours} in {info}"))
        }
    }

    /// A connection to it.
    pub fn connect(&self) -> Client {
        self.try_connect().unwrap()
    }

    fn try_connect(&self) -> io::Result<Client> {
        let mut client = Client::over(TcpStream::connect(("127.0.0.1", self.port))?);
        if let Some(password) = &self.password {
            client.try_pipeline(&[vec![b"AUTH", password.as_bytes()]])?;
        }
        Ok(client)
    }

    /// Kills it at once, like a power failure.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.is_stopped = true;
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The bytes of memory that it uses.
    pub fn used_memory(&self) -> u64 {
        let info = self.connect().call(&["INFO", "memory"]).text();
        let mut lines = info.lines();
        let used = lines.find_map(|line| line.strip_prefix("used_memory:"));
        used.unwrap().parse().unwrap()
    }

    /// The default user's password.
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// Its own folder, with its cluster state in `nodes.conf`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The output of `redis-cli ARGUMENTS` for this server.
    pub fn redis_cli(&self, arguments: &[&str]) -> Vec<u8> {
        // An empty password would be sent, too.
        let password = self.password.as_deref();
        let output = Command::new("redis-cli")
            .envs(password.map(|password| ("REDISCLI_AUTH", password)))
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(arguments)
            .output()
            .unwrap_or_else(|error| panic!("redis-cli cannot be started ({error}); {INSTALL}"));
        assert!(
            output.status.success(),
            "redis-cli {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A free port, whose cluster bus port (10000 above it) is free too.
pub fn free_port() -> u16 {
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    wait_for(|| {
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|socket| socket.local_addr())
            .unwrap()
            .port();
        let bus = port.checked_add(10_000).filter(|bus| is_free(*bus));
        bus.map(|_| port)
            .ok_or_else(|| String::from("no free pair of ports"))
    })
}

/// One reply of a server.
#[derive(Debug, PartialEq)]
pub enum Reply {
    Simple(String),
    Error(String),
    Int(i64),
    Bulk(Vec<u8>),
    Nil,
    Array(Vec<Reply>),
}

impl Reply {
    /// The text of a simple or bulk reply; panics on any other.
    pub fn text(self) -> String {
        match self {
            Reply::Simple(text) => text,
            Reply::Bulk(bytes) => String::from_utf8(bytes).unwrap(),
            other => panic!("text expected: {other:?}"),
        }
    }
}

/// A connection that speaks RESP2.
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn over(stream: TcpStream) -> Client {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client {
            stream: BufReader::new(stream),
        }
    }

    /// Sends one command and reads its reply.
    pub fn call<A: AsRef<[u8]>>(&mut self, arguments: &[A]) -> Reply {
        let arguments: Vec<&[u8]> = arguments.iter().map(AsRef::as_ref).collect();
        self.pipeline(&[arguments]).remove(0)
    }

    /// Sends the commands, many at a time, and reads their replies in order.
    pub fn pipeline(&mut self, commands: &[Vec<&[u8]>]) -> Vec<Reply> {
        self.try_pipeline(commands).unwrap()
    }

    /// Sets these keys, each of which must be accepted.
    pub fn set_all<K: AsRef<[u8]>, V: AsRef<[u8]>>(&mut self, rows: &[(K, V)]) {
        let sets: Vec<Vec<&[u8]>> = rows
            .iter()
            .map(|(key, value)| vec![&b"SET"[..], key.as_ref(), value.as_ref()])
            .collect();
        let ok = Reply::Simple("OK".into());
        let refused = self.pipeline(&sets).into_iter().find(|reply| *reply != ok);
        assert_eq!(refused, None);
    }

    fn try_pipeline(&mut self, commands: &[Vec<&[u8]>]) -> io::Result<Vec<Reply>> {
        let mut replies = Vec::with_capacity(commands.len());
        // Few enough that their replies fit into socket buffers, or both sides would block.
        for batch in commands.chunks(500) {
            let mut request = Vec::new();
            for arguments in batch {
                write!(request, "*{}\r\n", arguments.len()).unwrap();
                for argument in arguments {
                    write!(request, "${}\r\n", argument.len()).unwrap();
                    request.extend_from_slice(argument);
                    request.extend_from_slice(b"\r\n");
                }
            }
            self.stream.get_mut().write_all(&request)?;
            for _ in batch {
                replies.push(self.read_reply()?);
            }
        }
        Ok(replies)
    }

    fn read_reply(&mut self) -> io::Result<Reply> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let closed = || io::Error::other("the server closed the connection");
        let line = line.strip_suffix("\r\n").ok_or_else(closed)?;
        let (kind, rest) = line.split_at(1);
        Ok(match (kind, rest) {
            ("+", text) => Reply::Simple(text.to_owned()),
            ("-", text) => Reply::Error(text.to_owned()),
            (":", number) => Reply::Int(number.parse().unwrap()),
            ("$" | "*", "-1") => Reply::Nil,
            ("$", len) => {
                let mut bytes = vec![0; len.parse::<usize>().unwrap() + 2];
                self.stream.read_exact(&mut bytes)?;
                bytes.truncate(bytes.len() - 2);
                Reply::Bulk(bytes)
            }
            ("*", len) => Reply::Array(
                (0..len.parse().unwrap())
                    .map(|_| self.read_reply())
                    .collect::<io::Result<_>>()?,
            ),
            _ => panic!("not RESP2: {line}"),
        })
    }
}

/// `redis-cli MONITOR` into a file; killed when dropped.
pub struct Monitor {
    child: Child,
    file: PathBuf,
}

impl Monitor {
    /// Writes the output of MONITOR to `file`, from the first command after the return.
    pub fn start(server: &Server, file: &Path) -> Monitor {
        let mut command = Command::new("redis-cli");
        command.args(["-h", "127.0.0.1", "-p", &server.port.to_string(), "MONITOR"]);
        command
            .stdout(File::create(file).unwrap())
            .stdin(Stdio::null());
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        let file = file.to_owned();
        let monitor = Monitor { child, file };
        monitor.sees("OK\n");
        monitor
    }

    /// Waits until the capture has this text.
    pub fn sees(&self, text: &str) {
        wait_for(|| {
            let read = std::fs::read(&self.file).unwrap_or_default();
            let has = read.windows(text.len()).any(|part| part == text.as_bytes());
            has.then_some(())
                .ok_or_else(|| format!("{} has no {text}", self.file.display()))
        });
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
