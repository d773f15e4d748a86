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
            .args(["--port", &port.to_string()])
            .args(words("--bind 127.0.0.1 --daemonize no --save ''"))
            .args(words("--appendonly no --logfile server.log"))
            .args(words("--cluster-enabled yes"))
            .args(words("--cluster-config-file nodes.conf"))
            // Replicas need not be waited for: a test starts each of them.
            .args(words("--repl-diskless-sync-delay 0"))
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
        wait_for(|| {
            let has_ended = server.child.try_wait().unwrap().is_some();
            let log = || std::fs::read_to_string(server.folder().join("server.log"));
            match (has_ended, server.is_ready()) {
                (true, _) => Ok(Err(log().unwrap_or_default())),
                (false, ready) => ready.map(Ok),
            }
        })?;
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
        let is_ours = info.contains(&ours).then_some(());
        is_ours.ok_or_else(|| format!("no {ours} in {info}"))
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Waits until its reply to a command has this text.
    pub fn until(&self, command: &str, text: &str) {
        wait_for(|| {
            let said = self.connect().call(&words(command)).text();
            said.contains(text).then_some(()).ok_or(said)
        });
    }

    /// Assigns all slots to it, so that it accepts commands.
    pub fn own_all_slots(&self) {
        let own = words("CLUSTER ADDSLOTSRANGE 0 16383");
        assert_eq!(self.connect().call(&own).text(), "OK");
        self.until("CLUSTER INFO", "cluster_state:ok");
    }

    /// The RDB file that it writes now.
    pub fn saved(&self) -> Vec<u8> {
        assert_eq!(self.connect().call(&["SAVE"]).text(), "OK");
        std::fs::read(self.folder().join("dump.rdb")).unwrap()
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
        self.info("used_memory:").unwrap().parse().unwrap()
    }

    /// The value of a field of INFO, whose name ends with the colon.
    pub fn info(&self, field: &str) -> Option<String> {
        let info = self.connect().call(&["INFO"]).text();
        let mut lines = info.lines();
        let value = lines.find_map(|line| line.strip_prefix(field))?;
        Some(value.trim().to_owned())
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
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
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

    /// The number; panics on any other reply.
    pub fn int(self) -> i64 {
        match self {
            Reply::Int(number) => number,
            other => panic!("a number expected: {other:?}"),
        }
    }

    /// The items of an array; panics on any other reply.
    pub fn items(self) -> Vec<Reply> {
        match self {
            Reply::Array(items) => items,
            other => panic!("an array expected: {other:?}"),
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

    /// The reply to a command that must succeed.
    #[track_caller]
    pub fn ask<A: AsRef<[u8]>>(&mut self, arguments: &[A]) -> Reply {
        let reply = self.call(arguments);
        assert!(!matches!(reply, Reply::Error(_)), "{reply:?}");
        reply
    }

    /// Sends the commands, many at a time, and reads their replies in order.
    pub fn pipeline(&mut self, commands: &[Vec<&[u8]>]) -> Vec<Reply> {
        self.try_pipeline(commands).unwrap()
    }

    /// Like `pipeline`, for commands that are made meanwhile.
    pub fn pipeline_of(&mut self, commands: impl IntoIterator<Item = Vec<Vec<u8>>>) -> Vec<Reply> {
        let commands: Vec<Vec<Vec<u8>>> = commands.into_iter().collect();
        let commands = commands.iter();
        let words = commands.map(|words| words.iter().map(Vec::as_slice).collect());
        self.pipeline(&words.collect::<Vec<_>>())
    }

    /// Sets these keys, each of which must be accepted.
    pub fn set_all<K: AsRef<[u8]>, V: AsRef<[u8]>>(&mut self, rows: &[(K, V)]) {
        let rows = rows
            .iter()
            .map(|(key, value)| [key.as_ref(), value.as_ref()]);
        let sets: Vec<Vec<&[u8]>> = rows.map(|[key, value]| vec![b"SET", key, value]).collect();
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
            ("*", len) => {
                let items = (0..len.parse().unwrap()).map(|_| self.read_reply());
                Reply::Array(items.collect::<io::Result<_>>()?)
            }
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
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let child = command.stdout(File::create(file).unwrap()).spawn();
        let (child, file) = (child.unwrap(), file.to_owned());
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
